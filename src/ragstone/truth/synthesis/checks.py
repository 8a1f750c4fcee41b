"""Checks of a written question: its form, its citations, its answer with and without the source, and duplicates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.text.overlap import content_words
from ragstone.truth.citations.check import CitationCheck, check_citation
from ragstone.truth.synthesis.question_plan import Shelf, is_row
from ragstone.truth.synthesis.writer import Draft, Writer

if TYPE_CHECKING:
    from ragstone.models.embedders import LocalEmbedder


# A paraphrase may share at most this much of the passage's words.
MOST_SHARED = 0.5
# The number of other passages with which an unanswerable question is tried.
NEAREST = 5
_MENTIONS = re.compile(
    r"\b(?:passages?|excerpts?|snippets?)\b|\b(?:the|this|these|given|provided|above) (?:text|document|context|article)s?\b"
    r"|according to (?:the|this) |\b(?:im|dem|diesem) (?:Text|Dokument|Abschnitt)\b|(?:文中|本文|上文|这段)",
    re.IGNORECASE,
)
_LEAST = {"several": 2, "comparison": 2}
# Share of common words, and cosine, from which two questions are duplicates.
SAME_WORDS = 0.8
SAME_MEANING = 0.92


def check_citations(draft: Draft) -> list[CitationCheck]:
    """Checks each citation once against the passages."""
    texts = [passage.text for passage in draft.job.passages]
    return [check_citation(text, texts) for text in dict.fromkeys(draft.citations)]


def find_fault(draft: Draft, checks: list[CitationCheck]) -> str | None:
    """Why a draft is rejected before the model is asked; None if it is well-formed."""
    if not content_words(draft.question):
        return "no question"
    if _MENTIONS.search(draft.question):
        return "it mentions its source text"
    if draft.job.kind == "conversational" and not draft.history:
        return "a conversational question without an earlier one"
    if draft.job.kind == "unanswerable":
        return "an unanswerable question with an answer" if draft.answer or draft.citations else None
    if not draft.answer:
        return "no answer"
    return _fault_of_citations(draft, checks)


def _fault_of_citations(draft: Draft, checks: list[CitationCheck]) -> str | None:
    if not checks:
        return "no citation"
    if fallen := [check for check in checks if not check.holds]:
        return f"a citation is not in the passages: {fallen[0].verdict}"
    if len({(check.passage, check.start) for check in checks}) < _LEAST.get(draft.job.kind, 1):
        return f"fewer facts than '{draft.job.kind}' needs"
    if draft.job.kind == "comparison" and len({check.passage for check in checks}) < len(draft.job.passages):
        return "a comparison that needs only one of its passages"
    if draft.job.kind == "table" and not any(is_row(check.text) or _is_in_row(draft, check) for check in checks):
        return "no row of the table is cited"
    if draft.job.kind == "paraphrase" and _share_of_words(draft, checks) > MOST_SHARED:
        return "it repeats the words of the passage"
    return None


def _is_in_row(draft: Draft, check: CitationCheck) -> bool:
    text, start = draft.job.passages[check.passage or 0].text, check.start or 0
    end = text.find("\n", start)
    return is_row(text[text.rfind("\n", 0, start) + 1 : end if end >= 0 else len(text)])


def _share_of_words(draft: Draft, checks: list[CitationCheck]) -> float:
    """The share of the question's words that its citations contain; names and numbers do not count."""
    asked = {word.lower() for word in re.findall(r"(?<!^)\b[A-Z]\w+|\d+", draft.question)}
    wanted = content_words(draft.question) - asked
    there = {word for check in checks for word in content_words(check.text)}
    return len(wanted & there) / len(wanted) if wanted else 0.0


async def find_failure(writer: Writer, draft: Draft, shelf: Shelf) -> str | None:
    """Why a draft fails the round trip: only with its source must the model answer it; None if it passes.

    An unanswerable question is also tried with the nearest passages of all documents.
    """
    if draft.job.kind == "unanswerable":
        reply = await writer.answer(draft, shelf.find(draft.asked, NEAREST))
        return "the documents answer an unanswerable question" if reply.answerable else None
    reply = await writer.answer(draft)
    if not reply.answerable or not reply.answer.strip():
        return "its source does not answer it"
    if not await writer.agrees(draft, reply.answer):
        return "its source gives another answer"
    alone = await writer.remember(draft)
    if alone.answerable and alone.answer.strip() and await writer.agrees(draft, alone.answer):
        return "the model answers it without its source"
    return None


def difficulty(draft: Draft, checks: list[CitationCheck]) -> float:
    """From 0 (easy) to 1 (hard): by the distance between question and source, and the facts and passages needed."""
    if draft.job.kind == "unanswerable":
        return 1.0
    distance = 1 - _share_of_words(draft, checks)
    facts = min(len(checks) - 1, 2) / 2
    return round(0.5 * distance + 0.25 * facts + 0.15 * (len(draft.job.passages) > 1) + 0.1 * bool(draft.history), 3)


def name_difficulty(value: float) -> str:
    """The difficulty as a word."""
    return "easy" if value < 1 / 3 else "medium" if value < 2 / 3 else "hard"


class Known:
    """The accepted questions so far."""

    def __init__(self, embedder: LocalEmbedder | None = None) -> None:
        self._embedder = embedder
        self._words: list[frozenset[str]] = []
        self._vectors: list[np.ndarray] = []

    @property
    def signature(self) -> str:
        """How questions are compared."""
        return f"words:{SAME_WORDS:g}" + (f"+minilm:{SAME_MEANING:g}" if self._embedder else "")

    async def add_new(self, questions: Sequence[str]) -> list[bool]:
        """Whether each question is new, in order; new ones are added."""
        vectors = await self._embedder.embed(questions) if self._embedder and questions else None
        return [self._add(text, None if vectors is None else vectors[place]) for place, text in enumerate(questions)]

    def _add(self, text: str, vector: np.ndarray | None) -> bool:
        words = content_words(text)
        if any(len(words & other) >= SAME_WORDS * len(words | other) for other in self._words):
            return False
        if vector is not None:
            unit = vector / max(float(np.linalg.norm(vector)), 1e-9)
            if any(float(unit @ other) >= SAME_MEANING for other in self._vectors):
                return False
            self._vectors.append(unit)
        self._words.append(words)
        return True


def open_known() -> Known:
    """An empty set of questions, with the local embedding model if it is installed."""
    from ragstone.models.embedders import LocalEmbedder, find_minilm  # noqa: PLC0415  (reads a model)

    minilm = find_minilm()
    return Known(LocalEmbedder(minilm) if minilm else None)
