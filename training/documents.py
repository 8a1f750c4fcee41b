"""Measures the judge end to end: claims against whole documents of which the best passage counts.

One pair is calibrated by `calibrate.py`; the best of several passages of a document is another number, so it is held against
known claims here: SQuAD's kept claims within several paragraphs of their article, and edited sentences within whole articles
that were kept for validation. The judge is the one that RAGSTONE_LOCAL_JUDGE names, or the shipped one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from corpus import held_out, read_articles, read_claims, reserved_sentences
from figures import auc, calibration_error, platt
from ragstone.evidence.judges.local_checker import LocalChecker
from ragstone.models.local_judge import Judgements, open_local_judge
from support_pairs import SUPPORTED, support_pairs
from synthesise import make_pool

_WORDS = 1500
# Of these an article's other sentences cannot make a false claim true.
_KINDS = ("true", "pronoun_true", "fused_true", "entity", "date", "number", "negation", "opposite", "relation", "roles", "detail", "fused_false")  # fmt: skip


class Case(NamedTuple):
    """A document, a claim, and whether it is so."""

    document: str
    claim: str
    truth: bool


def squad_cases(folder: Path, split: str, count: int, rng: Random) -> list[Case]:
    """Kept claims about a paragraph, with the paragraphs around it."""
    pages = json.loads((folder / "squad" / "dev_v1.1_from_pages.json").read_text(encoding="utf-8"))
    texts = [[paragraph["context"] for paragraph in paragraphs] for paragraphs in pages.values()]
    places = {text: (page, at) for page, contexts in enumerate(texts) for at, text in enumerate(contexts)}
    found = []
    for row in read_claims(folder):
        if (
            row["source"] == "squad"
            and row["task"] == "support"
            and row["split"] == split
            and row["evidence"] in places
        ):
            page, at = places[row["evidence"]]
            around = texts[page][max(0, at - 4) : at + 5]
            found.append(Case("\n\n".join(around), row["claim"], row["label"] == "supported"))
    return _even(found, count, rng)


def article_cases(folder: Path, count: int, rng: Random) -> list[Case]:
    """Sentences of kept articles, edited, against the article."""
    claims = read_claims(folder)
    articles = read_articles(folder, reserved_sentences(claims))
    pool = make_pool(articles)
    found = []
    for article in articles:
        text = " ".join(" ".join(article.sentences).split()[:_WORDS])
        if held_out(article.name) and len(text.split()) > 400:
            own = Random(f"documents {article.name}")  # noqa: S311
            pairs = support_pairs(article, own, pool, 4)
            found += [
                Case(text, pair.second, pair.label == SUPPORTED)
                for pair in pairs
                if pair.kind in _KINDS and pair.first in text
            ]
    return _even(found, count, rng)


def _even(cases: list[Case], count: int, rng: Random) -> list[Case]:
    """As many true as false ones."""
    kinds = [[case for case in cases if case.truth is truth] for truth in (True, False)]
    return [case for kind in kinds for case in rng.sample(kind, min(count // 2, *map(len, kinds)))]


async def weigh(checker: LocalChecker, cases: list[Case]) -> np.ndarray:
    """How likely each claim is supported, by the best passage."""
    found = [await checker.weigh([case.claim], [case.document]) for case in cases]
    return np.array([row[0].supported for [row] in found])


def main() -> None:
    """Prints calibration error, area under the curve and accuracy, and what a second logistic function would make of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--split", default="valid")
    parser.add_argument("--count", type=int, default=400)
    options = parser.parse_args()
    judge = open_local_judge()
    checker = LocalChecker(Judgements(judge), judge.card, judge.signature)
    sets = {"squad": squad_cases(options.data, options.split, options.count, Random(5))}  # noqa: S311
    if options.split == "valid":
        sets["articles"] = article_cases(options.data, options.count, Random(6))  # noqa: S311
    said, truths = [], []
    for name, cases in sets.items():
        chance, truth = asyncio.run(weigh(checker, cases)), np.array([case.truth for case in cases])
        _print(name, chance, truth)
        said.append(chance)
        truths.append(truth)
    chance, truth = np.concatenate(said), np.concatenate(truths)
    odds = np.log(np.clip(chance, 1e-6, 1 - 1e-6) / np.clip(1 - chance, 1e-6, 1))
    slope, shift = platt(odds, truth, np.ones(len(truth)))
    _print("together", chance, truth)
    print(f"a second logistic function: slope {slope:.3f}, shift {shift:.3f}")
    _print("together, with it", 1 / (1 + np.exp(-(slope * odds + shift))), truth)


def _print(name: str, chance: np.ndarray, truth: np.ndarray) -> None:
    right = ((chance >= 0.5) == truth).mean()
    said, so = chance.mean(), truth.mean()
    error = calibration_error(chance, truth, bins=10)
    print(f"{name}: {len(truth)} claims, AUC {auc(chance, truth):.3f}, accuracy {right:.3f}, calibration error {error:.3f}, said {said:.3f}, so {so:.3f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
