"""Effects of irrelevant changes in words and as JSON."""

import json

import numpy as np
import pytest

from ragstone.agreement.audit_probes import Effect, measure_effects
from ragstone.report.judges import METHOD, effect_dict, effect_words, effects_report
from ragstone.stats.intervals import Interval
from ragstone.stats.paired import Tally
from tests.report.drawing import draw

ABOVE = Interval(0.02, 0.18)


def make(verdict, value=0.1, interval=ABOVE, n=24, task="grades"):
    p = None if verdict == "too few" else 0.01 if verdict == "effect" else 0.6
    return Effect(task, "length", "padded answer", n, Tally(14, 6, 4), value, interval, p, verdict)


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (make("effect"), "padded answer: raises scores in 24 items"),
        (make("effect", -0.1, Interval(-0.18, -0.02)), "padded answer: lowers scores in 24 items"),
        (make("none seen", 0.0, Interval(-0.14, 0.1)), "no effect seen in 24 items (an effect below 0.14 is possible)"),
        (make("none seen", 0.0, None), "padded answer: no effect seen in 24 items"),
        (make("too few", 0.1, None, 3), "padded answer: only 3 items, at least 8 are needed"),
    ],
)
def test_the_result_in_words(effect, words):
    assert effect_words(effect).endswith(words)


def test_one_table_per_task():
    text = draw(effects_report([make("effect"), make("none seen", task="verdicts")]), 200)
    assert text.index("effects on grades") < text.index("effects on verdicts")
    row = next(line for line in text.splitlines() if "✗" in line)
    assert "length" in row
    assert "+0.100" in row
    assert " ".join(METHOD.split()) in " ".join(text.split())


def test_as_json():
    found = json.loads(json.dumps(effect_dict(make("effect"))))
    assert (found["task"], found["effect"], found["items"], found["verdict"]) == ("grades", "length", 24, "effect")
    assert (found["higher"], found["equal"], found["lower"]) == (14, 6, 4)
    assert found["interval"] == [0.02, 0.18]
    assert effect_dict(make("too few", None, None, 0))["interval"] is None


def test_measured_effects_can_be_shown():
    random = np.random.default_rng(1)
    effects = measure_effects("grades", {"length": random.normal(0.3, 0.1, 30).clip(-1, 1), "format": np.zeros(30)})
    text = draw(effects_report(effects), 200)
    assert "raises scores in 30 items" in text
    assert "no effect seen in 30 items" in text
