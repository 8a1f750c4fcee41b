"""Functions of three shapes over rows, and whose fault is whose: a row's failure stays with the row."""

import asyncio
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragstone.data.columns import Gaps, Ragged, Rows
from ragstone.data.types import Sample
from ragstone.errors import Skip
from ragstone.registry import evidence, metric
from tests.engine.batch import samples, scores, walk

pytestmark = pytest.mark.usefixtures("catalogue")

OK = "ok"


def test_plain_metric():
    @metric("length", bounds=(0, None))
    def length(answer: str) -> float:
        return len(answer)

    assert scores(samples("", "four"), "length") == [(0.0, OK, None), (4.0, OK, None)]


def test_columnar_metric_takes_the_arrow_column():
    @metric("length", bounds=(0, None), columnar=True)
    def length(answer) -> np.ndarray:
        return np.array([len(text) for text in answer.to_pylist()])

    assert scores(samples("", "four"), "length") == [(0.0, OK, None), (4.0, OK, None)]


def test_rows_without_the_field_never_reach_the_function():
    seen = []

    @metric("length", bounds=(0, None))
    def length(answer: str) -> float:
        seen.append(answer)
        return len(answer)

    assert scores(samples("a", None, "ccc"), "length") == [
        (1.0, OK, None),
        (None, "skipped", "no answer"),
        (3.0, OK, None),
    ]
    assert seen == ["a", "ccc"]


@pytest.mark.parametrize("columnar", [False, True])
def test_an_exception_fails_only_its_cell(columnar):
    @metric("picky", columnar=columnar)
    def picky(answer):
        texts = answer.to_pylist() if columnar else [answer]
        if "bad" in texts:
            raise ValueError("cannot  chew\nthis")
        return np.ones(len(texts)) if columnar else 1.0

    failed = (None, "failed", "ValueError: cannot chew this")
    assert scores(samples("a", "bad", "c", "bad"), "picky") == [(1.0, OK, None), failed, (1.0, OK, None), failed]


def test_a_columnar_function_is_asked_row_by_row_only_after_it_failed():
    sizes = []

    @metric("picky", columnar=True)
    def picky(answer):
        sizes.append(len(answer))
        if len(answer) > 1:
            raise MemoryError
        return np.ones(len(answer))

    assert [score[1] for score in scores(samples("a", "b", "c"), "picky")] == [OK] * 3
    assert sizes == [3, 1, 1, 1]


def test_a_single_row_is_not_asked_twice():
    calls = []

    @metric("never", columnar=True)
    def never(answer):
        calls.append(1)
        raise RuntimeError("no")

    assert scores(samples("a"), "never") == [(None, "failed", "RuntimeError: no")]
    assert len(calls) == 1


@pytest.mark.parametrize("columnar", [False, True])
def test_skip_is_no_failure(columnar):
    @metric("choosy", columnar=columnar)
    def choosy(answer):
        raise Skip("not for me")

    assert scores(samples("a", "b"), "choosy") == [(None, "skipped", "not for me")] * 2


def test_skip_without_a_word_still_has_a_reason():
    @metric("mute")
    def mute(answer: str) -> float:
        raise Skip

    [(value, status, reason)] = scores(samples("a"), "mute")
    assert (value, status) == (None, "skipped")
    assert reason


@pytest.mark.parametrize(
    ("returned", "status", "reason"),
    [
        (None, "skipped", "None"),
        (float("nan"), "failed", "no number"),
        (float("inf"), "failed", "no number"),
        (np.float64("-inf"), "failed", "no number"),
        (1.5, "failed", "1.5, which is outside 0.0 to 1.0"),
        (-0.1, "failed", "outside"),
        ("0.5", "failed", "'0.5', not a number"),
        ([0.5], "failed", "not a number"),
        ({}, "failed", "not a number"),
        (1 + 0j, "failed", "not a number"),
        (np.complex128(1), "failed", "not a number"),
        pytest.param(10**400, "failed", "too large", id="10**400"),
    ],
)
def test_what_is_no_score_never_becomes_one(returned, status, reason):
    @metric("odd")
    def odd(answer: str) -> float:
        return returned if answer == "odd" else 1.0

    good, bad = scores(samples("fine", "odd"), "odd")
    assert good == (1.0, OK, None)
    assert bad[:2] == (None, status)
    assert reason in bad[2]


@pytest.mark.parametrize("returned", [1, True, np.float32(1), np.int8(1), np.bool_(True)])
def test_every_kind_of_number_is_one(returned):
    @metric("one")
    def one(answer: str) -> float:
        return returned

    assert scores(samples("a"), "one") == [(1.0, OK, None)]


@pytest.mark.parametrize("value", [1 + 1e-12, -1e-12])
def test_rounding_beyond_the_bounds_is_forgiven_and_cut(value):
    @metric("close")
    def close(answer: str) -> float:
        return value

    [(found, status, _)] = scores(samples("a"), "close")
    assert status == OK
    assert 0.0 <= found <= 1.0


@pytest.mark.parametrize(
    "returned",
    [
        np.array([1.0]),
        np.ones((2, 1)),
        np.array(["a", "b"]),
        1.0,
        None,
        "ab",
        {"a": 1, "b": 2},
        np.array([1j, 2j]),
    ],
    ids=repr,
)
def test_a_columnar_metric_must_return_a_number_for_each_row(returned):
    @metric("odd", columnar=True)
    def odd(answer):
        return returned

    found = scores(samples("a", "b"), "odd")
    lucky = isinstance(returned, np.ndarray) and returned.shape == (1,)  # a column of one row fits one row
    assert [score[1] for score in found] == ([OK] * 2 if lucky else ["failed"] * 2)


def test_a_columnar_metric_may_return_what_it_must_not_change():
    """Arrow's arrays and numpy's broadcasts are read-only."""

    @metric("constant", columnar=True)
    def constant(answer):
        return np.broadcast_to(1.0, len(answer))

    assert scores(samples("a", "b"), "constant") == [(1.0, OK, None)] * 2


def test_checking_a_metric_does_not_touch_the_evidence_under_it():
    @evidence(columnar=True, transient=True)
    def lengths(answer):
        return np.array([float(len(text)) for text in answer.to_pylist()])

    @metric("share", columnar=True)
    def share(lengths):
        return lengths

    @metric("total", columnar=True, bounds=(0, None))
    def total(lengths):
        return lengths

    result = walk(samples("a", "four"), "share", "total")
    assert result.cells["share"].status.tolist() == [0, 2]
    assert result.cells["total"].values.tolist() == [1.0, 4.0]


@pytest.mark.parametrize("hostile", ["\udcff lone surrogate", "\x1b[31mred\x1b[0m", "bell\x07", "a\x00b"])
def test_reasons_can_be_stored_and_shown(hostile):
    @metric("hostile")
    def hostile_metric(answer: str) -> float:
        raise ValueError(hostile)

    [(_, status, reason)] = scores(samples("a"), "hostile")
    assert status == "failed"
    assert reason.isprintable()
    assert reason.encode()


def test_reasons_are_short():
    @metric("chatty")
    def chatty(answer: str) -> float:
        raise ValueError("x" * 100_000)

    @metric("talkative")
    def talkative(answer: str) -> float:
        raise Skip("y" * 100_000)

    for name in ("chatty", "talkative"):
        assert len(scores(samples("a"), name)[0][2]) < 400


def test_an_exception_that_cannot_even_be_printed():
    class WorstError(Exception):
        def __str__(self):
            raise RuntimeError("not even this")

    @metric("worst")
    def worst(answer: str) -> float:
        raise WorstError

    @metric("next_worst")
    def next_worst(answer: str) -> float:
        return Unprintable()

    class Unprintable:
        def __repr__(self):
            raise RuntimeError("nor this")

    assert scores(samples("a"), "worst") == [(None, "failed", "WorstError")]
    assert scores(samples("a"), "next_worst")[0][1] == "failed"


def test_a_metric_that_leaves_the_program_only_leaves_its_cell():
    """Else `sys.exit(0)` deep in somebody's library would end a run with success and nothing stored."""

    @metric("quitter")
    def quitter(answer: str) -> float:
        if answer == "quit":
            sys.exit(0)
        return 1.0

    assert [score[1] for score in scores(samples("a", "quit"), "quitter")] == [OK, "failed"]


def test_ctrl_c_is_nobodys_cell():
    @metric("interrupted")
    def interrupted(answer: str) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scores(samples("a"), "interrupted")


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


def test_async_evidence_waits_together_but_not_more_than_allowed():
    now, most, order = Counter(), [0], []

    @evidence
    async def slow(answer: str) -> str:
        now["waiting"] += 1
        most[0] = max(most[0], now["waiting"])
        await asyncio.sleep(0.01 if answer == "0" else 0.001)
        now["waiting"] -= 1
        order.append(answer)
        return answer

    @metric("echo", bounds=(0, None))
    def echo(slow: str) -> float:
        return float(slow)

    answers = [str(number) for number in range(20)]
    found = scores(samples(*answers), "echo", concurrency=4)
    assert most[0] == 4
    assert [score[0] for score in found] == [float(answer) for answer in answers]
    assert order != answers  # the slow first row did not hold the others up


def test_async_exceptions_stay_with_their_rows():
    @evidence
    async def moody(answer: str) -> str:
        if answer == "bad":
            raise TimeoutError
        if answer == "cancelled":
            raise asyncio.CancelledError  # as libraries do that cancel scopes of their own
        if answer == "skip":
            raise Skip("not today")
        return answer

    @metric("mood")
    def mood(moody: str) -> float:
        return 1.0

    found = scores(samples("a", "bad", "cancelled", "skip"), "mood")
    assert [score[1] for score in found] == [OK, "failed", "failed", "skipped"]
    assert found[1][2] == "TimeoutError"


BEHAVIOURS = {
    "good": (1.0, "ok"),
    "zero": (0.0, "ok"),
    "nan": (float("nan"), "failed"),
    "large": (7.0, "failed"),
    "raise": (ValueError("raised"), "failed"),
    "skip": (Skip("skipped"), "skipped"),
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.sampled_from([*BEHAVIOURS, None]), min_size=1, max_size=12))
def test_every_mix_of_rows_gives_each_row_its_own_status_in_every_shape(catalogue, rows):
    def behave(answer):
        result = BEHAVIOURS[answer][0]
        if isinstance(result, Exception):
            raise result
        return result

    def plain(answer: str) -> float:
        return behave(answer)

    def columnar(answer):
        return np.array([behave(text) for text in answer.to_pylist()])

    def over_evidence(behaviour: float) -> float:
        return behaviour

    async def behaviour(answer: str) -> float:
        await asyncio.sleep(0)
        return behave(answer)

    metric("by_row")(plain)
    metric("by_column", columnar=True)(columnar)
    metric("by_evidence")(over_evidence)
    evidence(behaviour)
    result = walk([Sample(id=str(row), question="q", answer=answer) for row, answer in enumerate(rows)], *names(rows))
    expected = ["skipped" if answer is None else BEHAVIOURS[answer][1] for answer in rows]
    for cells in result.cells.values():
        scored = [cells[row] for row in range(len(rows))]
        assert [score.status for score in scored] == expected
        assert all(score.value in (None, 0.0, 1.0) for score in scored)
        assert all((score.reason is None) == (score.status == "ok") for score in scored)


def names(rows):
    """The metrics that can be planned: none where no row has an answer."""
    return ("by_row", "by_column", "by_evidence") if any(row is not None for row in rows) else ()


def test_one_function_that_needs_nothing():
    @evidence
    def constant() -> int:
        return 1

    @metric("same")
    def same(constant: int) -> float:
        return constant

    assert scores(samples("a", "b"), "same") == [(1.0, OK, None)] * 2
