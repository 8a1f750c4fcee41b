"""A sweep in the terminal: leaderboard, main effects, settings that stopped or failed."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.number_format import number, signed, signed_interval, with_interval
from ragstone.report.leaderboard import parameter_text
from ragstone.report.table import Cell, Column, Table, columns, interval_strip
from ragstone.report.text import section, title
from ragstone.sweep.effects import ParameterEffect
from ragstone.sweep.results import LEVEL, SweepResults
from ragstone.sweep.sweep_folder import SweepQuote
from ragstone.views.phrases import counted, one_line, visible
from ragstone.views.run import DIRECTION

EXPLANATION = (
    "Settings that share a letter do not differ significantly (paired permutation test, corrected for all pairs). "
    "★ marks the settings that no other setting dominates: none is at least as good in quality (by its mean), latency and "
    "price (both beyond two standard errors) and better in one of them."
)


def sweep_report(results: SweepResults) -> RenderableType:
    """The whole report."""
    parts: list[RenderableType] = [
        Text(headline(results), style="bold"),
        Text(f"{asked_line(results)}\n", style="dim"),
        _leaderboard(results),
        Text(f"\n{EXPLANATION}", style="dim"),
    ]
    if results.effects:
        parts += [title("main effects"), *_effects(results), Text(effect_line(results), style="dim")]
    parts += section("stopped early", stopped_lines(results))
    parts += section("failed", failed_lines(results))
    return Group(*parts, *section("remarks", results.remarks))


def headline(results: SweepResults) -> str:
    """The best setting in one sentence."""
    ranked = [one for one in results.standings if one.status == "finished"]
    if not ranked:
        return "No setting answered all questions." if results.has_values else "Every setting failed."
    best = ranked[0]
    ties = [one for one in ranked[1:] if best.group and set(one.group) & set(best.group)]
    words = f"{visible(best.name)} is best: {results.objective} {number(best.mean)}"
    if best.rank is None and len(ranked) > 1:
        return f"{words}. The questions are too few to test it."
    if ties:
        noun = "setting does" if len(ties) == 1 else "settings do"
        return f"{words}, but {len(ties)} other {noun} not differ significantly from it."
    return f"{words}."


def asked_line(results: SweepResults) -> str:
    """The number of answers, and the number without halving."""
    full = len(results.standings) * results.questions
    saved = f"; all settings on all questions would be {full:,}" if results.asked < full else ""
    spent = f"; {results.spent_usd:.4f} usd spent" if results.spent_usd is not None else ""
    settings, questions = counted(len(results.standings), "setting"), counted(results.questions, "question")
    return f"{settings}, {questions}, {counted(results.asked, 'answer')}{saved}{spent}"


def _leaderboard(results: SweepResults) -> Table:
    scored = [one for one in results.standings if one.mean is not None]
    ends = [end for one in scored for end in (one.interval or (one.mean or 0.0, one.mean or 0.0))]
    scale = (min(ends), max(ends)) if ends and max(ends) > min(ends) else (0.0, 1.0)
    has = {"latency": any(one.latency_s is not None for one in scored), "price": any(one.cost_usd for one in scored)}
    table = Table(
        [
            *columns("rank"),
            Column(),
            *[Column(visible(name), "right", "words") for name in results.parameters],
            *columns(f"{results.objective} {DIRECTION[results.better]}", f"{LEVEL:.0%} interval"),
            Column(f"{scale[0]:<8.3g}{scale[1]:>8.3g}", drawn=True, priority=3),
            Column("group"),
            *([Column("seconds", "right", priority=1)] if has["latency"] else []),
            *([Column("usd", "right", priority=1)] if has["price"] else []),
            Column(),
        ]
    )
    for one in scored:
        mean, interval = with_interval(one.mean, *(one.interval or (None, None)))
        table.add(
            "–" if one.rank is None else str(one.rank),
            Cell(one.label, tone="strong"),
            *(one_line(parameter_text(one.parameters.get(name)), 24) for name in results.parameters),
            mean,
            interval if one.status == "finished" else f"stopped at {one.questions}",
            interval_strip(one.mean, one.interval, scale, "green" if one.rank == 1 else "cyan", 16),
            one.group,
            *([number(one.latency_s, 4)] if has["latency"] else []),
            *(["–" if one.cost_usd is None else f"{one.cost_usd:.2g}"] if has["price"] else []),
            "★" if one.undominated else "",
        )
    return table


def _effects(results: SweepResults) -> Iterator[RenderableType]:
    reach = max((abs(end) for end in _ends(results)), default=0.0) or 1.0
    table = Table(
        [
            Column("parameter", wrap="name"),
            *columns("value", "settings", "mean", "difference", f"{LEVEL:.0%} interval"),
            Column(f"{-reach:<8.2g}{reach:>+8.2g}", drawn=True, priority=2),
        ]
    )
    for effect in results.effects:
        for position, level in enumerate(effect.levels):
            table.add(
                visible(effect.parameter) if not position else "",
                one_line(parameter_text(level.level), 24),
                str(level.settings),
                number(level.mean),
                signed(level.difference) if position else "",
                signed_interval(*(level.interval or (None, None))) if position else "",
                interval_strip(level.difference, level.interval, (-reach, reach), width=16) if position else "",
            )
    yield table
    yield from (Text(f"{effect.parameter}: {effect.note}", style="dim") for effect in results.effects if effect.note)


def _ends(results: SweepResults) -> Iterator[float]:
    for effect in results.effects:
        for level in effect.levels:
            yield from level.interval or (level.difference or 0.0,)


def effect_line(results: SweepResults) -> str:
    """The meaning of the effects, and how their intervals are made."""
    how = (
        "The intervals stay valid although settings were stopped by what they scored; they are wider for that. "
        "--no-halving gives narrower ones."
        if results.effects_are_sequential
        else ""
    )
    return (
        f"\nDifferences are to the first value of the parameter, averaged over the values of all others: interactions are "
        f"averaged over. They are over the {counted(results.effect_questions, 'question')} that every setting has. Each "
        f"interval is for itself, not for all together. {how}"
    ).rstrip()


def is_clear(effect: ParameterEffect) -> bool:
    """Whether the interval of one of its values excludes 0."""
    return any(level.interval and (level.interval.low > 0 or level.interval.high < 0) for level in effect.levels)


def stopped_lines(results: SweepResults) -> list[str]:
    """The settings that were stopped, and the chance that it was wrong."""
    lines = [
        f"{one.label}  {one.name}: {number(one.mean)} after {counted(one.questions, 'question')}; "
        f"{one.beaten_by} has {number(one.rival)} on the same"
        for one in results.standings
        if one.status == "stopped"
    ]
    if lines:
        lines.append(f"The chance that the best setting is ever stopped is at most {results.alpha:.0%}.")
    return lines


def failed_lines(results: SweepResults) -> list[str]:
    """The settings that failed, and answers that are missing, with the reasons."""
    lines = [f"{one.label}  {one.name}: {one_line(one.reason, 300)}" for one in results.standings if one.reason]
    lines += [
        f"{one.label}  {one.name}: {counted(one.unanswered, 'question')} without an answer; they count as the worst value"
        for one in results.standings
        if one.unanswered
    ]
    return lines


def quote_lines(quote: SweepQuote) -> Iterator[str]:
    """The estimated cost."""
    rows = f"{counted(quote.settings, 'setting')} × {counted(quote.questions, 'question')}"
    yield f"{counted(round(quote.system_calls), 'call')} of {quote.system} for {rows}; cost {_usd(quote.system_usd)}"
    yield f"{counted(round(quote.judge_calls), 'call')} of judge models; cost {_usd(quote.judge_usd)}"
    yield f"about {quote.seconds:,.0f} s (rough estimate). Settings that are stopped early take less. No call was made."
    for name, reason in quote.failed.items():
        yield f"  {visible(name)} cannot be opened: {visible(reason)}"


def _usd(amount: float | None) -> str:
    return "unknown" if amount is None else f"{amount:,.4f} usd"
