"""The exam of a judge: labelled items of our own, asked with the tools of a run, and what the replies show."""

from __future__ import annotations

import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NEUTRAL, Verdict, probability_of
from ragstone.errors import Skip
from ragstone.llm.base import LLMBusyError, LLMError, LLMStoppedError
from ragstone.llm.concurrency import gather_then_raise
from ragstone.llm.wrappers import Call, record_calls
from ragstone.stats.intervals import Interval, wilson_interval
from ragstone.tools.protocols import Joint, Whole, check_text

EXAM = "exam"
AT_CHANCE, WEAK, USABLE = "at chance", "weak", "usable"
# The share of right replies from which a judge is usable.
_USABLE_FROM = 0.8
VERDICTS, MATCH, PAIRS, GRID, CLAIMS = "verdicts", "answer match", "pairs", "claims by chunks", "claims of a text"
_PARTS = {ENTAILMENT: "supported", CONTRADICTION: "contradicted", NEUTRAL: "not stated"}
# The share that guessing gets right.
_CHANCE = {VERDICTS: 1 / 3, MATCH: 1 / 2, PAIRS: 1 / 2, GRID: 1 / 3}
_TWO_WAY = 2 / 3
_REFUTED = (CONTRADICTION, NEUTRAL)
# The tool that each kind of item needs.
TOOL_OF = {"verdict": "checker", "match": "grader", "pair": "pair_judge", "grid": "checker", "claims": "extractor"}
# Fewer equal replies show nothing.
LEAST_EQUAL = 8


class Item(NamedTuple):
    """One item of the exam: its kind, its number, and its texts with the right reply."""

    kind: str
    number: int
    data: Mapping[str, Any]

    @property
    def is_first(self) -> bool:
        """Whether a run asks it before it trusts a judge."""
        return bool(self.data.get("first"))


@cache
def load_items() -> tuple[Item, ...]:
    """All items."""
    text = (resources.files("ragstone.tools") / "judge_exam.toml").read_text(encoding="utf-8")
    table: dict[str, list[dict[str, Any]]] = tomllib.loads(text)
    return tuple(Item(kind, number, data) for kind, items in table.items() for number, data in enumerate(items))


class Answer(NamedTuple):
    """The reply of a judge to an item, or to one claim or one order of it. `said` is None if no reply was usable."""

    task: str
    part: str
    said: str | None
    right: bool
    # The reply of a judge that goes by positions: the number of the claim. None where positions do not matter.
    place: str | None = None
    item: str = ""
    # The probabilities of support that the reply is made of, each with whether the text supports the claim.
    pairs: tuple[tuple[float, bool], ...] = ()
    # Items about one text are not independent.
    text: str = ""


async def ask_items(
    items: Iterable[Item], tools: Mapping[str, Any], calls: list[Call]
) -> tuple[list[Answer], float | None]:
    """Ask the items that the tools can answer; also return the seconds per item of claims by chunks, asked one by one."""
    able = [item for item in items if TOOL_OF[item.kind] in tools]
    grids = [item for item in able if item.kind == "grid"]
    found = await gather_then_raise(_ask(item, tools, calls) for item in able if item.kind != "grid")
    started = time.perf_counter()
    found += [await _ask(item, tools, calls) for item in grids]
    seconds = (time.perf_counter() - started) / len(grids) if grids else None
    return [answer for answers in found for answer in answers], seconds


async def _ask(item: Item, tools: Mapping[str, Any], calls: list[Call]) -> list[Answer]:
    name = f"{item.kind}-{item.number}"
    with record_calls(calls, name, EXAM):
        try:
            answers = await _ASK[item.kind](tools[TOOL_OF[item.kind]], item.data)
        except LLMStoppedError:
            raise
        except (Skip, LLMBusyError):  # a language that the judge does not read, or no answer at all
            return []
        except LLMError:
            task, part, count = _expected(item)
            answers = [Answer(task, part, None, right=False)] * count
    return [answer._replace(item=name, text=str(item.data.get("text", name))) for answer in answers]


def _expected(item: Item) -> tuple[str, str, int]:
    """The task and the number of answers of an item whose replies are not usable."""
    if item.kind == "verdict":
        return VERDICTS, _PARTS[item.data["right"]], 1
    task = {"match": MATCH, "pair": PAIRS, "grid": GRID, "claims": CLAIMS}[item.kind]
    return task, "", 2 if item.kind == "pair" else len(item.data["claims"]) if item.kind == "grid" else 1


async def _ask_verdict(checker: Any, data: Mapping[str, Any]) -> list[Answer]:
    [said] = await check_text(checker, data["question"], [data["claim"]], Whole(data["text"]))
    pairs = ((_support(said), data["right"] == ENTAILMENT),)
    return [Answer(VERDICTS, _PARTS[data["right"]], str(said), said == data["right"], pairs=pairs)]


def _support(said: str) -> float:
    """The probability of support; 1 or 0 for a verdict in words."""
    likely = probability_of(said)
    return float(said == ENTAILMENT) if likely is None else likely


async def _ask_match(grader: Any, data: Mapping[str, Any]) -> list[Answer]:
    [likely] = await grader.matches(data["question"], data["answer"], [data["reference"]])
    said = likely >= 0.5
    return [Answer(MATCH, "", "yes" if said else "no", said == data["right"])]


async def _ask_pair(judge: Any, data: Mapping[str, Any]) -> list[Answer]:
    verdicts = await judge.compare(data["question"], data["better"], data["worse"], (), None)
    answers = []
    for verdict in verdicts:
        seat = "tie" if verdict.winner == "tie" else "A" if verdict.winner == verdict.first else "B"
        answers.append(Answer(PAIRS, "", seat, verdict.winner == "one"))
    return answers


async def _ask_grid(checker: Any, data: Mapping[str, Any]) -> list[Answer]:
    verdicts = await checker.check(data["question"], data["claims"], [*data["chunks"], Joint.of(data["chunks"])])
    answers = []
    for number, (all_words, right) in enumerate(zip(verdicts, data["right"], strict=True), start=1):
        row = all_words[:-1]
        said = ",".join(str(chunk) for chunk, word in enumerate(row, start=1) if word == ENTAILMENT)
        # A chunk without the claim's words is not read: it has no probability.
        read = ((at, word) for at, word in enumerate(row, start=1) if not isinstance(word, Verdict) or word.support)
        cells = [(_support(word), chunk == right) for chunk, word in read]
        answers.append(Answer(GRID, "", said, said == str(right), str(number), pairs=tuple(cells)))
    return answers


async def _ask_claims(extractor: Any, data: Mapping[str, Any]) -> list[Answer]:
    claims = [claim.text for claim in await extractor.claims(data["question"], data["text"])]
    all_words = all(any(word in claim for claim in claims) for word in data["words"])
    return [Answer(CLAIMS, "", str(len(claims)), all_words and data["least"] <= len(claims) <= data["most"])]


_ASK = {"verdict": _ask_verdict, "match": _ask_match, "pair": _ask_pair, "grid": _ask_grid, "claims": _ask_claims}


@dataclass(frozen=True)
class ExamMark:
    """How many replies to a task are right. `chance` is the share that guessing gets right; None for a part of a task."""

    task: str
    right: int
    asked: int
    unusable: int
    chance: float | None = None

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the share of right replies."""
        return wilson_interval(self.right, self.asked)

    @property
    def verdict(self) -> str:
        """At chance, weak or usable; empty for a part of a task."""
        if self.chance is None:
            return ""
        if self.interval.low <= self.chance:
            return AT_CHANCE
        return USABLE if self.right >= _USABLE_FROM * self.asked else WEAK


def mark(answers: Sequence[Answer], two_way: bool = False) -> list[ExamMark]:
    """The marks per task; verdicts also by what is right.

    `two_way` is for a judge that only tells supported from not supported: it need not call a contradiction by its name, and
    is right in two of three verdicts if it never supports anything.
    """
    if two_way:
        answers = [
            one._replace(right=one.said in _REFUTED) if one.part == _PARTS[CONTRADICTION] else one for one in answers
        ]
    marks = []
    for task in (VERDICTS, MATCH, PAIRS, GRID, CLAIMS):
        of_task = [answer for answer in answers if answer.task == task]
        if of_task:
            marks.append(_count(task, of_task, _TWO_WAY if two_way and task == VERDICTS else _CHANCE.get(task)))
        parts = dict.fromkeys(answer.part for answer in of_task if answer.part)
        marks += [_count(f"  {part}", [answer for answer in of_task if answer.part == part]) for part in parts]
    return marks


def _count(task: str, answers: Sequence[Answer], chance: float | None = None) -> ExamMark:
    unusable = sum(answer.said is None for answer in answers)
    return ExamMark(task, sum(answer.right for answer in answers), len(answers), unusable, chance)


def find_patterns(answers: Sequence[Answer]) -> list[str]:
    """Replies that do not depend on the texts: all equal, or by position."""
    found = []
    for task, kind in ((VERDICTS, "verdicts"), (MATCH, "replies about matching answers")):
        said = Counter(answer.said for answer in answers if answer.task == task and answer.said)
        if len(said) == 1 and said.total() >= LEAST_EQUAL:
            found.append(f"all {said.total()} {kind} are equal ({next(iter(said))})")
    seats = Counter(answer.said for answer in answers if answer.task == PAIRS and answer.said in ("A", "B"))
    if seats.total() >= LEAST_EQUAL - 1:
        seat, count = seats.most_common(1)[0]
        if count >= seats.total() - 1:
            found.append(f"in pairs it chooses answer {seat} in {count} of {seats.total()} replies, in either order")
    grid = [answer for answer in answers if answer.task == GRID and answer.said is not None]
    diagonal = sum(answer.said == answer.place for answer in grid)
    if diagonal and diagonal * 2 >= len(grid):
        found.append(
            f"claim number k is supported by chunk number k alone in {diagonal} of {len(grid)} claims; never right"
        )
    return found


def repaired(answers: Sequence[Answer], calls: Sequence[Call]) -> int:
    """The number of items whose JSON replies were usable only after a second request."""
    rejected = {call.sample_id for call in calls if call.error is not None and call.reply is not None}
    return len(rejected - {answer.item for answer in answers if answer.said is None})
