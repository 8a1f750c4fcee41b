"""Types of the replies that models are asked for, one class per prompt.

Numbers and letters are those shown in the prompt: they start at 1 and at A.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, RootModel

VerdictWord = Literal["entailment", "neutral", "contradiction"]

# Only unambiguous words; "yes", "no" and "unsupported" are not.
_VERDICT_WORDS: dict[str, VerdictWord] = {
    **dict.fromkeys(("entailment", "entailed", "entails", "entail", "supported", "supports"), "entailment"),
    **dict.fromkeys(("neutral", "not enough information", "not enough info", "undetermined"), "neutral"),
    **dict.fromkeys(
        ("contradiction", "contradicted", "contradicts", "contradict", "contradictory", "refuted", "refutes"),
        "contradiction",
    ),
}
_NUMBER = re.compile(r"(?:claim|chunk|sentence|passage|item|no)?[\s_.:#]*\[?\s*(\d{1,9})\s*\]?\.?", re.IGNORECASE)
# A letter, or letters of what counts only in combination: "A", "[b]", "chunk C", "A+C".
_LETTERS = re.compile(r"(?:chunks?)?[\s_.:#]*\[?\s*([A-Z]{1,2}(?:\s*\+\s*[A-Z]{1,2})*)\s*\]?\.?", re.IGNORECASE)

# Error messages of validators are sent to the model in the second request.
_GRADE = re.compile(r"-?\d+(?:\.\d+)?")
_FINAL_SCORE = re.compile(r"final score\W{0,6}([0-3])(?![\d.]*\d)", re.IGNORECASE)


def read_verdict(value: Any) -> Any:
    """Normalise a verdict that is written as another form of the same word."""
    if not isinstance(value, str):
        return value
    return _VERDICT_WORDS.get(re.sub(r"[\s_-]+", " ", value.strip(" \t\n.!*_`\"'")).casefold(), value)


def _read_word(value: Any) -> Any:
    """Normalise case, marks and spaces of a label: "Partial support." is partial_support, "N/A" is not_applicable."""
    if not isinstance(value, str):
        return value
    word = re.sub(r"[\s_-]+", "_", value.strip(" \t\n.!*_`\"'")).casefold()
    return _LABEL_WORDS.get(word, word)


_LABEL_WORDS = {"n/a": "not_applicable", "na": "not_applicable", "passed": "pass", "failed": "fail"}


def _read_number(value: Any) -> Any:
    """Read "3", "[3]" or "claim 3" as a number. Booleans are rejected."""
    if isinstance(value, bool):
        raise ValueError("a number is wanted, not true or false")  # noqa: TRY004  (pydantic collects ValueErrors)
    if isinstance(value, str) and (match := _NUMBER.fullmatch(value.strip())):
        return int(match[1])
    return value


def _read_numbers(value: Any) -> Any:
    """Read null, one number or a comma-separated line as a list of numbers."""
    if value is None:
        return []
    if isinstance(value, str):
        value = value.strip().strip("[]")
        return [] if value.casefold() in ("", "none") else value.split(",")
    return [value] if isinstance(value, int) else value


def _read_letter(value: Any) -> Any:
    """Read "b", "[B]" or "chunk B" as B. A number is rejected: it may be the number of a claim."""
    match = _LETTERS.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError("a letter is wanted")
    return "+".join(part.strip() for part in match[1].upper().split("+"))


def _read_letters(value: Any) -> Any:
    """Read null, one letter or a comma-separated line as a list of letters, each once."""
    if value is None:
        return []
    if isinstance(value, str):
        value = value.strip().strip("[]")
        value = [] if value.casefold() in ("", "none") else value.split(",")
    return list(dict.fromkeys(map(_read_letter, value))) if isinstance(value, list) else value


def _read_grade(value: Any) -> Any:
    """Read "4" as a number. Booleans are rejected, and so are "8/10" and "4 stars": their scale may differ."""
    if isinstance(value, bool):
        raise ValueError("a grade is wanted, not true or false")  # noqa: TRY004  (pydantic collects ValueErrors)
    if isinstance(value, str):
        if not _GRADE.fullmatch(value.strip()):
            raise ValueError(f"write the grade as a number alone, not as {value.strip()[:20]!r}")
        return float(value)
    return value


def _read_level(value: Any) -> Any:
    """Read "2" and 2.0 as 2."""
    number = _read_grade(value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _read_winner(value: Any) -> Any:
    """Read A, B or tie in any case, with unambiguous words around it."""
    if not isinstance(value, str):
        return value
    word = re.sub(r"[\s_-]+", " ", value.strip(" \t\n.!*_`\"'[]()")).casefold()
    word = re.sub(r"^(?:the )?(?:answer|assistant|response) ", "", word)
    return {"a": "A", "b": "B", "tie": "tie", "draw": "tie", "equal": "tie", "neither": "tie", "c": "tie"}.get(
        word, value
    )


def _drop_blanks(texts: list[str]) -> list[str]:
    return [text.strip() for text in texts if text.strip()]


Verdict = Annotated[VerdictWord, BeforeValidator(read_verdict)]
Number = Annotated[int, BeforeValidator(_read_number)]
Numbers = Annotated[list[Number], BeforeValidator(_read_numbers)]
Letters = Annotated[list[str], BeforeValidator(_read_letters)]
Grade = Annotated[float, BeforeValidator(_read_grade)]
Level = Annotated[Literal[0, 1, 2, 3], BeforeValidator(_read_level)]
Winner = Annotated[Literal["A", "B", "tie"], BeforeValidator(_read_winner)]
Texts = Annotated[list[str], AfterValidator(_drop_blanks)]
NuggetWord = Annotated[Literal["support", "partial_support", "not_support"], BeforeValidator(_read_word)]
Importance = Annotated[Literal["vital", "okay"], BeforeValidator(_read_word)]
CheckWord = Annotated[Literal["yes", "no", "not_applicable"], BeforeValidator(_read_word)]
PassWord = Annotated[Literal["pass", "fail"], BeforeValidator(_read_word)]


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
    """The claims and named entities of a text."""

    claims: Texts
    entities: Texts


class ClaimVerdict(BaseModel):
    """The verdict of a text on one claim."""

    claim: Number
    verdict: Verdict


class VerdictsReply(BaseModel):
    """The verdicts of a text on all claims."""

    verdicts: list[ClaimVerdict]


class _ClaimReason(BaseModel):
    claim: Number
    reason: str


class ReasonedVerdict(ClaimVerdict, _ClaimReason):
    """The reason for the verdict of a text on one claim, and the verdict."""


class ReasonedVerdictsReply(VerdictsReply):
    """The verdicts of a text on all claims, each after its reason."""

    verdicts: list[ReasonedVerdict]  # type: ignore[assignment]


class ClaimContextVerdict(BaseModel):
    """The chunks that support or contradict one claim; "A+B" support it only in combination."""

    claim: Number
    supported_by: Letters
    contradicted_by: Letters


class ContextVerdictsReply(BaseModel):
    """The verdicts of the chunks on all claims."""

    verdicts: list[ClaimContextVerdict]


class ReasonedContextVerdict(ClaimContextVerdict, _ClaimReason):
    """The reason, and the chunks that support or contradict one claim."""


class ReasonedContextVerdictsReply(ContextVerdictsReply):
    """The verdicts of the chunks on all claims, each after its reason."""

    verdicts: list[ReasonedContextVerdict]  # type: ignore[assignment]


class QuestionsReply(BaseModel):
    """Questions that an answer answers, and whether it is noncommittal."""

    questions: Texts
    noncommittal: bool


class NeededSentencesReply(BaseModel):
    """The sentences that are needed to answer a question."""

    needed: Numbers


class UsefulnessReply(BaseModel):
    """The chunks that are useful for an answer."""

    useful: Letters


class AnswerMatchReply(BaseModel):
    """The references that an answer agrees with."""

    matches: Numbers


class RelevanceGradeReply(BaseModel):
    """The steps of UMBRELA: how well a passage matches the intent (M), how trustworthy it is (T), and its grade (O)."""

    match: Level
    trust: Level
    grade: Level

    @classmethod
    def from_prose(cls, text: str) -> Self | None:
        """Read `##final score: 2`, the reply to UMBRELA's published prompt; None if there is no such line, or two differ."""
        levels = {int(level) for level in _FINAL_SCORE.findall(text)}
        return cls.model_construct(match=None, trust=None, grade=levels.pop()) if len(levels) == 1 else None


class GradeReply(BaseModel):
    """A grade on the requested scale."""

    grade: Grade


class ReasonedGradeReply(BaseModel):
    """Reasons for and against, followed by the grade."""

    reasoning: str
    grade: Grade


class PassFailReply(BaseModel):
    """Whether a text passes a test."""

    verdict: PassWord


class ReasonedPassFailReply(BaseModel):
    """Reasons for and against, followed by the verdict."""

    reasoning: str
    verdict: PassWord


class ItemVerdict(BaseModel):
    """The verdict on one item of a checklist."""

    item: Number
    verdict: CheckWord


class ChecklistReply(BaseModel):
    """The verdicts on all items of a checklist."""

    items: list[ItemVerdict]


class ReasonedItemVerdict(BaseModel):
    """The reason for a verdict on one item, and the verdict."""

    item: Number
    reason: str
    verdict: CheckWord


class ReasonedChecklistReply(BaseModel):
    """The verdicts on all items of a checklist, each after its reason."""

    items: list[ReasonedItemVerdict]


class DecisionReply(BaseModel):
    """The reason for a choice in a decision tree, and the choice."""

    reason: str
    choice: str


class NuggetLabel(BaseModel):
    """How far an answer contains one nugget."""

    nugget: Number
    label: NuggetWord


class NuggetLabelsReply(BaseModel):
    """How far an answer contains each nugget."""

    labels: list[NuggetLabel]


class NewNuggetsReply(BaseModel):
    """The nuggets that passages add to the known ones."""

    nuggets: Texts


class RankedNugget(BaseModel):
    """The importance of one nugget."""

    nugget: Number
    importance: Importance


class NuggetImportanceReply(BaseModel):
    """The importance of each nugget."""

    ranked: list[RankedNugget]


class OwnReferenceReply(BaseModel):
    """The judge's own answer."""

    answer: str


class PairReply(BaseModel):
    """The reasons, followed by the better of two answers."""

    reasoning: str
    winner: Winner


class CitationsReply(BaseModel):
    """Quotations from passages that support an answer."""

    citations: Texts


class StanceReply(BaseModel):
    """Whether an answer declines, and whether it reports errors in its sources."""

    declines: bool
    reports_errors: bool


class NewQuestionReply(BaseModel):
    """A question about passages with its answer, supporting citations and earlier turns."""

    question: str
    answer: str
    citations: Texts
    history: Texts


class StandaloneQuestionReply(BaseModel):
    """A question that can be understood without its conversation."""

    question: str


class AnswerReply(BaseModel):
    """An answer, or that there is none."""

    answerable: bool
    answer: str


class SimulatedUserReply(BaseModel):
    """The parts of the goal that a simulated user has reached, and the next message."""

    reached: list[int]
    leaves: bool
    message: str


class YesNoReply(RootModel[Literal["yes", "no"]]):
    """One word, read from the probabilities of the first token."""


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
    "relevance_grade": RelevanceGradeReply,
    "grade": GradeReply,
    "own_reference": OwnReferenceReply,
    "pair": PairReply,
    "pair_reasoned": PairReply,
    "citations": CitationsReply,
    "new_question": NewQuestionReply,
    "standalone_question": StandaloneQuestionReply,
    "answer_from_passages": AnswerReply,
    "answer_from_memory": AnswerReply,
    "simulated_user": SimulatedUserReply,
    "nuggets": NuggetLabelsReply,
    "new_nuggets": NewNuggetsReply,
    "nugget_importance": NuggetImportanceReply,
    "checklist": ChecklistReply,
    "pass_fail": PassFailReply,
    "decision": DecisionReply,
}
# Prompts whose reply is one token.
ONE_TOKEN: dict[str, type[BaseModel]] = {
    **dict.fromkeys(("token_support", "token_match", "token_pair", "token_part"), YesNoReply),
    "token_contradiction": RootModel[Literal["true", "false", "unknown"]],
}
