"""The line about a judge that failed. rich is not loaded: JSON output needs the line, too."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.report.text import counted, visible
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run, read_batches


def judge_failure(run: Run) -> str | None:
    """The first line of a result whose judge failed: more of its cells failed than were scored."""
    judged = {metric.metric: metric.signature for metric in run.info.metrics if _is_judged(metric)}
    rows = [row for row in run.summary() if row.metric in judged]
    failed, scored = (sum(getattr(row, count) for row in rows) for count in ("n_failed", "n_ok"))
    if failed <= scored:
        return None
    names = dict.fromkeys(
        name for signature in judged.values() for name in signature.llms or [signature.trained_judge or "local"]
    )
    reasons: Counter[str] = Counter()
    for batch in read_batches(run.folder.scores, ["metric", "status", "reason"]):
        chosen = pc.and_(
            pc.equal(batch["status"].cast("string"), "failed"),
            pc.is_in(batch["metric"].cast("string"), pa.array(list(judged))),
        )
        reasons.update(str(reason) for reason in batch.filter(chosen)["reason"].to_pylist())
    [(reason, _)] = reasons.most_common(1)
    return visible(
        f"The judge failed ({' and '.join(names)}): {failed:,} of its {counted(failed + scored, 'score')} "
        f"{'is' if failed == 1 else 'are'} missing. Main reason: {reason}"
    )


def _is_judged(metric: MetricInfo) -> bool:
    signature = metric.signature
    return bool(signature.llms or signature.uses_local_judge or signature.trained_judge)
