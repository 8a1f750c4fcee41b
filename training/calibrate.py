"""Chooses the student, its mix with token overlap, its calibration and its thresholds on validation data; writes the card.

`--test` adds the figures on the rows kept for the end; it is meant to be given once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from card import describe
from figures import auc, calibration_error, contains, interval, platt, share_found, token_f1
from ragstone.text.overlap import covered

_GRID = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_TRUE_KINDS = ("made/true", "made/fused_true", "made/twin_true")
# Kinds that have true claims of their own to be told from.
_PAIRED = {"made/pronoun_false": "made/pronoun_true", "made/fact_false": "made/fact_true", "made/roles": "made/roles_true", "made/asked_false": "made/asked_true", "made/answer_false": "made/answer_true"}  # fmt: skip


class Kept:
    """The rows kept for validation and test with every score that does not come from the judge."""

    def __init__(self, folder: Path) -> None:
        rows = [json.loads(line) for line in (folder / "rows.jsonl").open(encoding="utf-8")]
        self.task = np.array([row["task"] for row in rows])
        self.source = np.array([row["source"] for row in rows])
        self.split = np.array([row["split"] for row in rows])
        self.label = np.array([row["label"] for row in rows])
        self.cosine = np.load(folder / "cosine.npy")
        self.made = np.char.startswith(self.source.astype(str), "made/")
        stored = folder / "tokens.npz"
        if not stored.exists():
            np.savez(stored, **_token_features(rows))
        with np.load(stored) as arrays:
            self.overlap, self.covered, self.f1, self.holds = (
                arrays[name] for name in ("overlap", "covered", "f1", "holds")
            )
        self.truth = np.where(self.task == "support", self.label == 0, self.label == 1)


def _token_features(rows: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Token overlap as the metrics have it (a baseline), covered words as the judge uses them, and lexical match."""
    overlap, words, f1, holds = (np.zeros(len(rows)) for _ in range(4))
    for place, row in enumerate(rows):
        if row["task"] == "match":
            reference = row["first"].rsplit(" answer: ", 1)[-1]
            words[place] = covered(reference, row["second"])
            f1[place], holds[place] = token_f1(reference, row["second"]), contains(reference, row["second"])
        else:
            overlap[place] = share_found(row["second"], row["first"])
            words[place] = covered(row["second"], row["first"])
    return {"overlap": overlap, "covered": words, "f1": f1, "holds": holds.astype(bool)}


def margin(outputs: np.ndarray, task: str) -> np.ndarray:
    """The log-odds of a match, or of support against everything else."""
    return outputs[:, 0] if task == "match" else outputs[:, 1] - np.logaddexp(outputs[:, 2], outputs[:, 3])


def groups(kept: Kept, rows: np.ndarray) -> dict[str, np.ndarray]:
    """The kinds of support data: each labelled source with both labels, and each synthetic kind of false claim against the true ones."""
    found = {}
    true = np.isin(kept.source[rows], _TRUE_KINDS)
    for source in np.unique(kept.source[rows]):
        own = kept.source[rows] == source
        if source in _PAIRED:
            own = own | (kept.source[rows] == _PAIRED[source])
        elif source.startswith("made/"):
            own = own | true
        # Sources with one label only are judged against the rest of their family.
        if source == "claims/fever_nei":
            own = own | (kept.source[rows] == "claims/fever_doc")
        if own.sum() >= 40 and 0 < kept.truth[rows][own].sum() < own.sum():
            found[str(source)] = rows[own]
    return found


def mean_auc(kept: Kept, score: np.ndarray, kinds: dict[str, np.ndarray]) -> float:
    """The mean over labelled sources and the mean over synthetic kinds, in equal parts."""
    areas = {kind: auc(score[rows], kept.truth[rows]) for kind, rows in kinds.items()}
    halves = [[area for kind, area in areas.items() if kind.startswith(name)] for name in ("claims/", "made/")]
    return float(np.mean([np.mean(half) for half in halves if half]))


def _weights(kept: Kept, rows: np.ndarray) -> np.ndarray:
    """Labelled and synthetic rows count the same in all."""
    made = kept.made[rows]
    return np.where(made, 0.5 / max(1, made.sum()), 0.5 / max(1, (~made).sum())) * len(rows)


def choose_support(kept: Kept, outputs: list[np.ndarray], rows: np.ndarray) -> tuple[float, int, list[float]]:
    """The weight of token overlap that is best for all students together, the best student, and what each reaches."""
    kinds = groups(kept, rows)
    scores = {w: [mean_auc(kept, margin(one, "support") + w * kept.covered, kinds) for one in outputs] for w in _GRID}
    best = _largest_good({w: float(np.mean(scores[w])) for w in _GRID}, 0.0015)
    for weight in _GRID:
        print(f"support: overlap weight {weight}: {np.round(scores[weight], 4).tolist()}")
    return best, int(np.argmax(scores[best])), scores[best]


def choose_match(kept: Kept, outputs: list[np.ndarray], rows: np.ndarray) -> tuple[float, list[float]]:
    """The weight of the share of reference tokens found, by accuracy after calibration."""
    found = {}
    for weight in _GRID:
        found[weight] = [_accuracy(kept, margin(one, "match") + weight * kept.covered, rows) for one in outputs]
        print(f"match: overlap weight {weight}: {np.round(found[weight], 4).tolist()}")
    best = _largest_good({w: float(np.mean(found[w])) for w in _GRID}, 0.0005)
    return best, found[best]


def _largest_good(reached: dict[float, float], loss: float) -> float:
    """The largest weight of the token feature that costs next to nothing.

    Validation is of the same kinds as the training data and so flatters the model; on other texts overlap helps more.
    """
    top = max(reached.values())
    return max(weight for weight, value in reached.items() if value >= top - loss)


def _accuracy(kept: Kept, score: np.ndarray, rows: np.ndarray) -> float:
    slope, shift = platt(score[rows], kept.truth[rows], _weights(kept, rows))
    right = (slope * score[rows] + shift > 0) == kept.truth[rows]
    return float(np.average(right, weights=_weights(kept, rows)))


def lexical_threshold(kept: Kept, rows: np.ndarray) -> float:
    """The token F1 at which lexical match is at its best on validation, beside plain containment."""
    weight = _weights(kept, rows)
    options = np.arange(0.1, 1.05, 0.05)
    right = [np.average((kept.holds[rows] | (kept.f1[rows] >= t)) == kept.truth[rows], weights=weight) for t in options]
    return float(round(options[int(np.argmax(right))], 2))


def cosine_threshold(kept: Kept, rows: np.ndarray) -> float:
    """The cosine at which grading by it alone is at its best on validation, on the rows that it was computed for."""
    rows = rows[~np.isnan(kept.cosine[rows])]
    weight, options = _weights(kept, rows), np.arange(0.1, 1.0, 0.02)
    right = [np.average((kept.cosine[rows] >= t) == kept.truth[rows], weights=weight) for t in options]
    return float(round(options[int(np.argmax(right))], 2))


def contradiction(kept: Kept, outputs: np.ndarray, supported: np.ndarray, rows: np.ndarray) -> dict[str, float]:
    """The probability of contradiction above which nine of ten such verdicts are right on labelled validation rows."""
    own = rows[~kept.made[rows] & (kept.label[rows] != 3)]
    # As the runtime has it: not supported, and the softmax share of contradiction is high enough.
    shares = np.exp(outputs[own, 1:4] - outputs[own, 1:4].max(1, keepdims=True))
    chance = np.where(supported[own] < 0.5, shares[:, 2] / shares.sum(1), 0.0)
    truth = kept.label[own] == 2
    for threshold in np.arange(0.5, 0.996, 0.01):
        said = chance >= threshold
        if said.any() and truth[said].mean() >= 0.9:
            break
    return {
        "threshold": round(float(threshold), 2),
        "precision": round(float(truth[said].mean()), 4),
        "recall": round(float(said[truth].mean()), 4),
    }


def ladder(probability: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> list[dict[str, float]]:
    """For several demands on confidence: how many rows meet it and how often the judge is right on them."""
    sure = np.maximum(probability, 1 - probability)
    right = (probability > 0.5) == truth
    steps = []
    for threshold in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98):
        own = sure >= threshold
        if own.any():
            steps.append(
                {
                    "confidence": threshold,
                    "share": round(float(np.average(own, weights=weight)), 4),
                    "agreement": round(float(np.average(right[own], weights=weight[own])), 4),
                }
            )
    return steps


def _known(figure: float, cosine: np.ndarray) -> float | None:
    """A figure of the cosine, where it was computed for all rows."""
    return None if np.isnan(cosine).any() else round(figure, 4)


def support_figures(
    kept: Kept, score: np.ndarray, raw: np.ndarray, probability: np.ndarray, rows: np.ndarray
) -> dict[str, Any]:
    """Areas under the curve by kind and together, for the judge and for the baselines, and the calibration error."""
    kinds = groups(kept, rows)
    table = {}
    for kind, own in {
        "labelled, together": rows[~kept.made[rows]],
        "synthetic, together": rows[kept.made[rows]],
        **kinds,
    }.items():
        if len(own) == 0:
            continue
        truth = kept.truth[own]
        table[kind] = {
            "rows": len(own), "judge": round(auc(score[own], truth), 4), "interval": interval(lambda i, own=own, truth=truth: auc(score[own][i], truth[i]), len(own)),
            "model alone": round(auc(raw[own], truth), 4), "token overlap": round(auc(kept.overlap[own], truth), 4), "cosine": _known(auc(kept.cosine[own], truth), kept.cosine[own]),
            "accuracy": round(float(((probability[own] > 0.5) == truth).mean()), 4),
        }  # fmt: skip
    weight = _weights(kept, rows)
    return {
        "auc": table, "calibration error": round(calibration_error(probability[rows], kept.truth[rows], weight), 4),
        "calibration error, labelled": round(calibration_error(probability[rows[~kept.made[rows]]], kept.truth[rows[~kept.made[rows]]]), 4),
        "ladder": ladder(probability[rows], kept.truth[rows], weight),
    }  # fmt: skip


def match_groups(kept: Kept, rows: np.ndarray) -> dict[str, np.ndarray]:
    """The kinds of answers: the labelled ones, all synthetic ones, and each synthetic kind with its right and wrong answers."""
    found = {"labelled": rows[~kept.made[rows]], "synthetic": rows[kept.made[rows]]}
    stems = np.array([source.rsplit("_", 1)[0] for source in kept.source[rows]])
    for stem in np.unique(stems[kept.made[rows]]):
        own = rows[stems == stem]
        if 0 < kept.truth[own].sum() < len(own) and len(own) >= 40:
            found[str(stem)] = own
    return {kind: own for kind, own in found.items() if len(own)}


def match_figures(
    kept: Kept, probability: np.ndarray, rows: np.ndarray, threshold: float, cosine: float
) -> dict[str, Any]:
    """Accuracy by kind, for the judge and for lexical match."""
    right = (probability > 0.5) == kept.truth
    plain = kept.holds == kept.truth
    lexical = (kept.holds | (kept.f1 >= threshold)) == kept.truth
    close = (kept.cosine >= cosine) == kept.truth
    table = {}
    for kind, own in match_groups(kept, rows).items():
        table[kind] = {
            "rows": len(own), "judge": round(float(right[own].mean()), 4), "interval": interval(lambda i, own=own: float(right[own][i].mean()), len(own)),
            "reference contained": round(float(plain[own].mean()), 4), "contained or token F1": round(float(lexical[own].mean()), 4),
            "cosine": _known(float(close[own].mean()), kept.cosine[own]),
        }  # fmt: skip
    weight = _weights(kept, rows)
    return {
        "accuracy": table, "calibration error": round(calibration_error(probability[rows], kept.truth[rows], weight), 4),
        "calibration error, labelled": round(calibration_error(probability[rows[~kept.made[rows]]], kept.truth[rows[~kept.made[rows]]]), 4),
        "ladder": ladder(probability[rows], kept.truth[rows], weight),
    }  # fmt: skip


def fraction_figures(kept: Kept, outputs: np.ndarray, rows: np.ndarray) -> dict[str, Any]:
    """Mean absolute error and correlation of the model, of token overlap and of their mean."""
    model, truth = 1 / (1 + np.exp(-outputs[rows, 4])), kept.label[rows]
    tried = {
        "model": model,
        "covered words": kept.covered[rows],
        "mean of both": (model + kept.covered[rows]) / 2,
        "cosine": kept.cosine[rows],
    }
    return {
        name: {
            "error": round(float(np.abs(value - truth).mean()), 4),
            "correlation": round(float(np.corrcoef(value, truth)[0, 1]), 4),
        }
        for name, value in tried.items()
        if not np.isnan(value).any()
    }


def main() -> None:
    """Chooses, measures, and writes the shipped folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kept", type=Path, required=True)
    parser.add_argument(
        "--students",
        type=Path,
        nargs="+",
        required=True,
        help="folders with outputs-int8.npy; the chosen one needs model.onnx too",
    )
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--several", type=float, default=0.0, help="the discount that documents.py finds")
    parser.add_argument("--test", action="store_true")
    options = parser.parse_args()
    kept = Kept(options.kept)
    outputs = [np.load(folder / "outputs-int8.npy").astype(np.float64) for folder in options.students]
    run = ~np.isnan(outputs[0][:, 0]) & (kept.label >= 0)
    part = {
        (split, task): np.flatnonzero(run & (kept.split == split) & (kept.task == task))
        for split in ("valid", "test")
        for task in ("match", "support", "fraction")
    }
    weight, best, reached = choose_support(kept, outputs, part["valid", "support"])
    match_weight, match_reached = choose_match(kept, outputs, part["valid", "match"])
    chosen = outputs[best]
    report: dict[str, Any] = {
        "chosen": options.students[best].name,
        "candidates": {
            folder.name: {"support, mean AUC": round(area, 4), "match, accuracy": round(right, 4)}
            for folder, area, right in zip(options.students, reached, match_reached, strict=True)
        },
    }
    scores = {
        "support": margin(chosen, "support") + weight * kept.covered,
        "match": margin(chosen, "match") + match_weight * kept.covered,
    }
    settings: dict[str, Any] = {"support": {"overlap": weight}, "match": {"overlap": match_weight}}
    said = {}
    for task, score in scores.items():
        rows = part["valid", task]
        slope, shift = platt(score[rows], kept.truth[rows], _weights(kept, rows))
        settings[task] |= {"slope": round(slope, 4), "shift": round(shift, 4)}
        said[task] = 1 / (1 + np.exp(-(settings[task]["slope"] * score + settings[task]["shift"])))
    settings["support"]["several"] = options.several
    settings["support"]["contradiction"] = contradiction(kept, chosen, said["support"], part["valid", "support"])
    threshold = lexical_threshold(kept, part["valid", "match"])
    cosine = cosine_threshold(kept, part["valid", "match"])
    for split in ("valid", "test") if options.test else ("valid",):
        report[split] = {
            "support": support_figures(
                kept, scores["support"], margin(chosen, "support"), said["support"], part[split, "support"]
            ),
            "match": match_figures(kept, said["match"], part[split, "match"], threshold, cosine),
        }
        if len(part[split, "fraction"]):
            report[split]["fraction"] = fraction_figures(kept, chosen, part[split, "fraction"])
    report["lexical match: token F1 threshold"] = threshold
    _write(options, options.students[best], settings, report)


def _write(options: argparse.Namespace, student: Path, settings: dict[str, Any], report: dict[str, Any]) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    tokenizer = json.loads(options.tokenizer.read_text(encoding="utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    (options.out / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    if (student / "model.onnx").exists():
        shutil.copyfile(student / "model.onnx", options.out / "model.onnx")
    files = [path for path in (options.out / "model.onnx", options.out / "tokenizer.json") if path.exists()]
    sums = {
        path.name: {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in files
    }
    (options.out / "card.json").write_text(
        json.dumps(describe(settings, report, sums), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print(json.dumps({"settings": settings, **report}, indent=1))


if __name__ == "__main__":
    main()
