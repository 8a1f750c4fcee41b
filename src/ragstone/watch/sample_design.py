"""Which requests are drawn. A hash of the request's id decides, so that a restart draws the same requests.

A design is Bernoulli (each request with probability `rate`, which may differ by stratum) or a reservoir (the `per_period`
requests of a stratum with the smallest hashes, a simple random sample). Drawn rows are evaluated in the order of their
hashes within each stratum: the first rows of a stratum are a simple random sample of it, wherever a budget stops.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from ragstone.errors import UsageError
from ragstone.storage.scores import NONE

# The stratum of a design without strata.
ALL = "all"
# The stratum of all values after the first hundred: a field with an own value for each request is not a stratum.
OTHER = "(other)"
MOST_STRATA = 100
DEFAULT_RATE = 0.05
_KEYS = 1 << 64
# Each stratum has this many rows before any stratum has more: an interval needs two.
_FIRST_ROWS = 2


@dataclass(frozen=True)
class Design:
    """How requests are drawn: `rate` or `per_period`, for each value of the metadata field `strata` if there is one."""

    rate: float | None = None
    per_period: int | None = None
    strata: str | None = None
    rates: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.rate is None) == (self.per_period is None):
            raise UsageError("choose --rate or --per-period, not both")
        for name, rate in {"--rate": self.rate, **self.rates}.items():
            if rate is not None and not 0 < rate <= 1:
                raise UsageError(f"{name}: a rate is above 0 and at most 1, got {rate:g}")
        if self.per_period is not None and self.per_period < 1:
            raise UsageError(f"--per-period must be 1 or more, got {self.per_period}")
        if self.rates and (self.strata is None or self.per_period is not None):
            raise UsageError("rates of single strata need --strata FIELD and --rate for the other strata")

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Design:
        """The design in watch.json."""
        return cls(**content)

    def as_json(self) -> dict[str, Any]:
        """The design for watch.json."""
        return asdict(self)

    def describe(self) -> str:
        """The design in words."""
        seed = f", seed {self.seed}" if self.seed else ""
        by = f" of each {self.strata}" if self.strata else ""
        if self.per_period is not None:
            return f"{self.per_period} requests{by} per period, a simple random sample{seed}"
        own = "".join(f", {name} {rate:g}" for name, rate in self.rates.items())
        return f"each request{by} with probability {self.rate:g}{own}{seed}"

    def key(self, request: str) -> int:
        """The hash of a request's id, uniform over 64 bits."""
        text = f"{self.seed}\0{request}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")

    def stratum(self, metadata: Mapping[str, Any], known: Sequence[str] | Mapping[str, int]) -> str:
        """The stratum of a request; `known` are the strata of the period so far."""
        if self.strata is None:
            return ALL
        value = metadata.get(self.strata)
        name = NONE if value is None or value == "" else str(value)
        return name if name in known or name in self.rates or len(known) < MOST_STRATA else OTHER

    def draws(self, key: int, stratum: str) -> bool:
        """Whether a Bernoulli design draws a request; a reservoir draws all and keeps the smallest keys."""
        return self.rate is None or key < self.rates.get(stratum, self.rate) * _KEYS


def evaluation_order(keys: Sequence[int], strata: Sequence[str]) -> list[int]:
    """The positions of drawn rows in the order in which they are evaluated.

    Each stratum is in the order of its keys. Two rows of every stratum come first, then all strata in proportion.
    """
    members: dict[str, list[int]] = {}
    for row in sorted(range(len(keys)), key=lambda row: keys[row]):
        members.setdefault(strata[row], []).append(row)
    ranked: list[tuple[float, int, int]] = []
    for rows in members.values():
        for rank, row in enumerate(rows):
            share = -1.0 if rank < _FIRST_ROWS else (rank - _FIRST_ROWS + 0.5) / (len(rows) - _FIRST_ROWS)
            ranked.append((share, rank if rank < _FIRST_ROWS else 0, row))
    return [row for _, _, row in sorted(ranked, key=lambda one: (one[0], one[1], keys[one[2]]))]


def design_weights(seen: Mapping[str, int], strata: Mapping[str, str]) -> dict[str, float]:
    """The number of requests that each evaluated row represents; `strata` has the stratum of each evaluated row."""
    evaluated = Counter(strata.values())
    return {name: seen[stratum] / evaluated[stratum] for name, stratum in strata.items()}


PERIODS = ("day", "week")


def period_of(moment: datetime, kind: str) -> str:
    """The period that contains a moment."""
    day = moment.astimezone(UTC).date()
    if kind == "day":
        return day.isoformat()
    year, week, _ = day.isocalendar()
    return f"{year:04d}-W{week:02d}"


def period_start(period: str) -> datetime:
    """The first moment of a period."""
    year, is_week, week = period.partition("-W")
    first = date.fromisocalendar(int(year), int(week), 1) if is_week else date.fromisoformat(period)
    return datetime.combine(first, time(), UTC)


def period_end(period: str) -> datetime:
    """The first moment after a period."""
    return period_start(period) + timedelta(days=7 if "-W" in period else 1)
