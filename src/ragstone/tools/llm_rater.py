"""Grades and pairwise verdicts by a language model: one aspect per call, with the scale and the manner of the run."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence

from ragstone.data.types import CheckedItem, Grade
from ragstone.errors import UnknownNameError, UsageError
from ragstone.llm.base import Reply
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import Prompt
from ragstone.llm.prompts.book import Example
from ragstone.llm.reply_types import GradeReply, OwnReferenceReply, ReasonedGradeReply
from ragstone.tools.aspects import Aspect, GradedExample, Scale
from ragstone.tools.checklists import Checklist, DecisionTree
from ragstone.tools.llm_checklists import BinaryJudge, token_at

# Ways of grading; they can be combined.
MANNERS = {
    "cot": "the judge writes its reasons first",
    "few-shot": "the judge is shown graded examples",
    "rubric": "the prompt says what each step of the scale means",
    "own-reference": "the judge first answers the question itself if there is no reference",
}
_PLAIN = 'Reply with JSON: {"grade": N}, where N is the score.'
_REASONED = (
    "Write first, in at most three sentences, what speaks for and against the text in this respect. "
    'Reply with JSON: {"reasoning": "...", "grade": N}, where N is the score.'
)
GUIDANCE = {
    "person": "The reference is a right answer, written by a person. Hold the text against it.",
    "own": "The reference is your own answer, written before you saw this one. Hold the text against it, and check both.",
}
_GUESSED_REASONS = "It answers what was asked, but leaves something out. " * 2
_GRADE = re.compile(r'"grade"\s*:\s*"?(-?\d+)(?![\d.])')
# The least total probability of the known grades.
_LEAST_KNOWN = 0.5
# The largest share that may be the first digit of another grade.
_MOST_DOUBTFUL = 0.01

BINARY = "binary"
SCALES = {
    scale.name: scale
    for scale in (
        Scale(
            "points",
            0,
            100,
            "on a continuous scale from 0 to 100",
            "a score of zero",
            "a score of one hundred",
            whole=False,
        ),
        Scale("stars", 1, 5, "with one to five stars", "one star", "five stars", whole=True),
        Scale("ten", 1, 10, "with a whole number from 1 to 10", "a score of 1", "a score of 10", whole=True),
        Scale(BINARY, 0, 1, "with 1 (pass) or 0 (fail)", "a score of 0", "a score of 1", whole=True),
    )
}


class LLMTool:
    """Asks a language model with prompts from files; `settings` are the tool's part of the signature."""

    def __init__(self, judge: Judge, settings: str = "") -> None:
        self._judge = judge
        self._settings = settings

    @property
    def signature(self) -> str:
        """The model and the settings."""
        return f"{self._judge.signature}{self._settings}"

    @property
    def sees_images(self) -> bool:
        """Whether the model sees the images of chunks."""
        return self._judge.vision is not None

    def prompt_hash(self, name: str) -> str:
        """The hash of a prompt that is sent."""
        return self._judge.prompt_hash(name)


class JudgeRater(LLMTool):
    """Asks a language model for grades."""

    def __init__(self, judge: Judge, scale: str = "points", manners: Collection[str] = ()) -> None:
        self._scale = find_scale(scale)
        for name in manners:
            if name not in MANNERS:
                raise UnknownNameError("manner of grading", name, MANNERS, f"Choose from: {', '.join(MANNERS)}.")
        self._manners = frozenset(manners)
        super().__init__(judge, "".join(f",{part}" for part in (f"scale={scale}", *sorted(self._manners))))
        self._binary = BinaryJudge(judge)
        self._prompts: dict[tuple[str, tuple[str, ...], str | None], Prompt] = {}
        self._own: dict[tuple[str, tuple[str, ...]], asyncio.Task[str]] = {}

    async def grade(
        self, aspect: Aspect, question: str, answer: str, contexts: Sequence[str], reference: str | None
    ) -> Grade:
        """The grade, and its expected value if the server returns token probabilities."""
        guided_by = "person" if reference is not None else None
        if reference is None and "own-reference" in self._manners:
            reference, guided_by = await self._own_reference(question, tuple(contexts)), "own"
        data = {"question": question, "contexts": contexts, "reference": reference or "", "answer": answer}
        shown = (*aspect.shows, *(["reference"] if guided_by else []), "answer")
        prompt = self._prompt(aspect, shown, guided_by)
        if self._is_binary(aspect):
            asked = {name: data[name] for name in prompt.slots}
            return await self._binary.pass_fail(prompt, asked, self._gives_reasons(aspect.reasons))
        kind = ReasonedGradeReply if "cot" in self._manners else GradeReply
        guess = kind.model_validate({"grade": self._scale.grade(0.5), "reasoning": _GUESSED_REASONS})
        asked = {name: data[name] for name in prompt.slots}

        def check(reply: GradeReply | ReasonedGradeReply) -> str | None:
            return self._scale.check(reply.grade)

        graded, reply = await self._judge.ask_whole(prompt, kind, asked, guess, check, logprobs=True)
        return Grade(
            value=graded.grade,
            lowest=float(self._scale.lowest),
            highest=float(self._scale.highest),
            expected=expected_grade(reply, self._scale),
            reasoning=graded.reasoning if isinstance(graded, ReasonedGradeReply) else None,
        )

    async def check(
        self, checklist: Checklist | DecisionTree, question: str, answer: str, contexts: Sequence[str]
    ) -> list[CheckedItem]:
        """The verdict on each item of a checklist, or the path through a decision tree."""
        data: dict[str, str | Sequence[str]] = {"question": question, "contexts": contexts, "answer": answer}
        if isinstance(checklist, DecisionTree):
            return await self._binary.decide(checklist, data)
        reasons = self._gives_reasons(checklist.reasons)
        return await self._binary.check(checklist.items, data, checklist.shows, reasons)

    def prompt_hash(self, name: str) -> str:
        """Of the prompt that is really asked."""
        return super().prompt_hash(self.prompts.get(name, (name,))[0])

    @property
    def prompts(self) -> dict[str, tuple[str, ...]]:
        """The prompts that are asked in place of the declared ones."""
        return {"grade": ("pass_fail",)} if self._scale.name == BINARY else {}

    def _is_binary(self, aspect: Aspect) -> bool:
        return aspect.is_binary or self._scale.name == BINARY

    def _gives_reasons(self, wanted: bool) -> bool:
        return wanted or "cot" in self._manners

    async def _own_reference(self, question: str, contexts: tuple[str, ...]) -> str:
        """The judge's own answer, requested once for all aspects."""
        key = (question, contexts)
        if key not in self._own:
            self._own[key] = asyncio.ensure_future(ask_own_reference(self._judge, question, contexts))
        # A cancelled waiter must not cancel the answer for the others.
        return await asyncio.shield(self._own[key])

    def _prompt(self, aspect: Aspect, shown: tuple[str, ...], guided_by: str | None) -> Prompt:
        key = (aspect.hash, shown, guided_by)
        if key not in self._prompts:
            if self._is_binary(aspect):
                guidance = GUIDANCE[guided_by] if guided_by else ""
                reasons = self._gives_reasons(aspect.reasons)
                self._prompts[key] = self._binary.pass_fail_prompt(aspect, shown, guidance, reasons)
            else:
                self._prompts[key] = self._judge.prompts.get("grade").fill(
                    self._terms(aspect, guided_by), shown, self._examples(aspect, shown)
                )
        return self._prompts[key]

    def _terms(self, aspect: Aspect, guided_by: str | None) -> dict[str, str]:
        scale = self._scale
        return {
            "task": aspect.task,
            "aspect": aspect.words,
            "opposite": aspect.opposite,
            "instruction": aspect.instruction,
            "scale": scale.words,
            "lowest": scale.lowest_words,
            "highest": scale.highest_words,
            "rubric": _write_rubric(aspect, scale) if "rubric" in self._manners else "",
            "guidance": GUIDANCE[guided_by] if guided_by else "",
            "reply": _REASONED if "cot" in self._manners else _PLAIN,
        }

    def _examples(self, aspect: Aspect, shown: Collection[str]) -> list[Example]:
        if "few-shot" not in self._manners:
            return []
        usable = [example for example in aspect.examples if "reference" not in shown or example.reference]
        if not usable:
            what = "examples with a reference" if aspect.examples else "examples"
            raise UsageError(f"the aspect '{aspect.name}' has no {what}; leave out few-shot, or write some")
        return [self._show(example, shown) for example in usable]

    def _show(self, example: GradedExample, shown: Collection[str]) -> Example:
        data = {
            "question": example.question,
            "contexts": example.contexts,
            "reference": example.reference or "",
            "answer": example.answer,
        }
        reasons = {"reasoning": example.reasoning} if "cot" in self._manners else {}
        reply = json.dumps({**reasons, "grade": self._scale.grade(example.share)}, ensure_ascii=False)
        return Example({name: data[name] for name in data if name in shown}, reply)


async def ask_own_reference(judge: Judge, question: str, contexts: Sequence[str]) -> str:
    """The judge's own answer, asked before it sees any answer."""
    shown = ["question", *(["contexts"] if contexts else [])]
    prompt = judge.prompts.get("own_reference").fill({}, shown)
    data = {name: value for name, value in (("question", question), ("contexts", contexts)) if name in shown}
    guess = OwnReferenceReply(answer=_GUESSED_REASONS)
    reply = await judge.ask(
        prompt, OwnReferenceReply, data, guess, lambda reply: None if reply.answer.strip() else "the answer is empty"
    )
    return reply.answer.strip()


def expected_grade(reply: Reply, scale: Scale) -> float | None:
    """The mean over the grades that the model might have said, weighted by their probabilities; None if these are unknown.

    Only where a grade is one token: what follows the first digits of a longer one is not known.
    """
    written = list(_GRADE.finditer(reply.text))
    if not written or not reply.logprobs or not reply.alternatives:
        return None
    place = token_at(reply, written[-1].start(1))
    if place is None or _as_number(reply.logprobs[place][0]) != int(written[-1][1]):
        return None
    shares: dict[int, float] = {}
    for token, logprob in reply.alternatives[place]:
        number = _as_number(token)
        if number is not None and scale.lowest <= number <= scale.highest:
            shares[number] = shares.get(number, 0.0) + math.exp(logprob)
    known = sum(shares.values())
    if known < _LEAST_KNOWN or _doubtful(shares, scale) > _MOST_DOUBTFUL * known:
        return None
    return sum(number * share for number, share in shares.items()) / known


def _doubtful(shares: Mapping[int, float], scale: Scale) -> float:
    """The probability of first digits of longer grades: without two-digit tokens, numbers may be spelled digit by digit."""
    if any(number >= 10 for number in shares):
        return 0.0
    begun = {int(str(grade)[0]) for grade in range(10, scale.highest + 1)}
    return sum(share for number, share in shares.items() if number in begun)


def _as_number(token: str) -> int | None:
    text = token.strip().strip('"')
    return int(text) if text.isascii() and text.isdigit() else None


def _write_rubric(aspect: Aspect, scale: Scale) -> str:
    """The meaning of each step of the scale, one line per step, lowest first."""
    if not aspect.rubric:
        raise UsageError(f"the aspect '{aspect.name}' has no rubric; leave out rubric, or write one")
    last = len(aspect.rubric) - 1
    steps = [scale.grade(step / last) for step in range(last + 1)]
    if len(set(steps)) <= last:
        raise UsageError(f"the rubric of '{aspect.name}' has {last + 1} steps, more than the scale '{scale.name}' has")
    return "\n".join(f"{step}: {words}" for step, words in zip(steps, aspect.rubric, strict=True))


def find_scale(name: str) -> Scale:
    """The scale of that name."""
    if name not in SCALES:
        raise UnknownNameError("scale", name, SCALES, f"Choose from: {', '.join(SCALES)}.")
    return SCALES[name]
