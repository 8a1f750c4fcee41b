"""Makes the synthetic pairs from articles and SQuAD paragraphs, and writes them beside the labelled ones.

The same pairs come out every time: each article draws from a generator that is seeded by its name.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import edits
from corpus import (
    Article,
    Question,
    cut,
    held_out,
    read_articles,
    read_claims,
    read_questions,
    reserved_sentences,
    tidy,
)
from match_pairs import cloze_pairs, squad_pairs
from open_pairs import template, yes_no_pairs
from spans import pieces
from support_pairs import (
    CONTRADICTED,
    NOT_IN_EVIDENCE,
    NOT_SUPPORTED,
    SUPPORTED,
    Pair,
    fact_pairs,
    fraction_pairs,
    pronoun_pairs,
    support_pairs,
)

_LABELS = {
    "supported": SUPPORTED,
    "not_in_evidence": NOT_IN_EVIDENCE,
    "contradicted": CONTRADICTED,
    "not_supported": NOT_SUPPORTED,
}
_shared: dict[str, object] = {}


def main() -> None:
    """Writes `pairs.jsonl`: the labelled pairs in the common form, then the synthetic ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--articles", type=int, default=0, help="use only so many articles (a trial run)")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--per-article", type=int, default=9, help="sentences of an article that claims are made from")
    options = parser.parse_args()
    began = time.perf_counter()
    claims = read_claims(options.data)
    reserved = reserved_sentences(claims)
    articles = read_articles(options.data, reserved)
    questions = read_questions(options.data, claims, reserved)
    if options.articles:
        articles, questions, claims = (
            articles[: options.articles],
            questions[: options.articles],
            claims[:: len(claims) // (20 * options.articles)],
        )
    counts: Counter[str] = Counter()
    with options.out.open("w", encoding="utf-8") as out:
        for row in claims:
            _write(out, _labelled(row), row["split"], f"claims/{row['source']}", counts)
        for split, pair in _synthetic(articles, questions, options.workers, options.per_article):
            _write(out, pair, split, f"made/{pair.kind}", counts)
    for key in sorted(counts):
        print(f"{counts[key]:7d} {key}")
    print(f"{sum(counts.values())} pairs in {time.perf_counter() - began:.0f} s")


def _write(out: object, pair: Pair, split: str, source: str, counts: Counter[str]) -> None:
    counts[f"{split} {pair.task} {source}"] += 1
    row = {
        "task": pair.task,
        "source": source,
        "split": split,
        "first": pair.first,
        "second": pair.second,
        "label": pair.label,
    }
    out.write(json.dumps(row, ensure_ascii=False) + "\n")  # type: ignore[attr-defined]


def _labelled(row: dict[str, str]) -> Pair:
    if row["task"] == "support":
        return Pair("support", row["source"], row["evidence"], row["claim"], _LABELS[row["label"]])
    first = template(row["question"], row["reference"])
    return Pair("match", row["source"], first, row["answer"], int(row["label"] == "match"))


def _synthetic(
    articles: list[Article], questions: list[Question], workers: int, count: int
) -> Iterator[tuple[str, Pair]]:
    pages: dict[str, list[Question]] = {}
    for question in questions:
        pages.setdefault(question.context, []).append(question)
    paragraphs = [Article(context, "", cut(tidy(context))) for context in pages]
    _shared.update(pool=make_pool(articles), pages=pages, count=count)
    work = [*articles, *(p for p in paragraphs if len(p.sentences) > 1)]
    with multiprocessing.get_context("fork").Pool(workers) as processes:
        for made in processes.imap(_pairs_of, work, chunksize=32):
            yield from made


def make_pool(articles: list[Article]) -> edits.Pool:
    """Names and numbers of every kind out of some of the articles."""
    by_kind: dict[str, dict[str, None]] = {}
    for article in articles[::4]:
        for sentence in article.sentences[:12]:
            for piece in pieces(sentence):
                by_kind.setdefault(piece.kind, {})[piece.text] = None
    return edits.Pool({kind: list(texts) for kind, texts in by_kind.items()})


def _pairs_of(article: Article) -> list[tuple[str, Pair]]:
    pool: edits.Pool = _shared["pool"]  # type: ignore[assignment]
    pages: dict[str, list[Question]] = _shared["pages"]  # type: ignore[assignment]
    count: int = _shared["count"]  # type: ignore[assignment]
    rng = Random(f"ragstone {article.name[:80]}")  # noqa: S311
    split = "valid" if held_out(article.name) else "train"
    made = list(support_pairs(article, rng, pool, count))
    made += pronoun_pairs(article, rng, pool, 3)
    made += fact_pairs(article, rng, pool, 3)
    made += fraction_pairs(article, rng, pool, 6)
    made += yes_no_pairs(article, rng, pool, 2)
    if article.name in pages:
        made += [pair for question in pages[article.name] for pair in squad_pairs(question, rng, pool)]
    else:
        made += cloze_pairs(article, rng, pool, 8)
    return [(split, pair) for pair in made]


if __name__ == "__main__":
    main()
