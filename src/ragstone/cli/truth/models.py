"""What the commands that ask a model about ground truth share: its options, what it would cost, what it took."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ragstone.cli.judging import read_calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.engine.judging import JudgingOptions
    from ragstone.llm.recording import Call
    from ragstone.truth.asking import Work


def read_work(
    judge: str | None,
    base_url: str | None,
    quoting: bool,
    budget: str | None,
    concurrency: int,
    timeout: float,
    deadline: float | None,
    rpm: float | None,
    tpm: float | None,
    no_cache: bool,
    prompts: str | None,
) -> Work:
    """The options as the work takes them."""
    from ragstone.truth.asking import Work

    return Work(
        judge,
        cast("JudgingOptions", read_calls(base_url, budget, timeout, deadline, rpm, tpm, no_cache, prompts)),
        concurrency,
        quoting,
    )


def show_quote(name: str, calls: Sequence[Call], concurrency: int, json: bool) -> None:
    """What the work would take; replies in the cache cost nothing."""
    from dataclasses import asdict

    from ragstone.cli.screen import console
    from ragstone.cli.truth.options import print_json
    from ragstone.engine.quoting import sum_calls
    from ragstone.report.quote import line_report

    line = sum_calls(name, [call for call in calls if not call.cached], concurrency)
    if json:
        print_json(asdict(line))
    else:
        console().print(line_report(line))


def describe_calls(calls: Sequence[Call]) -> str:
    """How many calls were made, how many replies came from the cache, and what it cost."""
    asked = [call for call in calls if not call.cached]
    costs = [call.cost_usd for call in asked if call.error is None]
    cost = (
        "cost unknown" if any(value is None for value in costs) else f"{sum(value or 0.0 for value in costs):.4f} usd"
    )
    return f"{len(asked):,} calls, {len(calls) - len(asked):,} replies from the cache, {cost}" if calls else "no calls"
