"""A diagnosis for people: which part limits quality, why samples fail, what to do; in full, in short, and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from ragstone.compare.diagnosis import Advice, CauseCount, Diagnosis
from ragstone.compare.findings import Part
from ragstone.compare.signs import Reading
from ragstone.report.plain import visible

_ARROW = {"higher": "↑", "lower": "↓", "none": ""}
_BAR = 10
_STATE_STYLE = {"good": "green", "seems good": "", "bad": "bold red", "seems bad": "yellow"}
_PARTS: tuple[Part, Part] = ("retriever", "generator")
_MOST_EXAMPLES = 3
_NEVER = 100_000
_WIDE = 90


def has_something_to_say(found: Diagnosis) -> bool:
    """Whether a run shows anything at all about its parts or its samples."""
    return found.limits != "unknown" or bool(found.causes)


def headline(found: Diagnosis) -> str:
    """Which part limits quality, in a sentence or two."""
    few = f"but that is not sure: {_why_unsure(found)}"
    if found.limits == "both":
        return (
            "Retriever and generator both limit quality." if found.sure else f"Both parts seem to limit quality, {few}."
        )
    if found.limits == "neither":
        return "Neither part limits quality." if found.sure else f"Neither part seems to limit quality, {few}."
    if found.limits == "unknown":
        return f"Which part limits quality cannot be told: {_what_is_missing(found)}."
    other: Part = "generator" if found.limits == "retriever" else "retriever"
    if not found.sure:
        return f"The {found.limits} seems to limit quality, {few}."
    about_other = {
        "good": f"The {other} does well.",
        "seems good": f"The {other} seems to do well.",
        "seems bad": f"The {other} may limit it too.",
        "": f"Nothing is known about the {other}.",
    }
    return f"The {found.limits} limits quality. {about_other[found.parts[other]]}"


def _why_unsure(found: Diagnosis) -> str:
    """Which numbers may lie on either side of their limits, and about how many rows it takes to tell."""
    unsure = [reading for reading in found.readings if reading.sign.decides and reading.state.startswith("seems")]
    rows = max((reading.rows for reading in unsure), default=found.samples)
    needed = max((reading.rows_to_be_sure or _NEVER for reading in unsure), default=_NEVER)
    about = f"; about {needed:,} would do" if needed < _NEVER else ""
    return f"{_rows(rows)} too few{about}"


def _what_is_missing(found: Diagnosis) -> str:
    if found.readings:
        known = next(part for part in _PARTS if found.parts[part] or part == "generator")
        other = "generator" if known == "retriever" else "retriever"
        return f"the {known} does well, and no metric of this run tells about the {other}"
    return "the run has no claims (--judge), no facts and no relevance to go by"


def short_report(found: Diagnosis) -> RenderableType:
    """What is shown at the end of a run: a few lines, and the command that shows more."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=3, justify="right")
    table.add_column(overflow="fold")
    table.add_row("", Text(headline(found), style="bold"))
    failing = [count for count in found.causes if count.main]
    if failing:
        causes = ", ".join(f"{count.main} {count.cause.name}" for count in failing)
        table.add_row("", Text(f"{found.failing} of {_looked_at(found)} fail: {causes}"))
    for item in found.advice[:2]:
        table.add_row("→", Text(f"{item.text} ({_numbers(item)})"))
    return Group(Text("\ndiagnosis", style="bold"), table)


def full_report(found: Diagnosis, name: str) -> RenderableType:
    """Everything: the numbers, the causes with their samples, the advice."""
    title = Text("diagnosis of ", style="bold")
    title.append(visible(name))
    parts: list[RenderableType] = [title, Text(), Text(headline(found), style="bold")]
    if found.tally:
        parts.append(Text(_tally_line(found)))
    if found.readings:
        parts += [Text(), _Readings(found)]
    parts += _cause_parts(found)
    if found.advice:
        parts += [Text("\nwhat to do", style="bold"), _advice_table(found)]
    parts += _undecided_lines(found)
    return Group(*parts)


def diagnosis_dict(found: Diagnosis) -> dict[str, Any]:
    """For programs: all of it, with every failing sample and its findings."""
    return {
        "headline": headline(found),
        "limits": found.limits,
        "sure": found.sure,
        "parts": {part: state or None for part, state in found.parts.items()},
        "samples": found.samples,
        "looked_at": found.looked_at,
        "failing": found.failing,
        "undecided": dict(found.undecided),
        "reference_claims": dict(found.tally) or None,
        "numbers": [reading.as_dict() for reading in found.readings],
        "causes": [
            {
                "cause": count.cause.name,
                "part": count.cause.part,
                "meaning": count.cause.meaning,
                "main_of": count.main,
                "samples": count.samples,
                "items": count.items,
            }
            for count in found.causes
        ],
        "advice": [
            {"text": item.text, "sure": item.sure, "because": [reason_line(why) for why in item.because]}
            for item in found.advice
        ],
        "outcomes": [
            {
                "id": outcome.sample_id,
                "cause": outcome.cause.name if outcome.cause else None,
                "findings": [finding.as_dict() for finding in outcome.findings],
            }
            for outcome in found.outcomes
            if outcome.findings
        ],
    }


def _tally_line(found: Diagnosis) -> str:
    total = found.tally.total()
    return (
        f"Of {total} claims that should be said, {found.tally['said']} are said, {found.tally['ignored']} were retrieved "
        f"and are not said, {found.tally['missing']} were not retrieved."
    )


class _Readings:
    """The numbers in a table, set apart as far as the screen is wide enough."""

    def __init__(self, found: Diagnosis) -> None:
        self._found = found

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield _readings_table(self._found, gap=2 if options.max_width >= _WIDE else 1)


def _readings_table(found: Diagnosis, gap: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, gap, 0, 0))
    table.add_column("number", overflow="fold")
    for head in ("mean", "95 % interval", "good", "rows"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for part in _PARTS:
        readings = [reading for reading in found.readings if reading.sign.part == part]
        if readings:
            table.add_row(Text(part, style="bold"))
        for reading in readings:
            table.add_row(*_reading_cells(reading))
    return table


def _reading_cells(reading: Reading) -> tuple[RenderableType, ...]:
    sign, state = reading.sign, reading.state
    limit = {"higher": f"≥ {sign.limit:g}", "lower": f"≤ {sign.limit:g}", "none": "–"}[sign.better]
    return (
        Text(f"  {_name(reading)} {_ARROW[sign.better]}".rstrip()),
        f"{reading.mean:.3f}",
        "–" if reading.low is None or reading.high is None else f"{reading.low:.3f} – {reading.high:.3f}",
        limit,
        str(reading.rows),
        Text(state, style=_STATE_STYLE.get(state, "")),
    )


def _cause_parts(found: Diagnosis) -> Iterator[RenderableType]:
    failing = [count for count in found.causes if count.cause.fails]
    knowing = [count for count in found.causes if not count.cause.fails]
    if failing:
        yield Text(f"\nwhy samples fail ({found.failing} of {_looked_at(found)})", style="bold")
        yield _causes_table(failing, most=max(count.main for count in failing))
    elif found.decided:
        yield Text(f"\nno sample fails ({_looked_at(found)} looked into)", style="bold")
    if knowing:
        yield Text("\nworth knowing", style="bold")
        yield _causes_table(knowing, most=0)


def _causes_table(counts: list[CauseCount], most: int) -> Table:
    """A row a cause: of how many samples it is the main one, how many have it, and which."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("  cause", no_wrap=True)
    if most:
        table.add_column("main", justify="right", no_wrap=True)
    table.add_column("all", justify="right", no_wrap=True)
    table.add_column("samples", overflow="fold")
    for count in counts:
        name = Text(f"  {count.cause.name}")
        if most:
            name.append(f"\n  {count.cause.part}", style="dim")
        bar = "█" * max(1, round(_BAR * count.main / most)) + " " if count.main else ""
        what = Text.assemble((bar, "cyan"), _examples(count), (f"\n{count.cause.meaning}", "dim"))
        table.add_row(name, *([str(count.main)] if most else []), str(count.samples), what)
    return table


def _examples(count: CauseCount) -> str:
    shown = ", ".join(visible(name) for name in count.examples[:_MOST_EXAMPLES])
    return f"{shown} and {count.samples - _MOST_EXAMPLES} more" if count.samples > _MOST_EXAMPLES else shown


def _advice_table(found: Diagnosis) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=3, justify="right")
    table.add_column(overflow="fold")
    for item in found.advice:
        because = "; ".join(reason_line(why) for why in item.because)
        doubt = "" if item.sure else " (not sure: too few rows)"
        table.add_row("→", Text.assemble(item.text, (f"\n{because}{doubt}", "dim")))
    return table


def _numbers(item: Advice) -> str:
    return ", ".join(
        f"{_name(why)} {why.mean:.3f}" if isinstance(why, Reading) else f"{why.cause.name}: {_samples(why.samples)}"
        for why in item.because
    )


def _name(reading: Reading) -> str:
    """RAGChecker's numbers go without their family, which would not fit on a narrow screen."""
    return reading.sign.metric.removeprefix("ragchecker.")


def _rows(count: int) -> str:
    return "1 row is" if count == 1 else f"{count:,} rows are"


def _samples(count: int) -> str:
    return "1 sample" if count == 1 else f"{count:,} samples"


def reason_line(why: Reading | CauseCount) -> str:
    """What calls for a piece of advice: a number beside its limit, or a cause and how often it was found."""
    if isinstance(why, CauseCount):
        return f"{why.cause.name}: {_samples(why.samples)}"
    interval = "" if why.low is None or why.high is None else f" ({why.low:.3f} – {why.high:.3f})"
    side = "at least" if why.sign.better == "higher" else "at most"
    return f"{_name(why)} is {why.mean:.3f}{interval}, good is {side} {why.sign.limit:g}"


def _undecided_lines(found: Diagnosis) -> Iterator[RenderableType]:
    for reason, count in found.undecided.most_common():
        yield Text(f"\nnot looked into: {_samples(count)}, because {reason}")


def _looked_at(found: Diagnosis) -> str:
    rest = f" of {found.samples:,}" if found.looked_at < found.samples else ""
    first = "the first " if rest else ""
    return f"{first}{found.decided:,}{rest} samples" if rest else _samples(found.decided)
