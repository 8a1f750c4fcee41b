"""Files of chunks: one JSON object per line with `text` and, optionally, `id` and `source`."""

from __future__ import annotations

from ragstone.data.codec import load_json
from ragstone.data.types import Chunk
from ragstone.errors import InputError, Problem
from ragstone.storage.places import open_place


def read_chunks(path: str) -> list[Chunk]:
    """All chunks of a JSONL file, in order."""
    chunks, problems = [], []
    text = open_place(path).read_bytes().decode("utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = load_json(line)
            name, source, page = (_word(row.get(key)) for key in ("id", "source", "page"))
            chunks.append(Chunk(str(row["text"]), name, source=source, page=page))
        except (ValueError, KeyError, TypeError, AttributeError):
            problems.append(
                Problem("is not a JSON object with a text", f"line {number}", hint='write {"text": …, "id": …}')
            )
    if problems:
        raise InputError(path, problems)
    return chunks


def _word(value: object) -> str | None:
    return None if value is None else str(value)
