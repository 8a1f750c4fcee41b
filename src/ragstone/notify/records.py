"""What was told to whom about a run: notifications.json in its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ragstone.errors import StorageError
from ragstone.storage.places import read_json
from ragstone.storage.runs import Run

FILE = "notifications.json"


def read_records(run: Run) -> list[dict[str, Any]]:
    """All that was told so far, the oldest first."""
    place = run.folder.place / FILE
    found = read_json(place) if place.exists() else []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def add_record(run: Run, kind: str, record: Mapping[str, Any]) -> str | None:
    """Write down one more; what stops that, in words, because it is no reason to fail either."""
    try:
        entries = [*read_records(run), {"kind": kind, **record}]
        content = json.dumps(entries, indent=2, ensure_ascii=False).encode("utf-8", "replace")
        (run.folder.place / FILE).write_bytes(content)
    except StorageError as problem:
        return str(problem)
    return None
