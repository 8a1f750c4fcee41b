"""Runs in the result formats of other tools: the metrics table of DIAL rag-eval and the results file of RAGChecker; LaTeX tables."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.analysis.comparison import Comparison
from ragstone.data.codec import arrow_type, decoder, encoder
from ragstone.data.dataset import view_column
from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE
from ragstone.data.types import FactMatch
from ragstone.data.verdict import NEUTRAL, UNSURE, Verdict
from ragstone.errors import UsageError
from ragstone.formats.dial import write_sidecar
from ragstone.formats.ragchecker import FORMAT
from ragstone.registry import CATALOGUE
from ragstone.report.comparison import difference_table
from ragstone.report.run import metrics_table
from ragstone.report.table import escape_latex
from ragstone.storage.places import Place
from ragstone.storage.runs import Run, write_table
from ragstone.views.comparison import ComparisonView, method_line
from ragstone.views.run import RunView

_TEXTS, _NUMBERS = pa.list_(pa.string()), pa.list_(pa.int64())
# DIAL's names of our metrics.
METRICS = {"recall": "fact_recall", "precision": "fact_precision", "mrr": "fact_mrr_mean", "f1": "fact_f1"}
SCHEMA = pa.schema(
    {
        "question": pa.string(),
        "documents": _TEXTS,
        "facts": _TEXTS,
        "ground_truth_answer": pa.string(),
        "context": _TEXTS,
        "answer": pa.string(),
        "facts_ranks": _NUMBERS,
        "context_relevance": _NUMBERS,
        "context_highlight": _TEXTS,
        **dict.fromkeys(METRICS, pa.float64()),
    }
)


def write_dial_table(run: Run, folder: Place) -> Place:
    """Write `metrics.parquet` and its sidecar; returns the path of the table."""
    target = folder / "metrics.parquet"
    table = dial_table(run)
    write_table(target, table)
    summary = run.summary()
    means = {name: summary[metric].mean for name, metric in METRICS.items()}
    write_sidecar(target, [run.info["dataset"]], {"Evaluation data size": table.num_rows}, means)
    return target


def dial_table(run: Run) -> pa.Table:
    """One row per sample. Ranks start at 0; -1 means not found. A missing score is null."""
    metrics = {metric["metric"] for metric in run.info["metrics"]}
    if not set(METRICS.values()) <= metrics:
        raise UsageError(f"run {run.id} has no DIAL metrics: evaluate data with facts and contexts with -m dial")
    decode = decoder(list[FactMatch]) or list
    matches = [decode(value) for value in run.evidence("fact_matches")["value"].to_pylist()]
    scores = {name: [value for value, _ in _cells(run, metric)] for name, metric in METRICS.items()}
    rows = []
    for row, (sample, row_matches) in enumerate(zip(run.samples, matches, strict=True)):
        facts = [fact.text for fact in sample.facts or ()]
        context = [chunk.text for chunk in sample.contexts or ()]
        rows.append(
            {
                "question": sample.question,
                "documents": sample.documents or [],
                "facts": facts,
                "ground_truth_answer": next(iter(sample.references or ()), None),
                "context": context,
                "answer": sample.answer,
                **(match_row(facts, context, row_matches) if row_matches is not None else {}),
                **{name: column[row] for name, column in scores.items()},
            }
        )
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def match_row(facts: Sequence[str], context: Sequence[str], matches: Sequence[FactMatch]) -> Mapping[str, Any]:
    """DIAL's columns of one row, from the matches of `ragstone.match_facts`."""
    ranks = [min((match.chunk for match in matches if match.fact == fact), default=-1) for fact in range(len(facts))]
    inside = [[match for match in matches if match.chunk == chunk] for chunk in range(len(context))]
    return {
        "facts_ranks": ranks,
        "context_relevance": [len({match.fact for match in chunk}) for chunk in inside],
        "context_highlight": [_highlight(text, chunk) for text, chunk in zip(context, inside, strict=True)],
    }


def _highlight(chunk: str, matches: Sequence[FactMatch]) -> str:
    """The chunk split at the boundaries of facts. Each piece lists the facts that cover it."""
    cuts = sorted({0, len(chunk), *(match.start for match in matches), *(match.end for match in matches)})
    pieces = [
        {
            "text": chunk[start:end],
            "facts": sorted({match.fact for match in matches if match.start <= start and end <= match.end}),
        }
        for start, end in itertools.pairwise(cuts)
    ]
    return json.dumps({"match": pieces}, ensure_ascii=False)


_FAMILY = "ragchecker"
# RAGChecker's groups in its order. Our metric ids have the family as prefix.
GROUPS = {
    "overall": ("precision", "recall", "f1"),
    "retriever": ("claim_recall", "context_precision"),
    "generator": (
        "context_utilization",
        "noise_sensitivity_in_relevant",
        "noise_sensitivity_in_irrelevant",
        "hallucination",
        "self_knowledge",
        "faithfulness",
    ),
}

Row = dict[str, float]
Groups = dict[str, dict[str, float]]


def write_ragchecker(run: Run, target: Place) -> Groups:
    """Write the results file of RAGChecker; returns the means by group."""
    evidence = {name: column for name in FORMAT.given if (column := _evidence(run, name)) is not None}
    rows = _row_metrics(run, evidence)
    groups = {
        group: {name: _percent(rows, name) for name in names if any(name in row for row in rows)}
        for group, names in GROUPS.items()
    }
    table = run.samples.table
    for name, column in evidence.items():
        array = pa.array(column, type=arrow_type(GIVEN_EVIDENCE[name]))
        table = _put_column(table, name, array)
    table = _put_column(table, "metadata", _with_metrics(table["metadata"], rows))
    FORMAT.write(table.to_batches(), target, {"metrics": groups})
    return groups


def printed_form(groups: Groups) -> Groups:
    """The means with the keys that RAGChecker prints: `overall_metrics` instead of `overall`."""
    return {f"{group}_metrics": means for group, means in groups.items()}


def _evidence(run: Run, name: str) -> list[Any] | None:
    """One kind of evidence, one value per sample: from the data, otherwise from the run."""
    table = run.samples.table
    supplied = table[name].to_pylist() if name in table.column_names else None
    if name not in run.info["evidence"]:
        return supplied
    computed: list[Any] = [_words(value) for value in run.evidence(name)["value"].to_pylist()]
    if supplied is None:
        return computed
    return [new if old is None else old for old, new in zip(supplied, computed, strict=True)]


def _words(value: Any) -> Any:
    """Verdicts without their probabilities. RAGChecker does not have unsure verdicts: they are neutral."""
    if isinstance(value, list):
        return [_words(item) for item in value]
    if not isinstance(value, str):
        return value
    word = str(Verdict.from_text(value))
    return NEUTRAL if word == UNSURE else word


def _row_metrics(run: Run, evidence: Mapping[str, list[Any]]) -> list[Row]:
    """The RAGChecker metrics of each sample, as fractions."""
    computed = {metric["metric"] for metric in run.info["metrics"]}
    names = [name for group in GROUPS.values() for name in group if f"{_FAMILY}.{name}" in computed]
    if not names:
        raise UsageError(
            f"run {run.id} has no RAGChecker metrics: evaluate with -m ragchecker, and with --judge if the data has no "
            "claims and verdicts"
        )
    rows: list[Row] = [{} for _ in range(len(run.samples))]
    for name in names:
        wanted = [need for need in CATALOGUE.metric(f"{_FAMILY}.{name}").spec.needs if need in GIVEN_EVIDENCE]
        needs = [evidence.get(need, []) for need in wanted]
        for row, cell, *verdicts in zip(rows, _cells(run, f"{_FAMILY}.{name}"), *needs, strict=True):
            value = _ragchecker_value(cell, verdicts)
            if value is not None:
                row[name] = value
    return rows


def _ragchecker_value(cell: tuple[float | None, str], verdicts: Sequence[Any]) -> float | None:
    """RAGChecker uses 0 if there is nothing to count. A missing verdict gives no value."""
    value, status = cell
    if any(item is None for item in verdicts):
        return None
    if status == "skipped" or any(not item or not item[0] for item in verdicts):
        return 0.0
    return value


def _cells(run: Run, metric: str) -> list[tuple[float | None, str]]:
    cells = run.scores.filter(pc.equal(run.scores["metric"].cast(pa.string()), metric))
    return list(zip(cells["value"].to_pylist(), cells["status"].to_pylist(), strict=True))


def _percent(rows: Sequence[Row], name: str) -> float:
    # RAGChecker rounds with numpy.
    return float(np.round(np.mean([row[name] for row in rows if name in row]) * 100, 1))


def _with_metrics(metadata: pa.ChunkedArray, rows: Sequence[Row]) -> pa.Array:
    """The metadata with the metrics of each sample."""
    encode = encoder(FIELDS["metadata"].annotation) or dict
    old = view_column("metadata", metadata)
    return pa.array(
        [encode({**(known or {}), "metrics": row}) for known, row in zip(old, rows, strict=True)],
        type=FIELDS["metadata"].type,
    )


def _put_column(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, column)
    return table.append_column(name, column)


def run_latex(run: Run) -> str:
    """The means of a run with their intervals."""
    table = metrics_table(RunView.of(run).metrics)
    wanted = ("metric", "score", "95 % interval", "scored")
    table = table.select(at for at, column in enumerate(table.columns) if column.heading in wanted)
    caption = f"{escape_latex(run.name)}: scores with 95\\,\\% intervals over {run.info['dataset']['rows']} samples."
    return table.latex(caption, f"tab:{_label(run.name)}")


def comparison_latex(comparison: Comparison) -> str:
    """Both means, the difference with its interval, the corrected p and the verdict."""
    view = ComparisonView.of(comparison)
    table = difference_table(view, view.metrics)
    table = table.select(at for at, column in enumerate(table.columns) if column.heading != "MDE")
    before, after = comparison.before.name, comparison.after.name
    names = f"A: {escape_latex(before)}, B: {escape_latex(after)}, {len(comparison.pairs)} pairs"
    caption = f"{names}. {escape_latex(method_line(comparison, detectable=False))}"
    return table.latex(caption, f"tab:{_label(before)}-{_label(after)}")


def _label(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "run"
