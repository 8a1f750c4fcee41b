"""Protocols of the tools that evidence functions may need. A language model or a local model implements them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from ragstone.data.types import CheckedItem, Chunk, Claim, Grade, PairVerdict, Turn
from ragstone.data.verdict import Verdict
from ragstone.errors import Skip
from ragstone.text.statements import sentences_around
from ragstone.tools.aspects import Aspect
from ragstone.tools.checklists import Checklist, DecisionTree


class Tool(Protocol):
    """A capability that evidence functions may ask for."""

    @property
    def signature(self) -> str:
        """Its part of the signature of every score made with it."""
        ...


@runtime_checkable
class Prompted(Protocol):
    """A tool that asks a model with prompts from files."""

    def prompt_hash(self, name: str) -> str:
        """A hash of the wording of a prompt."""
        ...


class Content(NamedTuple):
    """The claims and the named entities of a text."""

    claims: list[Claim]
    entities: list[str]


class Extractor(Protocol):
    """Takes texts apart into claims."""

    async def claims(self, question: str, text: str) -> list[Claim]:
        """The claims that a text makes, given the question that it answers."""
        ...

    async def content(self, question: str, text: str, wanted: Collection[str]) -> Content:
        """The claims and the names in a text; what is not wanted may be left out where that saves something."""
        ...

    async def standalone_question(self, question: str, history: Sequence[Turn]) -> str:
        """The question, completed from the earlier turns of its conversation."""
        ...


class Whole(str):
    """An answer or a reference: it is read together with its question, and a refusal states nothing."""


class Labelled(Whole):
    """An answer for which claims are nuggets: their verdicts are support, partial_support or not_support."""


class Joint(str):
    """All chunks of the call read together. Its verdict has the agreement of repeats. Without it, each chunk is read alone."""

    @classmethod
    def of(cls, chunks: Sequence[str]) -> Self:
        """The chunks as one text."""
        return cls("\n".join(chunks))


class Earlier(str):
    """The earlier turns of a conversation."""


class InContext(str):
    """A claim with its sentence and the one before: what a part of a sentence, or a pronoun, is about."""

    __slots__ = ("context",)
    context: str

    def __new__(cls, claim: str, context: str) -> Self:
        """The claim itself is the text."""
        found = super().__new__(cls, claim)
        found.context = context
        return found

    @classmethod
    def of(cls, claims: Sequence[str], question: str, text: str) -> list[str]:
        """The claims that a text makes."""
        return [cls(*pair) for pair in zip(claims, sentences_around(question, text, claims), strict=True)]


class Checker(Protocol):
    """Says of claims whether texts entail or contradict them."""

    async def check(self, question: str, claims: Sequence[str], texts: Sequence[str]) -> list[list[Verdict]]:
        """For each claim one verdict per text: whole texts, or chunks followed by at most one `Joint` and one `Earlier`."""
        ...


async def check_text(checker: Checker, question: str, claims: Sequence[str], text: Whole) -> list[Verdict]:
    """One verdict per claim by one text."""
    return [row[0] for row in await checker.check(question, claims, [text])]


class Corpus(Protocol):
    """Finds passages of a corpus."""

    def search(self, text: str, most: int) -> list[Chunk]:
        """At most that many passages, nearest first."""
        ...


@runtime_checkable
class PickyChecker(Protocol):
    """A checker that reads some languages only."""

    def cannot_read(self, claims: Sequence[str]) -> Skip | None:
        """Why it does not read these claims of one text; None if it does."""
        ...


class GuessedQuestions(NamedTuple):
    """Questions to which a text is an answer, and whether it evades."""

    questions: list[str]
    noncommittal: bool


class Stance(NamedTuple):
    """Whether an answer declines, and whether it reports errors in its sources."""

    declines: bool
    reports_errors: bool


class Judge(Protocol):
    """Reads contexts and answers with an eye to the question."""

    async def needed_sentences(self, question: str, sentences: Sequence[str]) -> list[int]:
        """The positions, from 0, of the sentences that are needed to answer."""
        ...

    async def grade_chunks(self, question: str, chunks: Sequence[str]) -> list[Grade]:
        """How well each chunk serves the question, from 0 to 3 (UMBRELA)."""
        ...

    async def guess_questions(self, answer: str, count: int) -> GuessedQuestions:
        """Questions that the answer would answer."""
        ...

    async def stance(self, question: str, answer: str) -> Stance:
        """Whether the answer declines, and whether it says that its sources are wrong."""
        ...


class Grader(Protocol):
    """Holds answers and chunks against what is known to be right."""

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """For each reference the probability that the answer says the same."""
        ...

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """For each chunk whether it helps to come to the answer."""
        ...


class Rater(Protocol):
    """Gives grades."""

    async def grade(
        self, aspect: Aspect, question: str, answer: str, contexts: Sequence[str], reference: str | None
    ) -> Grade:
        """How good the answer is in one respect; contexts and reference are shown where the aspect is graded by them."""
        ...

    async def check(
        self, checklist: Checklist | DecisionTree, question: str, answer: str, contexts: Sequence[str]
    ) -> list[CheckedItem]:
        """Which items of a checklist the answer meets; of a decision tree, the replies on its path, and the score."""
        ...


class PairJudge(Protocol):
    """Says which of two answers is better."""

    async def compare(
        self, question: str, one: str, other: str, contexts: Sequence[str], reference: str | None
    ) -> list[PairVerdict]:
        """A verdict for each order in which the answers were shown."""
        ...


class Shares(NamedTuple):
    """Which share of the answer each reference supports, and which share of each reference the answer supports."""

    of_answer: list[float]
    of_references: list[float]


class Estimator(Protocol):
    """Says how much of one text another one supports, without taking either apart."""

    async def shares(self, question: str, answer: str, references: Sequence[str]) -> Shares:
        """Both ways, for each reference."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors."""

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One row per text."""
        ...


class TokenEmbedder(Protocol):
    """Turns the tokens of texts into contextual vectors."""

    async def embed_tokens(self, texts: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each text one unit vector per token, and the rarity of each token."""
        ...


class Scorer(Protocol):
    """Returns token probabilities of texts."""

    async def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """For each pair of prefix and text, the log-probability of each token of the text."""
        ...


class RewardModel(Protocol):
    """Predicts how much people like an answer."""

    async def rate(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each question and answer a number, from minus to plus infinity; more is better."""
        ...


class ToxicityModel(Protocol):
    """Detects hate speech."""

    async def rate(self, texts: Sequence[str]) -> list[float]:
        """For each text the probability that it is hate speech."""
        ...


class LabelGuesser(Protocol):
    """Predicts human labels."""

    async def judge(
        self, question: str | None, answer: str, contexts: Sequence[str] | None, references: Sequence[str] | None
    ) -> float:
        """The label that is expected, as a share of the scale of labels."""
        ...


class DryRunTool:
    """Replaces a local model in a dry run: every call returns a fixed value and nothing is computed."""

    def __init__(self, signature: str) -> None:
        self.name = self.signature = signature

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """The same vector for every text."""
        return np.ones((len(texts), 1))

    async def embed_tokens(self, texts: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """One token per text."""
        return [(np.ones((1, 1)), np.ones(1)) for _ in texts]

    async def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """One token per text."""
        return [[-1.0] for _ in pairs]

    async def rate(self, items: Sequence[Any]) -> list[float]:
        """The same score for every item."""
        return [0.5 for _ in items]

    async def match(self, question: str, references: Sequence[str], answer: str) -> list[float]:  # noqa: ARG002
        """No reference matches."""
        return [0.0 for _ in references]

    async def support(self, evidence_and_claims: Sequence[tuple[str, str]]) -> list[Any]:
        """No claim is supported."""
        from ragstone.models.local_judge import Support  # noqa: PLC0415

        return [Support(0.0, 0.0) for _ in evidence_and_claims]

    async def fraction(self, evidence_and_texts: Sequence[tuple[str, str]]) -> list[float]:
        """No part of a text is supported."""
        return [0.0 for _ in evidence_and_texts]
