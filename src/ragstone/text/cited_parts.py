"""An answer without its citation marks, and the part of the answer that each mark belongs to.

A mark belongs to the sentence in which it is or which it directly follows. Several marks in a sentence divide it: each belongs to
the words since the mark before it, the last one to the rest of the sentence too.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from ragstone.text.citation_marks import CitationMark, Cited, find_marks, resolve
from ragstone.text.overlap import content_stems
from ragstone.text.sentences import sentences
from ragstone.text.words import Span

# Without the space around it: three repetitions of spaces in a row would take cubic time.
_BETWEEN = re.compile(r"(?:[,;&]|,?[ \t]*and)?")
_OPENS = re.compile(
    r"[ \t]*\([ \t]*(?:(?:see|cf\.?|sources?|refs?\.?|references?|e\.g\.,?|as in)[ \t:]*)?$", re.IGNORECASE
)
_COMMA = re.compile(r",[ \t]*")
_NEAR = 60
_CLOSES = re.compile(r"[ \t]*\)")
_ACCORDING = re.compile(
    r"(?:^|(?<=[.!?\n] )|(?<=\n))(?:according to|as (?:stated|mentioned|described|noted|shown|reported|said) (?:in|by)|based on|per|"
    r"as per|from|in|see)[ \t]+$",
    re.IGNORECASE,
)
# "See [1]." is not a sentence of its own.
_POINTS = re.compile(r"(?:(?<=[.!?\n] )|(?<=\n))(?:see|cf\.?|sources?:?|references?:?)[ \t]+$", re.IGNORECASE)
_POINTED = re.compile(r"[ \t]*+\.?(?=[ \t]*+(?:\n|$|[A-Z]))")
# A mark after one of these words replaces a name: cutting it out would break the sentence.
_NEEDED_BEFORE = re.compile(r"\b(?:in|from|by|per|see|to|of|with|than|and|or|both)[ \t]+$", re.IGNORECASE)
_ENDS = re.compile(r"[ \t]*(?:[.,;:!?)…。！？\]]|$|\n)")
_LINE_START = re.compile(r"(?:^|\n)[ \t]*(?:[-*•][ \t]+|\d{1,3}[.)][ \t]+|>[ \t]*)?$")


@dataclass(frozen=True)
class Cleaned:
    """A text without marks; `kept` are the pieces of the original that are left, in order."""

    text: str
    kept: tuple[Span, ...]

    def place(self, original: int) -> int:
        """The place of an original position in the cleaned text; of a removed one, where it was."""
        number = bisect_left(self.kept, original, key=attrgetter("start")) - 1
        if number < 0:
            return 0
        span = self.kept[number]
        return self._starts[number] + min(original, span.end) - span.start

    def original(self, start: int, end: int) -> Span:
        """A part of the cleaned text in the original."""
        return Span(self._back(start, after=True), self._back(end, after=False))

    def _back(self, place: int, after: bool) -> int:
        find = bisect_right if after else bisect_left
        number = find(self._starts, place, 1)
        if number > len(self.kept):
            return self.kept[-1].end if self.kept else 0
        return self.kept[number - 1].start + place - self._starts[number - 1]

    @cached_property
    def _starts(self) -> list[int]:
        """Where each piece begins in the cleaned text, and where the last one ends."""
        return [0, *accumulate(span.end - span.start for span in self.kept)]


class TextPart(NamedTuple):
    """A citation in a text: its position, the part that it belongs to, and the positions of the cited chunks."""

    start: int
    end: int
    part: Span
    chunks: tuple[int, ...]


def without_marks(text: str) -> str:
    """A text without citation marks and without the list of references at its end; other brackets stay."""
    return clean(text).text


@lru_cache(maxsize=512)
def clean(text: str) -> Cleaned:
    """The text without the marks that are written like citations, without lists of references and addresses of links."""
    marks, references = find_marks(text)
    sure, others = ([mark for mark in marks if mark.sure is known] for known in (True, False))
    cuts = [*references.lines, *_cuts(text, sure), *(cut for mark in others for cut in _link_cuts(text, mark))]
    if not cuts:
        return Cleaned(text, (Span(0, len(text)),))
    kept, place = [], 0
    for start, end in sorted(cuts):
        if start > place:
            kept.append(Span(place, start))
        place = max(place, end)
    kept.append(Span(place, len(text)))
    cleaned = "".join(text[start:end] for start, end in kept)
    if not references.lines:
        return Cleaned(cleaned, tuple(kept))
    # Empty lines before the list of references are not needed.
    end = len(cleaned.rstrip())
    return Cleaned(cleaned[:end], tuple(kept))


def cited_parts(text: str, chunks: Sequence[Cited]) -> list[TextPart]:
    """The citations of a text in order; one that names no chunk has no chunks."""
    marks, references = find_marks(text)
    cited = [(mark, found) for mark in marks if (found := resolve(mark, chunks, references)) is not None]
    parts = _parts_of(text, [mark for mark, _ in cited])
    listed: dict[tuple[Span, tuple[int, ...]], TextPart] = {}
    for number, ((mark, found), part) in enumerate(zip(cited, parts, strict=True)):
        for place, positions in enumerate(found):
            # The same chunk twice in a part is one citation; each unknown name counts.
            key = (part, positions or (-1 - number, place))
            listed.setdefault(key, TextPart(mark.start, mark.end, part, positions))
    return list(listed.values())


def _cuts(text: str, marks: Sequence[CitationMark]) -> Iterator[Span]:
    """The text to remove with each cluster of marks: the space before it, brackets around it, "According to [1], "."""
    for start, end in _clusters(text, marks):
        near = max(0, start - _NEAR)
        opened, closed = _OPENS.search(text, near, start), _CLOSES.match(text, end)
        if opened and closed:
            yield _with_space(text, opened.start(), closed.end())
        elif (points := _POINTS.search(text, near, start)) and (pointed := _POINTED.match(text, end)):
            yield _with_space(text, points.start(), pointed.end())
        elif (said := _ACCORDING.search(text, near, start)) and (comma := _COMMA.match(text, end)):
            yield Span(said.start(), comma.end())
        elif not _is_needed(text, start, end):
            yield _with_space(text, start, end)


def _link_cuts(text: str, mark: CitationMark) -> Iterator[Span]:
    """All of a Markdown link but its words; in brackets of its own, all of it."""
    start, end = mark.start, mark.end
    middle = text.find("](", start, end)
    if text[start] != "[" or middle < 0:
        return
    opened, closed = _OPENS.search(text, max(0, start - _NEAR), start), _CLOSES.match(text, end)
    if opened and closed:
        yield _with_space(text, opened.start(), closed.end())
    elif middle > start + 1:
        yield Span(start, start + 1)
        yield Span(middle, end)


def _is_needed(text: str, start: int, end: int) -> bool:
    """Whether a sentence would break without the mark: "[1] says that …", "as in [1] it is …"."""
    if _ENDS.match(text, end):
        return False
    near = max(0, start - _NEAR)
    starts = _LINE_START.search(text, near, start) is not None
    return bool(_NEEDED_BEFORE.search(text, near, start)) or (
        starts and text[end : end + _NEAR].lstrip(" \t")[:1].islower()
    )


def _with_space(text: str, start: int, end: int) -> Span:
    """The cut with the space before it; at the start of a line with the space after it."""
    if _LINE_START.search(text, max(0, start - _NEAR), start):
        while text[end : end + 1] in (" ", "\t"):
            end += 1
        return Span(start, end)
    while start and text[start - 1] in " \t":
        start -= 1
    return Span(start, end)


def _clusters(text: str, marks: Sequence[CitationMark]) -> Iterator[Span]:
    """Marks with nothing but commas between them, as one."""
    current: Span | None = None
    for mark in marks:
        if current and _BETWEEN.fullmatch(text[current.end : mark.start].strip(" \t")):
            current = Span(current.start, mark.end)
            continue
        if current:
            yield current
        current = Span(mark.start, mark.end)
    if current:
        yield current


def _parts_of(text: str, marks: Sequence[CitationMark]) -> list[Span]:
    """The part of the text that each mark belongs to."""
    cleaned = clean(text)
    spans = sentences(cleaned.text)
    places = [cleaned.place(mark.start) for mark in marks]
    owners = [_owner(spans, place) for place in places]
    by_owner: dict[Span | None, set[int]] = {}
    for place, owner in zip(places, owners, strict=True):
        by_owner.setdefault(owner, set()).add(place)
    cuts = {owner: _divide(cleaned.text, owner, sorted(by_owner[owner])) for owner in by_owner if owner}
    return [
        Span(0, 0) if owner is None else cleaned.original(*_piece(owner, cuts[owner], place))
        for place, owner in zip(places, owners, strict=True)
    ]


def _owner(spans: Sequence[Span], place: int) -> Span | None:
    """The sentence that contains a mark, otherwise the one that it starts or directly follows."""
    at = bisect_left(spans, place, key=lambda span: span.start)
    # The last sentence that starts before the mark, then one that starts at it.
    if at and place <= spans[at - 1].end:
        return spans[at - 1]
    if at < len(spans) and spans[at].start == place:
        return spans[at]
    return next(iter(spans[at - 1 : at] if at else spans[:1]), None)


def _divide(text: str, sentence: Span, places: Sequence[int]) -> list[int]:
    """The borders of the pieces of a sentence: its marks; a piece without content words is one with the next."""
    cuts, looked_at = [sentence.start], sentence.start
    for cut in places[:-1]:
        has_content = content_stems(text[looked_at:cut])
        looked_at = max(looked_at, cut)
        if has_content:
            cuts.append(cut)
    cuts.append(sentence.end)
    if len(cuts) > 2 and not content_stems(text[cuts[-2] : cuts[-1]]):
        del cuts[-2]
    return cuts


def _piece(sentence: Span, cuts: Sequence[int], place: int) -> Span:
    """The words of a sentence between the mark before and this one."""
    number = bisect_left(cuts, place, 1)
    return Span(cuts[number - 1], cuts[number]) if number < len(cuts) else sentence
