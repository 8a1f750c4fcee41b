"""From samples to a stored run: beds are built, the generator is asked, the answers are scored like any others."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragstone.data.dataset import Dataset
from ragstone.data.types import Sample
from ragstone.engine.evaluation import evaluate, unheard
from ragstone.engine.execution import run_to_end
from ragstone.engine.judging import Judging, JudgingOptions
from ragstone.engine.progress import Report, silent
from ragstone.engine.systems import Asking, SystemOptions, SystemQuote, ask_system, quote_system
from ragstone.errors import InterruptedRunError, UsageError
from ragstone.formats.rgb import PARTS
from ragstone.llm.answering import Asked
from ragstone.storage.runs import Run
from ragstone.stress.alternatives import plant_errors
from ragstone.stress.beds import BedReport, Setting, build_beds
from ragstone.stress.negatives import Embed, NegativesReport, clean_negatives, find_negatives
from ragstone.stress.pools import Pool, read_pools

METRICS = ("rgb.accuracy", "rgb.rejection_rate", "rgb.error_detection_rate", "rgb.error_correction_rate")
JUDGED = (
    "answer_match",
    "rgb.rejection_rate.judged",
    "rgb.error_detection_rate.judged",
    "rgb.error_correction_rate.judged",
)
ERROR = "system_error"
# More passages than an embedder that nobody named is given.
MOST_EMBEDDED = 5_000


@dataclass(frozen=True)
class Prepared:
    """Rows to be answered, and what became of the questions."""

    rows: list[Sample]
    beds: list[BedReport]
    negatives: NegativesReport
    setting: Setting
    questions: int


def prepare(samples: Sequence[Sample], setting: Setting, embed: Embed | None = None) -> Prepared:
    """The beds of RGB's samples, which bring their passages, or of any others, whose passages are found among them."""
    pools = read_pools(samples)
    given = [PARTS in sample.metadata for sample in samples]
    if all(given):
        cleaned, negatives = clean_negatives(pools)
        # Who wants them as they are gets them, with the rows marked.
        pools = pools if setting.keep_contaminated else cleaned
    elif any(given):
        raise UsageError("some samples are RGB's and some are not; stress them one after the other")
    else:
        pools, negatives = find_negatives(pools, samples, setting.passages, embed)
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
    """An embedder as a plain function: the one that is named or, for not too many texts, the one on this machine."""
    if embedder is None and texts > MOST_EMBEDDED:
        return None
    options: JudgingOptions = {"embedder": embedder, "base_url": base_url}
    judging = Judging(options, 8)
    if "embedder" not in judging.tools:
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
    """What asking the generator would take; nothing is asked."""
    return quote_system(system, _questions(prepared.rows), needs_contexts=True, **options)


def run_stress(
    prepared: Prepared,
    system: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    metrics: Sequence[str] = (),
    name: str = "",
    system_options: SystemOptions | None = None,
    judging: JudgingOptions | None = None,
    progress: Report = silent,
    note: Callable[[str], object] = unheard,
) -> Run:
    """Ask the generator and score its answers: an ordinary run, whose rows tell their bed, rate and repeat."""
    chosen = [*METRICS, *(JUDGED if (judging or {}).get("judge") else ()), *metrics]
    found = ask_rows(prepared.rows, system, system_options or {}, progress, note)
    setting = prepared.setting
    return evaluate(
        Dataset.from_samples(answered(prepared.rows, found), "stress"),
        list(dict.fromkeys(chosen)),
        out,
        format="ragstone",
        name=name or f"stress {found.system}",
        params={
            "system": found.system,
            "passages": setting.passages,
            "repeats": setting.repeats,
            "seed": setting.seed,
        },
        progress=progress,
        note=note,
        **(judging or {}),
    )


def ask_rows(
    rows: Sequence[Sample],
    system: Any,
    options: SystemOptions,
    progress: Report = silent,
    note: Callable[[str], object] = unheard,
) -> Asking:
    """What the generator answers to each row from its passages."""
    try:
        found = ask_system(system, _questions(rows), needs_contexts=True, progress=progress, **options)
    except KeyboardInterrupt:
        kept = "what was answered is in the cache, so that the same command goes on from there"
        raise InterruptedRunError(f"stopped; {kept if options.get('cache', True) else 'nothing is kept'}") from None
    for remark in (found.problem, _told_failures(found)):
        if remark:
            note(remark)
    if found.cached:
        note(f"{found.cached:,} of {len(rows):,} answers were known already, from the cache or from an equal row")
    return found


def answered(rows: Sequence[Sample], found: Asking) -> list[Sample]:
    """The rows with their answers; one without says why."""
    return [
        replace(row, answer=outcome.answer.text)
        if outcome.answer is not None
        else replace(row, metadata={**row.metadata, ERROR: outcome.error})
        for row, outcome in zip(rows, found.outcomes, strict=True)
    ]


def _questions(rows: Sequence[Sample]) -> list[Asked]:
    return [Asked(row.id, row.question or "", row.contexts or []) for row in rows]


def _told_failures(found: Asking) -> str | None:
    failures = found.failures
    if not failures:
        return None
    return f"{len(failures):,} of {len(found.outcomes):,} questions got no answer, as {failures[0].asked.id}: {failures[0].error}"


__all__ = ["METRICS", "Pool", "Prepared", "answered", "ask_rows", "open_embed", "prepare", "quote_stress", "run_stress"]
