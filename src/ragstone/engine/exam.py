"""A short exam of the judge before a run, and signs in the verdicts of a run that the judge does not read its texts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from ragstone.data.verdict import ENTAILMENT, Verdict
from ragstone.engine.plan import Plan
from ragstone.llm.base import LLMStoppedError
from ragstone.llm.batches import read_batch_option
from ragstone.llm.wrappers import Call
from ragstone.storage.runs import RunFolder, read_batches
from ragstone.tools.judge_exam import AT_CHANCE, ask_items, find_patterns, load_items, mark
from ragstone.tools.open_tools import ToolFactory

VARIABLE = "RAGSTONE_EXAM"
# Fewer rows give no verdict of the diagnosis, and would cost less than the exam.
LEAST_ROWS = 10
# Fewer verdicts may well be equal, or in order.
LEAST_VERDICTS, _LEAST_PLACED = 20, 12
_PLACED_SHARE = 0.8
# With fewer answers, as of a server that went away, nothing is known.
_LEAST_ANSWERS = 8
_VERDICTS = (
    "answer_claims_in_reference",
    "reference_claims_in_answer",
    "answer_claims_in_all_contexts",
    "reference_claims_in_all_contexts",
)
_MATRIX = "answer_claims_in_contexts"


def examines(judging: ToolFactory, plan: Plan, rows: int) -> bool:
    """Whether a run begins with an exam: a language model that is named by a text checks claims of some rows."""
    options = judging.options
    batch = read_batch_option(options.get("batch"))
    # If requests are written to files, there is no model to examine before the run.
    off = options.get("offline") or (batch is not None and batch.folder is not None)
    wanted = options.get("exam", True) and not off and os.environ.get(VARIABLE, "").strip().lower() != "off"
    return bool(wanted and rows >= LEAST_ROWS and "checker" in plan.needs and judging.checker_name)


async def examine(checker: Any, name: str) -> dict[str, Any]:
    """Ask a dozen items; the result is a part of run.json, empty if a budget or a deadline ended the exam."""
    calls: list[Call] = []
    try:
        answers, _ = await ask_first_items(checker, calls)
    except LLMStoppedError:
        return {}
    if len(answers) < _LEAST_ANSWERS:
        return {}
    found = mark(answers, two_way=getattr(checker, "two_way", False))[0]
    made = [call for call in calls if call.is_made]
    warnings = [f"{pattern} in the exam of {name}" for pattern in find_patterns(answers)]
    if found.verdict == AT_CHANCE:
        warnings.insert(
            0,
            f"the judge {name} is at chance: it is right in {found.right} of {found.asked} exam items; guesses are right in "
            f"{(found.chance or 0.0) * found.asked:.0f}. Do not trust its scores; ragstone judge-check {name} shows more. "
            "Ctrl+C stops the run before it pays for the other calls",
        )
    known = all(call.cost_usd is not None for call in made)
    return {
        "judge": name,
        "right": found.right,
        "asked": found.asked,
        "unusable": found.unusable,
        "verdict": found.verdict,
        "is_doubted": found.verdict == AT_CHANCE,
        "warnings": warnings,
        "calls": len(made),
        "input_tokens": sum(call.input_tokens or 0 for call in made),
        "output_tokens": sum(call.output_tokens or 0 for call in made),
        "cost_usd": sum(call.cost_usd or 0.0 for call in made) if known else None,
    }


async def ask_first_items(checker: Any, calls: list[Call]) -> Any:
    """Ask the items of the short exam."""
    return await ask_items([item for item in load_items() if item.is_first], {"checker": checker}, calls)


class Exam:
    """The exam of one run. `note` is called with each warning."""

    def __init__(self, judging: ToolFactory, plan: Plan, rows: int, note: Callable[[str], object]) -> None:
        self._name = judging.checker_name or ""
        self._is_wanted = examines(judging, plan, rows)
        self._stored = {name for name, _ in plan.stored_evidence()}
        self._note = note
        self._found: dict[str, Any] = {}

    async def ask(self, tools: Mapping[str, Any]) -> None:
        """Examine the judge before it is used."""
        if self._is_wanted:
            self._found = await examine(tools["checker"], self._name)
            for warning in self._found.get("warnings", ()):
                self._note(warning)

    def look_back(self, folder: RunFolder) -> dict[str, Any] | None:
        """The exam and what the verdicts of the finished run show, for run.json; None if there is nothing."""
        if not self._name:
            return None
        equal, placed = [*_all_equal(folder, self._stored, self._name)], [*_by_number(folder, self._stored, self._name)]
        for warning in (*equal, *placed):
            self._note(warning)
        if equal or placed:
            doubted = bool(self._found.get("is_doubted") or placed)
            warnings = [*self._found.get("warnings", ()), *equal, *placed]
            return {**self._found, "is_doubted": doubted, "warnings": warnings}
        return self._found or None


def _all_equal(folder: RunFolder, stored: Collection[str], name: str) -> Iterator[str]:
    words: Counter[str] = Counter()
    for evidence in _VERDICTS:
        if evidence in stored:
            for verdicts in _values(folder, evidence):
                words.update(str(verdict).partition("\n")[0].partition(" ")[0] for verdict in verdicts)
    if len(words) == 1 and words.total() >= LEAST_VERDICTS:
        yield f"all {words.total():,} verdicts of {name} are equal ({next(iter(words))}): check some of them"


def _by_number(folder: RunFolder, stored: Collection[str], name: str) -> Iterator[str]:
    """Claim number k is supported by chunk number k and by no other, nearly always."""
    count = hits = 0
    for rows in _values(folder, _MATRIX) if _MATRIX in stored else ():
        if len(rows) < 2 or len(rows[0]) < 2:
            continue
        for place, row in enumerate(rows[: len(rows[0])]):
            supporting = [at for at, verdict in enumerate(row) if Verdict.from_text(verdict) == ENTAILMENT]
            count += 1
            hits += supporting == [place]
    if count >= _LEAST_PLACED and hits >= _PLACED_SHARE * count:
        yield (
            f"the verdicts of {name} follow the numbers: claim k is supported by chunk k alone in {hits:,} of {count:,} claims"
        )


def _values(folder: RunFolder, evidence: str) -> Iterator[list[Any]]:
    for batch in read_batches(folder.evidence(evidence), ["value"]):
        yield from (value for value in batch["value"].to_pylist() if value)
