"""Fits the probabilities and thresholds of a trained judge on domains that training did not see, measures it, writes its card.

`valid` rows (whole domains and questions kept apart) and the sentences of `--rag` fit the probabilities. The threshold of a
contradiction and the ladder of confidence are chosen on probabilities of which each domain's were fitted on the other domains.
Nothing is fitted on `test` rows (other domains) and `--rag-test`. Evidence is read as the product reads it, its rules included.
judge_error.py adds the error of means.
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

from figures import auc, calibration_error, interval, isotonic, logistic
from judge_error import SavedJudge, add_options, open_saved, write_errors
from match_long import fit_long
from natural_pairs import read_rows
from open_pairs import TEMPLATE
from ragstone.models.local_judge import Card, LocalJudge, Pair, Reading
from ragstone.models.store import Installed
from ragstone.text.claim_numbers import check_numbers
from ragstone.text.layout import readable
from ragstone.text.overlap import covered
from ragstone.text.passages import Passages
from ragstone.text.quantities import compare_quantities
from ragstone.text.squad import tokens
from ragstone.text.verbatim import contains_statement, denies_statement, plain_text
from ragstone.tools.local_judges import BY_NUMBERS, EACH, TOGETHER
from tokens import MAX_LENGTH, SECOND_LIMIT

VERSION = "5"
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
    # The probabilities of support and contradiction that a rule gives; the highest support if it only limits the model's.
    ruled: tuple[float, float] | None = None
    limits: bool = False


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
    return Passages(readable(text)).around(claim, window)


def natural_items(path: Path, window: int) -> tuple[list[Item], list[Item]]:
    """The kept rows of natural_pairs.py: support and match."""
    support, match = [], []
    for row in map(json.loads, path.open(encoding="utf-8")):
        if row["split"] == "train" or not row["source"].startswith("written/"):
            continue
        *_, domain, kind = ("", *row["source"].split("/"))
        if row["task"] == "match":
            same = compare_quantities(row["first"].rsplit(" answer: ", 1)[-1], row["second"])
            ruled = None if same is None else (float(same), float(not same))
            match.append(Item([row["first"]], row["second"], row["label"], row["split"], domain, kind, ruled))
        else:
            support.append(_support([row["first"]], row["second"], row["label"], row["split"], domain, kind, window))
    return support, match


def _support(texts: list[str], claim: str, label: int, split: str, domain: str, kind: str, window: int) -> Item:
    ruled, limits = None, False
    if any(contains_statement(text, claim) for text in texts):
        ruled = 1.0, 0.0
    elif any(denies_statement(text, claim) for text in texts):
        ruled = 0.0, 1.0
    elif refusal := check_numbers(claim, texts):
        _, *ruled = BY_NUMBERS[refusal.contradicted]
        limits = True
    evidence = [near(text, claim, window if len(texts) == 1 else EACH) for text in texts]
    if len(texts) > 1:
        evidence.append(near("\n\n".join(texts), claim, TOGETHER))
    return Item(evidence, plain_text(claim), label, split, domain, kind, ruled, limits)


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
    denial: np.ndarray
    shared: np.ndarray
    label: np.ndarray

    def where(self, **wanted: str) -> np.ndarray:
        """The rows whose split, domain or kind is the wanted one."""
        return np.array([all(getattr(item, name) == value for name, value in wanted.items()) for item in self.items])


def read_support(judge: LocalJudge, items: list[Item]) -> Read:
    """The best evidence of each item."""
    pairs = [Pair("support", text, item.claim) for item in items for text in item.evidence]
    outputs = iter(judge.run(pairs))
    best = []
    for item in items:
        found = []
        for text in item.evidence:
            yes, absent, no = (float(value) for value in next(outputs)[1:4])
            odds = yes - float(np.logaddexp(absent, no)) if text else -6.0
            found.append((odds, no - absent if text else -6.0, covered(item.claim, text)))
        best.append(max(found))
    return Read(items, *np.array(best).T, np.array([item.label for item in items]))


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
    slope, shift = logistic(score[rows, None], truth[rows], weight[rows])
    overlap = round(slope * _OVERLAP[task], 4)
    return {"scale": round(slope, 4), "bias": round(shift, 4), "overlap": overlap, "threshold": 0.5}


def fit_contradicted(read: Read, rows: np.ndarray) -> dict[str, float]:
    """The logistic function of contradicted against silent, on claims that are not supported."""
    own = rows & np.isin(read.label, (1, 2))
    slope, shift = logistic(read.denial[own, None], read.label[own] == 2)
    return {"scale": round(float(slope), 4), "bias": round(float(shift), 4), "overlap": 0.0}


def probability(read: Read, reading: dict[str, float], which: int = 0) -> np.ndarray:
    """The probability of each row, that of the rule where one decides: of support (which = 0) or contradiction (1)."""
    odds = reading["scale"] * (read.denial if which else read.odds) + reading["overlap"] * read.shared + reading["bias"]
    ruled = np.array([np.nan if item.ruled is None else item.ruled[which] for item in read.items])
    model = 1 / (1 + np.exp(-odds))
    limited = np.array([item.limits and which == 0 for item in read.items])
    return np.where(np.isnan(ruled), model, np.where(limited, np.minimum(ruled, model), ruled))


class Settings(NamedTuple):
    """The fitted readings of the head for support, and what they say of all rows."""

    support: dict[str, float]
    contradicted: dict[str, float]
    said: np.ndarray
    denied: np.ndarray


def fit_support(read: Read, rows: np.ndarray, weight: np.ndarray) -> Settings:
    """Support on some rows, contradiction on those of them with three labels."""
    open_ = np.array([item.ruled is None for item in read.items])
    support = fit(read, rows & open_, read.label == 0, "support", weight)
    contradicted = fit_contradicted(read, rows & open_ & read.where(split="valid"))
    said = probability(read, support)
    ruled = np.array([item.ruled is not None for item in read.items])
    share = probability(read, contradicted, 1)
    return Settings(support, contradicted, said, np.where(ruled, share, (1 - said) * share))


def left_out(read: Read, rows: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Support and contradiction of the rows, those of each domain by what is fitted on the other domains."""
    said, denied = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    domains = np.array([item.domain for item in read.items])
    for domain in sorted(set(domains[rows])):
        own = rows & (domains == domain)
        found = fit_support(read, rows & ~own, weight)
        said[own], denied[own] = found.said[own], found.denied[own]
    return said, denied


def contradiction(read: Read, said: np.ndarray, denied: np.ndarray, rows: np.ndarray, high: float) -> dict[str, float]:
    """The smallest probability with nine of ten contradictions right, where no rule decides; the most precise one if there is none."""
    rows, tried = rows & np.array([item.ruled is None for item in read.items]), []
    for threshold in np.arange(0.5, 0.98, 0.005):
        found = called(read, said, denied, rows, threshold, high)
        if found["called"] >= 30:
            tried.append((found["precision"], threshold, found))
            if found["precision"] >= _WANTED_PRECISION:
                break
    _, threshold, found = tried[-1] if tried[-1][0] >= _WANTED_PRECISION else max(tried, key=lambda one: one[:2])
    return {"threshold": round(float(threshold), 3), **found}


def called(
    read: Read, said: np.ndarray, denied: np.ndarray, rows: np.ndarray, threshold: float, high: float
) -> dict[str, float]:
    """How many contradictions the judge calls, how many of them are right, and how many of all it finds."""
    rows, truth = rows & (read.label < 3), read.label == 2
    own = rows & (said < high) & (denied >= threshold)
    precision = float(truth[own].mean()) if own.any() else 0.0
    recall = float(own[rows & truth].mean())
    return {"called": int(own.sum()), "precision": round(precision, 3), "recall": round(recall, 3)}


def ladder(said: np.ndarray, truth: np.ndarray) -> list[dict[str, float]]:
    """For several demands on confidence: how many rows meet it and how often the judge is right on them.

    Agreement never falls as confidence rises: it is the mean of an isotonic fit.
    """
    sure, right = np.maximum(said, 1 - said), (said > 0.5) == truth
    agreement, steps = isotonic(sure, right), []
    for threshold in np.arange(0.5, 0.96, 0.025).round(3):
        own = sure >= threshold
        if own.sum() >= 30:
            step = {"share": round(float(own.mean()), 4), "agreement": round(float(agreement[own].mean()), 4)}
            steps.append({"confidence": float(threshold), **step})
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


def contradiction_figures(read: Read, found: Settings, threshold: float, high: float) -> list[dict[str, Any]]:
    """Precision and recall of contradictions in unseen domains."""
    rows, truth = read.where(split="test"), read.label == 2
    own = (found.said < high) & (found.denied >= threshold)
    return [
        {**share_line("support", "unseen domains: contradictions", right), "measure": name}
        for name, right in (("precision", truth[rows & own]), ("recall", own[rows & truth]))
        if len(right)
    ]


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
    found = fit_support(support, fitted, weight)
    said = found.said
    # Of each domain, what is fitted on the others says.
    apart, denied = left_out(support, fitted, weight)
    settings: dict[str, Any] = {
        "support": found.support, "contradicted": found.contradicted,
        "match": fit(match, match.where(split="valid"), match.label == 1, "match", np.ones(len(match_items))),
    }  # fmt: skip
    matched = probability(match, settings["match"])
    unsure = [0.35, 0.65]
    valid, test = support.where(split="valid"), support.where(split="test")
    contra = contradiction(support, apart, denied, valid, unsure[1])
    told = called(support, said, found.denied, test, contra["threshold"], unsure[1])
    report = {
        "calibration error, domains left out": round(calibration_error(apart[fitted], support.label[fitted] == 0, weight[fitted]), 4),
        "calibration error, unseen domains": round(calibration_error(said[test], support.label[test] == 0), 4),
        "contradiction, domains left out": contra, "contradiction with rules, domains left out": called(support, apart, denied, valid, contra["threshold"], unsure[1]), "contradiction with rules, unseen domains": told,
        "ladder, unseen domains": ladder(said[test], support.label[test] == 0),
        "faithfulness of RAG rows": {split: mean_error(support, said, split) for split in ("rag", "rag-test")},
    }  # fmt: skip
    settings["support"] |= {"contradiction": contra["threshold"], "unsure": unsure, "coverage_weight": 0.4, "unrelated": 0.02, "window": window}  # fmt: skip
    card = {
        "name": "local-judge", "version": VERSION,
        "what": "One gte-small cross-encoder (12 layers) with three heads: answer match, claim support, support fraction. English.",
        "files": {name: {"bytes": size, "sha256": digest} for name, (size, digest) in judge.card.files.items()},
        "max_length": MAX_LENGTH, "second_limit": SECOND_LIMIT, "templates": _TEMPLATES,
        **settings, "fraction": {"scale": 1.0, "bias": 0.0, "overlap": 0.5}, "languages": ["en"],
        "ladder": {"support": ladder(apart[fitted], support.label[fitted] == 0), "match": ladder(matched[match.where(split="valid")], match.label[match.where(split="valid")] == 1)},
        "figures": support_figures(support, said) + contradiction_figures(support, found, contra["threshold"], unsure[1]) + match_figures(match, matched),
        "measured": report, **json.loads((Path(__file__).parent / "card.json").read_text(encoding="utf-8")),
    }  # fmt: skip
    options.out.mkdir(parents=True, exist_ok=True)
    for name in ("model.onnx", "tokenizer.json"):
        if options.judge != options.out:
            shutil.copy(options.judge / name, options.out / name)
    (options.out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    judge.save()
    # Long answers are read with the card that was just written.
    card["match"] |= fit_long(open_saved(options.out, options.outputs))
    (options.out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    errors = write_errors(options.out, options)
    print(json.dumps({"settings": settings, "report": report, "figures": card["figures"], "error": errors}, indent=1))


if __name__ == "__main__":
    main()
