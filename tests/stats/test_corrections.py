"""Corrections for many tests: equal to statsmodels', no test stays no test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from ragstone.stats.corrections import correct

P = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("bh", "fdr_bh")])
@given(p=P)
def test_equals_statsmodels(ours, theirs, p):
    assert correct(np.array(p), ours) == pytest.approx(multipletests(p, method=theirs)[1])


@given(P)
def test_no_correction_makes_p_smaller(p):
    for correction in ("holm", "bh", "none"):
        assert (correct(np.array(p), correction) >= np.array(p) - 1e-15).all()


def test_what_was_not_tested_does_not_count():
    assert correct(np.array([0.01, np.nan, 0.04]), "holm") == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert correct(np.array([np.nan]), "bh") == pytest.approx([np.nan], nan_ok=True)
    assert len(correct(np.zeros(0))) == 0


def test_holm_keeps_false_alarms_of_the_whole_family_below_the_level():
    p = np.random.default_rng(2).random((4000, 20))
    alarms = [(correct(row) < 0.05).any() for row in p]
    assert 0.03 <= np.mean(alarms) <= 0.07
    assert np.mean((p < 0.05).any(axis=1)) > 0.5
