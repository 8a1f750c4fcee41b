"""Fits the probabilities and thresholds of a trained judge on domains that training did not see, measures it, writes its card.

`valid` rows (whole domains and questions kept apart) and the sentences of `--rag` fit the probabilities. Nothing is fitted on
`test` rows (other domains) and `--rag-test`. Evidence is read as the product reads it. judge_error.py adds the error of means.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from figures import auc, calibration_error, interval, platt
from judge_error import SavedJudge, add_options, write_errors
from natural_pairs import read_rows
from open_pairs import TEMPLATE
from ragstone.models.local_judge import Card, LocalJudge, Pair, Reading
from ragstone.models.store import Installed
from ragstone.text.overlap import covered
from ragstone.text.passages import Passages
from ragstone.text.quantities import compare_quantities
from ragstone.text.squad import tokens
from ragstone.text.verbatim import contains_statement, denies_statement, plain_text
from ragstone.tools.local_judges import EACH, TOGETHER
from tokens import MAX_LENGTH, SECOND_LIMIT

VERSION = "4"
# Weight of the covered words in the log-odds: next to nothing on written pairs, which were made so that words mislead, but
# worth something on other texts.
_OVERLAP = {"support": 0.5, "match": 0.5}
_TEMPLATES = {
    "match": (TEMPLATE, "{answer}"),
    "support": ("{evidence}", "{claim}"),
    "fraction": ("{evidence}", "{text}"),
}
_WANTED_PRECISION = 0.9


class Item(NamedTuple):
    """One decision: the texts to read, of which the best counts, and what is so."""

    evidence: list[str]
    claim: str
    label: int
    split: str
    domain: str
    kind: str
    # What a rule decides before the model.
    ruled: bool | None = None


def open_judge(folder: Path, outputs: Path | None = None) -> SavedJudge:
    """The judge with plain readings."""
    files = {}
    for name in ("model.onnx", "tokenizer.json"):
        content = (folder / name).read_bytes()
        files[name] = (len(content), hashlib.sha256(content).hexdigest())
    readings = {task: Reading() for task in ("match", "support", "fraction")}
    card = Card(VERSION, files, MAX_LENGTH, SECOND_LIMIT, _TEMPLATES, readings)
    return SavedJudge(Installed("local-judge", folder, str(folder), files), card, outputs)


def near(text: str, claim: str, window: int) -> str:
    """The part of a text that is read for a claim."""
    return Passages(plain_text(text)).around(claim, window)


def natural_items(path: Path, window: int) -> tuple[list[Item], list[Item]]:
    """The kept rows of natural_pairs.py: support and match."""
    support, match = [], []
    for row in map(json.loads, path.open(encoding="utf-8")):
        if row["split"] == "train" or not row["source"].startswith("written/"):
            continue
        *_, domain, kind = ("", *row["source"].split("/"))
        if row["task"] == "match":
            ruled = compare_quantities(row["first"].rsplit(" answer: ", 1)[-1], row["second"])
            match.append(Item([row["first"]], row["second"], row["label"], row["split"], domain, kind, ruled))
        else:
            support.append(_support([row["first"]], row["second"], row["label"], row["split"], domain, kind, window))
    return support, match


def _support(texts: list[str], claim: str, label: int, split: str, domain: str, kind: str, window: int) -> Item:
    ruled = None
    if any(contains_statement(text, claim) for text in texts):
        ruled = True
    elif any(denies_statement(text, claim) for text in texts):
        ruled = False
    evidence = [near(text, claim, window if len(texts) == 1 else EACH) for text in texts]
    if len(texts) > 1:
        evidence.append(near("\n".join(texts), claim, TOGETHER))
    return Item(evidence, plain_text(claim), label, split, domain, kind, ruled)


def rag_items(paths: list[Path], split: str, window: int) -> list[Item]:
    """The sentences of full RAG rows; the kind is the row."""
    items = []
    for row in (row for path in paths for row in read_rows(path)):
        for part in row["sentences"]:
            label = 0 if part["supported"] else 1
            items.append(_support(row["contexts"], part["text"], label, split, row["domain"], str(row["id"]), window))
    return items


def labelled_items(data: Path, count: int, window: int) -> list[Item]:
    """A sample of the test rows of the labelled claims, of which other rows were trained on."""
    from corpus import read_claims  # noqa: PLC0415  (reads a large file)

    labels = {"supported": 0, "not_in_evidence": 1, "contradicted": 2, "not_supported": 3}
    rows = [row for row in read_claims(data) if row["split"] == "test" and row["task"] == "support"]
    chosen = np.random.default_rng(5).choice(len(rows), min(count, len(rows)), replace=False)
    return [
        _support(
            [rows[i]["evidence"]], rows[i]["claim"], labels[rows[i]["label"]], "labelled", rows[i]["source"], "", window
        )
        for i in sorted(chosen)
    ]


class Read(NamedTuple):
    """Items as arrays: what the model says of the best evidence, the covered words, and what is so."""

    items: list[Item]
    odds: np.ndarray
    contradicted: np.ndarray
    shared: np.ndarray
    label: np.ndarray

    def where(self, **wanted: str) -> np.ndarray:
        """The rows whose split, domain or kind is the wanted one."""
        return np.array([all(getattr(item, name) == value for name, value in wanted.items()) for item in self.items])


def read_support(judge: LocalJudge, items: list[Item]) -> Read:
    """The best evidence of each item."""
    pairs = [Pair("support", text, item.claim) for item in items for text in item.evidence]
    outputs = iter(judge.run(pairs))
    odds, contradicted, shared = [], [], []
    for item in items:
        found = []
        for text in item.evidence:
            _, yes, absent, no, _ = next(outputs)
            share = float(np.exp(no - np.logaddexp(np.logaddexp(yes, absent), no)))
            found.append((yes - float(np.logaddexp(absent, no)) if text else -6.0, share, covered(item.claim, text)))
        best = max(found)
        odds.append(best[0])
        contradicted.append(max(share for _, share, _ in found))
        shared.append(best[2])
    label = np.array([item.label for item in items])
    return Read(items, np.array(odds), np.array(contradicted), np.array(shared), label)


def read_match(judge: LocalJudge, items: list[Item]) -> Read:
    """The head for answer match."""
    outputs = judge.run([Pair("match", item.evidence[0], item.claim) for item in items])
    shared = [covered(_reference(item), item.claim) for item in items]
    odds = np.array([out[0] for out in outputs])
    return Read(items, odds, np.zeros(len(items)), np.array(shared), np.array([item.label for item in items]))


def _reference(item: Item) -> str:
    return item.evidence[0].rsplit(" answer: ", 1)[-1]


def fit(read: Read, rows: np.ndarray, truth: np.ndarray, task: str, weight: np.ndarray) -> dict[str, float]:
    """The logistic function of the log-odds and the covered words."""
    score = read.odds + _OVERLAP[task] * read.shared
    slope, shift = platt(score[rows], truth[rows], weight[rows])
    overlap = round(slope * _OVERLAP[task], 4)
    return {"scale": round(slope, 4), "bias": round(shift, 4), "overlap": overlap, "threshold": 0.5}


def probability(read: Read, reading: dict[str, float]) -> np.ndarray:
    """The probability of each row, 1 or 0 where a rule decides."""
    odds = reading["scale"] * read.odds + reading["overlap"] * read.shared + reading["bias"]
    ruled = np.array([np.nan if item.ruled is None else float(item.ruled) for item in read.items])
    return np.where(np.isnan(ruled), 1 / (1 + np.exp(-odds)), ruled)


def contradiction(read: Read, said: np.ndarray, rows: np.ndarray, low: float) -> dict[str, float]:
    """The smallest share of contradiction with nine of ten verdicts right; the most precise one if there is none."""
    rows = rows & (read.label < 3)
    truth, tried = read.label == 2, []
    for threshold in np.arange(0.5, 0.98, 0.005):
        own = rows & (said <= low) & (read.contradicted >= threshold)
        if own.sum() >= 30:
            precision = float(truth[own].mean())
            tried.append((precision, threshold, float(own[rows & truth].mean())))
            if precision >= _WANTED_PRECISION:
                break
    precision, threshold, recall = tried[-1] if tried[-1][0] >= _WANTED_PRECISION else max(tried)
    return {"threshold": round(float(threshold), 3), "precision": round(precision, 3), "recall": round(recall, 3)}


def ladder(said: np.ndarray, truth: np.ndarray) -> list[dict[str, float]]:
    """For several demands on confidence: how many rows meet it and how often the judge is right on them."""
    sure, right = np.maximum(said, 1 - said), (said > 0.5) == truth
    steps = []
    for threshold in (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95):
        own = sure >= threshold
        if own.sum() >= 30:
            agreement = round(float(right[own].mean()), 4)
            steps.append({"confidence": threshold, "share": round(float(own.mean()), 4), "agreement": agreement})
    return steps


def area_line(task: str, name: str, read: Read, said: np.ndarray, rows: np.ndarray) -> dict[str, Any]:
    """The area under the curve of some rows with its interval, beside that of covered words."""
    truth, value, shared = read.label[rows] == 0, said[rows], read.shared[rows]
    low, high = interval(lambda i: auc(value[i], truth[i]), int(rows.sum()))
    line = {"task": task, "data": name, "rows": int(rows.sum()), "measure": "ROC-AUC"}
    return {**line, "judge": round(auc(value, truth), 4), "low": low, "high": high, "overlap": round(auc(shared, truth), 4), "cosine": None}  # fmt: skip


def share_line(task: str, name: str, right: np.ndarray, plain: np.ndarray | None = None, **more: Any) -> dict[str, Any]:
    """The share of right decisions with its interval, beside that of a baseline."""
    low, high = interval(lambda i: float(right[i].mean()), len(right))
    overlap = None if plain is None else round(float(plain.mean()), 4)
    line = {"task": task, "data": name, "rows": len(right), "measure": "decided rightly"}
    return {**line, "judge": round(float(right.mean()), 4), "low": low, "high": high, "overlap": overlap, "cosine": None, **more}  # fmt: skip


def support_figures(read: Read, said: np.ndarray) -> list[dict[str, Any]]:
    """Areas by domain, decisions by kind: domains that nothing is fitted on first, then the others, then public sets."""
    lines = []
    test, valid, labelled = (read.where(split=name) for name in ("test", "valid", "labelled"))
    rag = np.array([item.split == "rag-test" for item in read.items])
    lines.append(area_line("support", "unseen domains: together", read, said, test))
    domains = sorted({item.domain for item, own in zip(read.items, test, strict=True) if own})
    lines += [
        area_line("support", f"unseen domains: {name}", read, said, test & read.where(domain=name)) for name in domains
    ]
    kinds = Counter((item.kind, item.label == 0) for item, own in zip(read.items, test, strict=True) if own)
    for (kind, true), count in sorted(kinds.items(), key=lambda pair: (not pair[0][1], pair[0][0])):
        if count >= 5:
            own = test & read.where(kind=kind) & ((read.label == 0) == true)
            name = f"{'supported' if true else 'not supported'}: {kind.replace('_', ' ')}"
            lines.append(share_line("support", name, (said[own] > 0.5) == true))
    if rag.any():
        lines.append(area_line("support", "sentences of full RAG rows, unseen", read, said, rag))
    lines.append(area_line("support", "kept domains (fitted on): together", read, said, valid))
    if labelled.any():
        lines.append(area_line("support", "public sets, other rows trained on", read, said, labelled))
    return lines


def match_figures(read: Read, said: np.ndarray) -> list[dict[str, Any]]:
    """Right decisions by kind, beside plain containment."""
    held = np.array([_contains(_reference(item), item.claim) for item in read.items])
    truth = read.label == 1
    right, plain = (said > 0.5) == truth, held == truth
    lines = []
    for split, name in (("test", "unseen domains"), ("valid", "kept questions (fitted on)")):
        own = read.where(split=split)
        lines.append(share_line("match", f"{name}: together", right[own], contained=round(float(plain[own].mean()), 4)))
    own = read.where(split="test")
    for kind in sorted({item.kind for item, mine in zip(read.items, own, strict=True) if mine}):
        rows = own & read.where(kind=kind)
        name = f"unseen domains: {kind.replace('_', ' ')}"
        lines.append(share_line("match", name, right[rows], contained=round(float(plain[rows].mean()), 4)))
    return lines


def _contains(reference: str, answer: str) -> bool:
    left = " ".join(tokens(reference))
    return bool(left) and f" {left} " in f" {' '.join(tokens(answer))} "


def mean_error(read: Read, value: np.ndarray, split: str) -> tuple[float, float]:
    """By how much the mean share of a RAG row's supported sentences is off, in the mean and on average over rows."""
    own = read.where(split=split)
    rows = sorted({(item.domain, item.kind) for item, mine in zip(read.items, own, strict=True) if mine})
    off = []
    for domain, kind in rows:
        mine = own & read.where(domain=domain, kind=kind)
        off.append(value[mine].mean() - (read.label[mine] == 0).mean())
    return float(np.mean(off)), float(np.abs(off).mean())


def main() -> None:
    """Fits, measures, and writes the shipped folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", type=Path, required=True, help="folder with model.onnx and tokenizer.json")
    add_options(parser)
    parser.add_argument("--data", type=Path, help="folder with the labelled claims")
    parser.add_argument("--window", type=int, default=200)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    judge, window = open_judge(options.judge, options.outputs), options.window
    support_items, match_items = natural_items(options.natural, window)
    support_items += rag_items(options.rag, "rag", window) + rag_items(options.rag_test, "rag-test", window)
    if options.data:
        support_items += labelled_items(options.data, 1500, window)
    support, match = read_support(judge, support_items), read_match(judge, match_items)
    fitted = support.where(split="valid") | support.where(split="rag")
    # RAG sentences count as much in all as written pairs: they are mostly supported, as in use.
    rag = support.where(split="rag")
    weight = np.where(rag, support.where(split="valid").sum() / max(1, rag.sum()), 1.0)
    settings: dict[str, Any] = {
        "support": fit(support, fitted, support.label == 0, "support", weight),
        "match": fit(match, match.where(split="valid"), match.label == 1, "match", np.ones(len(match_items))),
    }
    said, matched = probability(support, settings["support"]), probability(match, settings["match"])
    unsure = [0.35, 0.65]
    contra = contradiction(support, said, support.where(split="valid"), unsure[0])
    test = support.where(split="test")
    own = test & (said <= unsure[0]) & (support.contradicted >= contra["threshold"])
    told = {"precision": round(float((support.label[own] == 2).mean()), 3), "recall": round(float(own[test & (support.label == 2)].mean()), 3)}  # fmt: skip
    valid = support.where(split="valid")
    report = {
        "calibration error, unseen domains": round(calibration_error(said[test], support.label[test] == 0), 4),
        "contradiction, kept domains": contra, "contradiction, unseen domains": told,
        "ladder, unseen domains": ladder(said[test], support.label[test] == 0),
        "faithfulness of RAG rows": {split: mean_error(support, said, split) for split in ("rag", "rag-test")},
    }  # fmt: skip
    settings["support"] |= {"contradiction": contra["threshold"], "unsure": unsure, "coverage_weight": 0.25, "unrelated": 0.02, "window": window}  # fmt: skip
    card = {
        "name": "local-judge", "version": VERSION,
        "what": "One gte-small cross-encoder (12 layers) with three heads: answer match, claim support, support fraction. English.",
        "files": {name: {"bytes": size, "sha256": digest} for name, (size, digest) in judge.card.files.items()},
        "max_length": MAX_LENGTH, "second_limit": SECOND_LIMIT, "templates": _TEMPLATES,
        **settings, "fraction": {"scale": 1.0, "bias": 0.0, "overlap": 0.5}, "languages": ["en"],
        "ladder": {"support": ladder(said[valid], support.label[valid] == 0), "match": ladder(matched[match.where(split="valid")], match.label[match.where(split="valid")] == 1)},
        "figures": support_figures(support, said) + match_figures(match, matched),
        "measured": report, **json.loads((Path(__file__).parent / "card.json").read_text(encoding="utf-8")),
    }  # fmt: skip
    options.out.mkdir(parents=True, exist_ok=True)
    for name in ("model.onnx", "tokenizer.json"):
        if options.judge != options.out:
            shutil.copy(options.judge / name, options.out / name)
    (options.out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    judge.save()
    errors = write_errors(options.out, options)
    print(json.dumps({"settings": settings, "report": report, "figures": card["figures"], "error": errors}, indent=1))


if __name__ == "__main__":
    main()
