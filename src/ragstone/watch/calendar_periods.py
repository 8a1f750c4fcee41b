"""Days and ISO weeks in UTC: `2026-11-16` and `2026-W47`."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

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
