"""Which chunks help and which hurt: per question, per rank, and per chunk over all questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ragstone.stats.intervals import mean_interval
from ragstone.storage.places import read_json
from ragstone.storage.runs import Run, open_run
from ragstone.stress.erag import Agreement, Erag, Label

_FILE = "erag.json"


@dataclass(frozen=True)
class Share:
    """The labels of one rank or one chunk, aggregated."""

    name: str
    chunks: int
    # The mean label, and how much the score of the full answer falls without the chunk.
    alone: float | None
    helps: float | None
    low: float | None
    high: float | None


def by_rank(labels: Sequence[Label]) -> list[Share]:
    """The labels per rank."""
    return _together(labels, lambda label: label.rank, lambda rank: f"rank {rank}")


def by_chunk(labels: Sequence[Label]) -> list[Share]:
    """Chunks that were retrieved for several questions, the most harmful first."""
    shares = _together([label for label in labels if not label.chunk.startswith("#")], lambda label: label.chunk, str)
    return sorted((share for share in shares if share.chunks > 1 and share.helps is not None), key=_helpfulness)


def hurting(labels: Sequence[Label], most: int) -> list[Label]:
    """The chunks without which the answer is better, the most harmful first."""
    return sorted((label for label in labels if (label.helps or 0.0) < 0), key=_helpfulness)[:most]


def helping(labels: Sequence[Label], most: int) -> list[Label]:
    """The chunks without which the answer is worse, the most helpful first."""
    return sorted((label for label in labels if (label.helps or 0.0) > 0), key=_helpfulness, reverse=True)[:most]


def _helpfulness(item: Label | Share) -> float:
    return item.helps or 0.0


def _together(labels: Sequence[Label], key: Callable[[Label], Hashable], name: Callable[[Any], str]) -> list[Share]:
    groups: dict[Hashable, list[Label]] = {}
    for label in labels:
        groups.setdefault(key(label), []).append(label)
    return [_share(name(group), found) for group, found in groups.items()]


def _share(name: str, labels: Sequence[Label]) -> Share:
    alone = [label.alone for label in labels if label.alone is not None]
    helps = np.array([label.helps for label in labels if label.helps is not None])
    interval = mean_interval(helps, bounds=(-1.0, 1.0)) if len(helps) else None
    low, high = (interval.low, interval.high) if interval else (None, None)
    mean_alone = sum(alone) / len(alone) if alone else None
    return Share(name, len(labels), mean_alone, float(helps.mean()) if len(helps) else None, low, high)


def keep_erag(result: Erag) -> None:
    """Stores labels and agreements with the run, so that they can be shown again."""
    content = {
        "pieces": result.pieces.id,
        "metric": result.metric,
        "labels": [asdict(label) for label in result.labels],
        "agreements": [asdict(item) for item in result.agreements],
        "unlabelled": dict(result.unlabelled),
        "left_out": dict(result.left_out),
    }
    (result.run.folder.place / _FILE).write_bytes(json.dumps(content, ensure_ascii=False).encode() + b"\n")


def read_erag(run: Run) -> Erag | None:
    """The stored eRAG result of a run; None if the run has none."""
    place = run.folder.place / _FILE
    if not place.exists():
        return None
    content = read_json(place)
    return Erag(
        run,
        # The store may have been moved since: look next to this run.
        open_run(f"{run.path.rpartition('/')[0]}/{content['pieces']}"),
        content["metric"],
        [Label(**label) for label in content["labels"]],
        [Agreement(**item) for item in content["agreements"]],
        content["unlabelled"],
        content["left_out"],
    )


def as_dict(result: Erag) -> dict[str, Any]:
    """The result as JSON-compatible data."""
    return {
        "run": result.run.path,
        "pieces": result.pieces.path,
        "metric": result.metric,
        "summary": [asdict(row) for row in result.run.summary()],
        "agreements": [asdict(item) for item in result.agreements],
        "ranks": [asdict(share) for share in by_rank(result.labels)],
        "chunks": [asdict(share) for share in by_chunk(result.labels)],
        "labels": [{name: value for name, value in asdict(label).items() if name != "text"} for label in result.labels],
        "unlabelled": dict(result.unlabelled),
        "left_out": dict(result.left_out),
    }
