"""The scores of a sample as page data: value, state, reason, and how each came about."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.compare.explain import Cell, Counted, work_out
from ragstone.compare.sample_evidence import Case
from ragstone.engine.metric_choice import pick_headlines
from ragstone.errors import UsageError
from ragstone.registry.expression import Metric, parse_metric
from ragstone.report.explain import evidence_json, item_texts
from ragstone.report.run import DIRECTION
from ragstone.report.text import one_line
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import read_batches
from ragstone.storage.scores import OK
from ragstone.web.run_index import RunIndex

_STATES = ("ok", "skipped", "failed")
_MAX_ITEM = 240
_MAX_ITEMS = 100
_MAX_INPUT = 400


def explained_scores(index: RunIndex, row: int, case: Case) -> list[dict[str, Any]]:
    """Return the scores of a sample. Reasons are read from the file only if a score has no value."""
    incomplete = any(scores.states[row] != OK for scores in index.scores.values())
    reasons = _reasons(index, case.sample.id) if incomplete else {}
    headlines = pick_headlines([metric["metric"] for metric in index.metrics])
    # A quantile of the rows has the value of the mean in each row.
    metrics = [item for item in index.metrics if (known := _parse(item.metric)) is None or known.quantile is None]
    return [_score(index, row, case, metric, reasons, headlines) for metric in metrics]


def _score(
    index: RunIndex, row: int, case: Case, metric: MetricInfo, reasons: dict[str, str], headlines: set[str]
) -> dict[str, Any]:
    name = metric["metric"]
    status = _STATES[int(index.scores[name].states[row])]
    cell = Cell(name, index.value(name, row), status, reasons.get(name))
    working = work_out(cell, _parse(name), case)
    signature = metric.signature
    return {
        "metric": name,
        "family": metric.family,
        "headline": name in headlines,
        "arrow": DIRECTION[metric["better"]].strip(),
        "value": cell.value,
        "status": status,
        "reason": cell.reason or "",
        "judged": bool(signature.llms or signature.uses_local_judge or signature.trained_judge),
        "meaning": working.meaning,
        "formula": working.formula,
        "counts": [_count(case, count) for count in working.counts],
        "inputs": {} if working.counts else {key: _input(value) for key, value in working.inputs.items()},
    }


def _parse(name: str) -> Metric | None:
    try:
        return parse_metric(name)
    except UsageError:  # a metric of the user that is not defined here
        return None


def _input(value: Any) -> str:
    return one_line(json.dumps(evidence_json(value), ensure_ascii=False, default=str), _MAX_INPUT)


def _count(case: Case, count: Counted) -> dict[str, Any]:
    """Return numerator and denominator of a share, and what each item adds to them."""
    above, below = count.sums
    texts = item_texts(case, count.kind)
    kind = count.kind.removesuffix(" claim")
    return {
        "kind": count.kind,
        "plural": {"entity": "entities"}.get(count.kind, f"{count.kind}s"),
        "above": above,
        "below": below,
        "value": count.value,
        "soft": count.is_soft,
        "items": [
            {
                "number": number,
                "above": part,
                "below": whole,
                "text": one_line(texts[number - 1], _MAX_ITEM) if number <= len(texts) else "",
                "address": f"#{kind}-{number}" if kind in ("answer", "reference", "fact", "chunk") else "",
            }
            for number, part, whole in count.parts[:_MAX_ITEMS]
        ],
        "more": max(0, len(count.parts) - _MAX_ITEMS),
    }


def _reasons(index: RunIndex, sample: str) -> dict[str, str]:
    reasons: dict[str, str] = {}
    wanted = pa.scalar(sample, pa.string())
    for batch in read_batches(index.run.folder.scores, ["sample_id", "metric", "reason"]):
        rows = batch.filter(pc.equal(batch["sample_id"], wanted))
        reasons |= {row["metric"]: row["reason"] or "" for row in rows.to_pylist()}
    return reasons
