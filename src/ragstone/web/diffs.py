"""What differs between two texts word by word, and where in a text something comes nearest to being said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
# Longer texts are compared by their beginnings: nobody reads a diff of more.
_MOST_TOKENS = 8_000
_MOST_CHARACTERS = 20_000
_LONGEST_WANTED = 1_000
# What is less alike than this is no near miss, only the same language.
LEAST_ALIKE = 50.0


@dataclass(frozen=True)
class DiffPiece:
    """A stretch that is the same in both, gone from the first, or new in the second."""

    kind: str
    text: str


def word_diff(before: str, after: str) -> list[DiffPiece]:
    """The second text as changes of the first."""
    old, new = _TOKEN.findall(before)[:_MOST_TOKENS], _TOKEN.findall(after)[:_MOST_TOKENS]
    pieces: list[DiffPiece] = []
    for change in LCSseq.opcodes(old, new):
        gone = "".join(old[change.src_start : change.src_end])
        come = "".join(new[change.dest_start : change.dest_end])
        if change.tag == "equal":
            pieces.append(DiffPiece("same", gone))
        else:
            pieces += [DiffPiece(kind, text) for kind, text in (("gone", gone), ("new", come)) if text]
    return _joined(pieces)


def _joined(pieces: Sequence[DiffPiece]) -> list[DiffPiece]:
    """Changes with only space between them as one, so that they can be read: first all that is gone, then all that is new."""
    result: list[DiffPiece] = []
    gone = new = ""
    for place, piece in enumerate(pieces):
        between = piece.kind == "same" and not piece.text.strip() and 0 < place < len(pieces) - 1 and (gone or new)
        gone += piece.text if piece.kind == "gone" or between else ""
        new += piece.text if piece.kind == "new" or between else ""
        if piece.kind == "same" and not between:
            result += [DiffPiece(kind, text) for kind, text in (("gone", gone), ("new", new)) if text]
            result.append(piece)
            gone = new = ""
    return [*result, *(DiffPiece(kind, text) for kind, text in (("gone", gone), ("new", new)) if text)]


@dataclass(frozen=True)
class NearMiss:
    """The place that is most like a wanted text: in which of the texts, from where to where, how alike from 0 to 100."""

    text: int
    start: int
    end: int
    alike: float


def nearest_miss(wanted: str, texts: Sequence[str]) -> NearMiss | None:
    """The place in some texts that is most like a wanted one; None where nothing comes near."""
    short = wanted[:_LONGEST_WANTED].casefold()
    best: NearMiss | None = None
    for place, text in enumerate(texts):
        # Lower case may be longer (İ); then places would be off, and the text is taken as it is.
        low = text[:_MOST_CHARACTERS].lower()
        low = low if len(low) == len(text[:_MOST_CHARACTERS]) else text[:_MOST_CHARACTERS]
        least = best.alike if best else LEAST_ALIKE
        found = fuzz.partial_ratio_alignment(short, low, score_cutoff=least) if short and low else None
        if found is None or (best and found.score <= best.alike):
            continue
        # A text shorter than the wanted one is held against a part of it; then all of the text is the place.
        start, end = (found.dest_start, found.dest_end) if len(low) >= len(short) else (0, len(low))
        best = NearMiss(place, *_whole_words(text, start, end), float(found.score))
    return best


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while 0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end
