"""Reference contexts found by their words."""

import pytest

from ragstone.data.dataset import samples_table
from ragstone.data.types import Chunk, Sample
from ragstone.evidence_functions.gains import find_references

REFERENCE = "The last ferry leaves Pier 9 at 21:40, in winter at 20:10."


def find(chunks, references):
    """The rank and the number of each reference found, and how many chunks and references count."""
    sample = Sample("", contexts=[Chunk(text) for text in chunks], reference_contexts=references)
    batch = samples_table([sample]).to_batches()[0]
    found = find_references(batch.column("contexts"), batch.column("reference_contexts"))
    pairs = list(zip(found.matches.ranks.tolist(), found.matches.entries.tolist(), strict=True))
    return pairs, found.matches.lengths.tolist()[0], found.counts.tolist()[0], found.reasons.get(0)


@pytest.mark.parametrize(
    "chunk",
    [
        REFERENCE,
        "the last FERRY leaves pier 9 — at 21.40 (in winter at 20.10)",
        f"Timetable. {REFERENCE} Tickets on board.",
        "The last ferry leaves Pier 9 at 21:40",
        "ferry leaves pier 9 at 21:40, in winter",
    ],
)
def test_a_chunk_stands_for_a_reference(chunk):
    assert find(["Nothing of the sort.", chunk], [REFERENCE])[0] == [(2, 0)]


@pytest.mark.parametrize(
    "chunk",
    [
        "9",
        "The last ferry",
        "The last ferry leaves Pier 9 at 21:4",
        "The last ferry leaves Pier 9 at 21:40, in summer at 22:10.",
        "",
        "…",
    ],
)
def test_a_chunk_does_not_stand_for_a_reference(chunk):
    assert find(["Another text.", chunk], [REFERENCE])[0] == []


def test_a_reference_found_twice_counts_once():
    assert find(["x", "one two", "one two three"], ["one two"]) == ([(2, 0)], 3, 1, None)


def test_the_same_text_twice_is_one_chunk_and_one_reference():
    assert find(["x", "X!", "one"], ["One", "one."]) == ([(2, 0)], 2, 1, None)


def test_a_chunk_may_hold_several_references():
    assert find(["x", "one two three four"], ["three four", "one two", "five"]) == ([(2, 0), (2, 1)], 2, 3, None)


def test_references_by_rank():
    assert find(["b", "a"], ["a", "b"])[0] == [(1, 1), (2, 0)]


def test_other_scripts():
    assert find(["東京は九時に開く。", "Straße und MÜNCHEN"], ["strasse und Mu\u0308nchen", "九時に開く"])[0] == [
        (1, 1),
        (2, 0),
    ]


def test_nothing_retrieved():
    assert find([], ["a"]) == ([], 0, 1, None)


def test_nothing_to_go_by():
    assert find(["a"], ["?", ""])[2:] == (0, "the reference contexts contain no words")
    assert find(["", "…"], ["a"])[3] == "the retrieved chunks contain no words"
