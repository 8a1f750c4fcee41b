"""What a written question must be like: its form, its citations, its answer from the source and from nothing."""

from __future__ import annotations

import re

from ragstone.text.overlap import content_words
from ragstone.truth.synthesis.kinds import is_row
from ragstone.truth.synthesis.searching import Shelf
from ragstone.truth.synthesis.writing import Draft, Writer
from ragstone.truth.validation import CitationCheck, check_citation

# A paraphrase that keeps more of the passage's words is none.
MOST_SHARED = 0.5
# Passages besides its own from which a question without an answer is tried.
NEAREST = 5
_MENTIONS = re.compile(
    r"\b(?:passages?|excerpts?|snippets?)\b|\b(?:the|this|these|given|provided|above) (?:text|document|context|article)s?\b"
    r"|according to (?:the|this) |\b(?:im|dem|diesem) (?:Text|Dokument|Abschnitt)\b|(?:文中|本文|上文|这段)",
    re.IGNORECASE,
)
_LEAST = {"several": 2, "comparison": 2}


def check_citations(draft: Draft) -> list[CitationCheck]:
    """Each citation once, held against the passages."""
    texts = [passage.text for passage in draft.job.passages]
    return [check_citation(text, texts) for text in dict.fromkeys(draft.citations)]


def find_fault(draft: Draft, checks: list[CitationCheck]) -> str | None:
    """Why a draft is rejected before anybody is asked about it; None if it is well-formed."""
    if not content_words(draft.question):
        return "no question"
    if _MENTIONS.search(draft.question):
        return "it mentions the text that it was made from"
    if draft.job.kind == "conversational" and not draft.history:
        return "no earlier question in a conversational one"
    if draft.job.kind == "unanswerable":
        return "an answer to what should have none" if draft.answer or draft.citations else None
    if not draft.answer:
        return "no answer"
    return _fault_of_citations(draft, checks)


def _fault_of_citations(draft: Draft, checks: list[CitationCheck]) -> str | None:
    if not checks:
        return "no citation"
    if fallen := [check for check in checks if not check.holds]:
        return f"a citation does not stand: {fallen[0].verdict}"
    if len({(check.passage, check.start) for check in checks}) < _LEAST.get(draft.job.kind, 1):
        return f"fewer facts than '{draft.job.kind}' needs"
    if draft.job.kind == "comparison" and len({check.passage for check in checks}) < len(draft.job.passages):
        return "a comparison that needs only one of its passages"
    if draft.job.kind == "table" and not any(is_row(check.text) or _is_in_row(draft, check) for check in checks):
        return "no row of the table is cited"
    if draft.job.kind == "paraphrase" and share_of_words(draft, checks) > MOST_SHARED:
        return "it repeats the words of the passage"
    return None


def _is_in_row(draft: Draft, check: CitationCheck) -> bool:
    text, start = draft.job.passages[check.passage or 0].text, check.start or 0
    end = text.find("\n", start)
    return is_row(text[text.rfind("\n", 0, start) + 1 : end if end >= 0 else len(text)])


def share_of_words(draft: Draft, checks: list[CitationCheck]) -> float:
    """The share of the question's words that what it cites has too; names and numbers need not change and do not count."""
    asked = {word.lower() for word in re.findall(r"(?<!^)\b[A-Z]\w+|\d+", draft.question)}
    wanted = content_words(draft.question) - asked
    there = {word for check in checks for word in content_words(check.text)}
    return len(wanted & there) / len(wanted) if wanted else 0.0


async def find_failure(writer: Writer, draft: Draft, shelf: Shelf) -> str | None:
    """Why a draft fails the round trip: its source must answer it, and nothing else may; None if all is well.

    What should have no answer is also tried with the passages of all documents that are nearest to it.
    """
    if draft.job.kind == "unanswerable":
        there = await writer.answer(draft, shelf.find(draft.asked, NEAREST))
        return "the documents answer what should have no answer" if there.answerable else None
    there = await writer.answer(draft)
    if not there.answerable or not there.answer.strip():
        return "its source does not answer it"
    if not await writer.agrees(draft, there.answer):
        return "its source answers it otherwise"
    alone = await writer.remember(draft)
    if alone.answerable and alone.answer.strip() and await writer.agrees(draft, alone.answer):
        return "it is answered without its source"
    return None


def difficulty(draft: Draft, checks: list[CitationCheck]) -> float:
    """From 0, easy, to 1, hard: how far the question's words are from the source's, how many facts and passages it takes."""
    if draft.job.kind == "unanswerable":
        return 1.0
    distance = 1 - share_of_words(draft, checks)
    facts = min(len(checks) - 1, 2) / 2
    return round(0.5 * distance + 0.25 * facts + 0.15 * (len(draft.job.passages) > 1) + 0.1 * bool(draft.history), 3)


def name_difficulty(value: float) -> str:
    """The difficulty in a word."""
    return "easy" if value < 1 / 3 else "medium" if value < 2 / 3 else "hard"
