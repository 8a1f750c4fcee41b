"""Counts requests once, draws among them, and stores both with the checkpoint.

Each step writes one segment per period: the keys of its new requests, and the samples that were drawn. The keys of a period
show which requests are known; they are loaded when a request of the period arrives.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ragstone.data.dataset import samples_table
from ragstone.data.schema import SAMPLES
from ragstone.data.types import Sample
from ragstone.formats.values import watch_times
from ragstone.storage.places import Place
from ragstone.storage.runs import read_small_tables, write_table
from ragstone.watch.requests import HeldTraces, LoggedRequest
from ragstone.watch.sample_design import Design, evaluation_order, period_of, period_start
from ragstone.watch.state import CLOSED, COMPLETE, OPEN, PeriodState, State, write_state

# More segments of a level are merged into one of the next level.
MOST_SEGMENTS = 24
_MOST_RECENT = 50_000
_ROWS = ".rows.parquet"
_UNKNOWN = PeriodState()
_KEYS = pa.schema([("key", pa.uint64()), ("stratum", pa.string())])
_DRAWN = pa.schema([*SAMPLES, ("watch_key", pa.uint64()), ("watch_stratum", pa.string())])


class KeySet:
    """A set of 64-bit keys in 8 bytes each."""

    def __init__(self, keys: np.ndarray | None = None) -> None:
        self._sorted = np.unique(np.zeros(0, np.uint64) if keys is None else keys)
        self._recent: set[int] = set()

    def add(self, key: int) -> bool:
        """Add a key; returns whether it is new."""
        if key in self:
            return False
        self._recent.add(key)
        if len(self._recent) > _MOST_RECENT:
            self._sorted = np.union1d(self._sorted, np.fromiter(self._recent, np.uint64))
            self._recent = set()
        return True

    def __contains__(self, key: int) -> bool:
        if key in self._recent:
            return True
        place = int(np.searchsorted(self._sorted, np.uint64(key)))
        return place < len(self._sorted) and int(self._sorted[place]) == key


@dataclass
class _Pile:
    """The drawn rows of a period in memory: sample, key and stratum. Of a reservoir only the smallest keys are kept."""

    keys: KeySet
    # Per stratum a heap of the negated keys of a reservoir.
    smallest: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    new_keys: list[int] = field(default_factory=list)
    new_strata: list[str] = field(default_factory=list)
    new_rows: list[tuple[Sample, int, str]] = field(default_factory=list)

    def enters(self, key: int, stratum: str, size: int) -> bool:
        """Whether a key is among the smallest of its stratum so far; it is then remembered."""
        heap = self.smallest[stratum]
        if len(heap) < size:
            heapq.heappush(heap, -key)
            return True
        if key >= -heap[0]:
            return False
        heapq.heapreplace(heap, -key)
        return True


class Intake:
    """Takes in requests and commits them together with the positions of the sources."""

    def __init__(
        self, place: Place, state_file: Place, state: State, design: Design, kind: str, since: str | None = None
    ) -> None:
        self._home = place / "intake"
        self._state_file = state_file
        self._design = design
        self._kind = kind
        self._since = period_start(since) if since else None
        self._piles: dict[str, _Pile] = {}
        self.state = state
        held = (self._home / state.held).read_bytes() if state.held else b""
        self.traces = HeldTraces(held)
        # New requests, those of them without a time, and their columns, each with whether it contains times.
        self.new = self.without_time = 0
        self.columns: dict[str, bool] = {}

    def take(self, requests: Iterable[LoggedRequest]) -> None:
        """Count requests, and keep those that are drawn."""
        for request in requests:
            if self._since is not None and request.time < self._since:
                self.state.leave_out("requests before --since")
                continue
            self._take(request)

    def _take(self, request: LoggedRequest) -> None:
        name = period_of(request.time, self._kind)
        period = self.state.periods.setdefault(name, PeriodState())
        key = self._design.key(request.sample.id)
        if request.is_partial and any(key in self._pile(other).keys for other in self.state.in_phase(OPEN)):
            self.state.duplicates += 1
            return
        pile = self._pile(name)
        if not pile.keys.add(key):
            self.state.duplicates += 1
            return
        self.new += 1
        if not request.has_time:
            self.without_time += 1
            watch_times(self.columns, request.sample.metadata)
        stratum = self._design.stratum(request.sample.metadata, period.seen)
        pile.new_keys.append(key)
        pile.new_strata.append(stratum)
        if period.phase != OPEN:
            period.late += 1
            return
        period.seen[stratum] = period.seen.get(stratum, 0) + 1
        size = self._design.per_period
        if self._design.draws(key, stratum) if size is None else pile.enters(key, stratum, size):
            pile.new_rows.append((request.sample, key, stratum))

    def commit(self) -> None:
        """Store all that was taken in since the last commit, and the positions; the only moment that counts."""
        generation = self.state.generation + 1
        unused: list[Place] = []
        for name, pile in self._piles.items():
            period = self.state.periods[name]
            if pile.new_keys:
                segment = f"{generation:08d}"
                columns = [pa.array(pile.new_keys, pa.uint64()), pa.array(pile.new_strata, pa.string())]
                self._write_segment(name, segment, pa.table(columns, schema=_KEYS), _as_drawn(pile.new_rows))
                period.segments.append(segment)
                pile.new_keys, pile.new_strata, pile.new_rows = [], [], []
            unused += self._merge_small(name, f"{generation:08d}")
        unused += self._commit_traces(f"traces-{generation:08d}.json")
        write_state(self._state_file, self.state)
        for place in unused:
            place.remove()

    def close(self, name: str, moment: str) -> None:
        """End a period: its counts are final and its drawn rows are in the order of evaluation. Commits."""
        generation = self.state.generation + 1
        period = self.state.periods[name]
        unused = self._merge(name, f"{generation:08d}c", period.segments)
        period.drawn = dict(Counter(self.drawn(name)["watch_stratum"].to_pylist()))
        period.phase, period.closed_at = CLOSED, moment
        write_state(self._state_file, self.state)
        for place in unused:
            place.remove()

    def drawn(self, name: str) -> pa.Table:
        """The drawn rows of a period; in the order of evaluation if it is closed."""
        return self._drawn_in(name, self.state.periods[name].segments)

    def _drawn_in(self, name: str, segments: Sequence[str]) -> pa.Table:
        return _concat([self._rows_file(name, one) for one in segments], _DRAWN)

    def forget(self, name: str) -> None:
        """Remove the drawn rows of a complete period, which are in its runs; its keys stay. Not committed."""
        if self.state.periods[name].phase == COMPLETE:
            for segment in self.state.periods[name].segments:
                self._rows_file(name, segment).remove()

    def remove_leftovers(self) -> None:
        """Remove the files of a killed process, which no state names."""
        for path in self._home.files_below():
            name, _, file = path.rpartition("/")
            if not name:
                is_named = file == self.state.held or not file.startswith("traces-")
            else:
                period = self.state.periods.get(name, _UNKNOWN)
                is_named = file.partition(".")[0] in period.segments
                is_named &= not (period.followed and file.endswith(_ROWS))
            if not is_named:
                (self._home / path).remove()

    def _pile(self, name: str) -> _Pile:
        if name not in self._piles:
            period = self.state.periods[name]
            keys = _concat([self._keys_file(name, one) for one in period.segments], _KEYS)
            pile = self._piles[name] = _Pile(KeySet(keys["key"].to_numpy()))
            if (size := self._design.per_period) is not None:
                for key, stratum in zip(keys["key"].to_pylist(), keys["stratum"].to_pylist(), strict=True):
                    pile.enters(key, stratum, size)
        return self._piles[name]

    def _merge_small(self, name: str, generation: str) -> list[Place]:
        """Merge segments of one level into one of the next, so that a row is written again a few times at most."""
        segments = self.state.periods[name].segments
        unused: list[Place] = []
        for level in range(1 + max((one.count("m") for one in segments), default=0)):
            alike = [one for one in self.state.periods[name].segments if one.count("m") == level]
            if len(alike) > MOST_SEGMENTS:
                unused += self._merge(name, generation + "m" * (level + 1), alike)
        return unused

    def _merge(self, name: str, segment: str, merged: Sequence[str]) -> list[Place]:
        """Write some segments of a period as one; returns the files that are then unused."""
        period = self.state.periods[name]
        keys = _concat([self._keys_file(name, one) for one in merged], _KEYS)
        rows = _DRAWN.empty_table() if period.phase == COMPLETE else self._in_order(self._drawn_in(name, merged))
        self._write_segment(name, segment, keys, rows)
        unused = [file(name, one) for one in merged for file in (self._keys_file, self._rows_file)]
        period.segments = [segment, *(one for one in period.segments if one not in merged)]
        return unused

    def _in_order(self, drawn: pa.Table) -> pa.Table:
        """The rows that are still drawn, in the order of evaluation."""
        keys, strata = drawn["watch_key"].to_pylist(), drawn["watch_stratum"].to_pylist()
        kept = list(range(len(keys)))
        if self._design.per_period is not None:
            ranks: Counter[str] = Counter()
            kept = []
            for row in sorted(range(len(keys)), key=keys.__getitem__):
                ranks[strata[row]] += 1
                if ranks[strata[row]] <= self._design.per_period:
                    kept.append(row)
        order = evaluation_order([keys[row] for row in kept], [strata[row] for row in kept])
        return drawn.take(pa.array([kept[position] for position in order], pa.int64()))

    def _commit_traces(self, name: str) -> Iterator[Place]:
        earlier = self.state.held
        if not self.traces and not earlier:
            return
        self.state.held = name if self.traces else ""
        if self.traces:
            (self._home / name).write_bytes(self.traces.as_bytes())
        if earlier:
            yield self._home / earlier

    def _write_segment(self, name: str, segment: str, keys: pa.Table, rows: pa.Table) -> None:
        write_table(self._keys_file(name, segment), keys)
        write_table(self._rows_file(name, segment), rows)

    def _keys_file(self, name: str, segment: str) -> Place:
        return self._home / name / f"{segment}.keys.parquet"

    def _rows_file(self, name: str, segment: str) -> Place:
        return self._home / name / f"{segment}{_ROWS}"


def _as_drawn(rows: list[tuple[Sample, int, str]]) -> pa.Table:
    table = samples_table(sample for sample, _, _ in rows)
    keys, strata = pa.array([key for _, key, _ in rows], pa.uint64()), pa.array([s for _, _, s in rows], pa.string())
    return pa.Table.from_arrays([*table.columns, keys, strata], schema=_DRAWN)


def _concat(files: list[Place], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *read_small_tables(files)])
