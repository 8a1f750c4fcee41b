"""ragstone watch: evaluate a sample of production logs, period by period."""

from __future__ import annotations

import re
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import (
    DATA,
    EXECUTION,
    OUTPUT,
    argument,
    load_aspects,
    load_metrics_files,
    model_options,
    option,
    parse_map,
    parse_pairs,
    shared,
)
from ragstone.cli.output import command_line, console, next_steps, noting, print_json, print_table
from ragstone.errors import InterruptedRunError, RagstoneError, UsageError
from ragstone.tools.model_options import COST, ModelOptions
from ragstone.views.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragstone.notify.webhook import Webhook
    from ragstone.watch.proposals import Desk
    from ragstone.watch.sample_design import Design
    from ragstone.watch.series import Cache
    from ragstone.watch.store import PeriodRecord, WatchStore
    from ragstone.watch.watch import Pass, Settings, Watch

_PERIODS_SHOWN = 14
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TOOLS = ("judge", "extractor", "checker", "agreement", "embedder", "scorer")
_JUDGING = ("claims", "repeats", "verdicts", "no_exam", "no_calibration", "scale", "grading", "prompts")


def watch(
    place: str = argument("WATCH", "Folder or S3 prefix of the watch; created at first use."),
    source: list[str] = option([], "--from", "Log file, folder, pattern or URL. Repeatable.", DATA, metavar="SOURCE"),
    format: str | None = shared("format"),
    map: list[str] = shared("map"),
    period: str | None = option(None, "--period", "day (default) or week, in UTC.", DATA, metavar="KIND"),
    rate: float | None = option(None, "--rate", "Draw each request with this probability; 0.05 by default.", DATA),
    per_period: int | None = option(None, "--per-period", "Draw N requests per period.", DATA, metavar="N", min=1),
    strata: str | None = option(
        None, "--strata", "Draw from each value of this metadata field.", DATA, metavar="FIELD"
    ),
    rate_of: list[str] = option([], "--rate-of", "Rate of one stratum. Repeatable.", DATA, metavar="VALUE=RATE"),
    since: str | None = shared("since"),
    grace: str | None = option(None, "--grace", "Wait for late requests; 6h by default.", DATA, metavar="TIME"),
    mask: bool = shared("mask"),
    metrics: list[str] = shared("metrics"),
    metrics_file: list[str] = shared("metrics_file"),
    aspects: list[str] = shared("aspects"),
    models: ModelOptions = model_options(*_TOOLS, *_JUDGING),
    budget_per_day: str | None = option(
        None, "--budget-per-day", "Spend at most this per day, for example 2usd.", COST, metavar="AMOUNT"
    ),
    once: bool = option(False, "--once", "One pass, for cron.", EXECUTION),
    every: str = option("60s", "--every", "Time between passes.", EXECUTION, metavar="TIME"),
    seed: int | None = shared("seed", None),
    now: str | None = option(None, "--now", "Use this time as now, to replay a log.", EXECUTION, hidden=True),
    concurrency: int = shared("concurrency"),
    backend: str = shared("backend"),
    workers: int | None = shared("workers"),
    to: str | None = shared("to"),
    proposed: int = option(
        10, "--propose", "Number of the worst answers of a period to propose to --to.", OUTPUT, metavar="N", min=1
    ),
    author: str | None = shared("author"),
    out: str = shared("out"),
    webhook: str | None = shared("webhook"),
    webhook_format: str = shared("webhook_format"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Evaluate a random sample of production logs with reference-free metrics, as a series of runs.

    It can be killed and started again at any moment. Later calls need only WATCH.
    """
    from ragstone.engine.evaluate import check_backend
    from ragstone.llm.budget import parse_budget
    from ragstone.watch.state import only_watcher
    from ragstone.watch.store import WatchStore
    from ragstone.watch.watch import Watch, check_settings, open_watch

    if models.budget is not None:
        raise UsageError("a watch has a budget per day: use --budget-per-day in place of --budget")
    load_metrics_files(metrics_file)
    load_aspects(aspects)
    store, note, wait_s = WatchStore(place), noting(quiet), _seconds("--every", every)
    if not wait_s:
        raise UsageError(f"--every {every}: the time between passes must be above 0")
    from ragstone.notify.webhook import read_webhook

    hook, clock = (None if webhook is None else read_webhook(webhook, webhook_format)), _read_clock(now)
    budget = None if budget_per_day is None else parse_budget(budget_per_day).limit_usd
    chosen: dict[str, Any] = {
        "sources": tuple(source),
        "period": period,
        "metrics": tuple(metrics),
        "judge": models.judge,
        "since": since,
        "grace_s": None if grace is None else _seconds("--grace", grace),
        "mask": mask,
        "format": format,
        "columns": parse_map(map),
    }
    if not store.exists():  # a mistake should not leave a folder behind
        check_settings(_settings(store, chosen, _read_design(store, rate, per_period, strata, rate_of, seed)))
    with only_watcher(store.place):
        design = _read_design(store, rate, per_period, strata, rate_of, seed)
        settings = open_watch(store, _settings(store, chosen, design))
        options = {**models.keywords(), "judge": settings.judge or None, "concurrency": concurrency}
        options |= {"backend": check_backend(backend, workers), "workers": workers}
        cache: Cache = {}
        follow_up = _follow_up(store, _open_desk(to, author, out), proposed, hook, note, cache)
        work = Watch(store, settings, options, budget, follow_up, note, **clock)
        work.clean()
        _work(work, once, wait_s, json, quiet, note, cache)


def _work(
    work: Watch, once: bool, wait_s: float, json: bool, quiet: bool, note: Callable[[str], None], cache: Cache
) -> None:
    is_first = True
    while True:
        try:
            done = work.step()
            if once or (not quiet and (done.requests or done.complete)):
                _show(work, done, json, quiet, once, cache)
        except RagstoneError as error:
            if once or isinstance(error, InterruptedRunError) or (is_first and isinstance(error, UsageError)):
                raise
            note(f"{error}\nthe next pass tries again in {wait_s:g} s")
        if once:
            return
        is_first = False
        try:
            time.sleep(wait_s)
        except KeyboardInterrupt:
            return


def _settings(store: WatchStore, chosen: dict[str, Any], design: Design) -> Settings:
    """The settings of the options; those that are not given are as stored, or the defaults."""
    from ragstone.watch.watch import Settings

    given = {name: value for name, value in chosen.items() if value not in (None, (), {}, False)}
    if store.exists():
        stored = Settings.from_json(store.settings())
        given["sources"] = tuple(dict.fromkeys((*stored.sources, *chosen["sources"])))
        return replace(stored, **given, design=design)
    if not chosen["sources"]:
        raise UsageError(f"{store.place} is a new watch: name its logs with --from")
    return Settings(**given, design=design)


def _read_design(
    store: WatchStore,
    rate: float | None,
    per_period: int | None,
    strata: str | None,
    rate_of: list[str],
    seed: int | None,
) -> Design:
    from ragstone.watch.sample_design import DEFAULT_RATE, Design
    from ragstone.watch.watch import Settings

    if store.exists() and (rate, per_period, strata, rate_of, seed) == (None, None, None, [], None):
        return Settings.from_json(store.settings()).design
    pairs = parse_pairs("--rate-of", "VALUE=RATE", "mobile=0.2", rate_of)
    try:
        rates = {name.strip(): float(value) for name, value in pairs.items()}
    except ValueError:
        raise UsageError(f"--rate-of {' '.join(rate_of)}: a rate is a number, for example mobile=0.2") from None
    default = None if per_period is not None else DEFAULT_RATE
    return Design(default if rate is None else rate, per_period, strata, rates, seed or 0)


def _seconds(flag: str, text: str) -> float:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", text)
    if not found:
        raise UsageError(f"{flag} {text}: write a time such as 60s, 5m, 6h or 1d")
    return float(found[1]) * _UNITS[found[2] or "s"]


def _read_clock(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    from datetime import datetime

    from ragstone.formats.values import as_time

    if (moment := as_time(text)) is None:
        raise UsageError(f"--now {text}: write a time such as 2026-11-16T12:00")
    return {"clock": lambda: datetime.fromisoformat(moment)}


def _open_desk(name: str | None, author: str | None, root: str) -> Desk | None:
    if name is None:
        return None
    from ragstone.cli.truth.options import author_or_user, open_store
    from ragstone.truth.store import check_name
    from ragstone.watch.proposals import Desk

    return Desk(open_store(root), check_name(name), author_or_user(author))


def _follow_up(
    store: WatchStore, desk: Desk | None, count: int, webhook: Webhook | None, note: Callable[[str], None], cache: Cache
) -> Callable[[str], bool]:
    """A function that proposes the worst answers of a complete period and posts its alarms."""

    def follow_up(period: str) -> bool:
        from ragstone.watch.series import estimate_series, worst

        if desk is not None:
            from ragstone.watch.proposals import propose

            number = propose(store, period, worst(store, period, count), desk)
            note(f"{period}: {number} of its worst answers proposed to {desk.name}")
        alarms = [alarm for alarm in estimate_series(store, cache=cache).alarms if alarm.period == period]
        for alarm in alarms:
            note(f"alarm: {alarm}")
        if webhook is None or not alarms:
            return True
        from ragstone.notify.webhook import post_alarms

        sent = post_alarms(webhook, store.place.name, period, [asdict(alarm) for alarm in alarms])
        if not sent.delivered:
            note(f"the webhook at {sent.address} was not reached: {sent.error}. The next pass tries again.")
        return sent.delivered

    return follow_up


def _show(work: Watch, done: Pass, json: bool, quiet: bool, once: bool, cache: Cache) -> None:
    from ragstone.report.watch import watch_report
    from ragstone.views.series import SeriesView
    from ragstone.watch.series import estimate_series
    from ragstone.watch.state import COMPLETE

    if json:
        series = SeriesView.of(estimate_series(work.store, cache=cache)).as_dict()
        state = {
            "left_out": done.state.left_out,
            "duplicates": done.state.duplicates,
            "without_time": done.without_time,
        }
        print_json({"requests": done.requests, "complete": done.complete, **state, **series})
        return
    if quiet:
        return
    click.echo(f"{counted(done.requests, 'new request')}; {work.settings.design.describe()}")
    # A long series is not read for the few periods that are not complete.
    waiting = sorted(name for name, period in done.state.periods.items() if period.phase != COMPLETE)
    pending = [record for name in waiting[-_PERIODS_SHOWN:] if (record := work.store.period(name))]
    if pending:
        titles = ("period", "requests", "drawn", "evaluated", "")
        print_table(titles, map(_row, pending), right=titles[1:4])
    late = sum(period.late for period in done.state.periods.values())
    counts = {**done.state.left_out, "requests after the end of their period": late}
    for reason, times in counts.items():
        click.echo(f"left out: {reason}: {times:,}" if times else "", nl=bool(times))
    if once and len(waiting) < len(done.state.periods):
        console().print("", watch_report(SeriesView.of(estimate_series(work.store, cache=cache))), sep="\n")
    if once:
        next_steps((command_line("view", str(work.store.place)), "look at the series and the runs in a browser"))


def _row(record: PeriodRecord) -> tuple[str, ...]:
    return (
        record.period,
        f"{record.requests:,}",
        *(f"{sum(counts.values()):,}" if record.drawn else "" for counts in (record.drawn, record.evaluated)),
        "waits for the budget" if record.drawn else "open",
    )
