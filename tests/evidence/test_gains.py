"""What each retrieved chunk is worth."""

from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.dataset import samples_table
from ragstone.data.types import Chunk, Sample
from ragstone.evidence.gains import gains, relevant_grades


def columns(*rows):
    table = samples_table(
        [Sample("", contexts=[Chunk("", name) for name in ids], relevance=grades) for ids, grades in rows]
    )
    batch = table.to_batches()[0]
    return batch.column("contexts"), batch.column("relevance")


def as_lists(ragged):
    return [row.tolist() for row in ragged]


def test_grades_in_rank_order():
    found = gains(*columns(("bxa", {"a": 1, "b": 2, "c": 3}), ("", {"a": 1}), ("a", {})))
    assert as_lists(found.column) == [[2, 0, 1], [], [0]]
    assert found.reasons == {}


def test_a_chunk_retrieved_twice_counts_at_its_first_place():
    assert as_lists(gains(*columns(("abab", {"b": 1}))).column) == [[0, 1]]


def test_a_grade_below_zero_is_worth_nothing():
    assert as_lists(gains(*columns(("ab", {"a": -2, "b": 0.5}))).column) == [[0, 0.5]]


def test_chunks_without_id_have_no_grade():
    found = gains(*columns(("a", {"a": 1}), (["a", None, None], {"a": 1})))
    assert found.reasons == {1: "retrieved chunk 2 has no id"}
    assert len(found.column) == 2


def test_relevant_grades_best_first():
    _, relevance = columns(("", {"a": 1, "b": 3, "c": 0, "d": -1, "e": 0.5}), ("", {}))
    assert as_lists(relevant_grades(relevance)) == [[3, 1, 0.5], []]


row = st.tuples(st.text("abc", max_size=3), st.dictionaries(st.sampled_from("abc"), st.floats(-1, 4)))


@given(st.lists(row, min_size=1, max_size=4), st.data())
def test_a_slice_of_a_column_is_a_column(rows, data):
    start = data.draw(st.integers(0, len(rows) - 1))
    contexts, relevance = columns(*rows)
    assert (
        as_lists(gains(contexts[start:], relevance[start:]).column)
        == as_lists(gains(contexts, relevance).column)[start:]
    )
    assert as_lists(relevant_grades(relevance[start:])) == as_lists(relevant_grades(relevance))[start:]
