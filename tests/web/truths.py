"""Ground truth for the tests of the editor: a small timetable of our own making, a hostile one, and large ones."""

import json

from ragstone.data.types import Chunk
from ragstone.storage.places import open_place
from ragstone.truth.model import Case, TruthFact
from ragstone.truth.store import TruthStore
from tests.report.runs import EVIL

TIMETABLE = (
    "From June to August the last boat leaves Orlsay at 21:40 and calls at Dunmarrow. "
    "In winter the last boat leaves at 18:10. Bicycles travel free of charge."
)
FARES = "A single ticket for an adult costs 9 crowns. Children under 12 pay 4 crowns."


def ferry():
    """Three cases: one in order, one with facts to review, one that is unanswerable."""
    passages = [Chunk(TIMETABLE, "timetable#2", source="timetable.md"), Chunk(FARES, "fares#1", source="fares.md")]
    return [
        Case(
            "f1",
            "When does the last boat leave Orlsay in summer?",
            ["At 21:40."],
            [TruthFact("the last boat leaves Orlsay at 21:40", source="timetable.md")],
            documents=["timetable.md", "fares.md"],
            passages=passages,
        ),
        Case(
            "f2",
            "What does a ticket cost?",
            ["9 crowns for an adult.", "Nine crowns; children pay four."],
            [
                TruthFact("A single ticket for an adult costs 9 crowns.", source="fares.md"),
                TruthFact("Children under 12 pay 4 crowns", "citation", "fares.md", "synthetic", "proposed", 0.9),
                TruthFact("A single ticket costs 12 crowns", "citation", "fares.md", "judge", "proposed", 0.4),
                TruthFact("bicycles  travel free of charge", "citation", None, "harvested", "proposed"),
            ],
            passages=passages,
        ),
        Case("f3", "Who is the captain?", passages=passages, answerable=False),
    ]


def hostile():
    """Texts and ids that try to be more than text."""
    return [
        Case(
            f"id{number} {EVIL}",
            f"What? {EVIL}",
            [f"A boat. {EVIL}"],
            [
                TruthFact(f"The boat is red. {EVIL}", "citation", EVIL),
                TruthFact(f"It is blue. {EVIL}", "statement", None, "judge", "proposed", 0.5, EVIL),
            ],
            documents=[EVIL],
            passages=[Chunk(f"The boat is red. {EVIL} It has two masts.", f"doc {EVIL}", source=EVIL)],
            metadata={EVIL: EVIL},
        )
        for number in range(2)
    ]


def many(count):
    """As many cases as are asked for, every tenth with something to review."""
    return [
        Case(
            f"c{number}",
            f"What is the number of boat {number}?",
            [str(number)],
            [TruthFact(f"boat {number}", standing="proposed" if number % 10 == 0 else "accepted")],
        )
        for number in range(count)
    ]


def save(root, name, cases, author="Ada", note="first", parent=None):
    return TruthStore(open_place(str(root))).save(name, cases, author=author, note=note, parent=parent)


def read(root, number=None):
    return TruthStore(open_place(str(root))).read("ferry", number)


def form(secret, edits, v=1, newest=None, **others):
    said = {"token": secret, "v": v, "edits": json.dumps(edits), "author": "Ada", "note": "mended", **others}
    return said if newest is None else {**said, "newest": newest}


QUESTION = {"f1": {"question": "When does it leave?"}}
