"""A mixture gains where scores complement each other, and its interval includes 0 for noise."""

from dataclasses import replace

import numpy as np
import pytest

from ragstone.agreement.labels import Label, Labels, join
from ragstone.agreement.metric_agreement import Settings, fit_mixture, fit_weights
from ragstone.engine.evaluate import evaluate
from ragstone.errors import UsageError
from ragstone.report.agreement import mixture_dict, mixture_verdict
from ragstone.storage.run_info import MetricInfo

PARTS = ("token_f1", "token_recall", "rouge_1")


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    rows = [{"id": "0", "question": "q", "answer": "a", "references": ["a"]}]
    run = evaluate(rows, PARTS, tmp_path_factory.mktemp("runs"))
    return join([run], Labels("labels", (Label("0", 1.0),), 0))


def made(empty, scores, labels, inputs=None):
    """Labelled rows with these scores."""
    rows = len(labels)
    names = PARTS[: scores.shape[1]]
    return replace(
        empty,
        metrics=tuple(MetricInfo.declare(name) for name in names),
        systems=np.zeros(rows, dtype=int),
        places=np.zeros(rows, dtype=int),
        inputs=np.arange(rows) if inputs is None else inputs,
        ratings=np.asarray(labels, dtype=float)[:, None],
        rounds=np.zeros(rows, dtype=int),
        chances=np.full(rows, np.nan),
        scores=dict(zip(names, scores.T, strict=True)),
    )


def world(random, rows, *strengths):
    """Labels of 0 and 1, and scores that follow what is behind them this strongly."""
    behind = random.normal(size=rows)
    scores = np.column_stack([strength * behind + random.normal(size=rows) for strength in strengths])
    scores = (scores - scores.min(axis=0)) / np.ptp(scores, axis=0)
    return scores, (behind + 0.5 * random.normal(size=rows) > 0).astype(float)


def test_weights_are_not_negative_and_sum_to_one():
    random = np.random.default_rng(0)
    for strengths in ((1, 1, -2), (0, 0, 0), (3, 0.1, 0)):
        weights = fit_weights(*world(random, 80, *strengths))
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1)
    assert fit_weights(*world(random, 80, 1, 1, -2))[2] == 0


def test_equal_weights_where_nothing_predicts_the_labels():
    scores = np.column_stack([np.arange(40.0), np.arange(40.0)]) / 40
    assert fit_weights(scores, -np.arange(40.0)).tolist() == [0.5, 0.5]
    assert fit_weights(np.ones((40, 2)), np.arange(40.0)).tolist() == [0.5, 0.5]


def test_scores_that_complement_each_other_gain(empty):
    scores, labels = world(np.random.default_rng(1), 400, 1, 1, 1)
    fit = fit_mixture(made(empty, scores, labels), "ours", Settings())
    assert fit.fitted.shown
    assert fit.fitted.difference > 0.05
    assert "agrees with people better than" in mixture_verdict(fit)
    assert mixture_dict(fit, "ours.toml")["gain"]["shown"] is True


def test_the_verdict_says_that_the_interval_includes_0(empty):
    scores, labels = world(np.random.default_rng(2), 60, 1, 0)
    fit = fit_mixture(made(empty, scores, labels), "ours", Settings())
    assert not fit.fitted.shown
    assert "includes 0" in mixture_verdict(fit)
    assert fit.single == PARTS[0]


@pytest.mark.slow
@pytest.mark.parametrize("strengths", [(0, 0, 0), (1.5, 0)], ids=["noise", "one score and noise"])
def test_the_interval_includes_0_if_there_is_nothing_to_gain(empty, strengths):
    """Simulated: the share of intervals that are above 0 is at most 2.5 %, with room for 30 simulations."""
    random, above, outside, times = np.random.default_rng(3), 0, 0, 30
    for _ in range(times):
        fit = fit_mixture(made(empty, *world(random, 50, *strengths)), "ours", Settings())
        above += fit.fitted.interval.low > 0
        outside += fit.fitted.interval.low > 0 or fit.fitted.interval.high < 0
    assert above <= 3
    assert outside <= 4


def test_rows_of_an_input_stay_together(empty):
    """Ten inputs, each six times: as folds of rows these labels could be learned by heart."""
    scores, labels = world(np.random.default_rng(4), 60, 0, 0)
    with pytest.raises(UsageError, match="to 9 inputs"):
        fit_mixture(made(empty, scores, labels, np.arange(60) % 9), "ours", Settings())
    assert fit_mixture(made(empty, scores, labels, np.arange(60) % 10), "ours", Settings()).inputs == 10


def test_too_little_to_fit(empty):
    scores, labels = world(np.random.default_rng(5), 60, 1, 1)
    with pytest.raises(UsageError, match=r"mixed\.equal needs no labels"):
        fit_mixture(made(empty, scores[:20], labels[:20]), "ours", Settings())
    with pytest.raises(UsageError, match="2 to 4 parts, got 1"):
        fit_mixture(made(empty, scores[:, :1], labels), "ours", Settings())
    with pytest.raises(UsageError, match="different labels"):
        fit_mixture(made(empty, scores, np.ones(60)), "ours", Settings())
