"""Metrics that are made from all rows together: their summary, and what happens when that fails."""

import math

import numpy as np
import pytest

import ragstone
from ragstone.errors import Skip
from ragstone.registry import Corpus, evidence, metric

pytestmark = pytest.mark.usefixtures("catalogue")

DATA = [{"id": str(number), "question": "q", "answer": "x" * number} for number in range(1, 6)]


def summarise(score, additive=True, of=lambda answer: [float(len(answer)), 1.0]):
    @evidence
    def statistics(answer: str) -> list[float]:
        return of(answer)

    @metric("pooled", bounds=(0, None), corpus=Corpus("statistics", score, additive))
    def pooled(statistics: list[float]) -> float:
        return statistics[0]

    [row] = ragstone.evaluate([*DATA, {"id": "none", "question": "q"}], "pooled").summary()
    assert (row.n_ok, row.n_skipped, row.n_failed) == (5, 1, 0)
    return row


def test_statistics_are_summed_before_they_are_scored():
    row = summarise(lambda sums: sums[..., 0] / sums[..., 1])
    assert row.mean == pytest.approx(3.0)
    assert row.ci_low <= 3.0 <= row.ci_high
    assert row.reason.startswith("no answer")


def test_scores_of_all_rows_at_once():
    row = summarise(lambda rows: float(np.mean([values[0] for values in rows])), additive=False)
    assert row.mean == pytest.approx(3.0)
    assert row.ci_low < 3.0 < row.ci_high


@pytest.mark.parametrize("additive", [True, False])
@pytest.mark.parametrize(
    ("score", "reason"),
    [
        (lambda _: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda _: "text", "ValueError"),
        (lambda _: math.nan, "not a number"),
        (lambda _: math.inf, "not a number"),
    ],
)
def test_a_score_that_fails_is_no_number_and_loses_no_run(score, reason, additive):
    row = summarise(score, additive)
    assert (row.mean, row.ci_low, row.ci_high) == (None, None, None)
    assert reason in row.reason
    assert "no answer" in row.reason


def test_statistics_of_differing_lengths():
    row = summarise(lambda sums: sums[..., 0], of=lambda answer: [1.0] * len(answer))
    assert row.mean is None
    assert "1 to 5 numbers" in row.reason


def test_rows_without_a_score_do_not_count():
    @evidence
    def statistics(answer: str) -> list[float]:
        return [float(len(answer)), 1.0]

    @metric("pooled", bounds=(0, None), corpus=Corpus("statistics", lambda sums: sums[..., 0] / sums[..., 1]))
    def pooled(statistics: list[float]) -> float:
        if statistics[0] == 5:
            raise ragstone.Skip("too long")
        return statistics[0]

    [row] = ragstone.evaluate(DATA, "pooled").summary()
    assert (row.mean, row.n_ok, row.n_skipped) == (2.5, 4, 1)


def test_reasons_beyond_two_are_counted():
    @metric("picky")
    def picky(answer: str) -> float:
        raise Skip(f"reason {min(len(answer), 4)}")

    [row] = ragstone.evaluate(DATA, "picky").summary()
    assert row.reason == "reason 4 (2 rows); reason 1 (1 row); 2 other reasons (2 rows)"
