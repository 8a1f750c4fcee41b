"""Scores in memory, without files: lists of texts, single rows, and ranked lists of ids."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.codec import storable_value
from ragstone.data.columns import OK, Cells
from ragstone.data.schema import FIELDS
from ragstone.data.types import Chunk, Fact, FactMatch, Score
from ragstone.engine.backends.arrow import score_batches
from ragstone.engine.batch import compute_metrics, evaluate_batch
from ragstone.engine.execute import run_to_end
from ragstone.engine.ledger import Entry, Ledger
from ragstone.engine.plan import Plan, make_plan
from ragstone.errors import Skip, UsageError
from ragstone.evidence_functions.fact_matches import Counts, Ranks, rows_without_words
from ragstone.evidence_functions.gains import PIECES, judge_lists
from ragstone.formats import read_dataset
from ragstone.formats.values import shown
from ragstone.registry import Metric, parse_metric, resolve_metrics
from ragstone.registry.declare import metric_names
from ragstone.text.matchers import Matcher, make_matcher
from ragstone.tools.judging_options import Judge, Model, as_judge
from ragstone.tools.open_tools import open_matcher
from ragstone.tools.protocols import Tool

# Rows and characters that are computed together: enough rows to be fast, few enough characters for the caches of the CPU.
_BLOCK_ROWS = 16_384
_BLOCK_CHARACTERS = 12_000_000
_LOOKED_AT = 64
_TEXTS = pa.list_(pa.string())

Texts = Sequence[str | None]
TextLists = Sequence[Sequence[str] | None]
Scores = dict[str, list[float | None]]
# What was given for some rows, by field.
Columns = Mapping[str, Sequence[Any]]


def score_lists(
    metrics: str | Sequence[str],
    *,
    question: Texts | None = None,
    answer: Texts | None = None,
    contexts: TextLists | None = None,
    references: TextLists | None = None,
    reference_contexts: TextLists | None = None,
    facts: TextLists | None = None,
    answerable: Sequence[bool | None] | None = None,
    matcher: str | Matcher = "citation",
) -> Scores:
    """Metrics for lists of texts with one entry per row (None if a row has none); returns each metric's scores in row order.

    A score is None if it cannot be computed for a row. `score_lists("token_f1", answer=["at nine"], references=[["nine"]])`
    is `{"token_f1": [0.666…]}`.
    """
    fields: dict[str, Sequence[Any] | None] = {"question": question, "answer": answer, "contexts": contexts}
    fields |= {"references": references, "reference_contexts": reference_contexts}
    fields |= {"facts": facts, "answerable": answerable}
    columns = {name: column for name, column in fields.items() if column is not None}
    size = _size(columns)
    columns = {name: column if isinstance(column, list) else list(column) for name, column in columns.items()}
    tools: dict[str, Tool] = {"matcher": make_matcher(matcher) if isinstance(matcher, str) else matcher}
    plan = make_plan(resolve_metrics([metrics] if isinstance(metrics, str) else metrics), columns, tools)
    for name, reason in plan.skipped.items():
        raise UsageError(f"{name} cannot be computed from these lists: it {reason}")
    scores: Scores = {step.name: [] for step in plan.metrics}
    step = _block_rows(columns, size)
    for start in range(0, size, step):
        _score(plan, tools, {name: column[start : start + step] for name, column in columns.items()}, scores)
    return scores


def _size(columns: Columns) -> int:
    """How many rows there are."""
    for name, column in columns.items():
        if isinstance(column, str) or not hasattr(column, "__len__"):
            raise UsageError(f"{name} must be a list with an entry for each row, got {shown(column)}")
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise UsageError(f"the lists differ in length: {', '.join(f'{size} {name}' for name, size in sizes.items())}")
    return next(iter(sizes.values()), 0)


def _block_rows(columns: Columns, size: int) -> int:
    """How many rows to compute together, by the length of some of them."""
    rows = range(0, size, max(size // _LOOKED_AT, 1))
    characters = sum(_characters(column[row]) for column in columns.values() for row in rows)
    return max(min(_BLOCK_ROWS, _BLOCK_CHARACTERS * len(rows) // max(characters, 1)), 1)


def _characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return sum(map(_characters, value)) if isinstance(value, list | tuple) else 0


def _score(plan: Plan, tools: Mapping[str, Tool], columns: Columns, scores: Scores) -> None:
    """Add the scores of some rows. If their texts do not fit into one Arrow column, each half is computed alone."""
    arrays = {name: _array(name, column) for name, column in columns.items()}
    size = _size(columns)
    if size > 1 and any(isinstance(array, pa.ChunkedArray) for array in arrays.values()):
        for part in (slice(None, size // 2), slice(size // 2, None)):
            _score(plan, tools, {name: column[part] for name, column in columns.items()}, scores)
        return
    batch = pa.RecordBatch.from_arrays(list(arrays.values()), list(arrays))
    result = run_to_end(evaluate_batch(plan, batch, tools, asyncio.Semaphore(1)), plan.waits)
    for name, cells in result.cells.items():
        scores[name] += _values_or_none(cells)


def _values_or_none(cells: Cells) -> list[float | None]:
    """The values as Python numbers, None for rows without a value."""
    values: list[float | None] = cells.values.tolist()
    for row in np.flatnonzero(cells.status != OK).tolist():
        values[row] = None
    return values


def _array(name: str, column: Sequence[Any]) -> pa.Array | pa.ChunkedArray:
    """A column of the samples table, of the texts that are given for it."""
    kind = FIELDS[name].type
    listed = pa.types.is_list(kind)
    if listed and str in set(map(type, column)):
        raise UsageError(f"{name} must have a list of texts for each row, not a text")
    try:
        array = _convert(column, _TEXTS if listed else kind)
    except (TypeError, ValueError) as error:
        items = "true or false" if pa.types.is_boolean(kind) else "texts"
        raise UsageError(f"{name} must have {'lists of ' if listed else ''}{items}: {error}") from None
    if not listed or isinstance(array, pa.ChunkedArray):
        return array
    if array.values.null_count:
        raise UsageError(f"{name} must have lists of texts, and one of them contains None")
    if not pa.types.is_struct(kind.value_type):
        return array
    # Chunks and facts of which only the text is known.
    known = {"text": array.values, "kind": pa.repeat(Fact("").kind, len(array.values))}
    inner = [known.get(field.name, pa.nulls(len(array.values), field.type)) for field in kind.value_type]
    objects = pa.StructArray.from_arrays(inner, fields=list(kind.value_type))
    return pa.ListArray.from_arrays(array.offsets, objects, type=kind, mask=array.is_null())


def _convert(column: Sequence[Any], kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    try:
        return pa.array(column, type=kind)
    except UnicodeEncodeError:  # half a character
        return pa.array(storable_value(list(column)), type=kind)


def match_facts(
    facts: Sequence[str | Fact], contexts: Sequence[str | Chunk], matcher: str = "citation"
) -> list[FactMatch]:
    """Find each fact in the retrieved chunks; fact and chunk are positions from 0."""
    texts = [fact if isinstance(fact, str) else fact.text for fact in facts]
    for reason in rows_without_words(texts, np.array([0, len(texts)])).values():
        raise Skip(reason)
    matches = open_matcher(matcher).find(texts, [chunk if isinstance(chunk, str) else chunk.text for chunk in contexts])
    return [FactMatch(*place, matcher=matcher) for place in matches]


def score_row(
    row: Mapping[str, Any],
    metric: str | Callable[..., Any],
    matcher: str = "citation",
    *,
    judge: Judge | Model | None = None,
    checker: Model | None = None,
) -> Score:
    """One metric of one row: `frame.apply(lambda row: ragstone.score_row(row, "recall@5").value, axis=1)`.

    A row may have DIAL's columns: `context` and `ground_truth_answer`, or the match results `context_relevance` and
    `facts_ranks`, from which the metrics of facts are computed without texts. Metrics of models need a `judge`, a name or a
    `Judge`; its models are opened for each row, so `evaluate` is faster for many rows.
    """
    values = row.to_dict() if hasattr(row, "to_dict") else dict(row)
    values = {_DIAL_NAMES.get(key, key) if _DIAL_NAMES.get(key) not in values else key: values[key] for key in values}
    wanted = parse_metric(metric_names(metric)[0])
    if (score := _score_matches(values, wanted)) is not None:
        return score
    table = read_dataset([values], format="ragstone").table
    if judge is not None or checker is not None:
        used = as_judge(judge, checker, **({"matcher": matcher} if matcher != "citation" else {}))
        score_all = score_batches([str(wanted)], matcher=used.matcher, concurrency=used.concurrency, **used.options)
        [cell] = (cell for batch in score_all(table.to_batches()) for cell in batch.to_pylist())
        return Score(cell["value"], cell["status"], cell["reason"])
    tools = {"matcher": open_matcher(matcher)}
    plan = make_plan([wanted], [name for name in table.schema.names if table[name].null_count == 0], tools)
    if plan.skipped:
        return Score(None, "skipped", plan.skipped[str(wanted)])
    result = run_to_end(evaluate_batch(plan, table.to_batches()[0], tools, asyncio.Semaphore(1)), plan.waits)
    return result.cells[str(wanted)][0]


_DIAL_NAMES = {"context": "contexts", "ground_truth_answer": "references"}


def _match_results(values: Mapping[str, Any]) -> tuple[list[int] | None, list[int]] | None:
    """DIAL's match results of a row: facts per chunk if given, and the rank of each fact from 1, 0 if it was not found."""
    try:
        given = [float(item) for item in values["facts_ranks"]]
        relevance = [float(item) for item in values["context_relevance"]] if "context_relevance" in values else None
    except (KeyError, TypeError, ValueError):
        return None
    if not given:
        raise UsageError("facts_ranks is empty: the row has no facts")
    found = [rank for rank in given if 0 <= rank < math.inf]
    if relevance is None:
        return None, [int(rank) + 1 if rank in found else 0 for rank in given]  # DIAL counts from 0
    useful = [place for place, count in enumerate(relevance) if count > 0]
    # DIAL counts from 0, its description from 1: the first useful chunk is that of the lowest rank.
    base = int(min(found)) - useful[0] if found and useful else 0
    ranks = [int(rank) - base + 1 if 0 <= rank < math.inf else 0 for rank in given]
    if base not in (0, 1) or bool(found) != bool(useful) or max(ranks, default=0) > len(relevance):
        raise UsageError("context_relevance and facts_ranks do not belong together: they name different chunks")
    return [int(count) for count in relevance], ranks


def _score_matches(values: Mapping[str, Any], wanted: Metric) -> Score | None:
    """The score from DIAL's match results; None if the row has none, or the metric needs something else."""
    if not {"chunk_relevance", "fact_ranks"}.issuperset(wanted.spec.needs):
        return None
    matched = _match_results(values)
    if matched is None:
        return None
    if matched[0] is None and "chunk_relevance" in wanted.spec.needs:
        return Score(
            None, "skipped", "needs context_relevance in addition to facts_ranks: how many facts each chunk contains"
        )
    plan = make_plan([wanted], ("chunk_relevance", "fact_ranks"), {})
    ledger = Ledger(pa.record_batch([pa.nulls(1)], names=["nothing"]))
    for name, kind, numbers in (("chunk_relevance", Counts, matched[0] or []), ("fact_ranks", Ranks, matched[1])):
        ledger.add(Entry(name, np.arange(1), kind(np.array(numbers, dtype=np.int64), np.array([0, len(numbers)]))))
    return compute_metrics(plan, ledger)[str(wanted)][0]


Relevance = Mapping[str, float] | Collection[str]


def score_rankings(
    retrieved: Sequence[Sequence[str]], relevance: Sequence[Relevance], metrics: str | Sequence[str]
) -> dict[str, list[float | None]]:
    """Retrieval metrics for ranked lists of ids, one list per query; returns each metric's scores in the order of queries.

    `relevance` has for each query the grades by id, or the ids that are relevant. If no grade is above 0, nothing is
    relevant and every score of the query is None. `score_rankings([["a", "b"]], [{"b": 1}], "mrr")` is `{"mrr": [0.5]}`.
    """
    chosen = resolve_metrics([metrics] if isinstance(metrics, str) else metrics)
    if len(retrieved) != len(relevance):
        raise UsageError(f"there are {len(retrieved)} lists of ids, but relevance for {len(relevance)}")
    for what, rows in (("retrieved", retrieved), ("relevance", relevance)):
        if str in set(map(type, rows)):
            raise UsageError(f"{what} must have a list of ids for each query, not a text")
    plan = make_plan(chosen, PIECES, {})
    for name, reason in plan.skipped.items():
        raise UsageError(f"{name} cannot be computed from ids: it {reason}")
    needs = {need for step in plan.metrics for need in step.metric.spec.needs}
    try:
        pieces = judge_lists(retrieved, _grades(relevance), needs)
    except (TypeError, ValueError) as error:  # there are too many to look at each before it is used
        raise UsageError(f"ids must be text and grades numbers: {error}") from None
    ledger = Ledger(pa.record_batch([pa.nulls(len(retrieved))], names=["nothing"]))
    for name, column in pieces.items():
        ledger.add(Entry(name, np.arange(ledger.size), column))
    return {name: _values_or_none(cells) for name, cells in compute_metrics(plan, ledger).items()}


def _grades(relevance: Sequence[Relevance]) -> Sequence[dict[str, float]]:
    if set(map(type, relevance)) <= {dict}:  # quicker than looking at each
        return relevance  # type: ignore[return-value]
    return [dict(row) if isinstance(row, Mapping) else dict.fromkeys(row, 1.0) for row in relevance]
