"""Which samples are the same: by id, by question, with duplicates, and what has no partner."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.analysis.alignment import align_samples, name_some


def table(ids, questions=None):
    return pa.table(
        {
            "id": pa.array(ids, pa.string()),
            "question": pa.array(questions or [f"q {name}" for name in ids], pa.string()),
        }
    )


def test_by_id_in_any_order():
    found = align_samples(table(["a", "b", "c"]), table(["c", "x", "a"]))
    assert found.by == "id"
    assert found.before.tolist() == [0, 2]
    assert found.after.tolist() == [2, 0]
    assert found.only_before == ("b",)
    assert found.only_after == ("x",)


def test_by_question_where_ids_are_other_names():
    found = align_samples(table(["a", "b"], ["What?", "Who is  it?"]), table(["1", "2"], ["Who is it?", "Where?"]))
    assert found.by == "question"
    assert (found.before.tolist(), found.after.tolist()) == ([1], [0])
    assert found.only_before == ("a",)
    assert found.only_after == ("2",)


def test_by_question_where_ids_are_only_row_numbers():
    found = align_samples(table(["1", "2", "3"], ["x", "y", "z"]), table(["1", "2", "3"], ["y", "z", "x"]))
    assert found.by == "question"
    assert found.after.tolist() == [2, 0, 1]
    assert not found.only_before
    assert not found.renamed


def test_the_same_id_with_another_question_is_no_pair():
    found = align_samples(table(["a", "b", "c"], ["x", "y", "z"]), table(["a", "b", "c"], ["x", "y", "other"]))
    assert found.by == "id"
    assert len(found) == 2
    assert found.renamed == ("c",)
    assert found.only_before == found.only_after == ()


def test_questions_asked_twice_are_paired_in_their_order():
    found = align_samples(table(["a", "b", "c"], ["x", "x", "y"]), table(["1", "2", "3", "4"], ["y", "x", "x", "x"]))
    assert found.before.tolist() == [0, 1, 2]
    assert found.after.tolist() == [1, 2, 0]
    assert found.only_after == ("4",)
    assert found.repeated == 2


def test_samples_without_question_are_paired_by_id_only():
    nothing = pa.array([None, None], pa.string())
    found = align_samples(
        pa.table({"id": ["a", "b"], "question": nothing}), pa.table({"id": ["b", "z"], "question": nothing})
    )
    assert found.by == "id"
    assert (found.before.tolist(), found.after.tolist()) == ([1], [0])


def test_nothing_in_common():
    found = align_samples(table(["a"]), table(["b"]))
    assert len(found) == 0
    assert (found.only_before, found.only_after) == (("a",), ("b",))


def test_empty_runs():
    assert len(align_samples(table([]), table(["a"]))) == 0


@given(st.lists(st.sampled_from("abcdef"), unique=True), st.lists(st.sampled_from("abcdef"), unique=True))
def test_every_sample_is_in_a_pair_or_listed(first, second):
    found = align_samples(table(first), table(second))
    assert [first[row] for row in found.before] == [second[row] for row in found.after]
    assert {first[row] for row in found.before} == set(first) & set(second)
    assert set(found.only_before) == set(first) - set(second)
    assert set(found.only_after) == set(second) - set(first)


@pytest.mark.parametrize(("count", "words"), [(1, "n0"), (3, "n0, n1, n2"), (5, "n0, n1, n2 and 2 more")])
def test_a_few_names(count, words):
    assert name_some(tuple(f"n{number}" for number in range(count))) == words
