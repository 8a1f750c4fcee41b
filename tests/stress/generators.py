"""Oracle generators: each does one thing for sure, so that every rate and every curve is known beforehand.

They read the harbour's passages ("The Maren is 48 metres long.") and know the truth about it.
"""

import re

from ragstone.data.types import Chunk, Fact, Sample
from ragstone.stress.results import keep_reports, read_stress
from ragstone.stress.run import run_stress

SHIPS = ("Maren", "Corvina", "Thistle", "Heron", "Pelican", "Gannet", "Osprey", "Petrel")
LENGTHS = dict(zip(SHIPS, (31, 48, 67, 92, 113, 135, 154, 178), strict=True))
DECLINES = "I cannot answer the question because of insufficient information in the documents."
DETECTS = "There are factual errors in the provided documents. "


def ship_of(question):
    return re.search(r"the (\w+)\?", question)[1]


def length_in(ship, text):
    found = re.search(rf"{ship} (?:is|measures) (\d+) metres", text)
    return int(found[1]) if found else None


def copies(question, contexts):
    """Says what the first passage about the ship says; else nothing of use."""
    found = [length for text in contexts if (length := length_in(ship_of(question), text)) is not None]
    return f"{found[0]} metres" if found else "A ship."


def refuses_above(share):
    """Declines when more than this share of the passages is about other ships; else copies."""

    def generate(question, contexts):
        noise = sum(length_in(ship_of(question), text) is None for text in contexts) / len(contexts)
        return DECLINES if noise > share + 1e-9 else copies(question, contexts)

    return generate


def detects(question, contexts):
    """Knows the truth: says so when a passage is wrong, and puts it right only for ships with a long name."""
    ship = ship_of(question)
    said = {length_in(ship, text) for text in contexts} - {None}
    if said - {LENGTHS[ship]}:
        return DETECTS + (f"It is {LENGTHS[ship]} metres." if len(ship) > 6 else "Nobody knows.")
    return f"{LENGTHS[ship]} metres" if said else DECLINES


def ignores_first(question, contexts):
    """Never reads the first passage."""
    return copies(question, contexts[1:])


def needs_all(question, contexts):
    """Says all that any passage says."""
    return " ".join(contexts)


def samples(negatives=True):
    """A question for each ship with two passages that answer it; those of other ships are noise for it."""
    return [
        Sample(
            ship,
            f"How long is the {ship}?",
            contexts=[
                Chunk(f"The {ship} is {length} metres long.", id=f"{ship}-1"),
                Chunk(f"From bow to stern the {ship} measures {length} metres.", id=f"{ship}-2"),
                *([Chunk(f"The {ship} was painted grey.", id=f"{ship}-3")] if negatives else []),
            ],
            references=[f"{length} metres"],
            facts=[Fact(f"{length} metres")],
        )
        for ship, length in LENGTHS.items()
    ]


RATES = (0.0, 0.25, 0.5, 0.75, 1.0)


def stressed(prepared, generator, out, **options):
    run = run_stress(prepared, generator, out, system_options={"cache": False}, **options)
    keep_reports(run, prepared)
    return read_stress(run)


# Per ship, the retrieved passages by rank: "+" its own, "-" unrelated, "!" gossip.
LISTS = {
    "Maren": "+--",
    "Corvina": "-+-",
    "Thistle": "--+",
    "Heron": "---",
    "Pelican": "!-+",
    "Gannet": "-!+",
    "Osprey": "+!-",
}


def chunk(ship, kind, place):
    length = LENGTHS[ship]
    if kind == "+":
        return Chunk(f"The {ship} is {length} metres long.", id=f"{ship}-1")
    if kind == "!":
        return Chunk(f"The {ship} is {length + 500} metres long.", id="gossip")
    return Chunk(f"Dock {place} is closed.", id=f"dock-{place}")


def retrieved():
    return [
        Sample(
            ship,
            f"How long is the {ship}?",
            contexts=[chunk(ship, kind, place) for place, kind in enumerate(kinds, start=1)],
            references=[f"{LENGTHS[ship]} metres"],
        )
        for ship, kinds in LISTS.items()
    ]
