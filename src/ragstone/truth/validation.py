"""Whether a citation stands in the passages that it is said to come from; what was only spelled otherwise is given its true words.

First the words are looked for as the citation matcher compares them, then with torn and misread words. Wherever they stand,
nothing that carries meaning may differ: a number, a sign, a unit, a negation, a cut or a stop that makes two sentences one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from ragstone.truth.meaning import compare_gaps, compare_words, find_cut
from ragstone.truth.nearest import explain_absence
from ragstone.truth.spelling import Spelled, has_footnotes, misread

Verdict = Literal["stands", "repaired", "absent", "invalid"]
HOLDS: frozenset[str] = frozenset({"stands", "repaired"})
_ITEM = re.compile(r"^\s*(?:[-*•‣◦–]|\(?\d{1,2}[.)])\s+(?=\S)")
_WORDS_PER_MISREAD = 4
_ENDS = "\"'“”‘’«»„ \t\n"


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """Where a citation stands and what its true words are, or why it does not stand.

    "stands": character for character. "repaired": in other spelling; `text` is what the passage has. "absent": the words are
    not there. "invalid": almost the words are there, and they say something else.
    """

    verdict: Verdict
    passage: int | None
    start: int | None
    end: int | None
    text: str
    why: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the citation can be kept, with its true words."""
        return self.verdict in HOLDS


class _Step(NamedTuple):
    """How a word of the citation meets the passage: how many words of each, and whether a scanner misread it."""

    ours: int
    theirs: int
    noise: bool = False


_SAME = _Step(1, 1)


def check_citation(text: str, passages: Sequence[str]) -> CitationCheck:
    """Whether a citation stands in one of the passages, as it is or in other spelling."""
    wanted = text.strip()
    if not Spelled(wanted):
        return CitationCheck("invalid", None, None, None, text, "it has no words")
    first_problem: str | None = None
    for cited in _readings(wanted):
        for number, passage in enumerate(passages):
            for found in _find(cited, passage):
                if isinstance(found, str):
                    first_problem = first_problem or f"{found} (passage {number + 1})"
                    continue
                start, end = found
                true = passage[start:end]
                return CitationCheck("stands" if true == wanted else "repaired", number, start, end, true)
    if first_problem:
        return CitationCheck("invalid", None, None, None, text, first_problem)
    changed, why = explain_absence(wanted, passages)
    return CitationCheck("invalid" if changed else "absent", None, None, None, text, why)


def _readings(wanted: str) -> Iterator[Spelled]:
    """The citation as it is, and without the number or the bullet that a list gave it."""
    yield _spelled(wanted)
    if item := _ITEM.match(wanted):
        yield _spelled(wanted[item.end() :])


# A passage is searched for many citations.
@lru_cache(maxsize=256)
def _spelled(text: str, footnotes: bool = True) -> Spelled:
    return Spelled(text, footnotes)


def _find(cited: Spelled, passage: str) -> Iterator[tuple[int, int] | str]:
    """Every place where the words stand, or what is changed there; footnotes of the passage may be left out."""
    whole = _spelled(passage)
    yield from _find_words(cited, whole)
    if has_footnotes(passage) and not has_footnotes(cited.shown):
        yield from _find_words(cited, _spelled(passage, footnotes=False))


def _find_words(cited: Spelled, passage: Spelled) -> Iterator[tuple[int, int] | str]:
    if not cited or not passage:
        return
    for first in passage.beginnings(cited):
        steps = _follow(cited, passage, first)
        if steps is None:
            continue
        last = first + sum(step.theirs for step in steps) - 1
        problem = _compare(cited, passage, first, steps) or find_cut(cited, passage, first, last)
        yield problem or _with_ends(cited, passage, first, last)


def _follow(cited: Spelled, passage: Spelled, first: int) -> list[_Step] | None:
    """The steps by which the citation's words meet those of the passage from one of them on; None where they do not."""
    steps: list[_Step] = []
    number, place = 0, first
    while number < len(cited.words):
        step = _meet(cited, number, passage, place)
        if step is None:
            return None
        steps.append(step)
        number, place = number + step.ours, place + step.theirs
    noisy = sum(step.noise for step in steps)
    return steps if noisy * _WORDS_PER_MISREAD <= len(cited.words) else None


def _meet(cited: Spelled, number: int, passage: Spelled, place: int) -> _Step | None:
    if place >= len(passage.words):
        return None
    ours, theirs = cited.words[number].text, passage.words[place].text
    if ours == theirs:
        return _SAME
    if place + 1 < len(passage.words) and ours.startswith(theirs) and passage.is_torn(place + 1):
        return _Step(1, 2) if ours == theirs + passage.words[place + 1].text else None
    if number + 1 < len(cited.words) and theirs.startswith(ours) and cited.is_torn(number + 1):
        return _Step(2, 1) if theirs == ours + cited.words[number + 1].text else None
    if step := _meet_initials(cited, number, passage, place):
        return step
    return _Step(1, 1, noise=True) if _may_be_noise(cited, number, passage, place) else None


def _meet_initials(cited: Spelled, number: int, passage: Spelled, place: int) -> _Step | None:
    """An abbreviation with stops on one side, without on the other; in capital letters on both."""
    if (letters := passage.initials(place)) and letters == cited.raw(number):
        return _Step(1, len(letters))
    if (letters := cited.initials(number)) and letters == passage.raw(place):
        return _Step(len(letters), 1)
    return None


def _may_be_noise(cited: Spelled, number: int, passage: Spelled, place: int) -> bool:
    """A misread word; neither a name nor a word that the passage has elsewhere."""
    ours, theirs = cited.words[number].text, passage.words[place].text
    begins = place == 0 or place in passage.sentence_starts
    name = passage.raw(place)[:1].isupper() and not (begins and not passage.raw(place)[1:].isupper())
    if name and not cited.shown.isupper():
        return False
    return (misread(ours, theirs) and ours not in passage.places) or (
        misread(theirs, ours) and theirs not in cited.places
    )


def _compare(cited: Spelled, passage: Spelled, first: int, steps: list[_Step]) -> str | None:
    """The first thing that is changed at a place where all words stand."""
    number, place = 0, first
    for step in steps:
        if number and (problem := compare_gaps(cited, number, passage, place)):
            return problem
        if step == _SAME and (problem := compare_words(cited, number, passage, place)):
            return problem
        number, place = number + step.ours, place + step.theirs
    return None


def _with_ends(cited: Spelled, passage: Spelled, first: int, last: int) -> tuple[int, int]:
    """The original characters of the words, with the marks at both ends that the citation has too."""
    text, start, end = passage.shown, passage.words[first].start, passage.words[last].end
    lead, tail = cited.gap(0), cited.gap(len(cited.words)).rstrip()
    while lead and start and text[start - 1] == lead[-1]:
        lead, start = lead[:-1], start - 1
    while tail and end < len(text) and text[end] == tail[0]:
        tail, end = tail[1:], end + 1
    if (end < len(text) and text[end] in "%‰°?？") or re.match(r"\s[%‰°]", text[end : end + 2]):
        end += 1 + text[end].isspace()
    return passage.original(start, end)
