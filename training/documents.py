"""Measures the judge end to end: claims against whole documents of which the best passage counts.

One pair is calibrated by `calibrate.py`; the best of several passages of a document is another number, so it is held against
known claims here: SQuAD's kept claims within several paragraphs of their article, and edited sentences within whole articles
that were kept for validation. The judge is the one that RAGSTONE_LOCAL_JUDGE names, or the shipped one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from corpus import held_out, read_articles, read_claims, reserved_sentences
from figures import auc, calibration_error
from ragstone.models.local_judge import Judgements, LocalJudge, open_local_judge
from ragstone.tools.local_judges import LocalChecker
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


def squad_cases(folder: Path, split: str, count: int, around: int, rng: Random) -> list[Case]:
    """Kept claims about a paragraph, with so many paragraphs around it."""
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
            document = "\n\n".join(texts[page][max(0, at - around) : at + around + 1])
            found.append(Case(document, row["claim"], row["label"] == "supported"))
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


async def weigh(judge: LocalJudge, cases: list[Case]) -> tuple[np.ndarray, np.ndarray]:
    """The log-odds of the best passage of each document, and the log of how many passages were read, as the checker counts them."""
    checker = LocalChecker(Judgements(judge), replace(judge.card, several=0.0), judge.signature)
    found = [await checker.weigh([case.claim], [case.document]) for case in cases]
    chance = np.clip([row[0].supported for [row] in found], 1e-6, 1 - 1e-6)
    read = [max(1, len(checker.passages(case.claim, case.document)) - 1) for case in cases]
    return np.log(chance / (1 - chance)), np.log(read)


def main() -> None:
    """Prints calibration error, area under the curve and accuracy without and with the discount for several passages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--split", default="valid", help="valid decides the discount; test is for the end")
    parser.add_argument("--count", type=int, default=400)
    options = parser.parse_args()
    judge = open_local_judge()
    sets = {
        name: squad_cases(options.data, options.split, options.count, around, Random(5))  # noqa: S311
        for name, around in (("paragraphs", 0), ("several paragraphs", 4))
    }
    if options.split == "valid":
        sets["articles"] = article_cases(options.data, options.count, Random(6))  # noqa: S311
    found = {
        name: (*asyncio.run(weigh(judge, cases)), np.array([c.truth for c in cases])) for name, cases in sets.items()
    }
    discount = _best_discount(list(found.values())) if options.split == "valid" else judge.card.several
    print(
        f"discount for several passages: {discount:.2f} of the log of their number (the card has {judge.card.several})"
    )
    found["together"] = tuple(np.concatenate(part) for part in zip(*found.values(), strict=True))
    for name, (odds, read, truth) in found.items():
        _print(f"{name}, as they come", odds, truth)
        _print(f"{name}, with the discount", odds - discount * read, truth)


def _best_discount(sets: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> float:
    """The discount at which the claims of all sets together are least surprising."""
    odds, read, truth = (np.concatenate(part) for part in zip(*sets, strict=True))
    options = np.arange(0, 1.51, 0.05)
    signs = np.where(truth, 1.0, -1.0)
    return float(options[np.argmin([np.logaddexp(0, -signs * (odds - d * read)).mean() for d in options])])


def _print(name: str, odds: np.ndarray, truth: np.ndarray) -> None:
    chance = 1 / (1 + np.exp(-odds))
    right, error = ((chance >= 0.5) == truth).mean(), calibration_error(chance, truth, bins=10)
    print(f"{name}: {len(truth)} claims, AUC {auc(odds, truth):.3f}, accuracy {right:.3f}, calibration error {error:.3f}, said {chance.mean():.3f}, so {truth.mean():.3f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
