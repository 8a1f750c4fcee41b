"""Fits the probabilities of the 1.5B judge on kept domains, measures it on other sets, and writes its card.

Reads what adapter.py predicted (`measured.jsonl`, `predicted-RANK.npy`). Sets whose names begin with kept (whole domains and
questions apart from training) fit the probabilities; nothing is fitted on the others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from figures import auc, logistic

_LANGUAGES = ("en", "de", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "zh")

# The measures that the card has.
_SHOWN = (
    "claim support, ROC-AUC",
    "claim support, accuracy of three verdicts",
    "claim support, accuracy where at least 90 % sure",
    "recall of contradictions at precision .9",
    "answer match, ROC-AUC",
    "answer match, accuracy",
)


def main() -> None:
    """Prints all figures and updates the card beside the adapter."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--predicted", type=Path, required=True)
    parser.add_argument("--names", nargs="*", default=[], help="SET=its name in the card, of sets that are not kept")
    parser.add_argument("--small", type=Path, help="SET: {measure: figure} of the small judge, as JSON")
    parser.add_argument("--adapter", type=Path, required=True, help="adapter.gguf, with card.json beside it")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.rows.read_text(encoding="utf-8").split("\n") if line]
    found = np.load(options.predicted).astype(float)
    names = dict(item.split("=", 1) for item in options.names)
    card_path = options.adapter.with_name("card.json")
    card = json.loads(card_path.read_text(encoding="utf-8"))
    content = options.adapter.read_bytes()
    card["files"] = {options.adapter.name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}}
    fitted = {task: _fit(rows, found, task) for task in ("support", "match")}
    for task, (scale, bias) in fitted.items():
        card[task] |= {"scale": round(scale, 4), "bias": round(bias, 4)}
    card["languages"] = list(_LANGUAGES)
    small = json.loads(options.small.read_text()) if options.small else {}
    card["figures"] = []
    for name in dict.fromkeys(row["set"] for row in rows):
        for task in ("support", "match"):
            own = [at for at, row in enumerate(rows) if row["set"] == name and row["task"] == task]
            if own and (name in names or not name.startswith("sealed")):
                figures = measure([rows[at] for at in own], found[own], task, fitted[task])
                print(name, task, len(own), figures, flush=True)
                for what in (what for what in _SHOWN if name in names and what in figures):
                    theirs = small.get(name, {}).get(what)
                    about = {"data": names[name], "rows": len(own), "measure": what}
                    card["figures"].append({**about, "judge": figures[what], "small": theirs})
    card_path.write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _odds(found: np.ndarray, task: str) -> np.ndarray:
    yes, no, unknown = found.T
    return yes - (no if task == "match" else np.logaddexp(no, unknown))


def _right(rows: list[dict[str, Any]], task: str) -> np.ndarray:
    return np.array([row["label"] == (1 if task == "match" else 0) for row in rows])


def _fit(rows: list[dict[str, Any]], found: np.ndarray, task: str) -> tuple[float, float]:
    """Each kept set weighs the same, so that the largest does not decide alone."""
    own = np.array([row["set"].startswith("kept") and row["task"] == task for row in rows])
    chosen = [rows[at] for at in np.flatnonzero(own)]
    sets = [row["set"] for row in chosen]
    weight = np.array([1 / sets.count(name) for name in sets])
    scale, bias = logistic(_odds(found[own], task)[:, None], _right(chosen, task), weight)
    return float(scale), float(bias)


def measure(rows: list[dict[str, Any]], found: np.ndarray, task: str, fit: tuple[float, float]) -> dict[str, float]:
    """What the card and the docs say of one set."""
    right, odds = _right(rows, task), _odds(found, task)
    probability = 1 / (1 + np.exp(-(fit[0] * odds + fit[1])))
    sure = np.maximum(probability, 1 - probability) >= 0.9
    decided = (probability >= 0.5) == right
    kind = "answer match" if task == "match" else "claim support"
    figures = {}
    if 0 < right.mean() < 1:
        figures[f"{kind}, ROC-AUC"] = auc(odds, right)
    figures[f"{kind}, accuracy"] = decided.mean()
    if sure.any():
        figures[f"{kind}, accuracy where at least 90 % sure"] = decided[sure].mean()
        figures[f"{kind}, share of at least 90 % sure"] = sure.mean()
    figures[f"{kind}, mean error of the share"] = probability.mean() - right.mean()
    label = np.array([row["label"] for row in rows])
    if task == "support" and {0, 1, 2} <= set(label.tolist()) and not (label == 3).any():
        verdict = np.where(probability >= 0.5, 0, np.where(found[:, 1] > found[:, 2], 2, 1))
        figures[f"{kind}, accuracy of three verdicts"] = (verdict == label).mean()
        figures["recall of contradictions at precision .9"] = recall_at(found[:, 1], label == 2, 0.9)
        called = verdict == 2
        figures["precision of contradictions"] = (label[called] == 2).mean() if called.any() else float("nan")
        figures["recall of contradictions"] = called[label == 2].mean()
    return {name: round(float(value), 3) for name, value in figures.items()}


def recall_at(score: np.ndarray, positive: np.ndarray, precision: float) -> float:
    """The largest share of positives above a threshold at which this precision is reached."""
    order = np.argsort(-score, kind="stable")
    hits = np.cumsum(positive[order])
    reached = hits / np.arange(1, len(order) + 1) >= precision
    return float(hits[reached].max() / positive.sum()) if reached.any() else 0.0


if __name__ == "__main__":
    main()
