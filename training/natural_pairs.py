"""Pairs in natural language: hand-written claims and answers of everyday domains, and edited sentences of handbooks.

Reads files like `written/claims.jsonl` and `written/answers.jsonl` and the teacher's `domain.jsonl.xz`; writes rows like
synthesise.py. Whole domains are kept for validation; `--test` files are never trained on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from open_pairs import template

Row = dict[str, Any]

_LABELS = {"supported": 0, "not_stated": 1, "contradicted": 2}
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])|\n+")
_MARKS = ("- {}", "* {}", '"{}"', "**{}**", "1. {}", "{}\n", "• {}", "> {}")
_LEADS = ("Note: {}", "In short, {}", "According to the document, {}", "{}")
_HEADS = ("Section {n}", "{n}. General", "Help > Topics > Part {n}", "## Part {n}", "Product {n}, Section 4:")
# One domain in so many is kept for validation.
_KEEP_EVERY = 7


def main() -> None:
    """Writes natural.jsonl: rows of the written files, with variants for training, and the domain pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=Path, nargs="+", required=True)
    parser.add_argument("--answers", type=Path, nargs="+", required=True)
    parser.add_argument("--kept-claims", type=Path, nargs="*", default=[], help="for validation, whatever the domain")
    parser.add_argument("--kept-answers", type=Path, nargs="*", default=[])
    parser.add_argument("--test-claims", type=Path, nargs="*", default=[])
    parser.add_argument("--test-answers", type=Path, nargs="*", default=[])
    parser.add_argument("--domain", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rng = Random("natural pairs")  # noqa: S311
    rows: list[Row] = []
    rows += written_claims(_read(options.claims), rng)
    rows += written_answers(_read(options.answers))
    for split, claims, answers in (
        ("valid", options.kept_claims, options.kept_answers),
        ("test", options.test_claims, options.test_answers),
    ):
        rows += [{**row, "split": split} for row in written_claims(_read(claims), rng, variants=False)]
        rows += [{**row, "split": split} for row in written_answers(_read(answers))]
    if options.domain:
        rows += domain_pairs(options.domain)
    with options.out.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{len(rows)} rows, {sum(row['split'] == 'train' for row in rows)} to train on")


def _read(paths: list[Path]) -> list[Row]:
    return [row for path in paths for row in read_rows(path)]


def read_rows(path: Path) -> list[Row]:
    """The rows of a file of JSON lines, packed or not."""
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def is_kept(domain: str) -> bool:
    """Whether a whole domain is kept for validation."""
    return int(hashlib.sha256(domain.casefold().encode()).hexdigest(), 16) % _KEEP_EVERY == 0


def _row(task: str, source: str, split: str, first: str, second: str, label: float) -> Row:
    return {"task": task, "source": source, "split": split, "first": first, "second": second, "label": label}


def written_claims(given: list[Row], rng: Random, *, variants: bool = True) -> Iterator[Row]:
    """The pairs themselves and, for training, variants that leave the label as it is."""
    given = [row for row in given if row.get("lang", "en") == "en"]
    chunks = sorted({(row["domain"], row["evidence"]) for row in given})
    for row in given:
        split = "valid" if is_kept(row["domain"]) else "train"
        label = _LABELS[row["label"]]
        source = f"written/{row['domain']}/{row['kind']}"
        yield _row("support", source, split, row["evidence"], row["claim"], label)
        if not variants or split == "valid":
            continue
        if rng.random() < 0.4:
            yield _row("support", "variant/longer", split, _longer(row, chunks, rng), row["claim"], label)
        if rng.random() < 0.2:
            form = rng.choice(_MARKS + _LEADS)
            yield _row(
                "support", "variant/form", split, _headed(row["evidence"], rng), form.format(row["claim"]), label
            )
        if rng.random() < 0.12:
            other = _elsewhere(row["domain"], chunks, rng)
            yield _row("support", "variant/unrelated", split, other, row["claim"], 1)
    if variants:
        for domain, evidence in chunks:
            if not is_kept(domain):
                yield from _identity(domain, evidence, chunks, rng)


def _elsewhere(domain: str, chunks: list[tuple[str, str]], rng: Random) -> str:
    while True:
        other, text = rng.choice(chunks)
        if other != domain:
            return text


def _longer(row: Row, chunks: list[tuple[str, str]], rng: Random) -> str:
    """The evidence with sentences of another domain before or after it."""
    parts = _sentences(_elsewhere(row["domain"], chunks, rng))
    some = " ".join(parts[: rng.randint(1, max(1, len(parts)))])
    return f"{some}\n{row['evidence']}" if rng.random() < 0.5 else f"{row['evidence']}\n{some}"


def _headed(evidence: str, rng: Random) -> str:
    draw = rng.random()
    if draw < 0.4:
        return rng.choice(_HEADS).format(n=rng.randint(1, 400)) + (" " if rng.random() < 0.4 else "\n") + evidence
    if draw < 0.7:
        return "\n".join(f"- {part}" for part in _sentences(evidence))
    return "\n\n".join(_sentences(evidence))


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(text) if len(part.split()) > 3]


def _identity(domain: str, evidence: str, chunks: list[tuple[str, str]], rng: Random) -> Iterator[Row]:
    """A sentence is supported by itself and by the text that contains it, and not stated elsewhere."""
    parts = [part.strip("-*•| ") for part in _sentences(evidence)]
    for part in rng.sample(parts, min(3, len(parts))):
        draw = rng.random()
        text = part if draw < 0.3 else evidence if draw < 0.7 else _headed(evidence, rng)
        yield _row("support", "variant/identity", "train", text, part, 0)
        if rng.random() < 0.3:
            yield _row("support", "variant/unrelated", "train", _elsewhere(domain, chunks, rng), part, 1)


def written_answers(given: list[Row]) -> Iterator[Row]:
    """Answers with their reference; split by question."""
    for row in given:
        split = "valid" if is_kept(row["question"]) else "train"
        first = template(row["question"], row["reference"])
        yield _row("match", f"written/{row['domain']}/{row['kind']}", split, first, row["answer"], int(row["label"]))


def domain_pairs(path: Path) -> Iterator[Row]:
    """Edited sentences of handbooks, with the teacher's log-probabilities."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            made = _row("support", f"domain/{row['kind']}", row["split"], row["evidence"], row["claim"], row["label"])
            yield {**made, "soft": row["logp"]}


if __name__ == "__main__":
    main()
