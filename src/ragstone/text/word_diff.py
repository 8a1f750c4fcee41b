"""Two texts compared by words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
# Only the beginnings of longer texts are compared.
_MAX_TOKENS = 8_000
# With a smaller share of common text, a diff is harder to read than both texts.
_MIN_SAME = 0.4


@dataclass(frozen=True)
class DiffPiece:
    """A piece of text: `same` in both texts, `gone` from the first, or `new` in the second."""

    kind: str
    text: str


def word_diff(before: str, after: str) -> list[DiffPiece]:
    """Return the second text as changes to the first."""
    old, new = _TOKEN.findall(before)[:_MAX_TOKENS], _TOKEN.findall(after)[:_MAX_TOKENS]
    pieces: list[DiffPiece] = []
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415  (few outputs need it)

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


def is_readable(pieces: Sequence[DiffPiece]) -> bool:
    """Check that two texts share enough characters for their diff to help a reader."""
    sizes = {"same": 0, "gone": 0, "new": 0}
    for piece in pieces:
        sizes[piece.kind] += len("".join(piece.text.split()))
    return 2 * sizes["same"] >= _MIN_SAME * (2 * sizes["same"] + sizes["gone"] + sizes["new"])
