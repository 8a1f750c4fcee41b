"""Fits the weights of src/ragstone/analysis/likely_causes.json: how probable each cause is, given that a row is wrong.

    PYTHONPATH=src python training/row_causes.py --rows work/rows.jsonl --run work/status/runs/NAME --name small --out src/ragstone/analysis/likely_causes.json

Rows are samples with `domain`, `wrong` and `kind`, the fault that was planted. Runs of them, as training/row_status.py makes them,
hold what the judge says. A multinomial logistic regression weighs `likely_causes.cause_signs`. The printed figures are of
domains left out: how often the first cause of a row that is not called fine is right.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

import ragstone
from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.fact_causes import declines
from ragstone.analysis.likely_causes import LIKELY, cause_signs
from ragstone.analysis.row_status import judge_row, word_of
from ragstone.analysis.sample_evidence import read_cases

NAMES = [cause.name for cause in LIKELY]
# What was planted, and the cause that names it; refusals and unanswerable questions are known without weights.
PLANTED = {
    "missing chunk": ("missing chunk", "missing_chunk"),
    "wrong passage used": ("outdated document used", "outdated document", "contradicted_by_noise"),
    "misread": (
        *("misread", "wrong number", "contradicts chunk", "swapped entities", "wrong scope", "scope error"),
        "arithmetic error",
    ),
    "hallucinated": ("hallucinated", "hallucinated addition"),
    "ignored": (
        *("ignored", "incomplete", "half right", "answered another question", "not asked for"),
        "ranked too low/not used",
    ),
}
CAUSE_OF = {kind: cause for cause, kinds in PLANTED.items() for kind in kinds}
# Other causes that also tell a person the truth about a fault.
ALSO = {
    "outdated document used": {"misread"},
    "outdated document": {"misread"},
    "contradicted_by_noise": {"misread"},
    "misread": {"wrong passage used"},
    "contradicts chunk": {"wrong passage used"},
    "wrong number": {"wrong passage used", "hallucinated"},
    "swapped entities": {"wrong passage used", "hallucinated"},
    "wrong scope": {"hallucinated", "ignored"},
    "scope error": {"hallucinated", "ignored"},
    "arithmetic error": {"hallucinated"},
    "half right": {"misread", "hallucinated"},
}
_RIDGE = 0.5
_FOLDS = 10


def main() -> None:
    """Read the signs, measure on domains left out, fit and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--run", type=Path, action="append", required=True)
    parser.add_argument("--name", default="small", help="whose weights these are: small or large")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = {row["id"]: row for row in map(json.loads, options.rows.read_text(encoding="utf-8").splitlines())}
    known = []
    for case in (case for run in options.run for case in read_cases(ragstone.open_run(run))):
        row = rows.get(case.sample.id)
        if row and row["wrong"] and row["kind"] in CAUSE_OF and not declines(case) and (signs := cause_signs(case)):
            known.append((signs, row, word_of(judge_row(case, Outcome(case.sample.id)))))
    names = list(known[0][0])
    signs = np.array([[one[name] for name in names] for one, _, _ in known])
    causes = np.array([NAMES.index(CAUSE_OF[row["kind"]]) for _, row, _ in known])
    domains = sorted({row["domain"] for _, row, _ in known})
    folds = np.array([domains.index(row["domain"]) % _FOLDS for _, row, _ in known])
    chances = np.zeros((len(known), len(NAMES)))
    for fold in range(_FOLDS):
        weights = fit(signs[folds != fold], causes[folds != fold])
        chances[folds == fold] = predict(signs[folds == fold], weights)
    figures = describe(chances, causes, known)
    print(options.name, figures)
    whole = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {"weights": {}}
    table = fit(signs, causes).T
    whole["weights"][options.name] = {
        cause: {name: round(float(weight), 3) for name, weight in zip(names, row, strict=True)}
        for cause, row in zip(NAMES, table, strict=True)
    }
    whole.setdefault("left out", {})[options.name] = figures
    options.out.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def fit(signs: np.ndarray, causes: np.ndarray) -> np.ndarray:
    """The weights of each sign (rows) for each cause (columns)."""
    wanted = np.eye(len(NAMES))[causes]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(signs.shape[1], len(NAMES))
        chances = predict(signs, weights)
        cost = -np.log((chances * wanted).sum(axis=1) + 1e-12).sum() + _RIDGE / 2 * (weights**2).sum()
        return float(cost), (signs.T @ (chances - wanted) + _RIDGE * weights).ravel()

    found: np.ndarray = minimize(loss, np.zeros(signs.shape[1] * len(NAMES)), jac=True, method="L-BFGS-B").x
    return found.reshape(signs.shape[1], len(NAMES))


def predict(signs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The probabilities of the causes."""
    odds = signs @ weights
    shares: np.ndarray = np.exp(odds - odds.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def describe(chances: np.ndarray, causes: np.ndarray, known: list[Any]) -> dict[str, Any]:
    """How often the first cause is the planted one, and how often it tells the truth; by how sure it is."""
    first = chances.argmax(axis=1)
    exact = first == causes
    told = exact | np.array(
        [NAMES[cause] in ALSO.get(row["kind"], ()) for cause, (_, row, _) in zip(first, known, strict=True)]
    )
    flagged = np.array([status in ("wrong", "look") for _, _, status in known])
    sure = chances.max(axis=1) >= 0.5
    return {
        "rows": len(known),
        "domains": len({row["domain"] for _, row, _ in known}),
        "exact": round(float(exact.mean()), 3),
        "right": round(float(told[flagged].mean()), 3),
        "right where at least 50 % sure": round(float(told[flagged & sure].mean()), 3),
        "at least 50 % sure": round(float(sure[flagged].mean()), 3),
    }


if __name__ == "__main__":
    main()
