"""Optimal transport: the exact values of POT, and the laws of a distance."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import Skip
from ragstone.metrics.token_similarity import transport_cost

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 9)


def heaps(seed, rows, columns):
    draw = np.random.default_rng(seed)
    left, right = draw.normal(size=(rows, 3)), draw.normal(size=(columns, 3))
    distances = np.linalg.norm(left[:, None] - right[None], axis=2)
    return draw.random(rows) + 0.01, draw.random(columns) + 0.01, distances


def test_by_hand():
    # Two thirds stay where they are, one third goes from 0 to 1.
    costs = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert transport_cost(np.array([2.0, 1.0]), np.array([1.0, 2.0]), costs) == pytest.approx(1 / 3)


@given(seeds, sizes, sizes)
def test_it_is_what_pot_finds(seed, rows, columns):
    ot = pytest.importorskip("ot")
    supply, demand, costs = heaps(seed, rows, columns)
    expected = ot.emd2(supply / supply.sum(), demand / demand.sum(), costs)
    assert transport_cost(supply, demand, costs) == pytest.approx(expected, abs=1e-9)


@given(seeds, sizes)
def test_equal_weights_are_what_pot_finds(seed, size):
    ot = pytest.importorskip("ot")
    *_, costs = heaps(seed, size, size)
    even = np.ones(size)
    assert transport_cost(even, even, costs) == pytest.approx(ot.emd2(even / size, even / size, costs), abs=1e-9)


@given(seeds, sizes, sizes)
def test_it_is_symmetric_and_within_its_costs(seed, rows, columns):
    supply, demand, costs = heaps(seed, rows, columns)
    found = transport_cost(supply, demand, costs)
    assert found == pytest.approx(transport_cost(demand, supply, costs.T), abs=1e-9)
    assert costs.min() - 1e-9 <= found <= costs.max() + 1e-9
    assert found == pytest.approx(transport_cost(supply * 7, demand / 3, costs), abs=1e-9)


def test_nothing_to_move():
    with pytest.raises(ValueError, match="positive sum"):
        transport_cost(np.zeros(2), np.ones(1), np.ones((2, 1)))


def test_without_scipy_the_cell_names_the_install_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(Skip, match=r"pip install 'ragstone\[metrics\]'"):
        transport_cost(np.ones(2), np.ones(1), np.ones((2, 1)))
