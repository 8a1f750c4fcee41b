"""A user's system over the questions of a data set: the answers table that `ragstone run` reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from ragstone.data.types import Sample
from ragstone.engine.evaluation import unheard
from ragstone.engine.progress import Report, silent
from ragstone.engine.systems import SystemOptions, SystemQuote, ask_system, describe_system, quote_system
from ragstone.errors import InterruptedRunError, StopRunError
from ragstone.llm.answering import Asked, Outcome
from ragstone.llm.answers import Answer
from ragstone.truth.journal import Journal, key_of

# Where the reason of a row without an answer stands.
ERROR = "system_error"
_NO_QUESTION = "there is no question"


@dataclass(frozen=True)
class Collected:
    """All rows in the order of their questions, and how it went."""

    system: str
    samples: list[Sample]
    failed: int
    # Answers that needed no call: of an earlier collection that stopped, and from the cache.
    resumed: int
    cached: int
    cost_usd: float | None

    @property
    def answered(self) -> int:
        """How many rows have an answer."""
        return len(self.samples) - self.failed


def collect(
    questions: Iterable[Sample],
    system: Any,
    *,
    journal: str | None = None,
    resume: bool = False,
    progress: Report = silent,
    note: Callable[[str], object] = unheard,
    **options: Unpack[SystemOptions],
) -> Collected:
    """What a system answers and retrieves for each question, beside what is known to be true about it.

    A question that fails is a row without an answer, with the reason in its metadata. `journal` is a local file that holds
    answers until all of them are there; `resume` goes on from it.
    """
    samples = list(questions)
    _, signature = describe_system(system, **options)
    kept = Journal(journal, signature) if journal else None
    known = kept.read() if kept and resume else {}
    if resume and not known:
        note("there is nothing to go on from; starting anew")
    asked = [_ask(sample) for sample in samples]
    left = [one for one in asked if one.question and key_of(one) not in known]
    if kept:
        kept.start(keep=bool(known))
    try:
        found = ask_system(system, left, progress=progress, told=kept.add if kept else None, **options)
    except (KeyboardInterrupt, StopRunError) as error:
        raise _stopped(error, kept, journal) from None
    finally:
        if kept:
            kept.close()
    if found.problem:
        note(found.problem)
    if kept and not found.failures:
        kept.remove()
    outcomes = {outcome.asked.id: outcome for outcome in found.outcomes}
    rows = [
        _row(sample, known.get(key_of(one)), outcomes.get(one.id)) for sample, one in zip(samples, asked, strict=True)
    ]
    failed = sum(row.answer is None for row in rows)
    resumed = sum(key_of(one) in known for one in asked)
    return Collected(found.system, rows, failed, resumed, found.cached, found.cost_usd)


def quote_collecting(questions: Sequence[Sample], system: Any, **options: Unpack[SystemOptions]) -> SystemQuote:
    """What `collect` would take; nothing is asked."""
    return quote_system(system, [_ask(sample) for sample in questions if sample.question], **options)


def _ask(sample: Sample) -> Asked:
    return Asked(sample.id, sample.question or "", None, sample.documents or [])


def _row(sample: Sample, known: Answer | None, outcome: Outcome | None) -> Sample:
    answer = known if known is not None else outcome.answer if outcome else None
    if answer is None:
        reason = (outcome.error if outcome else None) or _NO_QUESTION
        return replace(sample, answer=None, contexts=None, metadata={**sample.metadata, ERROR: reason})
    # What was asked keeps its own words where the system says something under the same name.
    metadata = {**answer.metadata, **{name: value for name, value in sample.metadata.items() if name != ERROR}}
    return replace(sample, answer=answer.text, contexts=answer.contexts, metadata=metadata)


def _stopped(error: BaseException, journal: Journal | None, path: str | None) -> Exception:
    kept = f"what was answered is kept in {path}. Repeat the command with --resume to go on." if journal else ""
    if isinstance(error, StopRunError):
        return StopRunError(f"{error}\n{kept}".strip())
    return InterruptedRunError(f"stopped; {kept or 'nothing is kept'}")
