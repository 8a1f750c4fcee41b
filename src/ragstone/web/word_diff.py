"""Word-level diffs, and the passage that is most similar to a given text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
# Only the beginnings of longer texts are compared.
_MAX_TOKENS = 8_000
_MAX_CHARACTERS = 20_000
_MAX_WANTED = 1_000
# Below this similarity a passage is not a near miss.
MIN_SIMILARITY = 50.0


@dataclass(frozen=True)
class DiffPiece:
    """A piece of text: `same` in both texts, `gone` from the first, or `new` in the second."""

    kind: str
    text: str


def word_diff(before: str, after: str) -> list[DiffPiece]:
    """Return the second text as changes to the first."""
    old, new = _TOKEN.findall(before)[:_MAX_TOKENS], _TOKEN.findall(after)[:_MAX_TOKENS]
    pieces: list[DiffPiece] = []
    for change in LCSseq.opcodes(old, new):
        removed = "".join(old[change.src_start : change.src_end])
        added = "".join(new[change.dest_start : change.dest_end])
        pieces += [DiffPiece("same", removed)] if change.tag == "equal" else _change(removed, added)
    return _merge_changes(pieces)


def _change(gone: str, new: str) -> list[DiffPiece]:
    return [DiffPiece(kind, text) for kind, text in (("gone", gone), ("new", new)) if text]


def _merge_changes(pieces: Sequence[DiffPiece]) -> list[DiffPiece]:
    """Merge changes that are separated only by white space: first all removed text, then all added text."""
    result: list[DiffPiece] = []
    gone = new = ""
    for position, piece in enumerate(pieces):
        inner = 0 < position < len(pieces) - 1
        between = piece.kind == "same" and not piece.text.strip() and inner and (gone or new)
        gone += piece.text if piece.kind == "gone" or between else ""
        new += piece.text if piece.kind == "new" or between else ""
        if piece.kind == "same" and not between:
            result += [*_change(gone, new), piece]
            gone = new = ""
    return result + _change(gone, new)


@dataclass(frozen=True)
class NearMiss:
    """The most similar passage: index of the text, start, end, and similarity from 0 to 100."""

    text: int
    start: int
    end: int
    similarity: float


def nearest_miss(wanted: str, texts: Sequence[str]) -> NearMiss | None:
    """Return the passage most similar to a text; None if no passage reaches the minimum similarity."""
    short = wanted[:_MAX_WANTED].casefold()
    best: NearMiss | None = None
    for position, text in enumerate(texts):
        beginning = text[:_MAX_CHARACTERS]
        # Lower case may be longer (İ). Then offsets would be wrong, so the original case is used.
        low = beginning.lower() if len(beginning.lower()) == len(beginning) else beginning
        cutoff = best.similarity if best else MIN_SIMILARITY
        match = fuzz.partial_ratio_alignment(short, low, score_cutoff=cutoff) if short and low else None
        if match is None or (best and match.score <= best.similarity):
            continue
        # A text shorter than the wanted one is compared with a part of it. Then the passage is the whole text.
        start, end = (match.dest_start, match.dest_end) if len(low) >= len(short) else (0, len(low))
        best = NearMiss(position, *_whole_words(text, start, end), float(match.score))
    return best


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while 0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end
