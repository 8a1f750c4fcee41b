"""What evidence functions may ask for: tools, chosen once for a run. Who does it, a language model or a local one, they cannot tell."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np

from ragstone.data.types import Claim, Grade, PairVerdict
from ragstone.evidence.aspects import Aspect

# Only entailment counts as support.
Verdict = Literal["entailment", "neutral", "contradiction"]
ENTAILMENT: Verdict = "entailment"
NEUTRAL: Verdict = "neutral"
CONTRADICTION: Verdict = "contradiction"


class Content(NamedTuple):
    """What a text says, and whom and what it names."""

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


class ChunkVerdicts(NamedTuple):
    """Verdicts of claims against each chunk and against all together, and how far repeats agree (None: asked once)."""

    each: list[list[str]]
    together: list[str]
    agreement: list[float] | None


class Checker(Protocol):
    """Says of claims whether texts entail or contradict them."""

    async def against_text(self, question: str, claims: Sequence[str], text: str) -> list[str]:
        """A verdict a claim."""
        ...

    async def against_chunks(self, question: str, claims: Sequence[str], chunks: Sequence[str]) -> ChunkVerdicts:
        """For each claim a verdict a chunk, and one for all chunks taken together."""
        ...


class GuessedQuestions(NamedTuple):
    """Questions to which a text is an answer, and whether it evades."""

    questions: list[str]
    noncommittal: bool


class Stance(NamedTuple):
    """What an answer does with its question, beside answering it."""

    declines: bool
    reports_errors: bool


class Judge(Protocol):
    """Reads contexts and answers with an eye to the question."""

    async def needed_sentences(self, question: str, sentences: Sequence[str]) -> list[int]:
        """The positions, from 0, of the sentences that are needed to answer."""
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
        """A row a text."""
        ...


class TokenEmbedder(Protocol):
    """Turns the tokens of texts into vectors, each as it stands among the others."""

    async def embed_tokens(self, texts: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each text a vector of length 1 a token, and how rare each token is."""
        ...


class Scorer(Protocol):
    """Knows how likely texts are."""

    async def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """For each text, after what stands before it, the natural logarithm of the probability of each of its tokens."""
        ...


class RewardModel(Protocol):
    """Guesses how much people would like an answer."""

    async def rate(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each question and answer a number, from minus to plus infinity; more is better."""
        ...


class ToxicityModel(Protocol):
    """Knows hate speech."""

    async def rate(self, texts: Sequence[str]) -> list[float]:
        """For each text the probability that it is hate speech."""
        ...


class LabelGuesser(Protocol):
    """Guesses what people would say."""

    async def judge(
        self, question: str | None, answer: str, contexts: Sequence[str] | None, references: Sequence[str] | None
    ) -> float:
        """The label that is expected, as a share of the scale of labels."""
        ...
