"""A run as RAGChecker's results: each sample with its claims, verdicts and metrics, and the groups of means in percent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.data.codec import arrow_type, encoder
from ragstone.data.dataset import view_column
from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE
from ragstone.errors import UsageError
from ragstone.formats.ragchecker import FORMAT
from ragstone.registry import CATALOGUE
from ragstone.storage.places import Place
from ragstone.storage.runs import Run

FAMILY = "ragchecker"
# That tool's groups in its order; our ids are these names under the family.
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
    """Write the file that the tool would write; returns the groups of means."""
    evidence = {name: column for name in FORMAT.given if (column := _evidence(run, name)) is not None}
    rows = _row_metrics(run, evidence)
    groups = _group_means(rows)
    table = run.samples.table
    for name, column in evidence.items():
        array = pa.array(column, type=arrow_type(GIVEN_EVIDENCE[name]))
        table = _put_column(table, name, array)
    table = _put_column(table, "metadata", _with_metrics(table["metadata"], rows))
    FORMAT.write(table.to_batches(), target, {"metrics": groups})
    return groups


def printed_form(groups: Groups) -> Groups:
    """The means under the keys that the tool prints: `overall_metrics` where its files have `overall`."""
    return {f"{group}_metrics": means for group, means in groups.items()}


def _evidence(run: Run, name: str) -> list[Any] | None:
    """One kind of evidence, a value a sample: given by the data, or else what the run found."""
    table = run.samples.table
    given = table[name].to_pylist() if name in table.column_names else [None] * len(table)
    if name not in run.info["evidence"]:
        return given if name in table.column_names else None
    found = run.evidence(name)["value"].to_pylist()
    return [new if old is None else old for old, new in zip(given, found, strict=True)]


def _row_metrics(run: Run, evidence: Mapping[str, list[Any]]) -> list[Row]:
    """The metrics of each sample that the run has, as fractions."""
    there = {metric["metric"] for metric in run.info["metrics"]}
    names = [name for group in GROUPS.values() for name in group if f"{FAMILY}.{name}" in there]
    if not names:
        raise UsageError(
            f"run {run.id} has no RAGChecker metrics: evaluate with -m ragchecker, and with --judge unless the data has claims and verdicts"
        )
    rows: list[Row] = [{} for _ in range(len(run.samples))]
    for name in names:
        needs = [evidence.get(need, []) for need in CATALOGUE.metric(f"{FAMILY}.{name}").spec.needs]
        for row, cell, *verdicts in zip(rows, _cells(run, f"{FAMILY}.{name}"), *needs, strict=True):
            value = _as_the_tool(cell, verdicts)
            if value is not None:
                row[name] = value
    return rows


def _as_the_tool(cell: tuple[float | None, str], verdicts: Sequence[Any]) -> float | None:
    """The tool counts 0 where there is nothing to count; what we could not find out at all has no value there either."""
    value, status = cell
    if any(item is None for item in verdicts):
        return None
    if status == "skipped" or any(not item or not item[0] for item in verdicts):
        return 0.0
    return value


def _cells(run: Run, metric: str) -> list[tuple[float | None, str]]:
    cells = run.scores.filter(pc.equal(run.scores["metric"].cast(pa.string()), metric))
    return list(zip(cells["value"].to_pylist(), cells["status"].to_pylist(), strict=True))


def _group_means(rows: Sequence[Row]) -> Groups:
    """Plain means over the samples in percent with one decimal; a group or metric that was not asked for stays empty."""
    return {
        group: {name: _percent(rows, name) for name in names if any(name in row for row in rows)}
        for group, names in GROUPS.items()
    }


def _percent(rows: Sequence[Row], name: str) -> float:
    # numpy rounds as the tool does.
    return float(np.round(np.mean([row[name] for row in rows if name in row]) * 100, 1))


def _with_metrics(metadata: pa.ChunkedArray, rows: Sequence[Row]) -> pa.Array:
    """What the tool has beside its own keys travels as metadata, and so do a sample's metrics."""
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
