"""Optimal transport: the least work that moves one heap of weights onto another."""

from __future__ import annotations

import numpy as np

_TINY = 1e-12


def transport_cost(supply: np.ndarray, demand: np.ndarray, costs: np.ndarray) -> float:
    """The least mean cost of moving the supplies onto the demands, each taken as shares of their sum; exact.

    `costs` has a row a supply and a column a demand.
    """
    if not supply.sum() > 0 or not demand.sum() > 0:
        raise ValueError("there must be something to move, and somewhere to move it")
    from scipy import optimize, sparse  # noqa: PLC0415  (slow to import)

    supply, demand = supply / supply.sum(), demand / demand.sum()
    rows, columns = costs.shape
    if rows == columns and np.ptp(supply) < _TINY and np.ptp(demand) < _TINY:
        # Equal weights: each goes whole to one other.
        return float(costs[optimize.linear_sum_assignment(costs)].mean())
    leaving = sparse.kron(sparse.eye(rows), np.ones((1, columns)))
    arriving = sparse.kron(np.ones((1, rows)), sparse.eye(columns))
    # The last demand follows from the rest; with it rounding could leave no solution.
    constraints = sparse.vstack([leaving, arriving.tocsr()[:-1]], format="csr")
    bounds = np.concatenate([supply, demand[:-1]])
    found = optimize.linprog(costs.ravel(), A_eq=constraints, b_eq=bounds, method="highs")
    if found.status != 0:
        raise ArithmeticError(f"no solution was found: {found.message}")
    return float(found.fun)
