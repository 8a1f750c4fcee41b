"""Runs a stress test: builds the beds, asks the generator and scores its answers as an ordinary run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ragstone.data.dataset import Dataset
from ragstone.data.types import Sample
from ragstone.engine.ask_system import Asked, Asking, SystemOptions, SystemQuote, ask_system, quote_system
from ragstone.engine.evaluate import evaluate, unheard
from ragstone.engine.execute import run_to_end
from ragstone.engine.progress import Report, silent
from ragstone.errors import InterruptedRunError, UsageError
from ragstone.storage.runs import Run
from ragstone.stress.false_answers import plant_errors
from ragstone.stress.passage_pools import Embed, NegativesReport, build_pools
from ragstone.stress.test_beds import BedReport, Setting, build_beds
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.model_options import ModelOptions
from ragstone.tools.open_tools import Judging

METRICS = ("rgb.accuracy", "rgb.rejection_rate", "rgb.error_detection_rate", "rgb.error_correction_rate")
JUDGED = (
    "answer_match",
    "rgb.rejection_rate.judged",
    "rgb.error_detection_rate.judged",
    "rgb.error_correction_rate.judged",
)
ERROR = "system_error"
# The default embedder is used for at most this many passages.
MOST_EMBEDDED = 5_000


@dataclass(frozen=True)
class Prepared:
    """The rows to answer, and the reports on the beds."""

    rows: list[Sample]
    beds: list[BedReport]
    negatives: NegativesReport
    setting: Setting
    questions: int


def prepare(samples: Sequence[Sample], setting: Setting, embed: Embed | None = None) -> Prepared:
    """Builds the beds from RGB's samples, which have passages, or from others, whose passages are searched."""
    pools, negatives = build_pools(samples, setting.passages, setting.keep_contaminated, embed)
    if "counterfactual" in setting.beds:
        pools = plant_errors(pools, setting.seed)
    rows, reports = build_beds(pools, setting)
    if not rows:
        raise UsageError(f"no test bed can be built: {_main_reasons(reports)}")
    return Prepared(rows, reports, negatives, setting, len(samples))


def _main_reasons(reports: Sequence[BedReport]) -> str:
    found = [
        f"{report.bed}: {max(report.left_out, key=lambda reason: len(report.left_out[reason]))}"
        for report in reports
        if report.left_out
    ]
    return "; ".join(found) or "there are no questions"


def open_embed(embedder: str | None, texts: int, base_url: str | None = None) -> Embed | None:
    """The named embedder as a function or, for not too many texts, the local default; None if there is none."""
    if embedder is None and texts > MOST_EMBEDDED:
        return None
    options = ModelOptions(embedder=embedder, base_url=base_url)
    judging = Judging(cast("JudgingOptions", options.keywords()), 8)
    available = "embedder" in judging.tools
    run_to_end(judging.close())
    if not available:
        return None

    def embed(wanted: Sequence[str]) -> Any:
        async def work() -> Any:
            opened = judging.open()
            tool: Any = opened.tools["embedder"]
            try:
                return await tool.embed(list(wanted))
            finally:
                await opened.close()

        return run_to_end(work())

    return embed


def quote_stress(prepared: Prepared, system: Any, options: SystemOptions) -> SystemQuote:
    """The estimated cost of asking the generator. No model is called."""
    return quote_system(system, as_questions(prepared.rows), needs_contexts=True, **options)


def run_stress(
    prepared: Prepared,
    system: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    metrics: Sequence[str] = (),
    name: str = "",
    system_options: SystemOptions | None = None,
    judging: ModelOptions | None = None,
    resume: bool = False,
    progress: Report = silent,
    note: Callable[[str], object] = unheard,
) -> Run:
    """Asks the generator and scores its answers; the rows of the run contain their bed, rate and repeat.

    Answers are cached; with `resume`, an interrupted run continues with the scores that it has.
    """
    chosen = [*METRICS, *(JUDGED if judging and judging.judge else ()), *metrics]
    asking = ask_rows(prepared.rows, system, system_options or {}, progress, note)
    setting = prepared.setting
    return evaluate(
        Dataset.from_samples(answered(prepared.rows, asking), "stress"),
        list(dict.fromkeys(chosen)),
        out,
        format="ragstone",
        name=name or f"stress {asking.system}",
        resume=resume,
        params={
            "system": asking.system,
            "passages": setting.passages,
            "repeats": setting.repeats,
            "seed": setting.seed,
        },
        progress=progress,
        note=note,
        **(judging.keywords() if judging else {}),
    )


def ask_rows(
    rows: Sequence[Sample],
    system: Any,
    options: SystemOptions,
    progress: Report = silent,
    note: Callable[[str], object] = unheard,
) -> Asking:
    """Asks the generator for an answer to each row from its passages."""
    try:
        asking = ask_system(system, as_questions(rows), needs_contexts=True, progress=progress, **options)
    except KeyboardInterrupt:
        kept = "the answers are in the cache; repeat the same command to continue"
        raise InterruptedRunError(f"stopped; {kept if options.get('cache', True) else 'nothing is kept'}") from None
    if asking.problem:
        note(asking.problem)
    if failures := asking.failures:
        first = f"for example {failures[0].asked.id}: {failures[0].error}"
        note(f"{len(failures):,} of {len(asking.outcomes):,} questions got no answer, {first}")
    if asking.cached:
        note(f"{asking.cached:,} of {len(rows):,} answers came from the cache or from an equal row")
    return asking


def answered(rows: Sequence[Sample], asking: Asking) -> list[Sample]:
    """The rows with their answers, or with the error in their metadata."""
    return [
        replace(row, answer=outcome.answer.text)
        if outcome.answer is not None
        else replace(row, metadata={**row.metadata, ERROR: outcome.error})
        for row, outcome in zip(rows, asking.outcomes, strict=True)
    ]


def as_questions(rows: Sequence[Sample]) -> list[Asked]:
    """The rows as questions with their passages."""
    return [Asked(row.id, row.question or "", row.contexts or []) for row in rows]
