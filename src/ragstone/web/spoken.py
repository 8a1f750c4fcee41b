"""What was scored and what was said about one sample, looked up in the tables of its run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.report.terminal import DIRECTION
from ragstone.storage.runs import Run, read_batches, read_rows, read_table
from ragstone.storage.scores import OK
from ragstone.web.evidence import Limits
from ragstone.web.index import RunIndex

_STATES = ("ok", "skipped", "failed")


def cells_of(index: RunIndex, row: int, sample: str) -> list[dict[str, Any]]:
    """The scores of a sample; the file is looked into only for the reasons of cells without a value."""
    reasons = _reasons(index, sample) if any(found.states[row] != OK for found in index.scores.values()) else {}
    return [
        {
            "metric": metric["metric"],
            "arrow": DIRECTION[metric["better"]].strip(),
            "value": index.value(metric["metric"], row),
            "status": _STATES[int(index.scores[metric["metric"]].states[row])],
            "reason": reasons.get(metric["metric"], ""),
        }
        for metric in index.metrics
    ]


def _reasons(index: RunIndex, sample: str) -> dict[str, str]:
    found: dict[str, str] = {}
    wanted = pa.scalar(sample, pa.string())
    for batch in read_batches(index.run.folder.scores, ["sample_id", "metric", "reason"]):
        mine = batch.filter(pc.equal(batch["sample_id"], wanted))
        found |= {cell["metric"]: cell["reason"] or "" for cell in mine.to_pylist()}
    return found


def calls_of(run: Run, sample: str, limits: Limits) -> list[dict[str, Any]]:
    """What models were asked about a sample and what they said, with the prompts as the run keeps them."""
    totals = run.info["totals"]
    if not totals.get("calls") and not totals.get("cached_calls"):
        return []
    ids = read_table(run.folder.calls, ["sample_id"])["sample_id"]
    rows = np.flatnonzero(pc.equal(ids, sample).to_numpy())
    prompts = run.info.get("prompts") or {}
    found = [part.to_pylist()[0] for _, part in read_rows(run.folder.calls, rows.tolist())]
    return [
        {
            "evidence": call["evidence"],
            "prompt": call["prompt"],
            "asked": limits.shorten(str(prompts.get(call["prompt"], {}).get("text", ""))),
            "model": call["model"],
            "cached": call["cached"],
            "latency_s": call["latency_s"],
            "tokens": [call["input_tokens"], call["output_tokens"]],
            "reply": limits.shorten(call["reply"] or ""),
            "error": call["error"] or "",
        }
        for call in found
    ]
