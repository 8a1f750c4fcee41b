"""Simulated coverage of the intervals of means and corpus scores."""

import pytest
from benchmarks.cases import coverage

SAMPLES, BLEU_SAMPLES = 1000, 400


@pytest.mark.slow
def test_intervals_cover_what_they_claim():
    missed = {}
    for name, size, share in coverage.figures(SAMPLES, BLEU_SAMPLES):
        samples = BLEU_SAMPLES if "BLEU" in name else SAMPLES
        error = 2.5 * (0.05 * 0.95 / samples) ** 0.5
        low, high = coverage.limits(size)
        if not low - error <= share <= high + error:
            missed[name, size] = share
    assert not missed
