"""Why samples lack verdicts: the reason of their missing scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.compare.cause_names import Outcome
from ragstone.compare.causes import NOTHING_TO_GO_BY
from ragstone.storage.runs import Run, read_batches

_LACKING = "a part of its verdicts is missing"


def with_reasons(run: Run, outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """The outcomes; those without claims and facts to go by say why a judge gave no verdict, if one was asked.

    A sample without a fault that lacks verdicts which other samples have is undecided too.
    """
    known = tuple(_undecided_if_lacking(run, outcome) for outcome in outcomes)
    ids = {outcome.sample_id for outcome in known if outcome.undecided in (NOTHING_TO_GO_BY, _LACKING)}
    reasons = _read_reasons(run, ids) if ids else {}
    return tuple(
        replace(one, undecided=reasons[one.sample_id]) if one.sample_id in reasons and one.undecided else one
        for one in known
    )


def _undecided_if_lacking(run: Run, outcome: Outcome) -> Outcome:
    lacks = not outcome.cause and not outcome.undecided and any(name in run.info.evidence for name in outcome.lacking)
    return replace(outcome, undecided=_LACKING) if lacks else outcome


def _read_reasons(run: Run, ids: Collection[str]) -> dict[str, str]:
    """The most frequent reason per sample, of the metrics that a judge decides."""
    judged = [item.metric for item in run.info.metrics if item.signature.llms or item.signature.uses_local_judge]
    found: dict[str, Counter[str]] = {}
    for batch in read_batches(run.folder.scores, ["sample_id", "metric", "status", "reason"]) if judged else ():
        chosen = pc.and_(
            pc.not_equal(batch["status"].cast("string"), "ok"),
            pc.and_(
                pc.is_in(batch["metric"].cast("string"), pa.array(judged)),
                pc.is_in(batch["sample_id"].cast("string"), pa.array(list(ids))),
            ),
        )
        for cell in batch.filter(chosen).select(["sample_id", "reason"]).to_pylist():
            found.setdefault(cell["sample_id"], Counter())[cell["reason"] or ""] += 1
    return {name: reason for name, counts in found.items() if (reason := counts.most_common(1)[0][0])}
