"""Which chunks help and which hurt: by question, by rank, and by the chunk over all questions that got it."""

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
    """The labels of one rank or one chunk, together."""

    name: str
    chunks: int
    # The mean label, and how much the whole falls without it.
    alone: float | None
    helps: float | None
    low: float | None
    high: float | None


def by_rank(labels: Sequence[Label]) -> list[Share]:
    """What chunks at each rank are worth."""
    return _together(labels, lambda label: label.rank, lambda rank: f"rank {rank}")


def by_chunk(labels: Sequence[Label]) -> list[Share]:
    """Chunks that several questions got, those that hurt most first."""
    found = _together([label for label in labels if not label.chunk.startswith("#")], lambda label: label.chunk, str)
    several = [share for share in found if share.chunks > 1 and share.helps is not None]
    return sorted(several, key=lambda share: share.helps or 0.0)


def hurting(labels: Sequence[Label], most: int) -> list[Label]:
    """The chunks without which the answer is better, the worst first."""
    found = [label for label in labels if label.helps is not None and label.helps < 0]
    return sorted(found, key=lambda label: label.helps or 0.0)[:most]


def helping(labels: Sequence[Label], most: int) -> list[Label]:
    """The chunks without which the answer is worse, the most needed first."""
    found = [label for label in labels if label.helps is not None and label.helps > 0]
    return sorted(found, key=lambda label: -(label.helps or 0.0))[:most]


def _together(labels: Sequence[Label], key: Callable[[Label], Hashable], name: Callable[[Any], str]) -> list[Share]:
    groups: dict[Hashable, list[Label]] = {}
    for label in labels:
        groups.setdefault(key(label), []).append(label)
    return [_share(name(group), found) for group, found in groups.items()]


def _share(name: str, labels: Sequence[Label]) -> Share:
    alone = [label.alone for label in labels if label.alone is not None]
    helps = np.array([label.helps for label in labels if label.helps is not None])
    interval = mean_interval(helps, bounds=(-1.0, 1.0)) if len(helps) else None
    return Share(
        name,
        len(labels),
        sum(alone) / len(alone) if alone else None,
        float(helps.mean()) if len(helps) else None,
        interval.low if interval else None,
        interval.high if interval else None,
    )


def keep_erag(found: Erag) -> None:
    """Store labels and agreements beside the run, so that they can be shown again."""
    said = {
        "pieces": found.pieces.id,
        "metric": found.metric,
        "labels": [asdict(label) for label in found.labels],
        "agreements": [asdict(item) for item in found.agreements],
        "unlabelled": dict(found.unlabelled),
        "left_out": dict(found.left_out),
    }
    (found.run.folder.place / _FILE).write_bytes(json.dumps(said, ensure_ascii=False).encode() + b"\n")


def read_erag(run: Run) -> Erag | None:
    """What was stored beside a run; None where it is no run of eRAG."""
    place = run.folder.place / _FILE
    if not place.exists():
        return None
    said = read_json(place)
    return Erag(
        run,
        # Beside this one, wherever the store was moved to.
        open_run(f"{run.path.rpartition('/')[0]}/{said['pieces']}"),
        said["metric"],
        [Label(**label) for label in said["labels"]],
        [Agreement(**item) for item in said["agreements"]],
        said["unlabelled"],
        said["left_out"],
    )


def as_dict(found: Erag) -> dict[str, Any]:
    """For programs."""
    return {
        "run": found.run.path,
        "pieces": found.pieces.path,
        "metric": found.metric,
        "summary": [asdict(row) for row in found.run.summary()],
        "agreements": [asdict(item) for item in found.agreements],
        "ranks": [asdict(share) for share in by_rank(found.labels)],
        "chunks": [asdict(share) for share in by_chunk(found.labels)],
        "labels": [{name: value for name, value in asdict(label).items() if name != "text"} for label in found.labels],
        "unlabelled": dict(found.unlabelled),
        "left_out": dict(found.left_out),
    }
