"""Pairs as token numbers, kept in flat arrays, and batches of pairs of about the same length."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

CLS, SEP = 101, 102
MAX_LENGTH = 384
# How much the second segment may take; the first one is cut at its end to what is left.
SECOND_LIMIT = {"match": 240, "support": 128, "fraction": 192}
TASKS = ("match", "support", "fraction")


class Pairs(NamedTuple):
    """Tokenised pairs: the numbers of all pairs one after the other, where each begins, where its second segment begins."""

    ids: np.ndarray
    starts: np.ndarray
    seconds: np.ndarray
    task: np.ndarray
    label: np.ndarray
    split: np.ndarray
    source: np.ndarray
    # The teacher's log-probabilities of supported, not stated, contradicted; NaN where it was not asked.
    soft: np.ndarray

    def __len__(self) -> int:
        return len(self.task)

    @property
    def lengths(self) -> np.ndarray:
        """The number of tokens of each pair."""
        return np.diff(self.starts)


def load_tokenizer(path: Path) -> Tokenizer:
    """The word-piece tokenizer without cutting and padding; marks in a user's text are plain text."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def join(first: list[int], second: list[int], task: str) -> tuple[list[int], int]:
    """[CLS] first [SEP] second [SEP] within the limits, and where the second segment begins."""
    second = second[: SECOND_LIMIT[task]]
    first = first[: MAX_LENGTH - 3 - len(second)]
    return [CLS, *first, SEP, *second, SEP], len(first) + 2


def tokenise(path: Path, tokenizer: Tokenizer, soft: Path | None = None) -> Pairs:
    """All rows of a file of pairs, with the teacher's labels where `soft` has them."""
    rows = [json.loads(line) for line in path.open(encoding="utf-8")]
    if soft is not None:
        with np.load(soft) as arrays:
            known = dict(zip(arrays["key"].tolist(), arrays["logp"].tolist(), strict=True))
        for row in rows:
            row.setdefault("soft", known.get(_key(row["first"], row["second"])) if row["task"] == "support" else None)
    firsts = _encode(tokenizer, [row["first"] for row in rows])
    seconds = _encode(tokenizer, [row["second"] for row in rows])
    joined = [join(first, second, row["task"]) for row, first, second in zip(rows, firsts, seconds, strict=True)]
    sizes = np.array([len(ids) for ids, _ in joined])
    return Pairs(
        np.concatenate([np.array(ids, dtype=np.uint16) for ids, _ in joined]),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.array([at for _, at in joined], dtype=np.int32),
        np.array([TASKS.index(row["task"]) for row in rows], dtype=np.int8),
        np.array([row["label"] for row in rows], dtype=np.float32),
        np.array([row["split"] for row in rows]),
        np.array([row["source"] for row in rows]),
        np.array([row.get("soft") or (np.nan,) * 3 for row in rows], dtype=np.float32),
    )


def _key(first: str, second: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{first}\n{second}".encode(), digest_size=8).digest())


def merge(parts: list[Pairs]) -> Pairs:
    """Several files of pairs as one."""
    starts = [np.zeros(1, dtype=np.int64)]
    for part in parts:
        starts.append(part.starts[1:] + starts[-1][-1])
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in Pairs._fields}
    return Pairs(**{**joined, "starts": np.concatenate(starts)})


def _encode(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    made: list[list[int]] = []
    for at in range(0, len(texts), 20000):
        made += [
            encoding.ids for encoding in tokenizer.encode_batch_fast(texts[at : at + 20000], add_special_tokens=False)
        ]
    return made


class Batch(NamedTuple):
    """Padded token numbers, lengths, segments, and which pairs they are."""

    ids: np.ndarray
    lengths: np.ndarray
    segments: np.ndarray
    rows: np.ndarray


def batches(
    pairs: Pairs, rows: np.ndarray, tokens: int, rng: np.random.Generator | None, most: int = 512
) -> Iterator[Batch]:
    """The pairs in batches of about as many tokens; shuffled when there is a generator, in order of length otherwise."""
    for chosen in plan(pairs, rows, tokens, rng, most):
        yield pad(pairs, chosen)


def plan(
    pairs: Pairs, rows: np.ndarray, tokens: int, rng: np.random.Generator | None, most: int = 512
) -> list[np.ndarray]:
    """Which pairs go together."""
    lengths = pairs.lengths[rows]
    noise = rng.uniform(0, 12, len(rows)) if rng is not None else 0
    order = rows[np.argsort(lengths + noise, kind="stable")]
    made, start = [], 0
    while start < len(order):
        end = start + 1
        longest = pairs.lengths[order[start : start + most]]
        peaks = np.maximum.accumulate(longest)
        end = start + max(1, int(np.searchsorted(peaks * np.arange(1, len(peaks) + 1), tokens, side="right")))
        made.append(order[start:end])
        start = end
    if rng is not None:
        rng.shuffle(made)
    return made


def pad(pairs: Pairs, chosen: np.ndarray) -> Batch:
    """One batch, its length a multiple of eight."""
    lengths = pairs.lengths[chosen]
    width = -(-int(lengths.max()) // 8) * 8
    ids = np.zeros((len(chosen), width), dtype=np.int64)
    segments = np.zeros_like(ids)
    for line, row in enumerate(chosen):
        size = lengths[line]
        ids[line, :size] = pairs.ids[pairs.starts[row] : pairs.starts[row] + size]
        segments[line, pairs.seconds[row] : size] = 1
    return Batch(ids, lengths, segments, chosen)
