"""Samples as a table and back."""

import pyarrow as pa
import pytest
from hypothesis import given, settings

from ragstone.data.dataset import Dataset, samples_table, view_column, view_samples
from ragstone.data.schema import SAMPLES
from ragstone.data.types import Chunk, Claim, Sample
from tests.data.strategies import samples

THREE = Dataset.from_samples([Sample("a", answer="1"), Sample("b", answer="2"), Sample("c")], "three.jsonl")


@settings(max_examples=20)
@given(samples)
def test_samples_come_back(rows):
    dataset = Dataset.from_samples(rows)
    assert dataset.table.schema == SAMPLES
    assert list(dataset) == rows
    assert [dataset[row] for row in range(len(dataset))] == rows


def test_rows_from_both_ends():
    assert [THREE[row].id for row in (0, 2, -1, -3)] == ["a", "c", "c", "a"]


def test_verdicts_are_read_as_one_by_one():
    texts = [
        [["neutral", "entailment 0.9100 0.0100 0.9100"], []],
        None,
        [],
        [["unsure", None]],
        [["neutral"], ["neutral"]],
    ]
    column = pa.array(texts, pa.list_(pa.list_(pa.string())))
    name = "answer_claims_in_contexts"
    for part in (column, column.slice(1), column.slice(3, 1)):
        read = view_column(name, part)
        assert read == view_column(name, pa.chunked_array([part])), "a chunked column is read value by value"
    assert view_column(name, column)[0][0][1].support == 0.91


def test_bare_samples_read_their_chunks_when_needed():
    rows = [
        Sample("a", contexts=[Chunk("x"), Chunk("y", "2")], metadata={"k": 1}),
        Sample("b", contexts=[]),
        Sample("c"),
    ]
    bare = list(view_samples(samples_table(rows).to_batches()[0], bare=True))
    assert [None if row.contexts is None else len(row.contexts) for row in bare] == [2, 0, None]
    assert [*bare[0].contexts] == rows[0].contexts
    assert bare[0].contexts[1].id == "2"
    assert bare[0].metadata == {}


@pytest.mark.parametrize("row", [3, -4])
def test_a_row_that_is_not_there(row):
    with pytest.raises(IndexError, match=rf"^row {row} of 3$"):
        THREE[row]


def test_an_empty_data_set():
    empty = Dataset.from_samples([])
    assert (len(empty), list(empty)) == (0, [])
    with pytest.raises(IndexError, match=r"^row 0 of 0$"):
        empty[0]


def test_rows_over_chunk_boundaries():
    chunked = Dataset(pa.concat_tables([THREE.table, THREE.table]))
    assert [sample.id for sample in chunked] == [chunked[row].id for row in range(6)] == [*"abcabc"]
    assert chunked[-4].id == "c"


def test_columns_that_are_not_there_are_not_known():
    assert Dataset(pa.table({"id": ["a"]}))[0] == Sample("a")


def test_repr():
    assert repr(THREE) == "Dataset(3 samples from three.jsonl)"
    assert repr(Dataset(THREE.table)) == "Dataset(3 samples from memory)"


def test_fingerprint_does_not_know_where_the_rows_come_from():
    assert THREE.fingerprint == Dataset(THREE.table.select(["id", "answer"])).fingerprint


def test_no_metadata_is_stored_as_none():
    """So that samples made in Python and the same ones read from a file have one fingerprint."""
    assert samples_table([Sample("a")])["metadata"].to_pylist() == [None]


def test_view_of_given_evidence():
    column = pa.array([[{"text": "t", "triplet": ["s", "r", "o"]}], None])
    assert view_column("answer_claims", column) == [[Claim("t", ["s", "r", "o"])], None]


def test_view_of_an_unknown_column_is_what_arrow_gives():
    assert view_column("anything", pa.array([1, None])) == [1, None]


def test_whole_numbers_for_grades_and_scores_are_taken():
    sample = Sample("a", contexts=[Chunk("x", score=1)], relevance={"c": 2})
    assert Dataset.from_samples([sample])[0] == sample


def test_chunks_that_are_read_when_needed_are_those_of_their_row():
    rows = [
        Sample(str(row), contexts=None if row % 7 == 3 else [Chunk(f"{row} {at}") for at in range(row % 4)])
        for row in range(80)
    ]
    found = list(view_samples(samples_table(rows).to_batches()[0], bare=True))
    assert [None if one.contexts is None else list(one.contexts) for one in reversed(found)] == [
        one.contexts for one in reversed(rows)
    ]
