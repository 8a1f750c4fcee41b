"""A fitted mixture in words and as JSON."""

import json

import pytest

from ragstone.agreement.metric_agreement import Gain, MixtureFit
from ragstone.metrics.mixed import Mixture
from ragstone.report.agreement import formula, mixture_dict, mixture_report, mixture_verdict
from ragstone.stats.intervals import Interval
from tests.report.drawing import draw

SHOWN, UNCLEAR, WORSE = (
    Gain(0.6 + value, value, Interval(*ends))
    for value, *ends in ((0.08, 0.02, 0.14), (0.03, -0.1, 0.15), (-0.1, -0.2, -0.01))
)


def make(fitted, equal=UNCLEAR):
    parts = {"answer_match": 0.7, "token_f1": 0.3}
    return MixtureFit(Mixture("ours", parts), "answer_match", 0.6, fitted, equal, 60, 30, (45, 50))


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (make(SHOWN), "mixed.ours agrees with people better than answer_match: +0.080"),
        (make(UNCLEAR, SHOWN), "The mixture with equal weights agrees with people better than answer_match"),
        (make(UNCLEAR), "No gain is shown: the interval of mixed.ours includes 0 (+0.030"),
        (make(WORSE), "mixed.ours agrees with people less than answer_match: -0.100"),
        (make(Gain(0.63, 0.03, None)), "No gain is shown"),
    ],
)
def test_the_verdict(fit, words):
    assert mixture_verdict(fit).startswith(words)


def test_the_report_has_weights_gains_and_the_file():
    text = " ".join(draw(mixture_report(make(SHOWN), "spearman", "ours.toml"), 160).split())
    assert formula(make(SHOWN)) == "0.70 answer_match + 0.30 token_f1"
    assert formula(make(SHOWN)) in text
    assert "best single score 0.600" in text
    assert "mixed.ours 0.680 +0.080 +0.020 to +0.140" in text
    assert "60 labelled answers to 30 inputs" in text
    assert "in 45 of 50 folds" in text
    assert "Saved in ours.toml." in text


def test_as_json():
    found = json.loads(json.dumps(mixture_dict(make(SHOWN), "ours.toml")))
    assert (found["metric"], found["path"], found["single"]) == ("mixed.ours", "ours.toml", "answer_match")
    assert found["weights"] == {"answer_match": 0.7, "token_f1": 0.3}
    assert found["gain"] == pytest.approx(
        {"agreement": 0.68, "difference": 0.08, "low": 0.02, "high": 0.14, "shown": True}
    )
    assert mixture_dict(make(Gain(0.63, 0.03, None)), "x")["gain"]["low"] is None
