"""The conversations on the page of a run, worst first."""

from __future__ import annotations

from typing import Any

from ragstone.storage.runs import Run
from ragstone.views.conversation import worst_first
from ragstone.views.phrases import one_line
from ragstone.web.library import Insight, Library

_MAX_LISTED = 10


def list_conversations(library: Library, run: Run, insight: Insight | None) -> dict[str, Any]:
    """The worst conversations of a run, each with a link to its worst turn."""
    found = library.conversations(run)
    labels = insight.causes if insight else ()
    status = {row: (label.status, label.wrong) for row, label in enumerate(labels)}
    index = library.index(run) if found else None
    return {
        "total": len(found),
        "ready": insight is not None,
        "rows": [
            {
                "name": one_line(one.name, 60),
                "question": one_line(index.question(one.rows[0]), 120) if index else "",
                "statuses": list(one.statuses),
                "turns": len(one.rows),
                "wrong": one.wrong,
                "address": f"/runs/{run.id}/conversations/{one.worst}",
            }
            for one in worst_first(found, status)[:_MAX_LISTED]
        ],
    }
