"""Watches logs: one pass reads what is new, closes periods that are over, evaluates them and follows them up.

Every pass starts from the stored state, so that it does not matter how the one before it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import ragstone.metrics  # noqa: F401  (fills the catalogue)
from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.formats.column_map import check_map
from ragstone.formats.values import no_time_note
from ragstone.registry import resolve_metrics
from ragstone.watch.intake import Intake
from ragstone.watch.period_runs import PATIENCE, PeriodEvaluator, make_record
from ragstone.watch.read_logs import read_logs
from ragstone.watch.requests import Interpreter
from ragstone.watch.sample_design import PERIODS, Design, period_end
from ragstone.watch.sources import check_sources
from ragstone.watch.state import COMPLETE, OPEN, State, read_state
from ragstone.watch.store import WatchStore

DEFAULT_METRICS = ("reference_free",)
DEFAULT_GRACE_S = 6 * 3600.0
_EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
_CLOCK_TOLERANCE = timedelta(hours=1)
# These cannot change, because rows that were not drawn are not stored.
_FIXED = ("period", "design", "since")


@dataclass(frozen=True)
class Settings:
    """The settings of a watch, as stored in watch.json."""

    sources: tuple[str, ...]
    design: Design
    period: str = "day"
    metrics: tuple[str, ...] = DEFAULT_METRICS
    judge: str = ""
    since: str | None = None
    # How long after its end a period is open for requests that arrive late.
    grace_s: float = DEFAULT_GRACE_S
    mask: bool = False
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.period not in PERIODS:
            raise UnknownNameError("period", self.period, PERIODS, f"Choose from: {', '.join(PERIODS)}.")
        if self.grace_s < 0:
            raise UsageError("--grace must be 0 or more")

    def as_json(self) -> dict[str, Any]:
        """The content of watch.json."""
        return {
            **{name: getattr(self, name) for name in ("period", "judge", "since", "grace_s", "mask", "format")},
            "design": self.design.as_json(),
            "metrics": list(self.metrics),
            "sources": list(self.sources),
            "columns": dict(self.columns),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Settings:
        """The settings in watch.json."""
        values = {name: value for name, value in content.items() if name in cls.__dataclass_fields__}
        lists = {name: tuple(values[name]) for name in ("metrics", "sources")}
        return cls(**{**values, **lists, "design": Design.from_json(values["design"])})


def check_settings(wanted: Settings, known: Sequence[str] = ()) -> None:
    """Raises for an unknown metric or field, and for a source that cannot be watched and is not `known`."""
    resolve_metrics(wanted.metrics)
    check_map(wanted.columns, "time")
    check_sources([url for url in wanted.sources if url not in known])


def open_watch(store: WatchStore, wanted: Settings) -> Settings:
    """Store the settings of a new watch, or check those of an existing one. New sources are added."""
    stored = Settings.from_json(store.settings()) if store.exists() else None
    check_settings(wanted, stored.sources if stored else ())
    if stored is None:
        store.write_settings(wanted.as_json())
        return wanted
    before, after = stored.as_json(), wanted.as_json()
    for name in _FIXED:
        if before[name] != after[name]:
            words = [one.design.describe() if name == "design" else getattr(one, name) for one in (stored, wanted)]
            raise UsageError(
                f"the {name} of {store.place} is fixed: {words[0] or 'not set'}; wanted: {words[1] or 'not set'}. "
                "Leave the option out, or start another watch: requests that were not drawn are not stored."
            )
    merged = replace(wanted, sources=tuple(dict.fromkeys((*stored.sources, *wanted.sources))))
    if merged != stored:
        store.write_settings(merged.as_json())
    return merged


@dataclass(frozen=True)
class Pass:
    """The result of one pass: new requests, those of them without a time, and the periods that became complete."""

    requests: int
    complete: tuple[str, ...]
    state: State
    without_time: int = 0


@dataclass
class Watch:
    """A watch that is worked on.

    `follow_up` is called for each complete period until it returns True; a kill may repeat it, so it must be idempotent.
    """

    store: WatchStore
    settings: Settings
    options: Mapping[str, Any] = field(default_factory=dict)
    budget_per_day: float | None = None
    follow_up: Callable[[str], bool] = lambda _: True
    note: Callable[[str], object] = lambda _: None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    _noted: set[str] = field(default_factory=set, init=False)

    def clean(self) -> None:
        """Remove what a killed process left behind."""
        self._open().remove_leftovers()

    def step(self) -> Pass:
        """One pass over everything."""
        now = self.clock()
        intake = self._open()
        _check_clock(now, intake.state)
        before = _requests(intake.state)
        settings = self.settings
        interpreter = Interpreter(intake.state, now, settings.format, settings.columns, settings.mask)
        reading = read_logs(list(settings.sources), intake, interpreter, settings.since, self._note_once)
        self._note_missing(intake, reading.empty)
        for name in intake.state.in_phase(OPEN):
            if period_end(name) + timedelta(seconds=settings.grace_s) <= now:
                intake.close(name, now.isoformat())
        evaluator = PeriodEvaluator(
            self.store, intake, settings.metrics, now, self.budget_per_day, self.options, self.note
        )
        try:
            evaluator.evaluate_all()
        finally:
            self._write_records(intake)
        complete = self._follow_up(intake)
        if reading.problem:
            raise reading.problem
        return Pass(_requests(intake.state) - before, complete, intake.state, intake.without_time)

    def _open(self) -> Intake:
        state, settings = read_state(self.store.state_file), self.settings
        return Intake(self.store.place, self.store.state_file, state, settings.design, settings.period, settings.since)

    def _note_missing(self, intake: Intake, empty: list[str]) -> None:
        """Note sources without files and requests without a time: both may be intended."""
        notes = {
            url: f"--from {url} has no log file so far. Check the path, or wait for its first file" for url in empty
        }
        if intake.without_time:
            advice = "they count for today, the day on which they are read. Name the column when you start a watch"
            notes["time"] = no_time_note(intake.without_time, intake.new, "new requests", intake.columns, advice)
        for key, text in notes.items():
            self._note_once(text, key)

    def _note_once(self, text: str, key: str = "") -> None:
        if (key or text) not in self._noted:
            self.note(text)
        self._noted.add(key or text)

    def _write_records(self, intake: Intake) -> None:
        """The counts of open periods, and late requests of others."""
        for name, period in intake.state.periods.items():
            if period.phase == OPEN:
                self.store.write_period(make_record(name, period, intake))
            elif period.followed and period.late != period.late_in_record:
                if (record := self.store.period(name)) is not None:
                    self.store.write_period(replace(record, late=period.late))
                period.late_in_record = period.late
                intake.commit()

    def _follow_up(self, intake: Intake) -> tuple[str, ...]:
        fresh = [name for name in intake.state.in_phase(COMPLETE) if not intake.state.periods[name].followed]
        for name in fresh:
            period = intake.state.periods[name]
            self.store.write_period(make_record(name, period, intake))
            if not self.follow_up(name) and datetime.fromisoformat(period.closed_at) + PATIENCE > self.clock():
                continue
            period.followed = True
            intake.commit()
            intake.forget(name)
        return tuple(fresh)


def _check_clock(now: datetime, state: State) -> None:
    """Raise if the clock is wrong: requests without a time, and those of the future, are filed under its day."""
    last = datetime.fromisoformat(state.clock) if state.clock else _EARLIEST
    if now < last - _CLOCK_TOLERANCE:
        known = f"the last pass was at {last:%Y-%m-%d %H:%M}" if state.clock else "this is before Ragstone existed"
        raise StorageError(f"the clock of this machine says {now:%Y-%m-%d %H:%M} UTC, but {known}. Set the clock.")
    state.clock = max(now, last).isoformat()


def _requests(state: State) -> int:
    return sum(sum(period.seen.values()) + period.late for period in state.periods.values())
