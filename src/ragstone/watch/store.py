"""The folder of a watch: its settings, one record per period, and the runs of the periods."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ragstone.errors import StorageError
from ragstone.storage.durable import Checkpoint, from_fields
from ragstone.storage.places import Place, open_place, read_json
from ragstone.storage.runs import Run, RunFolder

VERSION = 1


@dataclass(frozen=True)
class PeriodRecord:
    """One day or week: how many requests there were, how many were drawn and evaluated, and the weight of each row.

    All counts are per stratum. `weights` and `strata` have the evaluated rows only, so that the weights of a stratum sum
    to its requests: weight = seen / evaluated. `drawn` may be larger than `evaluated` if the budget did not suffice; the
    evaluated rows are then a random part of the drawn ones.
    """

    period: str
    seen: Mapping[str, int] = field(default_factory=dict)
    drawn: Mapping[str, int] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    strata: Mapping[str, str] = field(default_factory=dict)
    # Whether nothing more will be evaluated.
    complete: bool = False
    spent_usd: float = 0.0
    evaluated: Mapping[str, int] = field(default_factory=dict)
    # Requests that arrived after their period was closed; they are not in `seen`.
    late: int = 0

    @property
    def requests(self) -> int:
        """The number of requests of the period."""
        return sum(self.seen.values())


class WatchStore:
    """`watch.json`, `periods/<period>.json` and `runs/<period>-<nnn>/` under a folder or S3 prefix."""

    def __init__(self, place: Place | str | os.PathLike[str]) -> None:
        self.place = (place if isinstance(place, Place) else open_place(place)).as_private()
        self.settings_file = self.place / "watch.json"
        self.state_file = self.place / "state.json"
        self.labels_file = self.place / "labels.csv"

    def exists(self) -> bool:
        """Whether there is a watch."""
        return self.settings_file.exists()

    def settings(self) -> dict[str, Any]:
        """The content of watch.json."""
        if (content := Checkpoint(self.settings_file, VERSION).read()) is None:
            raise StorageError(
                f"{self.place} is not a watch: it has no watch.json. Start one: ragstone watch WATCH --from LOG"
            )
        return content

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Write watch.json."""
        Checkpoint(self.settings_file, VERSION).write(settings, indent=1)

    def periods(self) -> list[PeriodRecord]:
        """The records of all periods, oldest first."""
        files = [file for file in (self.place / "periods").children() if file.name.endswith(".json")]
        return sorted((_read_record(file) for file in files), key=lambda record: record.period)

    def period(self, name: str) -> PeriodRecord | None:
        """The record of one period, or None."""
        file = self.place / "periods" / f"{name}.json"
        return _read_record(file) if file.exists() else None

    def write_period(self, record: PeriodRecord) -> None:
        """Write the record of a period; an earlier one is replaced."""
        Checkpoint(self.place / "periods" / f"{record.period}.json").write(asdict(record))

    def runs(self, period: str) -> list[Run]:
        """The finished runs of a period, in order."""
        record = self.period(period)
        return [Run(RunFolder(self.place / "runs" / name)) for name in (record.runs if record else ())]

    def scores(self, period: str) -> dict[str, list[tuple[str, float | None]]]:
        """Per metric the cells of all runs of a period; None for a skipped or failed cell."""
        found: dict[str, list[tuple[str, float | None]]] = {}
        for run in self.runs(period):
            table = run.scores.select(["sample_id", "metric", "value", "status"])
            for row in table.to_pylist():
                value = row["value"] if row["status"] == "ok" else None
                found.setdefault(row["metric"], []).append((row["sample_id"], value))
        return found


def _read_record(file: Place) -> PeriodRecord:
    content = read_json(file)
    if not isinstance(content, dict) or not isinstance(content.get("period"), str):
        raise StorageError(
            f"{file} is not the record of a period. Remove it; the next `ragstone watch` writes it again."
        )
    return from_fields(PeriodRecord, {**content, "runs": tuple(content.get("runs", ()))})
