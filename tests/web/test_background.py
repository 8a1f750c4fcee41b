"""Work in the background: made once, kept for a while, tried again after a failure."""

import threading

import pytest

from ragstone.web.background import BackgroundCache


@pytest.fixture
def kept():
    found = BackgroundCache(2)
    yield found
    found.close()


def test_a_value_is_made_once_however_many_ask(kept):
    made = []
    gate = threading.Event()

    def make():
        made.append(1)
        gate.wait(5)
        return "value"

    assert kept.peek("key", make, 0.01) is None
    assert kept.peek("key", make, 0.01) is None
    gate.set()
    assert kept.get("key", make) == "value"
    assert kept.peek("key", make) == "value"
    assert made == [1]


def test_the_least_used_is_forgotten(kept):
    made = []
    for key in "abacab":
        kept.get(key, lambda key=key: made.append(key) or key)
    assert made == ["a", "b", "c", "b"]


def test_what_failed_is_tried_again(kept):
    answers = iter([ValueError("no"), "value"])

    def make():
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found

    with pytest.raises(ValueError, match="no"):
        kept.get("key", make)
    assert kept.get("key", make) == "value"


def test_work_that_itself_runs_out_of_time_is_no_waiting(kept):
    def make():
        raise TimeoutError("the bucket does not answer")

    with pytest.raises(TimeoutError, match="bucket"):
        kept.peek("key", make, 5)
