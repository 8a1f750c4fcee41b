import math

import numpy as np
import pytest
from scipy import special

from ragstone.stats.student import student_quantile

FREEDOM = [
    *range(1, 60),
    99,
    199,
    200,
    201,
    499,
    999,
    1_999,
    9_999,
    99_999,
    999_999,
    1e9,
    1.5,
    2.2,
    7.77,
    33.3,
    1_234.5,
]
# The levels of intervals: 51 % to 99.98 %, and their lower ends.
PROBABILITIES = [0.0001, 0.005, 0.025, 0.05, 0.25, 0.45, 0.6, 0.755, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9995, 0.9999]


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_quantiles_equal_those_of_scipy(probability):
    ours = np.array([student_quantile(freedom, probability) for freedom in FREEDOM])
    np.testing.assert_allclose(ours, special.stdtrit(FREEDOM, probability), rtol=1e-12, atol=0)


def test_the_usual_level_is_exact_to_the_last_digits():
    ours = np.array([student_quantile(freedom, 0.975) for freedom in range(1, 3_000)])
    np.testing.assert_allclose(ours, special.stdtrit(np.arange(1, 3_000), 0.975), rtol=1e-14, atol=0)


@pytest.mark.parametrize(
    ("freedom", "probability"),
    [(0.5, 0.975), (3, 1 - 1e-9), (1e6, 1e-7), (1e12, 0.9), (math.inf, 0.975), (9, 0.5), (9, 1.0)],
)
def test_rare_arguments(freedom, probability):
    expected = float(special.stdtrit(freedom, probability))
    assert student_quantile(freedom, probability) == pytest.approx(expected, rel=1e-9)


def test_no_freedom_has_no_quantile():
    assert math.isnan(student_quantile(math.nan, 0.975))
    assert math.isnan(student_quantile(0, 0.975))
