import math

import numpy as np
import pytest

from ragstone.errors import InputError, UnknownNameError
from ragstone.truth.harvest.signals import FEATURES, VERDICTS, Weights, load_weights, save_weights


def probability(weights, features):
    return weights.probabilities(np.array([[features.get(name, 0.0) for name in FEATURES]]))[0]


def verdict(weights, value, has_signal):
    return VERDICTS[weights.verdicts(np.array([value]), np.array([has_signal]))[0]]


def test_log_odds_are_added_up():
    weights = Weights()
    assert probability(weights, {"like": 1.0}) == pytest.approx(1 / (1 + math.exp(-3.0)))
    assert probability(weights, {"like": 1.0, "complaint": 1.0}) == pytest.approx(1 / (1 + math.exp(-0.8)))
    assert probability(weights, {"like": 1.0, "dislike": 1.0}) == pytest.approx(0.5)
    assert probability(weights, {"reading_time": -1.0}) == pytest.approx(1 / (1 + math.exp(0.5)))
    assert probability(Weights(prior=-1.0), {}) == pytest.approx(1 / (1 + math.exp(1.0)))
    assert probability(Weights({"like": 5000.0}), {"like": 1.0}) == 1.0


def test_the_verdict_of_each_signal_alone():
    weights = Weights()
    alone = {name: verdict(weights, probability(weights, {name: 1.0}), has_signal=True) for name in FEATURES}
    assert alone == {
        "like": "good",
        "dislike": "bad",
        "copy": "unclear",
        "regenerate": "bad",
        "reading_time": "unclear",
        "thanks": "good",
        "complaint": "bad",
    }
    assert verdict(weights, 0.99, has_signal=False) == "unclear"


def test_many_at_once():
    features = np.eye(len(FEATURES))
    found = Weights().probabilities(features)
    assert found == pytest.approx([probability(Weights(), {name: 1.0}) for name in FEATURES])


def test_weights_come_back_from_their_file(tmp_path):
    path = str(tmp_path / "weights.toml")
    weights = Weights({name: number * 0.1 + 1e-17 for number, name in enumerate(FEATURES)}, -0.3, 0.9, 0.05)
    save_weights(weights, path, "learned from 12 labels")
    assert load_weights(path) == weights
    assert "# learned from 12 labels" in (tmp_path / "weights.toml").read_text()


def test_a_file_may_name_a_few(tmp_path):
    path = tmp_path / "weights.toml"
    path.write_text("good_from = 0.7\n[weights]\ncopy = 2\n")
    found = load_weights(str(path))
    assert found.weights == {**Weights().weights, "copy": 2.0}
    assert (found.good_from, found.bad_up_to) == (0.7, 0.2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("like = ", "is not TOML"),
        ("[weights]\nlike = 'much'", "like: must be a number, got 'much'"),
        ("[weights]\nlike = nan", "like: must be a number, got nan"),
        ("good_from = 0.1", "bad_up_to must be below good_from"),
    ],
)
def test_a_broken_file_is_told(tmp_path, content, message):
    path = tmp_path / "weights.toml"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        load_weights(str(path))


def test_an_unknown_signal_is_told(tmp_path):
    path = tmp_path / "weights.toml"
    path.write_text("[weights]\nlikes = 3\n")
    with pytest.raises(UnknownNameError, match=r"unknown signal 'likes'\. Did you mean like"):
        load_weights(str(path))
