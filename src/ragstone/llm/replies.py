"""What models are asked to reply, one class a prompt. Numbers are those shown in the prompt: they start at 1."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator

VerdictWord = Literal["entailment", "neutral", "contradiction"]

# Only words that can mean nothing else: "yes", "no" and "unsupported" can.
_VERDICT_WORDS: dict[str, VerdictWord] = {
    **dict.fromkeys(("entailment", "entailed", "entails", "entail", "supported", "supports"), "entailment"),
    **dict.fromkeys(("neutral", "not enough information", "not enough info", "undetermined"), "neutral"),
    **dict.fromkeys(
        ("contradiction", "contradicted", "contradicts", "contradict", "contradictory", "refuted", "refutes"),
        "contradiction",
    ),
}
_NUMBER = re.compile(r"(?:claim|chunk|sentence|passage|item|no)?[\s_.:#]*\[?\s*(\d{1,9})\s*\]?\.?", re.IGNORECASE)

_GRADE = re.compile(r"-?\d+(?:\.\d+)?")


def _read_verdict(value: Any) -> Any:
    """A verdict's word, where it is written in another form of the same word."""
    if not isinstance(value, str):
        return value
    word = re.sub(r"[\s_-]+", " ", value.strip(" \t\n.!*_`\"'")).casefold()
    return _VERDICT_WORDS.get(word, value)


def _read_number(value: Any) -> Any:
    """A number, also where it is written as "3", "[3]" or "claim 3"; true and false are none."""
    if isinstance(value, bool):
        raise ValueError("a number is wanted, not true or false")  # noqa: TRY004  (pydantic collects ValueErrors)
    if isinstance(value, str) and (found := _NUMBER.fullmatch(value.strip())):
        return int(found[1])
    return value


def _read_numbers(value: Any) -> Any:
    """A list of numbers, also where it is null, one number, or a line of numbers with commas."""
    if value is None:
        return []
    if isinstance(value, str):
        value = value.strip().strip("[]")
        return [] if value.casefold() in ("", "none") else value.split(",")
    return [value] if isinstance(value, int) else value


def _read_grade(value: Any) -> Any:
    """A grade, also where it is written as "4"; true and false are none, and "8/10" or "4 stars" may be of another scale."""
    if isinstance(value, bool):
        raise ValueError("a grade is wanted, not true or false")  # noqa: TRY004  (pydantic collects ValueErrors)
    if isinstance(value, str):
        if not _GRADE.fullmatch(value.strip()):
            raise ValueError(f"write the grade as a number alone, not as {value.strip()[:20]!r}")
        return float(value)
    return value


def _read_winner(value: Any) -> Any:
    """A, B or tie, also in other letters and with words around them that can mean nothing else."""
    if not isinstance(value, str):
        return value
    word = re.sub(r"[\s_-]+", " ", value.strip(" \t\n.!*_`\"'[]()")).casefold()
    word = re.sub(r"^(?:the )?(?:answer|assistant|response) ", "", word)
    return {"a": "A", "b": "B", "tie": "tie", "draw": "tie", "equal": "tie", "neither": "tie", "c": "tie"}.get(
        word, value
    )


def _drop_blanks(texts: list[str]) -> list[str]:
    return [text.strip() for text in texts if text.strip()]


Verdict = Annotated[VerdictWord, BeforeValidator(_read_verdict)]
Number = Annotated[int, BeforeValidator(_read_number)]
Numbers = Annotated[list[Number], BeforeValidator(_read_numbers)]
Grade = Annotated[float, BeforeValidator(_read_grade)]
Winner = Annotated[Literal["A", "B", "tie"], BeforeValidator(_read_winner)]
Texts = Annotated[list[str], AfterValidator(_drop_blanks)]


class ClaimsReply(BaseModel):
    """The claims of a text."""

    claims: Texts


class Triplet(BaseModel):
    """A claim as subject, relation and object."""

    subject: str
    relation: str
    object: str


class TripletsReply(BaseModel):
    """The claims of a text as triplets."""

    triplets: list[Triplet]


class ClaimsAndEntitiesReply(BaseModel):
    """The claims of a text and the names in it."""

    claims: Texts
    entities: Texts


class ClaimVerdict(BaseModel):
    """What a text says about one claim."""

    claim: Number
    verdict: Verdict


class VerdictsReply(BaseModel):
    """What a text says about each claim."""

    verdicts: list[ClaimVerdict]


class ClaimContextVerdict(BaseModel):
    """What each chunk says about one claim, and what all of them say together."""

    claim: Number
    supported_by: Numbers
    contradicted_by: Numbers
    together: Verdict


class ContextVerdictsReply(BaseModel):
    """What the chunks say about each claim."""

    verdicts: list[ClaimContextVerdict]


class QuestionsReply(BaseModel):
    """Questions that an answer answers, and whether it evades."""

    questions: Texts
    noncommittal: bool


class NeededSentencesReply(BaseModel):
    """The sentences that are needed to answer a question."""

    needed: Numbers


class UsefulnessReply(BaseModel):
    """The chunks that are useful for an answer."""

    useful: Numbers


class AnswerMatchReply(BaseModel):
    """The references that an answer agrees with."""

    matches: Numbers


class GradeReply(BaseModel):
    """A grade on the scale that was asked for."""

    grade: Grade


class ReasonedGradeReply(BaseModel):
    """What speaks for and against, and then the grade."""

    reasoning: str
    grade: Grade


class OwnReferenceReply(BaseModel):
    """The judge's own answer."""

    answer: str


class PairReply(BaseModel):
    """Which of two answers is better, after the reasons."""

    reasoning: str
    winner: Winner


class CitationsReply(BaseModel):
    """The words of passages that an answer rests on."""

    citations: Texts


class StanceReply(BaseModel):
    """What an answer does with its question: whether it declines, and whether it says that its sources are wrong."""

    declines: bool
    reports_errors: bool


class NewQuestionReply(BaseModel):
    """A question about passages with its answer, the words that prove it, and what was asked before it."""

    question: str
    answer: str
    citations: Texts
    history: Texts


class AnswerReply(BaseModel):
    """An answer, or that there is none."""

    answerable: bool
    answer: str


# The reply of each packaged prompt.
KINDS: dict[str, type[BaseModel]] = {
    "claims": ClaimsReply,
    "triplets": TripletsReply,
    "claims_and_entities": ClaimsAndEntitiesReply,
    "verdicts": VerdictsReply,
    "context_verdicts": ContextVerdictsReply,
    "questions": QuestionsReply,
    "needed_sentences": NeededSentencesReply,
    "usefulness": UsefulnessReply,
    "answer_match": AnswerMatchReply,
    "stance": StanceReply,
    "grade": GradeReply,
    "own_reference": OwnReferenceReply,
    "pair": PairReply,
    "citations": CitationsReply,
    "new_question": NewQuestionReply,
    "answer_from_passages": AnswerReply,
    "answer_from_memory": AnswerReply,
}
