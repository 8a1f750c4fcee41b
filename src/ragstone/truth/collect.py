"""Collects a system's answers to the questions of a data set; a journal makes interrupted collections resumable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

from ragstone.data.types import Sample
from ragstone.data.usage import OTHER_ANSWERS, REPEAT_OF, USAGE
from ragstone.engine.ask_system import (
    Asked,
    SystemOptions,
    SystemQuote,
    SystemReply,
    ask_system,
    describe_system,
    quote_system,
)
from ragstone.engine.evaluate import unheard
from ragstone.engine.progress import Report, silent
from ragstone.errors import UsageError
from ragstone.formats.usage import with_usage
from ragstone.llm.answers import Answer, read_answer, write_answer
from ragstone.llm.base import LLMError
from ragstone.truth.work_journal import WorkJournal, open_journal

# The metadata name of the reason for a missing answer.
ERROR = "system_error"


def known_answers(journal: WorkJournal) -> dict[str, Answer]:
    """The stored answers by the key of their question."""
    answers: dict[str, Answer] = {}
    for key, reply in journal.known.items():
        with suppress(KeyError, TypeError, LLMError):
            answers[key] = read_answer(reply, "the journal")
    return answers


def store_answer(journal: WorkJournal, outcome: SystemReply) -> None:
    """Store the answer of a system with its usage."""
    if outcome.answer is not None:
        measured = replace(outcome.answer, metadata=_usage_of(outcome) | outcome.answer.metadata)
        journal.add(key_of(outcome.asked), json.loads(write_answer(measured)))


def key_of(asked: Asked) -> str:
    """The key of a question; an edited question has another key."""
    history = [[turn.role, turn.text] for turn in asked.history]
    also = [part for part in (history, asked.repeat) if part]
    content = json.dumps([asked.id, asked.question, asked.documents, *also])
    return hashlib.blake2b(content.encode(), digest_size=10).hexdigest()


@dataclass(frozen=True)
class Collected:
    """All rows in the order of their questions, with counts and cost."""

    system: str
    samples: list[Sample]
    failed: int
    # Answers without a call: from an earlier, interrupted collection, and from the cache.
    resumed: int
    cached: int
    cost_usd: float | None

    @property
    def answered(self) -> int:
        """The number of rows with an answer."""
        return len(self.samples) - self.failed


def collect(
    questions: Iterable[Sample],
    system: Any,
    *,
    journal: str | None = None,
    resume: bool = False,
    keep_journal: bool = False,
    repeats: int = 1,
    progress: Report = silent,
    note: Callable[[str], object] = unheard,
    **options: Unpack[SystemOptions],
) -> Collected:
    """Asks a system all questions; each row keeps its ground truth and gets the answer and the retrieved chunks.

    The metadata gets latency, tokens and price as far as they are known. A failed question becomes a row without an
    answer, with the reason in its metadata. With `repeats` each question is asked several times; its rows have its id as
    `repeat_of`. `journal` is a local file with the answers so far; `resume` continues from it. It is
    removed if no question failed, unless `keep_journal` leaves that to the caller.
    """
    samples, times = _repeat(questions, repeats)
    _, signature = describe_system(system, **options)
    with open_journal(journal, {"system": signature}, resume, note) as kept:
        known = known_answers(kept)
        asked = [_ask(sample, repeat) for sample, repeat in zip(samples, times, strict=True)]
        left = [one for one in asked if one.question and key_of(one) not in known]
        asking = ask_system(system, left, progress=progress, told=partial(store_answer, kept), **options)
        kept.is_finished = not asking.failures and not keep_journal
    if asking.problem:
        note(asking.problem)
    outcomes = {outcome.asked.id: outcome for outcome in asking.outcomes}
    rows = [
        row_of(sample, known.get(key_of(one)), outcomes.get(one.id)) for sample, one in zip(samples, asked, strict=True)
    ]
    rows = _with_other_answers(rows) if repeats > 1 else rows
    failed = sum(row.answer is None for row in rows)
    resumed = sum(key_of(one) in known for one in asked)
    return Collected(asking.system, rows, failed, resumed, asking.cached, asking.cost_usd)


def quote_collecting(
    questions: Sequence[Sample], system: Any, repeats: int = 1, **options: Unpack[SystemOptions]
) -> SystemQuote:
    """The estimated cost of `collect`; the system is not called."""
    samples, times = _repeat((sample for sample in questions if sample.question), repeats)
    return quote_system(system, [_ask(*pair) for pair in zip(samples, times, strict=True)], **options)


def _repeat(questions: Iterable[Sample], repeats: int) -> tuple[list[Sample], list[int]]:
    """Each sample as often as its question is asked, and the number of each repeat from 0; repeats have ids of their own."""
    if repeats < 1:
        raise UsageError(f"--repeats must be 1 or more, got {repeats}")
    if repeats == 1:
        samples = list(questions)
        return samples, [0] * len(samples)
    pairs = [(sample, repeat) for sample in questions for repeat in range(repeats)]
    copies = [
        replace(
            sample,
            id=f"{sample.id}#{repeat + 1}" if repeat else sample.id,
            metadata={**sample.metadata, REPEAT_OF: sample.id},
        )
        for sample, repeat in pairs
    ]
    return copies, [repeat for _, repeat in pairs]


def _with_other_answers(rows: Sequence[Sample]) -> list[Sample]:
    """The rows with the other answers to their question in the metadata."""
    answers: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        if row.answer is not None:
            answers.setdefault(str(row.metadata[REPEAT_OF]), []).append((row.id, row.answer))
    found = []
    for row in rows:
        others = [text for name, text in answers.get(str(row.metadata[REPEAT_OF]), ()) if name != row.id]
        found.append(replace(row, metadata={**row.metadata, OTHER_ANSWERS: others}) if others else row)
    return found


def _ask(sample: Sample, repeat: int = 0) -> Asked:
    return Asked(sample.id, sample.question or "", None, sample.documents or [], repeat, history=sample.history or [])


def _usage_of(outcome: SystemReply) -> dict[str, Any]:
    """Latency, tokens and price of the calls that led to an answer; without latency and price if it was cached."""
    calls = [call for call in outcome.calls if call.error is None]
    if not calls:
        return {}
    found: dict[str, Any] = {}
    if not outcome.cached:
        found["latency_s"] = round(sum(call.latency_s for call in calls), 6)
        # 0 is a system without a price; its answer may state one.
        found["cost_usd"] = outcome.cost_usd or None
    for name in ("input_tokens", "output_tokens"):
        counts = [getattr(call, name) for call in calls]
        found[name] = None if None in counts else sum(counts)
    return {name: value for name, value in found.items() if value is not None}


def row_of(sample: Sample, known: Answer | None, outcome: SystemReply | None) -> Sample:
    """The sample with an earlier answer or a new one, and its usage; otherwise with the reason why there is none."""
    answer = known if known is not None else outcome.answer if outcome else None
    if answer is None:
        reason = (outcome.error if outcome else None) or "there is no question"
        return replace(sample, answer=None, contexts=None, metadata={**sample.metadata, ERROR: reason})
    # The sample's metadata wins over the system's under the same name, but not the usage of an earlier answer.
    usage = with_usage({**(_usage_of(outcome) if outcome else {}), **answer.metadata})
    earlier = {name: value for name, value in sample.metadata.items() if name != ERROR and name not in USAGE}
    return replace(sample, answer=answer.text, contexts=answer.contexts, metadata={**usage, **earlier})
