"""A run as DIAL rag-eval's table of metrics: ranks from 0 with -1 for not found, and the chunks with their facts marked."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.data.codec import decoder
from ragstone.data.types import FactMatch
from ragstone.errors import UsageError
from ragstone.formats.dial_tables import write_sidecar
from ragstone.storage.places import Place
from ragstone.storage.runs import Run, write_table

_TEXTS, _NUMBERS = pa.list_(pa.string()), pa.list_(pa.int64())
# DIAL's names for our metrics.
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
    """Write `metrics.parquet` and its sidecar; returns where the table is."""
    target = folder / "metrics.parquet"
    table = dial_table(run)
    write_table(target, table)
    summary = run.summary()
    means = {name: summary[metric].mean for name, metric in METRICS.items()}
    write_sidecar(target, [run.info["dataset"]], {"Evaluation data size": table.num_rows}, means)
    return target


def dial_table(run: Run) -> pa.Table:
    """The table; a value that could not be scored is null."""
    metrics = {metric["metric"] for metric in run.info["metrics"]}
    if not set(METRICS.values()) <= metrics:
        raise UsageError(f"run {run.id} has no DIAL metrics: evaluate data with facts and contexts with -m dial")
    decode = decoder(list[FactMatch]) or list
    matches = [decode(value) for value in run.evidence("fact_matches")["value"].to_pylist()]
    scores = {name: _column(run, metric) for name, metric in METRICS.items()}
    rows = []
    for number, (sample, found) in enumerate(zip(run.samples, matches, strict=True)):
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
                **(match_row(facts, context, found) if found is not None else {}),
                **{name: column[number] for name, column in scores.items()},
            }
        )
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def match_row(facts: Sequence[str], context: Sequence[str], matches: Sequence[FactMatch]) -> Mapping[str, Any]:
    """DIAL's columns of one row, from the matches that `ragstone.match_facts` found."""
    ranks = [min((match.chunk for match in matches if match.fact == fact), default=-1) for fact in range(len(facts))]
    inside = [[match for match in matches if match.chunk == chunk] for chunk in range(len(context))]
    return {
        "facts_ranks": ranks,
        "context_relevance": [len({match.fact for match in found}) for found in inside],
        "context_highlight": [_highlight(text, found) for text, found in zip(context, inside, strict=True)],
    }


def _highlight(chunk: str, matches: Sequence[FactMatch]) -> str:
    """The chunk cut where a fact begins or ends, each piece with the facts that cover it."""
    cuts = sorted({0, len(chunk), *(match.start for match in matches), *(match.end for match in matches)})
    pieces = [
        {
            "text": chunk[start:end],
            "facts": sorted({match.fact for match in matches if match.start <= start and end <= match.end}),
        }
        for start, end in itertools.pairwise(cuts)
    ]
    return json.dumps({"match": pieces}, ensure_ascii=False)


def _column(run: Run, metric: str) -> list[float | None]:
    mask = pc.equal(run.scores["metric"].cast(pa.string()), metric)
    values: list[float | None] = run.scores.filter(mask)["value"].to_pylist()
    return values
