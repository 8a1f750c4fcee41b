"""Functions of three shapes over rows, and whose fault is whose: a row's failure stays with the row."""

import asyncio
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
