"""Logs of our own making: a made-up harbour's help desk, with users whose signals follow from how good the answers are."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.formats.fixtures import dial_row, rating_row

TOPICS = ("ferry", "pier", "ticket", "crane", "lighthouse", "buoy", "harbour office", "fish market", "shipyard", "dock")
ASKED = (
    "When does the {} open on day {}?",
    "What does the {} cost in zone {}?",
    "Wann öffnet die Stelle {} am Tag {}?",
    "Who is in charge of the {} at gate {} and whom may I call in the evening if nobody is there?",
)


def make_rows(
    n: int, seed: int = 0, day: str = "2024-05-01", name: str = "r"
) -> tuple[list[dict[str, Any]], dict[str, bool]]:
    """Rows of the newer parser, and which of the answers are good; users rate some of them and complain of some."""
    draw = random.Random(seed)
    rows: list[dict[str, Any]] = []
    good: dict[str, bool] = {}
    time = datetime.fromisoformat(f"{day}T08:00:00")
    for number in range(n):
        answer, chat = f"{name}-{number}", f"{name}-chat-{number}"
        good[answer] = draw.random() < 0.7
        question = draw.choice(ASKED).format(draw.choice(TOPICS), draw.randrange(10_000))
        chunk = f"As the guide says: {question} It does."
        rows.append(dial_row(answer, question, f"The answer to {question}", [chunk], time=time.isoformat(), chat=chat))
        if draw.random() < 0.2:
            right = good[answer] if draw.random() < 0.95 else not good[answer]
            rows.append(rating_row(answer, right, time=(time + timedelta(minutes=1)).isoformat()))
        elif draw.random() < 0.2:
            said = "Thanks!" if good[answer] else "No, I wanted something else"
            follow = dial_row(
                f"{answer}-next", said, "You are welcome.", time=(time + timedelta(minutes=2)).isoformat(), chat=chat
            )
            good[f"{answer}-next"] = True
            rows.append(follow)
        time += timedelta(seconds=60)
    return rows, good


def write_log(folder: Path, deployment: str, day: str, rows: Sequence[dict[str, Any]], part: int = 0) -> Path:
    """A part of the newer layout."""
    path = folder / deployment / day / f"part-{part}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> str:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)
