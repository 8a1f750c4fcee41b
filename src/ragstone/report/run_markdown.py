"""A run as Markdown, for a pull request: the verdict, what to do, the numbers, the worst samples folded away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from ragstone.compare.diagnosis import Diagnosis, diagnose
from ragstone.compare.worst import find_worst, measure_quality
from ragstone.data.summary import ALL
from ragstone.report.diagnosis import headline, reason_line
from ragstone.report.judged import judge_lines
from ragstone.report.markdown import escape
from ragstone.report.plain import one_line
from ragstone.report.terminal import DIRECTION, part_of
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import read_scores

MOST_DIAGNOSED = 10_000


def run_markdown(run: Run, worst: int = 5) -> str:
    """One run; so many of its worst samples."""
    found = diagnose(run, MOST_DIAGNOSED)
    totals = run.info["totals"]
    cost = "cost not known" if totals.get("cost_usd") is None else f"${totals['cost_usd']:.2f}"
    lines = [
        f"### {escape(run.name)}: {escape(headline(found))}",
        "",
        f"{run.info['dataset']['rows']:,} samples, run `{escape(run.id)}`, {totals.get('calls', 0):,} model calls, {cost}",
        "",
        *(line for told in judge_lines(run.info) for line in (escape(told), "")),
        *_advice(found),
        *_metrics(run),
        *_causes(found),
        *_worst(run, found, worst),
    ]
    lines += [f"- not computed: {escape(name)}: {escape(why)}" for name, why in run.info["skipped"].items()]
    return "\n".join(lines).rstrip() + "\n"


def _advice(found: Diagnosis) -> list[str]:
    lines = [
        f"{number}. {escape(item.text)} <sub>{escape('; '.join(map(reason_line, item.because)))}</sub>"
        for number, item in enumerate(found.advice, start=1)
    ]
    return [*lines, ""] if lines else []


def _metrics(run: Run) -> list[str]:
    known = {metric["metric"]: metric for metric in run.info["metrics"]}
    rows = [
        (
            escape(f"{row.metric} {DIRECTION[known[row.metric]['better']]}".strip()),
            part_of(known[row.metric]),
            "–" if row.mean is None else f"{row.mean:.3f}",
            "–" if row.ci_low is None or row.ci_high is None else f"{row.ci_low:.3f} to {row.ci_high:.3f}",
            f"{row.n_ok:,}",
            f"{row.n_skipped:,}",
            f"{row.n_failed:,}",
        )
        for row in run.summary()
        if row.slice == ALL and row.metric in known
    ]
    return _table(("metric", "judges", "mean", "95 % interval", "scored", "skipped", "failed"), rows)


def _causes(found: Diagnosis) -> list[str]:
    rows = [
        (
            count.cause.name,
            count.cause.part or "worth knowing",
            f"{count.main:,}",
            f"{count.samples:,}",
            count.cause.meaning,
        )
        for count in found.causes
    ]
    if not rows:
        return []
    title = f"<details><summary>why {found.failing:,} of {found.decided:,} samples fail</summary>"
    return [title, "", *_table(("cause", "part", "main of", "samples", "meaning"), rows), "</details>", ""]


def _worst(run: Run, found: Diagnosis, most: int) -> list[str]:
    metrics = run.info["metrics"]
    samples = read_table(run.folder.samples, ["id", "question", "answer"])
    quality = measure_quality(metrics, read_scores(run, [metric["metric"] for metric in metrics]), len(samples))
    faulty = [row for row, outcome in enumerate(found.outcomes) if outcome.cause]
    rows = find_worst(quality, faulty, most)
    cells = []
    for row, sample in zip(rows, samples.take(pa.array(rows, pa.int64())).to_pylist(), strict=True):
        cause = found.outcomes[row].cause if row < len(found.outcomes) else None
        question, answer = (escape(one_line(sample[name] or "", 100)) for name in ("question", "answer"))
        cells.append((escape(sample["id"]), question, answer, cause.name if cause else "–"))
    if not cells:
        return []
    table = _table(("sample", "question", "answer", "cause"), cells)
    return [f"<details><summary>the {len(cells)} worst samples</summary>", "", *table, "</details>", ""]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]
