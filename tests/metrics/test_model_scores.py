"""answer_reward is the logistic of a reward model's number; toxicity is a probability already."""

import math

import pytest

from ragstone.data.types import Sample
from ragstone.metrics.model_scores import answer_reward
from tests.metrics.scoring import cell


@pytest.mark.parametrize(("reward", "value"), [(0, 0.5), (math.log(3), 0.75), (-math.log(3), 0.25), (40, 1.0)])
def test_the_logistic(reward, value):
    assert answer_reward(reward) == pytest.approx(value)


@pytest.mark.parametrize("reward", [1e308, -1e308, 700.0, -700.0, -710.0])
def test_no_number_is_too_large(reward):
    assert 0 <= answer_reward(reward) <= 1


def test_of_a_sample():
    # The reward model of the tests: 5 less a tenth of the difference in length.
    told = Sample("s", "Where?", "On the MOLE.")
    assert cell(told, "answer_reward").value == pytest.approx(1 / (1 + math.exp(-(5 - 0.6))))
    assert cell(told, "toxicity").value == pytest.approx(5 / 12)


@pytest.mark.parametrize("metric", ["answer_reward", "toxicity"])
def test_an_empty_answer_is_skipped(metric):
    assert cell(Sample("s", "Where?", " "), metric).reason == "the answer is empty"
