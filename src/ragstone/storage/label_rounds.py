"""The orders in which people are asked to label the rows of a run: at random, and in rounds with known probabilities.

A round is a file, `<store>/label_rounds/<run>/<number>.json`, that is written before its first row is shown.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from ragstone.errors import StorageError
from ragstone.storage.human_labels import label_hash, store_of
from ragstone.storage.places import Place, read_json
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_ids


@dataclass(frozen=True)
class LabelRound:
    """Rows from 0 in the order in which they are labelled, and the probability with which each was chosen."""

    rows: tuple[int, ...]
    chances: tuple[float, ...]


def random_order(run: Run) -> list[int]:
    """All rows by a hash of their ids: the same samples come first in every run."""
    keys = [label_hash(name) for name in read_ids(run)]
    return sorted(range(len(keys)), key=keys.__getitem__)


def read_rounds(run: Run) -> list[LabelRound]:
    """The rounds of a run; none for a run outside of a store."""
    found: list[LabelRound] = []
    while (place := _place(run, len(found) + 1)) and place.exists():
        stored = read_json(place)
        try:
            found.append(LabelRound(tuple(map(int, stored["rows"])), tuple(map(float, stored["chances"]))))
        except (KeyError, TypeError, ValueError):
            raise StorageError(f"cannot read {place}: it is not a round of rows to label") from None
    return found


def write_round(run: Run, number: int, found: LabelRound) -> None:
    """Store a round by its number from 1, if the run is in a store."""
    if place := _place(run, number):
        place.write_bytes(json.dumps(asdict(found)).encode())


def _place(run: Run, number: int) -> Place | None:
    root = store_of(run)
    return root and root.as_private() / "label_rounds" / run.id / f"{number}.json"
