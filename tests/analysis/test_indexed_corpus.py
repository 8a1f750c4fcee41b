"""Facts in the chunks and documents of a whole system."""

import pytest

from ragstone.analysis.causes import find_causes
from ragstone.analysis.indexed_corpus import Store
from ragstone.data.types import Chunk
from tests.analysis.making import fact_case

FACT = "the last boat leaves at 21:10 every day"


OTHER = ["Winter boats end at 18:40.", "Dogs travel free.", "Tickets cost 9 crowns."]


REFERENCES = ["at 21:10"]


def case(chunks, answer="It leaves at 21:10.", **known):
    return fact_case([FACT], chunks, answer, REFERENCES, **known)


def store(*texts, document=""):
    return Store([Chunk(text, f"t#{number}", source="t") for number, text in enumerate(texts, 1)], [("t.md", document)])


@pytest.mark.parametrize(
    ("whole", "cause", "why"),
    [
        (store("Dogs.", f"So {FACT}."), "missing chunk", "chunk 't#2' contains it and was not retrieved"),
        (
            store("Dogs. The last boat leaves", "at 21:10 every day."),
            "split fact",
            "it begins in chunk 't#1' and ends in chunk 't#2'",
        ),
        (store("Dogs.", document=f"Dogs. {FACT}."), "lost fact", "it is in t.md and in no chunk"),
        (store("Dogs.", document="Dogs."), "missing chunk", "no retrieved chunk contains it"),
    ],
)
def test_all_chunks_tell_what_became_of_a_fact(whole, cause, why):
    [finding] = find_causes(case(OTHER, "It leaves late."), whole).findings
    assert (finding.cause.name, finding.why) == (cause, why)


def test_neighbours_of_two_documents_are_not_joined():
    chunks = [Chunk("The last boat leaves", source="a"), Chunk("at 21:10 every day", source="b")]
    assert Store(chunks).find(FACT) is None
