import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.stats.weighted import weighted_mean
from ragstone.truth.harvest.pipeline import draw, shares

VERDICTS = ("good", "bad", "unclear")


def columns_of(random, n):
    return {
        "deployment": (random.integers(0, 2, n), ["a", "b"]),
        "language": (random.integers(0, 3, n), ["en", "de", "fr"]),
    }


@given(st.lists(st.integers(0, 500), min_size=1, max_size=30), st.data())
def test_shares_sum_up_and_keep_to_their_bounds(sizes, data):
    sizes = np.array(sizes)
    n = data.draw(st.integers(0, int(sizes.sum())))
    floor = data.draw(st.integers(0, 3))
    floors = np.minimum(sizes, floor)
    found = shares(sizes, n, floors)
    assert found.sum() == n
    assert (found <= sizes).all()
    assert (found >= 0).all()
    if floors.sum() <= n:
        assert (found >= floors).all()
    # A larger one never gets less.
    order = np.argsort(sizes, kind="stable")
    assert (np.diff(found[order]) >= -1).all()


def test_shares_by_hand():
    assert shares(np.array([600, 300, 100]), 10, np.zeros(3, dtype=int)).tolist() == [6, 3, 1]
    assert shares(np.array([900, 90, 10]), 10, np.array([2, 2, 2])).tolist() == [6, 2, 2]
    assert shares(np.array([5, 1]), 6, np.array([1, 1])).tolist() == [5, 1]
    assert shares(np.array([0, 7]), 3, np.array([0, 2])).tolist() == [0, 3]


@given(st.integers(1, 300), st.integers(1, 400), st.integers(0, 5))
def test_weights_add_up_to_the_whole_log(size, n, seed):
    random = np.random.default_rng(seed)
    classes = random.choice(3, size, p=[0.1, 0.05, 0.85])
    found = draw(classes, VERDICTS, columns_of(random, size), n, seed)
    assert len(found.rows) == min(n, size) == len(np.unique(found.rows))
    assert sum(stratum.size for stratum in found.strata) <= size
    weights = np.array([found.strata[place].weight for place in found.stratum_of])
    if sum(stratum.size for stratum in found.strata) == size:
        assert weights.sum() == pytest.approx(size)
    assert (weights >= 1 - 1e-12).all()
    for number, stratum in enumerate(found.strata):
        assert (found.stratum_of == number).sum() == stratum.drawn
        # Every draw is of the class that its stratum names.
        assert {VERDICTS[code] for code in classes[found.rows[found.stratum_of == number]]} == {
            stratum.name.split(" · ")[0]
        }


def test_classes_that_are_rare_get_a_quarter_where_there_are_as_many():
    classes = np.array([0] * 100 + [1] * 10 + [2] * 9890)
    found = draw(classes, VERDICTS, {}, 80, 0)
    assert [(stratum.name, stratum.size, stratum.drawn) for stratum in found.strata] == [
        ("good", 100, 20),
        ("bad", 10, 10),
        ("unclear", 9890, 50),
    ]


def test_strata_are_as_fine_as_two_draws_for_each_allow():
    random = np.random.default_rng(0)
    columns = columns_of(random, 6000)
    classes = np.full(6000, 2)
    assert len(draw(classes, VERDICTS, columns, 100, 0).strata) == 6
    assert len(draw(classes, VERDICTS, columns, 11, 0).strata) == 2
    assert [stratum.name for stratum in draw(classes, VERDICTS, columns, 3, 0).strata] == ["unclear"]


def test_the_same_seed_draws_the_same():
    random = np.random.default_rng(0)
    classes, columns = random.integers(0, 3, 1000), columns_of(random, 1000)
    first, again, other = (draw(classes, VERDICTS, columns, 50, seed) for seed in (1, 1, 2))
    assert first.rows.tolist() == again.rows.tolist()
    assert first.rows.tolist() != other.rows.tolist()


def test_the_weighted_mean_recovers_that_of_the_log_and_its_interval_covers_it():
    """The classes differ widely in quality and are drawn at very different rates, so that the plain mean is far off."""
    random = np.random.default_rng(3)
    size = 20_000
    classes = random.choice(3, size, p=[0.04, 0.03, 0.93])
    columns = columns_of(random, size)
    quality = np.array([0.95, 0.15, 0.7])[classes] - 0.2 * columns["deployment"][0]
    values = (random.random(size) < quality).astype(float)
    truth = values.mean()
    means, plain, covered, reaches = [], [], 0, []
    for seed in range(200):
        found = draw(classes, VERDICTS, columns, 200, seed)
        weights = np.array([found.strata[place].weight for place in found.stratum_of])
        estimate = weighted_mean(values[found.rows], weights, found.stratum_of)
        means.append(estimate.mean)
        plain.append(values[found.rows].mean())
        covered += estimate.interval.low <= truth <= estimate.interval.high
        reaches.append(estimate.interval.high - estimate.mean)
    assert np.mean(means) == pytest.approx(truth, abs=4 * np.std(means) / 200**0.5)
    assert abs(np.mean(plain) - truth) > 0.04
    # 95 % of 200, within three standard errors of a share.
    assert covered / 200 == pytest.approx(0.95, abs=0.046)
    # The interval is as wide as the estimates scatter.
    assert np.mean(reaches) == pytest.approx(1.97 * np.std(means), rel=0.15)
