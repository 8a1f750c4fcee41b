"""Explains why a citation failed the check: what the most similar part of the passages has instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from ragstone.text.passages import Passages
from ragstone.text.words import FoldedText
from ragstone.truth.citations.meaning_changes import JOINTS, NEGATIONS

# Below this similarity, the nearest part is unrelated to the citation.
_LEAST_LIKENESS = 70
_LEAST_RUN = 3
_LONGEST = 80
_SHORT = 20_000


class Absence(NamedTuple):
    """Whether a similar text with another meaning is there, and the explanation."""

    changed: bool
    why: str


class _Stretch(NamedTuple):
    """The most similar words of a passage, folded, and as they are written."""

    words: list[str]
    text: str


def explain_absence(citation: str, passages: Sequence[str]) -> Absence:
    """Describes the difference from the most similar part of the passages, if one is similar enough."""
    wanted = FoldedText(citation).folded.split()
    if _is_joined(wanted, passages):
        return Absence(changed=True, why="it joins words from different places")
    stretch = _nearest(" ".join(wanted), passages)
    if stretch is None:
        return Absence(changed=False, why="its words are not in the passages")
    lost, gained = Counter(stretch.words) - Counter(wanted), Counter(wanted) - Counter(stretch.words)
    different = [*lost, *gained]
    numbers = [word for word in different if any(letter.isdigit() for letter in word)]
    for what, changed in (("a number", numbers), ("a negation", [word for word in different if word in NEGATIONS])):
        if changed:
            return Absence(
                changed=True, why=f"{what} is changed: {', '.join(changed)}; the passage has '{_shorten(stretch.text)}'"
            )
    if not lost and not gained:
        return Absence(changed=True, why=f"its words are in another order: the passage has '{_shorten(stretch.text)}'")
    return Absence(changed=False, why=f"the wording differs: the passage has '{_shorten(stretch.text)}'")


def _is_joined(wanted: list[str], passages: Sequence[str]) -> bool:
    """Whether the citation consists of two runs of words that are both in the passages, but not together."""
    folded = [_folded(passage) for passage in passages]

    def is_there(part: list[str]) -> bool:
        run = f" {' '.join(part)} "
        return any(run in text for text in folded)

    if len(wanted) < 2 * _LEAST_RUN:
        return False
    longest = max((size for size in range(_LEAST_RUN, len(wanted)) if is_there(wanted[:size])), default=0)
    rest = wanted[longest:][wanted[longest] in JOINTS :]
    return bool(longest) and len(rest) >= _LEAST_RUN and is_there(rest)


def _nearest(wanted: str, passages: Sequence[str]) -> _Stretch | None:
    from rapidfuzz import fuzz  # noqa: PLC0415  (only failed citations need it)

    best: tuple[float, FoldedText, int, int] | None = None
    for passage in map(FoldedText, _near_parts(wanted, passages)):
        found = fuzz.partial_ratio_alignment(wanted, passage.folded, score_cutoff=_LEAST_LIKENESS)
        if found is None or not passage or (best and found.score <= best[0]):
            continue
        # Extend the span to whole words.
        start = passage.folded.rfind(" ", 0, found.dest_start + 1) + 1
        end = passage.folded.find(" ", max(found.dest_end - 1, start))
        best = found.score, passage, start, end
    if best is None:
        return None
    _, passage, start, end = best
    span = passage.original(start, end)
    words = _trimmed(passage.folded[start:end].split(), wanted.split())
    return _Stretch(words, " ".join(passage.text[span.start : span.end].split()))


def _near_parts(wanted: str, passages: Sequence[str]) -> list[str]:
    """Short passages as they are; of a long one, the parts that share most words with the citation."""
    parts = ([text] if len(text) <= _SHORT else _parts(text).nearest(wanted) for text in passages)
    return [part for of_passage in parts for part in of_passage]


# Each passage is searched for many citations.
@lru_cache(maxsize=64)
def _parts(passage: str) -> Passages:
    return Passages(passage)


@lru_cache(maxsize=256)
def _folded(passage: str) -> str:
    return FoldedText(passage).folded


def _trimmed(there: list[str], wanted: list[str]) -> list[str]:
    """The part without words at its ends that only the alignment added."""
    blocks = [
        block for block in SequenceMatcher(None, there, wanted, autojunk=False).get_matching_blocks() if block.size
    ]
    if not blocks:
        return there
    start = max(blocks[0].a - blocks[0].b, 0)
    end = min(blocks[-1].a + blocks[-1].size + (len(wanted) - blocks[-1].b - blocks[-1].size), len(there))
    return there[start:end]


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()}…"
