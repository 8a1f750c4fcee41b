"""Checks whether a citation is in its passages, and replaces a different spelling by the passage's own words.

The words are first compared as the citation matcher does, then with hyphenated and misread words allowed. A match is
rejected if anything that carries meaning differs: a number, a sign, a unit, a negation, or a stop between sentences.
A failed citation is explained by the most similar part of the passages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple

from ragstone.data.types import Chunk
from ragstone.text.passages import Passages
from ragstone.text.words import FoldedText
from ragstone.truth.citations.spelled_text import (
    JOINTS,
    NEGATIONS,
    Spelled,
    compare_gaps,
    compare_words,
    find_cut,
    has_footnotes,
    misread,
)
from ragstone.truth.model import Case, TruthFact

# Below this similarity, the nearest part is unrelated to the citation.
_LEAST_LIKENESS = 70
_LEAST_RUN = 3
_LONGEST = 80
_SHORT = 20_000


def explain_absence(citation: str, passages: Sequence[str]) -> tuple[bool, str]:
    """Whether a similar text with another meaning is there, and the difference from the most similar part."""
    wanted = FoldedText(citation).folded.split()
    if _is_joined(wanted, passages):
        return True, "it joins words from different places"
    nearest = _nearest(" ".join(wanted), passages)
    if nearest is None:
        return False, "its words are not in the passages"
    there, text = nearest
    lost, gained = Counter(there) - Counter(wanted), Counter(wanted) - Counter(there)
    shown = f"the passage has '{text if len(text) <= _LONGEST else f'{text[:_LONGEST].rstrip()}…'}'"
    different = [*lost, *gained]
    numbers = [word for word in different if any(letter.isdigit() for letter in word)]
    for what, changed in (("a number", numbers), ("a negation", [word for word in different if word in NEGATIONS])):
        if changed:
            return True, f"{what} is changed: {', '.join(changed)}; {shown}"
    if not lost and not gained:
        return True, f"its words are in another order: {shown}"
    return False, f"the wording differs: {shown}"


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


def _nearest(wanted: str, passages: Sequence[str]) -> tuple[list[str], str] | None:
    """The most similar words of the passages, folded and as they are written."""
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
    return words, " ".join(passage.text[span.start : span.end].split())


def _near_parts(wanted: str, passages: Sequence[str]) -> list[str]:
    """Short passages as they are; of a long one, the parts that share most words with the citation."""
    parts = ([text] if len(text) <= _SHORT else _parts(text).nearest(wanted) for text in passages)
    return [part for of_passage in parts for part in of_passage]


# Each passage is searched for many citations.
_parts = lru_cache(maxsize=64)(Passages)
_spelled = lru_cache(maxsize=256)(Spelled)


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


Verdict = Literal["stands", "repaired", "absent", "invalid"]
_ITEM = re.compile(r"^\s*(?:[-*•‣◦–]|\(?\d{1,2}[.)])\s+(?=\S)")
_WORDS_PER_MISREAD = 4
VERDICTS: tuple[Verdict, ...] = ("stands", "repaired", "absent", "invalid")
UNKNOWN = "(unknown)"


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """The position of a citation and the passage's own words, or why the check failed.

    "stands": identical characters. "repaired": a different spelling; `text` has the passage's words. "absent": the
    words are not there. "invalid": similar words are there, with another meaning.
    """

    verdict: Verdict
    passage: int | None
    start: int | None
    end: int | None
    text: str
    why: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the citation can be kept, with the passage's own words."""
        return self.verdict in ("stands", "repaired")


class _Step(NamedTuple):
    """How one word of the citation matches: the number of words on each side, and whether a scanner misread it."""

    ours: int
    theirs: int
    noise: bool = False


_SAME = _Step(1, 1)


def check_citation(text: str, passages: Sequence[str]) -> CitationCheck:
    """Checks whether a citation is in one of the passages, as it is or in another spelling."""
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
                own_words = passage[start:end]
                return CitationCheck("stands" if own_words == wanted else "repaired", number, start, end, own_words)
    if first_problem:
        return CitationCheck("invalid", None, None, None, text, first_problem)
    changed, why = explain_absence(wanted, passages)
    return CitationCheck("invalid" if changed else "absent", None, None, None, text, why)


def _readings(wanted: str) -> Iterator[Spelled]:
    """The citation as it is, and without a leading list number or bullet."""
    yield _spelled(wanted)
    if item := _ITEM.match(wanted):
        yield _spelled(wanted[item.end() :])


def _find(cited: Spelled, passage: str) -> Iterator[tuple[int, int] | str]:
    """Every span that matches, or the meaning change that rules it out; the citation may omit footnote marks."""
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
    """The steps that match the citation from one word of the passage on; None if a word does not match."""
    steps: list[_Step] = []
    number, position = 0, first
    while number < len(cited.words):
        step = _match_word(cited, number, passage, position)
        if step is None:
            return None
        steps.append(step)
        number, position = number + step.ours, position + step.theirs
    noisy = sum(step.noise for step in steps)
    return steps if noisy * _WORDS_PER_MISREAD <= len(cited.words) else None


def _match_word(cited: Spelled, number: int, passage: Spelled, position: int) -> _Step | None:
    if position >= len(passage.words):
        return None
    ours, theirs = cited.words[number].text, passage.words[position].text
    if ours == theirs:
        return _SAME
    if position + 1 < len(passage.words) and ours.startswith(theirs) and passage.is_torn(position + 1):
        return _Step(1, 2) if ours == theirs + passage.words[position + 1].text else None
    if number + 1 < len(cited.words) and theirs.startswith(ours) and cited.is_torn(number + 1):
        return _Step(2, 1) if theirs == ours + cited.words[number + 1].text else None
    if step := _match_initials(cited, number, passage, position):
        return step
    return _Step(1, 1, noise=True) if _may_be_noise(cited, number, passage, position) else None


def _match_initials(cited: Spelled, number: int, passage: Spelled, position: int) -> _Step | None:
    """An abbreviation in capital letters with stops on one side only."""
    if (letters := passage.initials(position)) and letters == cited.raw(number):
        return _Step(1, len(letters))
    if (letters := cited.initials(number)) and letters == passage.raw(position):
        return _Step(len(letters), 1)
    return None


def _may_be_noise(cited: Spelled, number: int, passage: Spelled, position: int) -> bool:
    """Whether a word may be misread: it is not a name, and the passage does not contain it elsewhere."""
    ours, theirs = cited.words[number].text, passage.words[position].text
    begins = position == 0 or position in passage.sentence_starts
    name = passage.raw(position)[:1].isupper() and not (begins and not passage.raw(position)[1:].isupper())
    if name and not cited.shown.isupper():
        return False
    return (misread(ours, theirs) and ours not in passage.places) or (
        misread(theirs, ours) and theirs not in cited.places
    )


def _compare(cited: Spelled, passage: Spelled, first: int, steps: list[_Step]) -> str | None:
    """The first change of meaning in a span where all words match."""
    number, position = 0, first
    for step in steps:
        if number and (problem := compare_gaps(cited, number, passage, position)):
            return problem
        if step == _SAME and (problem := compare_words(cited, number, passage, position)):
            return problem
        number, position = number + step.ours, position + step.theirs
    return None


def _with_ends(cited: Spelled, passage: Spelled, first: int, last: int) -> tuple[int, int]:
    """The span in the original text, with the marks at both ends that the citation also has."""
    text, start, end = passage.shown, passage.words[first].start, passage.words[last].end
    lead, tail = cited.gap(0), cited.gap(len(cited.words)).rstrip()
    while lead and start and text[start - 1] == lead[-1]:
        lead, start = lead[:-1], start - 1
    while tail and end < len(text) and text[end] == tail[0]:
        tail, end = tail[1:], end + 1
    if (end < len(text) and text[end] in "%‰°?？") or re.match(r"\s[%‰°]", text[end : end + 2]):
        end += 1 + text[end].isspace()
    return passage.original(start, end)


@dataclass(frozen=True)
class CheckedFact:
    """A citation of a case, its document (where it was found, or its stated source), and the check."""

    case: str
    number: int
    citation: str
    document: str
    check: CitationCheck


@dataclass(frozen=True)
class Held:
    """The number of citations per verdict."""

    checked: int
    stands: int
    repaired: int
    absent: int
    invalid: int

    @property
    def held(self) -> int:
        """The citations that were kept: found as they are, or repaired."""
        return self.stands + self.repaired

    @property
    def share(self) -> float | None:
        """The share that was kept; None if nothing was checked."""
        return self.held / self.checked if self.checked else None


@dataclass(frozen=True)
class TruthCheck:
    """The checks of all citations, and the number of facts that could not be checked."""

    facts: list[CheckedFact]
    # Facts that are not citations, and citations of cases without passages.
    no_citations: int
    without_passages: int

    @property
    def total(self) -> Held:
        """All citations together."""
        return count_verdicts(fact.check for fact in self.facts)

    @property
    def documents(self) -> dict[str, Held]:
        """The counts per document, in order of first appearance."""
        names = dict.fromkeys(fact.document for fact in self.facts)
        return {name: count_verdicts(fact.check for fact in self.facts if fact.document == name) for name in names}

    @property
    def fallen(self) -> list[CheckedFact]:
        """The citations that failed the check."""
        return [fact for fact in self.facts if not fact.check.holds]

    def mend(self, cases: Sequence[Case], drop: bool) -> list[Case]:
        """Replaces repaired citations by the passage's words; failed ones are dropped, or proposed again with a note."""
        verdicts = {(fact.case, fact.number): fact.check for fact in self.facts}
        mended = []
        for case in cases:
            pairs = [(fact, verdicts.get((case.id, number))) for number, fact in enumerate(case.facts)]
            kept = [_mend(fact, check) for fact, check in pairs if not drop or check is None or check.holds]
            mended.append(replace(case, facts=kept))
        return mended


def count_verdicts(checks: Iterable[CitationCheck]) -> Held:
    """Counts checks per verdict."""
    counts = Counter(check.verdict for check in checks)
    return Held(counts.total(), *(counts[verdict] for verdict in VERDICTS))


def check_cases(cases: Sequence[Case]) -> TruthCheck:
    """Checks every citation of every case, in its passages or, without passages, in its reference contexts."""
    checked: list[CheckedFact] = []
    no_citations = without_passages = 0
    for case in cases:
        passages = passages_of(case)
        texts = [passage.text for passage in passages]
        for number, fact in enumerate(case.facts):
            if fact.kind != "citation":
                no_citations += 1
            elif not passages:
                without_passages += 1
            else:
                check = check_citation(fact.text, texts)
                checked.append(CheckedFact(case.id, number, fact.text, _document(case, fact, check, passages), check))
    return TruthCheck(checked, no_citations, without_passages)


def passages_of(case: Case) -> list[Chunk]:
    """The texts that must contain the citations of a case."""
    return case.passages or [Chunk(text) for text in case.reference_contexts]


def _document(case: Case, fact: TruthFact, check: CitationCheck, passages: Sequence[Chunk]) -> str:
    """The document in which a citation was found, or its stated source."""
    if check.passage is not None and passages[check.passage].source:
        return str(passages[check.passage].source)
    return fact.source or (case.documents[0] if len(case.documents) == 1 else UNKNOWN)


def _mend(fact: TruthFact, check: CitationCheck | None) -> TruthFact:
    if check is None or check.verdict == "stands":
        return fact
    if check.holds:
        return replace(fact, text=check.text)
    standing = "rejected" if fact.standing == "rejected" else "proposed"
    return replace(fact, standing=standing, note=f"not in the passages: {check.why}")
