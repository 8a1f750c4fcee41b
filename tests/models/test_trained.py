"""Trained judges are stored and read without code, and never judge a question that they were trained on."""

import numpy as np
import pytest

from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.models.store import Store
from ragstone.models.trained import Trained, TrainedCard, check_name, open_trained, question_key, save_trained


@pytest.fixture
def judge():
    card = TrainedCard(
        "years", ("length", "overlap"), ("contexts",), {}, 1, 5, 20, {question_key("Known?"): 1}, {"r": 0.5}
    )
    return Trained(card, np.zeros(2), np.ones(2), np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]))


def test_what_is_saved_is_opened(tmp_path, judge):
    store = Store(tmp_path)
    folder = save_trained(judge, store)
    opened = open_trained("trained/years", store)
    assert opened.card == judge.card
    assert opened.signature == judge.signature == open_trained("years", store).signature
    assert str(tmp_path) in folder


def test_a_known_question_is_judged_by_the_fold_that_left_it_out(judge):
    features = np.array([2.0, 0.0])
    second_fold = 1 / (1 + np.exp(2))
    assert judge.predict("Known? ", features) == pytest.approx(second_fold)
    assert judge.predict("New?", features) == pytest.approx(0.5)


def test_broken_and_unknown_judges(tmp_path, judge):
    store = Store(tmp_path)
    with pytest.raises(UnknownNameError, match="ragstone train"):
        open_trained("years", store)
    save_trained(judge, store)
    path = store.get("trained/years").path("judge.json")
    path.write_text(path.read_text().replace('"layout": 1', '"layout": 2'))
    with pytest.raises(StorageError, match="another version"):
        open_trained("years", store)


@pytest.mark.parametrize("name", ["Years", "", "-x", "a b", "trained/"])
def test_invalid_names(name):
    assert check_name("trained/years-2") == "years-2"
    with pytest.raises(UsageError, match="valid judge name"):
        check_name(name)
