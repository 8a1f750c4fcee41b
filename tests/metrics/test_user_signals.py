import pytest

import ragstone
from ragstone.data.types import Sample
from ragstone.text.feedback import WEIGHTS, features_of, reading_tilt
from ragstone.truth.harvest.signals import confidence_of
from tests.metrics.scoring import cell, score


def rate(metadata, spelled="like_rate", answer="one two three four"):
    return cell(Sample("a", "q", answer, metadata=metadata), spelled)


def signals(**found):
    return {"signals": found}


def test_likes_and_dislikes_alone_give_the_plain_rate():
    assert rate(signals(like=1)).value == 1.0
    assert rate(signals(dislike=1)).value == 0.0
    samples = [
        Sample(str(n), "q", "a", metadata=signals(**{kind: 1})) for n, kind in enumerate(["like"] * 3 + ["dislike"])
    ]
    assert [found.value for found in score(samples, "like_rate")["like_rate"]] == [1.0, 1.0, 1.0, 0.0]


def test_each_signal_counts_with_its_confidence():
    assert rate(signals(like=1, regenerate=1)).value == pytest.approx(3.0 / 4.5)
    assert rate(signals(copy=1, next_message="That's wrong.")).value == pytest.approx(1.2 / 3.4)
    assert rate(signals(next_message="Thank you!")).value == 1.0
    assert rate(signals(like=1, regenerate=1), "like_rate(regenerate=0)").value == 1.0
    # Four words are read in two seconds: half a second is a quarter of that.
    assert rate(signals(reading_time=0.5, like=1)).value == pytest.approx(3.0 / 3.5)
    assert rate(signals(reading_time=2.0)).value == 1.0


@pytest.mark.parametrize(
    ("value", "expected"), [(True, 1.0), (False, 0.0), ("up", 1.0), ("down", 0.0), (1, 1.0), (-1, 0.0)]
)
def test_a_rating_kept_elsewhere_in_the_metadata(value, expected):
    assert rate({"rating": value}).value == expected


@pytest.mark.parametrize(
    "metadata",
    [
        {"topic": "x"},
        signals(next_message="And in winter?"),
        signals(like=0),
        {"rating": "4 stars"},
        {"signals": [1]},
        signals(like="x"),
    ],
)
def test_an_answer_without_a_signal_is_skipped(metadata):
    found = rate(metadata)
    assert (found.status, found.reason) == ("skipped", "no user signal")


def test_weights_of_nothing_leave_nothing():
    assert rate(signals(like=1), "like_rate(like=0)").status == "skipped"
    assert rate(signals(like=1), "like_rate(copy=-1)").status == "failed"


def test_the_time_to_read():
    assert reading_tilt(10.0, 40) == 1.0
    assert reading_tilt(5.0, 40) == 0.0
    assert reading_tilt(2.5, 40) == -1.0
    assert reading_tilt(0.0, 40) == -1.0
    assert reading_tilt(30.0, 40) == 1.0
    assert reading_tilt(101.0, 40) is None
    assert reading_tilt(-1.0, 40) is None
    assert reading_tilt(float("nan"), 40) is None
    # Nobody reads a word in a quarter of a second.
    assert reading_tilt(1.0, 1) == 0.0


def test_features_come_from_what_was_seen():
    assert features_of([("like", None), ("copy", 2), ("reading_time", 1000.0)], 10) == {"like": 1.0, "copy": 1.0}
    assert features_of([("unknown", 1)], 10) == {}


def test_a_confidence_is_the_probability_of_being_right_alone():
    assert confidence_of(WEIGHTS["like"]) == pytest.approx(0.9526, abs=1e-4)
    assert confidence_of(WEIGHTS["dislike"]) == confidence_of(WEIGHTS["like"])
    assert confidence_of(0) == 0.5


def test_a_plain_run_leaves_it_out():
    """Any metadata would do for it, and an empty metric would keep gates and comparisons from a verdict."""
    row = {"question": "q", "answer": "a", "metadata": {"topic": "port"}}
    assert "like_rate" not in [found["metric"] for found in ragstone.evaluate([row]).info["metrics"]]
