"""Fits the weights of src/ragstone/analysis/row_status.json: how probable it is that a row is wrong.

    PYTHONPATH=src python training/row_status.py --rows work/rows.jsonl --judge local --out src/ragstone/analysis/row_status.json

Rows are samples with `domain` and `wrong`. They are evaluated with the judge (`--store` keeps the run), each is described by
`row_status.signs_of`, and a logistic regression is fitted for each set of kinds of evidence: chunks and references, chunks
alone, references alone. Wrong rows are weighted so that they are 30 %. The printed figures are of domains left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import ragstone
from ragstone.analysis.fact_causes import declines
from ragstone.analysis.row_status import INVENTED, INVENTED_WRONG, has_no_answer, signs_of
from ragstone.analysis.sample_evidence import read_cases

CHUNKS = ("chunks_mean", "chunks_least", "chunks_all", "chunks_denied", "claims")
REFERENCE = ("match", "said_mean", "extra_mean", "words", "numbers_left_out", "extra_least", "longer")
BOTH = ("either_least", "either_all", "chunks_all", "chunks_denied", "claims", "reference_found")
# More of these makes a row worse, more of the others better; the last say how much there is to read and whether the reference is confirmed.
WORSE, NEITHER = ("numbers_left_out", "chunks_denied"), ("longer", "claims", "reference_found")
KINDS = {
    "chunks and references": (*REFERENCE, *BOTH),
    "chunks and references, without answer_match": (*REFERENCE[1:], *BOTH),
    "references": REFERENCE,
    "references, without answer_match": REFERENCE[1:],
    "chunks": CHUNKS,
    "match": ("match", "words", "numbers_left_out"),
}
_PRIOR = 0.3
_FOLDS = 10
_LEAST_RIGHT = 0.8
_FIELDS = ("id", "question", "contexts", "answer", "references")


def main() -> None:
    """Evaluate, fit, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--judge", default="local")
    parser.add_argument("--name", default="small", help="whose weights these are: small or large")
    parser.add_argument(
        "--run", type=Path, action="append", default=[], help="runs of these rows, instead of evaluating"
    )
    parser.add_argument("--store", type=Path, default=Path("work/status"))
    parser.add_argument("--limits", type=float, nargs=2, default=(0.2, 0.75))
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = {row["id"]: row for row in map(json.loads, options.rows.read_text(encoding="utf-8").splitlines())}
    runs = [ragstone.open_run(place) for place in options.run]
    if not runs:
        data = [{name: row[name] for name in _FIELDS if name in row} for row in rows.values()]
        runs = [ragstone.evaluate(data, None, options.store, judge=options.judge)]
    cases = [case for run in runs for case in read_cases(run) if case.sample.id in rows]
    known = [(signs_of(case), rows[case.sample.id]) for case in cases if not declines(case) and not has_no_answer(case)]
    models = {}
    for kind, names in KINDS.items():
        chosen = [(signs, row) for signs, row in known if signs.keys() >= set(names)]
        models[kind] = fit_and_measure(kind, names, chosen, options.limits, INVENTED[options.name])
    whole = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {"models": {}}
    whole["limits"] = list(options.limits)
    whole["models"][options.name] = models
    options.out.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def fit_and_measure(
    kind: str, names: tuple[str, ...], rows: list[Any], limits: tuple[float, float], invented: float
) -> dict[str, Any]:
    """The weights by name; prints what they give for domains left out."""
    signs = np.array([[one[name] for name in names] for one, _ in rows])
    wrong = np.array([row["wrong"] for _, row in rows], dtype=float)
    domains = np.array([row["domain"] for _, row in rows])
    order = np.random.default_rng(0).permutation(sorted(set(domains)))
    fold = {domain: place % _FOLDS for place, domain in enumerate(order)}
    folds = np.array([fold[domain] for domain in domains])
    said = np.zeros(len(rows))
    for number in range(_FOLDS):
        weights = fit_by_meaning(names, signs[folds != number], wrong[folds != number])
        said[folds == number] = predict(signs[folds == number], weights)
    # The fit is too sure of domains that it did not see: its odds are scaled to what was true there.
    shift, scale = fit(np.log(said / (1 - said))[:, None], wrong, 0.0)
    said = predict(np.log(said / (1 - said))[:, None], np.array([shift, scale]))
    # As in row_status: a claim that nothing supports is never fine.
    unsupported = (
        signs[:, names.index("either_least")] < invented if "either_least" in names else np.zeros(len(rows), bool)
    )
    said = np.where(unsupported, np.maximum(said, INVENTED_WRONG), said)
    figures = describe(said, wrong, limits)
    print(f"{kind}: {len(rows)} rows of {len(fold)} domains: {figures}")
    bias, *weights = fit_by_meaning(names, signs, wrong) * scale + np.array([shift, *[0.0] * len(names)])
    # Where the highest probabilities were not right often enough, a row is never called wrong.
    most = 0.99 if figures["wrong is wrong"] >= _LEAST_RIGHT else limits[1] - 0.01
    return {
        "most": most,
        "bias": round(float(bias), 4),
        "weights": {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True) if weight},
        "rows": len(rows),
        "domains": len(fold),
        "left out": figures,
    }


def fit_by_meaning(names: tuple[str, ...], signs: np.ndarray, wrong: np.ndarray) -> np.ndarray:
    """As `fit`, without signs that would count against their meaning: they correct for others in these rows only."""
    ways = np.array([0.0 if name in NEITHER else 1.0 if name in WORSE else -1.0 for name in names])
    kept = np.arange(len(names))
    while True:
        weights = fit(signs[:, kept], wrong)
        against = -weights[1:] * ways[kept] * signs[:, kept].std(axis=0)
        if not (against > 0).any():
            break
        kept = np.delete(kept, against.argmax())
    found = np.zeros(len(names) + 1)
    found[[0, *(kept + 1)]] = weights
    return found


def fit(signs: np.ndarray, wrong: np.ndarray, ridge: float = 5.0) -> np.ndarray:
    """Bias and weights of a logistic regression of standardised signs, on their own scale."""
    middle, spread = signs.mean(axis=0), signs.std(axis=0) + 1e-9
    table = np.column_stack([np.ones(len(signs)), (signs - middle) / spread])
    share = wrong.mean()
    rate = np.where(wrong > 0, _PRIOR / share, (1 - _PRIOR) / (1 - share))
    penalty = ridge * np.eye(table.shape[1])
    penalty[0, 0] = 0.0
    weights = np.zeros(table.shape[1])
    for _ in range(60):
        chance = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (rate * (chance - wrong)) + penalty @ weights
        curve = (table * (rate * chance * (1 - chance))[:, None]).T @ table + penalty
        weights -= np.linalg.solve(curve, slope)
    own = weights[1:] / spread
    return np.concatenate([[weights[0] - own @ middle], own])


def predict(signs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The probability of being wrong."""
    found: np.ndarray = 1 / (1 + np.exp(-(weights[0] + signs @ weights[1:])))
    return found


def describe(said: np.ndarray, wrong: np.ndarray, limits: tuple[float, float]) -> dict[str, float]:
    """How often the words are right if 30 % of rows are wrong."""
    bad, good = said[wrong > 0], said[wrong == 0]
    called, missed = (bad >= limits[1]).mean() * _PRIOR, (bad < limits[0]).mean() * _PRIOR
    alarms, passed = (good >= limits[1]).mean() * (1 - _PRIOR), (good < limits[0]).mean() * (1 - _PRIOR)
    differences = bad[:, None] - good[None]
    figures = {
        "AUC": ((differences > 0) + 0.5 * (differences == 0)).mean(),
        "wrong is wrong": called / max(called + alarms, 1e-9),
        "fine is fine": passed / max(passed + missed, 1e-9),
        "look": 1 - called - alarms - missed - passed,
        "faults not called fine": 1 - missed / _PRIOR,
        "good rows called wrong": alarms / (1 - _PRIOR),
    }
    return {name: round(float(value), 3) for name, value in figures.items()}


if __name__ == "__main__":
    main()
