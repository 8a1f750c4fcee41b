"""ragstone pull: the traces of Langfuse, Phoenix or LangSmith as a log to evaluate."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import typer

from ragstone.cli.options import DATA, argument, option, shared
from ragstone.cli.output import command_line, next_steps
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.platforms.pull import Checkpoint

# Traces younger than this may still be incomplete on the server.
_SETTLE = timedelta(seconds=60)
_AGES = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def pull(
    platform: str = argument("PLATFORM", "langfuse, phoenix or langsmith."),
    target: str = option(..., "-o --output --out", "JSON-lines file to write or to continue.", metavar="FILE"),
    since: str | None = option(
        None, "--start --since", "First time: a date, a time, or an age such as 7d or 12h.", DATA, metavar="WHEN"
    ),
    until: str | None = option(
        None, "--end --until", "Time to stop before; one minute ago by default.", DATA, metavar="WHEN"
    ),
    project: str | None = option(None, "--project", "Project, if not that of the environment.", DATA, metavar="NAME"),
    quiet: bool = shared("quiet"),
) -> None:
    """Read traces from Langfuse, Phoenix or LangSmith.

    Keys come from the environment: LANGFUSE_PUBLIC_KEY, LANGFUSE_SECRET_KEY and LANGFUSE_HOST; PHOENIX_API_KEY and
    PHOENIX_COLLECTOR_ENDPOINT; LANGSMITH_API_KEY and LANGSMITH_ENDPOINT. The same command continues an interrupted
    pull, and adds newer traces to a finished one.
    """
    from ragstone.cli.screen import every_few_seconds, noting, remark
    from ragstone.engine.execute import run_to_end
    from ragstone.platforms import pull as pages

    now = datetime.now(UTC).replace(microsecond=0)
    first = parse_when(since, now, "--since") if since else None
    last = parse_when(until, now, "--until") if until else now - _SETTLE
    start, continues = pages.plan_pull(target, platform, project, first, last)
    if start.window.since >= start.window.until:
        raise UsageError(f"there is nothing to read between {start.since} and {start.until}: check --since and --until")
    if continues and not quiet:
        remark(f"continues the pull from {start.since} to {start.until} after {start.rows:,} rows")

    report = every_few_seconds(noting(quiet))

    def note(state: Checkpoint) -> None:
        report(f"{state.rows:,} rows")

    done = run_to_end(pages.pull(target, start, note, noting(quiet)))
    if not quiet:
        added = done.rows - (0 if continues else start.rows)
        typer.echo(f"{added:,} rows from {platform}, {start.since} to {start.until}, written to {target}")
        if added:
            next_steps((command_line("run", target), "evaluate the traces"))


def parse_when(text: str, now: datetime, flag: str) -> datetime:
    """A time with its zone: ISO text (UTC if it has no zone) or an age such as 7d."""
    if found := re.fullmatch(r"(\d{1,6})([mhdw])", text.strip()):
        return now - timedelta(**{_AGES[found[2]]: int(found[1])})
    if text.strip() == "now":
        return now
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(f"{flag} {text}: write a date (2026-11-01), a time, or an age such as 7d or 12h") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
