"""The conversations on the page of a run, worst first."""

from __future__ import annotations

from typing import Any

from ragstone.storage.runs import Run
from ragstone.views.phrases import one_line
from ragstone.web.library import Insight, Library

_MAX_LISTED = 10


def list_conversations(library: Library, run: Run, insight: Insight | None) -> dict[str, Any]:
    """The conversations with most wrong turns, then those with the most probably wrong turn, each with a link to this turn."""
    found = library.conversations(run)
    labels = insight.causes if insight else ()
    status = {row: (label.status, label.wrong or 0.0) for row, label in enumerate(labels)}
    counted = []
    for name, rows in found.items():
        known = [status.get(row, ("", 0.0)) for row in rows]
        statuses, chances = [word for word, _ in known], [chance for _, chance in known]
        worst = max(range(len(rows)), key=chances.__getitem__)
        counted.append((-statuses.count("wrong"), -chances[worst], name, rows, statuses, rows[worst] + 1))
    counted.sort(key=lambda one: one[:2])
    index = library.index(run) if found else None
    return {
        "total": len(found),
        "ready": insight is not None,
        "rows": [
            {
                "name": one_line(name, 60),
                "question": one_line(index.question(rows[0]), 120) if index else "",
                "statuses": statuses,
                "turns": len(rows),
                "wrong": -wrong,
                "address": f"/runs/{run.id}/conversations/{worst}",
            }
            for wrong, _, name, rows, statuses, worst in counted[:_MAX_LISTED]
        ],
    }
