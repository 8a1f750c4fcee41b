"""The values that metrics return for a batch: what counts as a score and what fails the cell."""

import numpy as np
import pytest

from ragstone.registry import evidence, metric
from tests.engine.batch import samples, scores, walk

pytestmark = pytest.mark.usefixtures("catalogue")

OK = "ok"


@pytest.mark.parametrize(
    ("returned", "status", "reason"),
    [
        (None, "skipped", "None"),
        (float("nan"), "failed", "not a number"),
        (float("inf"), "failed", "not a number"),
        (np.float64("-inf"), "failed", "not a number"),
        (1.5, "failed", "1.5, which is outside 0.0 to 1.0"),
        (-0.1, "failed", "outside"),
        ("0.5", "failed", "'0.5', not a number"),
        ([0.5], "failed", "not a number"),
        ({}, "failed", "not a number"),
        (1 + 0j, "failed", "not a number"),
        (np.complex128(1), "failed", "not a number"),
        pytest.param(10**400, "failed", "too large", id="10**400"),
    ],
)
def test_what_is_no_score_never_becomes_one(returned, status, reason):
    @metric("odd")
    def odd(answer: str) -> float:
        return returned if answer == "odd" else 1.0

    good, bad = scores(samples("fine", "odd"), "odd")
    assert good == (1.0, OK, None)
    assert bad[:2] == (None, status)
    assert reason in bad[2]


@pytest.mark.parametrize("returned", [1, True, np.float32(1), np.int8(1), np.bool_(True)])
def test_every_kind_of_number_is_one(returned):
    @metric("one")
    def one(answer: str) -> float:
        return returned

    assert scores(samples("a"), "one") == [(1.0, OK, None)]


@pytest.mark.parametrize("value", [1 + 1e-12, -1e-12])
def test_rounding_beyond_the_bounds_is_forgiven_and_cut(value):
    @metric("close")
    def close(answer: str) -> float:
        return value

    [(found, status, _)] = scores(samples("a"), "close")
    assert status == OK
    assert 0.0 <= found <= 1.0


@pytest.mark.parametrize(
    "returned",
    [
        np.array([1.0]),
        np.ones((2, 1)),
        np.array(["a", "b"]),
        1.0,
        None,
        "ab",
        {"a": 1, "b": 2},
        np.array([1j, 2j]),
    ],
    ids=repr,
)
def test_a_columnar_metric_must_return_a_number_for_each_row(returned):
    @metric("odd", columnar=True)
    def odd(answer):
        return returned

    found = scores(samples("a", "b"), "odd")
    lucky = isinstance(returned, np.ndarray) and returned.shape == (1,)  # a column of one row fits one row
    assert [score[1] for score in found] == ([OK] * 2 if lucky else ["failed"] * 2)


def test_a_columnar_metric_may_return_what_it_must_not_change():
    """Arrow's arrays and numpy's broadcasts are read-only."""

    @metric("constant", columnar=True)
    def constant(answer):
        return np.broadcast_to(1.0, len(answer))

    assert scores(samples("a", "b"), "constant") == [(1.0, OK, None)] * 2


def test_checking_a_metric_does_not_touch_the_evidence_under_it():
    @evidence(columnar=True, transient=True)
    def lengths(answer):
        return np.array([float(len(text)) for text in answer.to_pylist()])

    @metric("share", columnar=True)
    def share(lengths):
        return lengths

    @metric("total", columnar=True, bounds=(0, None))
    def total(lengths):
        return lengths

    result = walk(samples("a", "four"), "share", "total")
    assert result.cells["share"].status.tolist() == [0, 2]
    assert result.cells["total"].values.tolist() == [1.0, 4.0]
