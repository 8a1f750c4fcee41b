"""A diagnosis as page data: which part limits quality, why samples fail, what to do."""

from __future__ import annotations

from typing import Any

from ragstone.compare.diagnosis import Diagnosis
from ragstone.report.diagnosis import headline
from ragstone.report.html.run_page import PARTS, STATE_TONES, advice_rows
from ragstone.web.table import TableState


def diagnosed(found: Diagnosis, run: str) -> dict[str, Any]:
    """Which part limits quality, why samples fail, what to do."""
    most = max((count.samples for count in found.causes), default=1)
    return {
        "headline": headline(found),
        "failing": found.failing,
        "decided": found.decided,
        "looked_at": found.looked_at,
        "samples": found.samples,
        "parts": [
            {
                "name": part,
                "state": found.parts[part],
                "tone": STATE_TONES[found.parts[part]],
                "blamed": found.blamed(part),
            }
            for part in PARTS
        ],
        "tally": dict(found.tally),
        "advice": advice_rows(found),
        "causes": [
            {
                "name": count.cause.name,
                "part": count.cause.part or "",
                "meaning": count.cause.meaning,
                "main": count.main,
                "samples": count.samples,
                "share": count.samples / most,
                "address": f"/runs/{run}{TableState(cause=count.cause.name).address}#samples" if count.main else "",
            }
            for count in found.causes
        ],
        "undecided": dict(found.undecided),
    }
