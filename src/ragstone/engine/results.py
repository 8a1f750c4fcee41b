"""Last step of a run: the joined tables, the summary and run.json."""

from __future__ import annotations

import json
import platform
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ragstone._version import __version__
from ragstone.data.codec import arrow_type
from ragstone.data.schema import CALLS, SCORES, evidence_schema
from ragstone.data.summary import ALL, Summary, SummaryRow
from ragstone.engine.function_calls import Refused, explain
from ragstone.engine.ingest import Profile
from ragstone.engine.plan import MetricStep, Plan
from ragstone.llm.cascade_tally import Tally
from ragstone.registry import Metric
from ragstone.stats.bootstrap import clustered_interval, make_units
from ragstone.stats.corpus_intervals import rows_interval, sums_interval
from ragstone.stats.intervals import Interval, mean_interval
from ragstone.stats.quantiles import quantile_interval, quantile_of, rows_for_interval
from ragstone.storage.places import Place, read_json
from ragstone.storage.run_info import LAYOUT, write_run_info
from ragstone.storage.runs import PartFolder, RunFolder, read_batches, read_small_tables, read_table, write_table
from ragstone.storage.scores import question_column, read_conversations, read_questions
from ragstone.text.layout import readable
from ragstone.text.overlap import covered

_REASONS_SHOWN = 2
_GROUP_ROWS = 2_000


@dataclass
class _Column:
    """The cells of one metric over all parts."""

    values: list[np.ndarray] = field(default_factory=list)
    ok: list[np.ndarray] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)


def finish_tables(plan: Plan, folder: RunFolder, parts: int, profile: Profile) -> Summary:
    """Join the tables of the parts and write the summary; the parts are not needed afterwards."""
    # Rows that depend on each other: turns of a conversation, or rows of a question.
    clusters = read_conversations(folder.samples) if "history" in profile.present else None
    if clusters is None and (column := question_column(folder.samples, profile.present)):
        clusters = read_questions(folder.samples, column)
    for name, annotation in plan.stored_evidence():
        places = [folder.part(number).evidence(name) for number in range(parts)]
        _join(places, folder.evidence(name), evidence_schema(arrow_type(annotation)))
    columns = {step.name: _Column() for step in plan.metrics}
    _join([folder.part(number).scores for number in range(parts)], folder.scores, SCORES, columns)
    _join([folder.part(number).calls for number in range(parts if plan.waits else 0)], folder.calls, CALLS)
    summary = Summary(
        [_summarise(step, columns[step.name], folder, clusters) for step in plan.metrics]
        + [SummaryRow(name, ALL, None, None, None, 0, profile.rows, 0, why) for name, why in plan.skipped.items()]
    )
    write_table(folder.summary, summary.to_arrow())
    return summary


def call_totals(folder: RunFolder) -> dict[str, Any]:
    """Totals over the calls of a run. Cached replies cost nothing; an unknown price gives None, not 0.

    Calls that a budget or a deadline forbade were not made.
    """
    calls = read_table(folder.calls, ["cached", "attempts", "input_tokens", "output_tokens", "cost_usd"])
    made = calls.filter(pc.and_(pc.invert(calls["cached"]), pc.greater(calls["attempts"], 0)))
    tokens = {name: pc.sum(made[name]).as_py() or 0 for name in ("input_tokens", "output_tokens")}
    cost = None if made["cost_usd"].null_count else pc.sum(made["cost_usd"]).as_py() or 0.0
    return {"calls": made.num_rows, "cached_calls": pc.sum(calls["cached"]).as_py() or 0, **tokens, "cost_usd": cost}


def verdict_totals(folder: RunFolder, names: Collection[str]) -> dict[str, Any]:
    """The local verdicts on claims per word, and per evidence the means of their support, what they count, and `_word_coverage`."""
    counts: Counter[str] = Counter()
    numbers: dict[str, list[list[str]]] = {}
    for name in names:
        if name in VERDICTS_PER_CLAIM:
            for batch in read_batches(folder.evidence(name), ["value"]):
                found = pc.list_flatten(batch["value"])
                # Only verdicts with probabilities come from the local judge.
                local = found.filter(pc.match_substring_regex(found, r"^\w+ [01]\.\d"))
                counts.update(_counts(pa.chunked_array([pc.list_element(pc.split_pattern(local, " "), 0)])))
                numbers.setdefault(name, []).extend(text.partition("\n")[0].split(" ") for text in local.to_pylist())
    # Each verdict is `word support contradiction counted`, and perhaps its number of words.
    means = {
        name: [round(sum(float(one[at]) for one in found) / len(found), 4) for at in (1, 3)]
        + _word_coverage(folder, name, names)
        for name, some in numbers.items()
        if (found := [one for one in some if len(one) >= 4])
    }
    return {"local_verdicts": dict(sorted(counts.items())), "local_means": means} if counts else {}


def _word_coverage(folder: RunFolder, name: str, stored: Collection[str]) -> list[float]:
    """For verdicts by all chunks, the mean share of words of a row's claims that its chunks contain."""
    claims, by_chunks, _ = name.partition("_in_all_contexts")
    given = (folder.evidence(claims), "value") if claims in stored else (folder.samples, claims)
    places = ((folder.samples, "contexts"), given)
    contexts, rows = ((v for some in read_batches(at, [column]) for v in some[0].to_pylist()) for at, column in places)
    texts = (readable("\n\n".join(chunk["text"] for chunk in chunks or ())) for chunks in contexts) if by_chunks else ()
    found = [
        covered(claim["text"], text) for text, row in zip(texts, rows, strict=False) if text for claim in row or ()
    ]
    return [round(sum(found) / len(found), 4)] if found else []


VERDICTS_PER_CLAIM = (
    *("answer_claims_in_reference", "reference_claims_in_answer"),
    *("answer_claims_in_all_contexts", "reference_claims_in_all_contexts"),
)


def cascade_totals(folder: RunFolder, parts: int) -> dict[str, Any]:
    """Totals of a judge cascade over all parts, including those from before an interruption."""
    numbers = sorted(number for number in folder.parts_with(PartFolder.TALLY) if number < parts)
    return add_up(Tally(**read_json(folder.part(number).tally)) for number in numbers).totals()


def _join(places: Sequence[Place], target: Place, schema: pa.Schema, columns: dict[str, _Column] | None = None) -> None:
    """Copy the parts into one file. Small parts share a row group: each takes memory until the file is complete."""
    least = _GROUP_ROWS * max(1, len(columns or ()))
    group: list[pa.Table] = []
    with target.writing() as stream, pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        for table in read_small_tables(places):
            group.append(table.cast(schema))
            if columns is not None:
                # The cells of a part lie metric by metric, in the order of the plan.
                rows = table.num_rows // len(columns) if columns else 0
                for position, column in enumerate(columns.values()):
                    piece = table.slice(position * rows, rows)
                    column.values.append(piece["value"].drop_null().to_numpy())
                    column.ok.append(piece["value"].is_valid().to_numpy())
                    column.counts.update(_counts(piece["status"]))
                    column.reasons.update(_counts(piece["reason"]))
            if sum(one.num_rows for one in group) >= least:
                _write_group(writer, group)
        _write_group(writer, group)


def _write_group(writer: pq.ParquetWriter, tables: list[pa.Table]) -> None:
    if tables:
        whole = tables[0] if len(tables) == 1 else pa.concat_tables(tables).unify_dictionaries().combine_chunks()
        writer.write_table(whole, row_group_size=max(1, whole.num_rows))
        tables.clear()


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    return {item["values"]: item["counts"] for item in pc.value_counts(column.drop_null()).to_pylist()}


def _summarise(step: MetricStep, column: _Column, folder: RunFolder, clusters: np.ndarray | None) -> SummaryRow:
    reason = _main_reasons(column.reasons)
    try:
        if step.metric.spec.corpus:
            score, interval = _corpus_score(step, column, folder, clusters)
        else:
            score, interval = _score_of_cells(step.metric, column, clusters)
            if (q := step.metric.quantile) and score is not None and interval is None:
                few = f"an interval of the {q:g} quantile needs {rows_for_interval(q)} independent rows or more"
                reason = "; ".join(filter(None, [few, reason]))
    except Refused as refused:
        score, interval, reason = None, None, "; ".join(filter(None, [str(refused), reason]))
    return SummaryRow(
        metric=step.name,
        slice=ALL,
        mean=score,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        n_ok=column.counts["ok"],
        n_skipped=column.counts["skipped"],
        n_failed=column.counts["failed"],
        reason=reason,
    )


def _score_of_cells(
    metric: Metric, column: _Column, clusters: np.ndarray | None
) -> tuple[float | None, Interval | None]:
    """The mean or a quantile of the rows; rows of one question are one cluster."""
    values = np.concatenate(column.values) if column.values else np.zeros(0)
    if not len(values):
        return None, None
    labels = None if clusters is None else clusters[np.concatenate(column.ok)]
    if metric.quantile is not None:
        return quantile_of(values, metric.quantile), quantile_interval(values, metric.quantile, clusters=labels)
    mean = float(values.mean())
    if labels is None:
        return mean, mean_interval(values, bounds=metric.spec.bounds)
    return mean, clustered_interval(values, labels, bounds=metric.spec.bounds)


def _corpus_score(
    step: MetricStep, column: _Column, folder: RunFolder, clusters: np.ndarray | None
) -> tuple[float | None, Interval | None]:
    """The score of all rows with an ok cell together, from the statistics that were kept of each."""
    corpus = step.metric.spec.corpus
    if corpus is None or not column.counts["ok"]:
        return None, None
    # Scores and evidence are stored in the order of the samples.
    kept = read_table(folder.evidence(corpus.statistics), ["value"])["value"].filter(np.concatenate(column.ok))
    score = partial(corpus.score, **dict(step.metric.settings))
    labels = None if clusters is None else clusters[np.concatenate(column.ok)]
    try:
        if corpus.additive:
            shortest, longest = pc.min_max(pc.list_value_length(kept)).as_py().values()
            if shortest != longest:
                raise Refused(f"its statistics have {shortest} to {longest} numbers, not always as many")
            statistics = kept.combine_chunks().flatten().to_numpy().reshape(len(kept), -1)
            sums = statistics.sum(axis=0)
            whole = _finite(score(sums), corpus.undefined)
            units = statistics if labels is None else make_units(statistics, labels).sums
            ends = sums_interval(units, score, bounds=step.metric.spec.bounds)
            if ends and corpus.high_end:
                ends = Interval(ends.low, max(ends.high, corpus.high_end(sums, len(statistics), len(units))))
            return whole, ends
        rows = list(kept.to_numpy())
        return _finite(score(rows)), rows_interval(rows, score, bounds=step.metric.spec.bounds, clusters=labels)
    except Exception as error:
        raise Refused(f"there is no score of all rows together: {explain(error).reason}") from error


def _finite(score: Any, why: str = "") -> float:
    if not np.isfinite(value := float(score)):
        raise Refused(why or f"it is {value}, which is not a number")
    return value


def _main_reasons(reasons: Counter[str]) -> str | None:
    """The two most frequent reasons with their rows, and the number of the others; a third one if it is the last."""
    shown = reasons.most_common(None if len(reasons) == _REASONS_SHOWN + 1 else _REASONS_SHOWN)
    texts = [f"{reason} ({_rows(count)})" for reason, count in shown]
    if more := len(reasons) - len(texts):
        rest = reasons.total() - sum(count for _, count in shown)
        texts.append(f"{more} other reasons ({_rows(rest)})")
    return "; ".join(texts) or None


def _rows(count: int) -> str:
    return f"{count} row{'s' if count != 1 else ''}"


def write_run(
    folder: RunFolder,
    plan: Plan,
    profile: Profile,
    created: str,
    started: float,
    totals: Mapping[str, Any],
    more: Mapping[str, Any],
) -> None:
    """Write run.json of finished tables with `more` content, and remove what only an unfinished run needs."""
    stored = [name for name, _ in plan.stored_evidence()]
    seconds = round(time.perf_counter() - started, 3)
    content = {
        "layout": LAYOUT,
        "id": folder.id,
        "name": folder.id,
        "status": "finished",
        "created_at": created,
        "finished_at": now(),
        "dataset": asdict(profile),
        "metrics": [_describe_metric(step) for step in plan.metrics],
        "skipped": dict(plan.skipped),
        "evidence": stored,
        "versions": {
            "ragstone": __version__,
            "python": platform.python_version(),
            **{package: metadata.version(package) for package in ("numpy", "pyarrow")},
        },
        "totals": {**call_totals(folder), **totals, **verdict_totals(folder, stored), "seconds": seconds},
    }
    write_run_info(folder.manifest, {**content, **more})
    folder.remove_scaffold()


def _describe_metric(step: MetricStep) -> dict[str, Any]:
    spec = step.metric.spec
    names = ("family", "judges", "against", "better", "bounds")
    content = {"metric": step.name, "signature": step.signature, **{name: getattr(spec, name) for name in names}}
    if spec.good and step.name == spec.name:
        # The diagnosis of the run must not depend on the metrics files that are loaded later.
        content |= {"good": asdict(spec.good), "advice": spec.advice}
    return content


def write_json(place: Place, value: Any) -> None:
    """Write indented JSON; the file is complete or absent."""
    place.write_bytes(json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n")


def now() -> str:
    """The current time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def add_up(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of several tallies."""
    total = Tally()
    for tally in tallies:
        total.decided += tally.decided
        total.passed_on += tally.passed_on
        total.calls_saved += tally.calls_saved
        total.sure += tally.sure
    return total
