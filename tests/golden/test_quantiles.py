"""Against scipy's exact quantile test: the same order statistics as confidence interval."""

import numpy as np
import pytest
from scipy import stats

from ragstone.stats.quantiles import quantile_interval


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9, 0.95])
@pytest.mark.parametrize("rows", [80, 101, 250, 1000])
def test_intervals_of_scipy(rows, q):
    values = np.random.default_rng(rows).lognormal(size=rows)
    expected = stats.quantile_test(values, q=float(np.quantile(values, q)), p=q).confidence_interval(0.95)
    assert quantile_interval(values, q) == pytest.approx((expected.low, expected.high))
