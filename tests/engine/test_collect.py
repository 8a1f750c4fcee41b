"""Evidence for one batch: its pieces, its declared types, and the rows without a value."""

import numpy as np
import pytest

from ragstone.data.columns import Ragged, Rows
from ragstone.data.types import Gaps, Sample
from ragstone.errors import Skip
from ragstone.registry import evidence, metric
from tests.engine.batch import samples, scores, walk

pytestmark = pytest.mark.usefixtures("catalogue")

OK = "ok"


def test_failed_evidence_fails_what_rests_on_it_with_the_same_reason():
    @evidence
    def claims(answer: str) -> list[str]:
        if answer == "bad":
            raise OSError("model is down")
        return [answer]

    @evidence
    def counted(claims: list[str]) -> int:
        return len(claims)

    @metric("direct")
    def direct(claims: list[str]) -> float:
        return 1.0

    @metric("indirect", columnar=True)
    def indirect(counted, answer):
        return np.ones(len(counted))

    result = walk(samples("a", "bad", None), "direct", "indirect")
    for name in ("direct", "indirect"):
        cells = [result.cells[name][row] for row in range(3)]
        assert [cell.status for cell in cells] == [OK, "failed", "skipped"]
        assert [cell.reason for cell in cells] == [None, "OSError: model is down", "no answer"]


def test_skipped_evidence_skips_what_rests_on_it():
    @evidence
    def claims(answer: str) -> list[str]:
        raise Skip("says nothing")

    @metric("count", bounds=(0, None))
    def count(claims: list[str]) -> float:
        return len(claims)

    assert scores(samples("a"), "count") == [(None, "skipped", "says nothing")]


def test_evidence_without_a_value_skips_what_rests_on_it():
    @evidence
    def claims(answer: str) -> list[str] | None:
        return None if answer == "nothing" else [answer]

    @metric("count", bounds=(0, None))
    def count(claims: list[str]) -> float:
        return len(claims)

    assert scores(samples("a", "nothing"), "count") == [(1.0, OK, None), (None, "skipped", "no claims")]


@pytest.mark.parametrize("shape", ["plain", "async", "columnar"])
@pytest.mark.parametrize(
    "wrong", ["a text", 5, {"not": "a list"}, [1, 2], [["nested"]], ["half a pair \ud83d"], object], ids=repr
)
def test_evidence_of_another_type_than_declared_fails_its_row(shape, wrong):
    values = {"wrong": wrong, "right": ["claim"]}
    if shape == "plain":

        def claims(answer: str) -> list[str]:
            return values[answer]
    elif shape == "async":

        async def claims(answer: str) -> list[str]:
            return values[answer]
    else:

        def claims(answer) -> list[str]:
            return Rows([values[text] for text in answer.to_pylist()])

    evidence(columnar=shape == "columnar")(claims)

    @metric("count", bounds=(0, None))
    def count(claims: list[str]) -> float:
        return len(claims)

    result = walk(samples("right", "wrong", "right"), "count")
    cells = [result.cells["count"][row] for row in range(3)]
    assert [cell.value for cell in cells] == [1.0, None, 1.0]
    assert cells[1].status == "failed"
    assert "evidence 'claims'" in cells[1].reason
    assert result.evidence["claims"].rows.tolist() == [0, 2]


@pytest.mark.parametrize("returned", [None, 5, {}, {"left": 1}, ["left", "right"]], ids=repr)
@pytest.mark.parametrize("is_async", [False, True])
def test_evidence_that_withholds_a_piece_fails_its_row(returned, is_async):
    def make(answer):
        return returned if answer == "odd" else {"left": 1, "right": 2}

    if is_async:

        async def pair(answer):
            return make(answer)
    else:

        def pair(answer):
            return make(answer)

    evidence(yields=("left", "right"), transient=True)(pair)

    @metric("sum_of_both", bounds=(0, None))
    def sum_of_both(left: int, right: int) -> float:
        return left + right

    good, bad = scores(samples("fine", "odd"), "sum_of_both")
    assert good == (3.0, OK, None)
    assert bad[1] == "failed"
    assert "pair" in bad[2] or "right" in bad[2]


def test_columnar_evidence_isolates_the_guilty_rows():
    @evidence(columnar=True)
    def lengths(answer) -> int:
        texts = answer.to_pylist()
        if "bad" in texts:
            raise ValueError("bad text")
        return np.array([len(text) for text in texts])

    @metric("length", bounds=(0, None), columnar=True)
    def length(lengths):
        return np.asarray(list(lengths))

    assert scores(samples("a", "bad", None, "four"), "length") == [
        (1.0, OK, None),
        (None, "failed", "ValueError: bad text"),
        (None, "skipped", "no answer"),
        (4.0, OK, None),
    ]


@pytest.mark.parametrize("column", [list, tuple, np.array, Rows, lambda values: Gaps(list(values), {})])
def test_columnar_evidence_may_be_any_sequence(column):
    """Also when some rows are left out further down."""

    @evidence(columnar=True, transient=True)
    def lengths(question):
        return column([len(text) for text in question.to_pylist()])

    @metric("row_by_row", bounds=(0, None))
    def row_by_row(lengths: int, answer: str) -> float:
        return lengths

    @metric("at_once", bounds=(0, None), columnar=True)
    def at_once(lengths, answer):
        return np.array([lengths[row] for row in range(len(lengths))])

    rows = [Sample("1", "aa", "a"), Sample("2", "bb", None), Sample("3", "cccc", "c")]
    for name in ("row_by_row", "at_once"):
        assert [score[0] for score in scores(rows, name)] == [2.0, None, 4.0]


def test_columnar_evidence_keeps_its_kind_when_a_row_is_lost():
    """One guilty row must not take the arrays away from those who compute with them."""

    @evidence(columnar=True, transient=True)
    def lists(answer):
        texts = answer.to_pylist()
        if "bad" in texts:
            raise ValueError("bad text")
        return Ragged.from_lists([[len(text)] * 2 for text in texts])

    @evidence(columnar=True, transient=True)
    def vectors(answer):
        texts = answer.to_pylist()
        if "bad" in texts:
            raise ValueError("bad text")
        return np.array([[len(text), 1.0] for text in texts])

    @metric("totals", bounds=(0, None), columnar=True)
    def totals(lists, vectors):
        return lists.sum() + vectors[:, 0] + vectors[:, 1]

    assert [score[0] for score in scores(samples("a", "bad", "four"), "totals")] == [4.0, None, 13.0]


def test_vectors_stay_whole_when_some_rows_are_left_out():
    @evidence(columnar=True, transient=True)
    def vectors(question):
        return np.array([[len(text), 1.0] for text in question.to_pylist()])

    @metric("first", bounds=(0, None), columnar=True)
    def first(vectors, answer):
        return vectors[:, 0]

    rows = [Sample("1", "aa", "a"), Sample("2", "bb", None), Sample("3", "cccc", "c")]
    assert [score[0] for score in scores(rows, "first")] == [2.0, None, 4.0]


@pytest.mark.parametrize("returned", ["ab", 5, None, object], ids=repr)
def test_columnar_evidence_must_return_a_column(returned):
    @evidence(columnar=True, transient=True)
    def lengths(answer):
        return returned

    @metric("length")
    def length(lengths: int) -> float:
        return 1.0

    assert [score[1] for score in scores(samples("a", "b"), "length")] == ["failed"] * 2


def test_columnar_evidence_of_the_wrong_length_is_a_failure():
    @evidence(columnar=True, transient=True)
    def lengths(answer):
        return [1, 2, 3]

    @metric("length")
    def length(lengths: int) -> float:
        return lengths

    found = scores(samples("a", "b"), "length")
    assert [score[1] for score in found] == ["failed"] * 2
    assert "3 values for 1 row" in found[0][2]


def test_gaps_keep_their_rows_when_the_function_is_asked_row_by_row():
    @evidence(columnar=True, transient=True)
    def lengths(answer):
        texts = answer.to_pylist()
        if "bad" in texts:
            raise ValueError("bad text")
        return Gaps(
            Ragged.from_lists([[len(text)] for text in texts]),
            {row: "is empty" for row, text in enumerate(texts) if not text},
        )

    @metric("length", bounds=(0, None))
    def length(lengths) -> float:
        return float(lengths[0])

    assert scores(samples("a", "", "bad", "four"), "length") == [
        (1.0, OK, None),
        (None, "skipped", "is empty"),
        (None, "failed", "ValueError: bad text"),
        (4.0, OK, None),
    ]
