"""ragstone pull and push: traces of Langfuse, Phoenix or LangSmith as a log to evaluate, and scores onto them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import DATA, RUN, argument, option, shared
from ragstone.cli.output import command_line, every_few_seconds, next_steps, noting, remark
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.notify.push import Pushed
    from ragstone.platforms.pull import Progress

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

    def note(state: Progress) -> None:
        report(f"{state.rows:,} rows")

    done = run_to_end(pages.pull(target, start, note, noting(quiet)))
    if not quiet:
        added = done.rows - (0 if continues else start.rows)
        click.echo(f"{added:,} rows from {platform}, {start.since} to {start.until}, written to {target}")
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


def push(
    run: str = argument("RUN", RUN),
    to: str = option(..., "--platform --to", "langfuse, phoenix or langsmith.", metavar="PLATFORM"),
    metrics: list[str] = shared("metrics"),
    root: str = shared("out"),
    quiet: bool = shared("quiet"),
) -> None:
    """Write scores onto traces of Langfuse, Phoenix or LangSmith.

    The samples must come from `ragstone pull` or an export of the platform. A second push replaces the scores of the
    first. Skipped and failed cells are not written.
    """
    from ragstone.cli.output import find_run
    from ragstone.engine.execute import run_to_end
    from ragstone.errors import ServiceError
    from ragstone.notify.push import push as write_scores
    from ragstone.notify.push import push_metrics

    stored = find_run(run, root)
    chosen = push_metrics(stored, metrics)

    report = every_few_seconds(noting(quiet))

    def note(state: Pushed) -> None:
        report(f"{state.written:,} scores")

    done = run_to_end(write_scores(stored, to, chosen, note, noting(quiet)))
    if not quiet:
        names = ", ".join(metric.metric for metric in chosen)
        click.echo(f"{done.written:,} scores of run {stored.name} written to {to}: {names}")
        if done.without_value:
            remark(f"{done.without_value:,} skipped or failed cells were not written")
        if done.foreign:
            remark(f"{len(done.foreign):,} samples are not traces of {to}, for example {done.foreign[0]!r}")
    if done.refused:
        listed = "; ".join(f"{count:,} × {error}" for error, count in done.refused.most_common(3))
        raise ServiceError(f"{sum(done.refused.values()):,} scores were not taken by {to}: {listed}")
