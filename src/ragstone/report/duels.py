"""Systems held against each other by a judge, for the terminal and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ragstone.agreement.duels import Judged, JudgeNote, Meeting, Standing
from ragstone.report.plain import one_line, visible
from ragstone.stats.resampled import Estimate

_BAR = 40


def duels_report(found: Judged) -> RenderableType:
    """Two systems as a picture and a sentence; several as a table; then how the judges went about it."""
    parts: list[RenderableType] = []
    if len(found.systems) == 2:
        parts += _two(found.meetings[0])
    else:
        parts += [_table(found), Text()]
        if found.smoothed:
            parts.append(
                Text("Somebody won or lost every duel: half a win was added to each pair that met.", style="dim")
            )
    parts += _notes(found)
    return Group(*parts)


def duels_dict(found: Judged) -> dict[str, Any]:
    """The same for programs."""
    return {
        "systems": list(found.systems),
        "questions": found.questions,
        "left_out": found.left_out,
        "without_reference": found.bare,
        "meetings": [{**_plain(meeting), "winner": meeting.winner} for meeting in found.meetings],
        "standings": [_plain(standing) for standing in found.standings],
        "smoothed": found.smoothed,
        "judges": [{**_plain(note), "first_seat": _estimate(note.first_seat)} for note in found.judges],
        "alpha": _estimate(found.alpha),
        "unanimous": found.unanimous,
        "runs": [run.path for run in found.runs],
    }


def _plain(row: Meeting | Standing | JudgeNote) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in row.__dataclass_fields__}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _estimate(found: Estimate | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"value": found.value, "interval": None if found.interval is None else list(found.interval)}


def _two(met: Meeting) -> Iterator[RenderableType]:
    decided = met.wins + met.ties + met.losses
    if not decided:
        yield Text("No duel was decided.", style="bold")
        return
    yield _counts(met)
    yield _bar(met, decided)
    share = f"{met.share:.2f}" if met.share is not None else "–"
    within = "" if met.interval is None else f" (95 % interval {met.interval.low:.2f} – {met.interval.high:.2f})"
    line = Text()
    if met.winner:
        line.append(f"{visible(met.winner)} is better", style="bold")
    else:
        line.append("They cannot be told apart", style="bold")
    p = "" if met.p is None else f"; p {_p(met.p)} (sign test)"
    line.append(f": {visible(met.one)} gets {share}{within} of the duels, ties half{p}")
    yield line


def _counts(met: Meeting) -> Text:
    text = Text()
    text.append(f"{visible(met.one)} wins {met.wins}", style="green" if met.wins > met.losses else "")
    text.append(f"   ties {met.ties}   ", style="dim")
    text.append(f"{visible(met.other)} wins {met.losses}", style="green" if met.losses > met.wins else "")
    return text


def _bar(met: Meeting, decided: int) -> Text:
    """As wide as the wins are many; the middle is for ties."""
    left, right = (round(_BAR * part / decided) for part in (met.wins, met.losses))
    text = Text("█" * left, style="green" if met.wins > met.losses else "blue")
    text.append("░" * max(0, _BAR - left - right), style="dim")
    return text.append("█" * right, style="green" if met.losses > met.wins else "blue")


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def _table(found: Judged) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in ("", "system", "duels", "won", "strength", "95 % interval"):
        table.add_column(head, justify="left" if head == "system" else "right", no_wrap=head != "system")
    for place, row in enumerate(found.standings, start=1):
        interval = "–" if row.interval is None else f"{row.interval.low:+.2f} – {row.interval.high:+.2f}"
        strength = "–" if row.strength is None else f"{row.strength:+.2f}"
        share = "–" if row.share is None else f"{row.share:.2f}"
        table.add_row(str(place), Text(one_line(row.system, 40)), str(row.duels), share, strength, interval)
    return table


def _notes(found: Judged) -> Iterator[Text]:
    for note in found.judges:
        yield Text()
        yield Text(f"{visible(note.judge)}: {note.duels:,} duels over {found.questions:,} questions", style="dim")
        if note.undecided:
            yield Text(f"  {note.undecided:,} not decided: {visible(note.reason or 'no reason given')}", style="yellow")
        if note.inconsistent is not None:
            yield Text(
                f"  changes its mind when the answers change places in {100 * note.inconsistent:.0f} %", style="dim"
            )
        yield from _seat(note.first_seat)
    if found.alpha is not None and found.unanimous is not None:
        value = "–" if found.alpha.value is None else f"{found.alpha.value:.2f}"
        yield Text(
            f"\nThe judges all agree in {100 * found.unanimous:.0f} %; Krippendorff's alpha {value}.", style="dim"
        )
    if found.left_out:
        yield Text(
            f"\n{found.left_out:,} questions left out: not every system has an answer, or they were asked something else.",
            style="yellow",
        )
    if found.bare:
        yield Text(f"\n{found.bare:,} questions have no reference: the judge decided without.", style="yellow")


def _seat(seat: Estimate | None) -> Iterator[Text]:
    if seat is None or seat.value is None or seat.interval is None:
        return
    low, high = seat.interval
    if low <= 0.5 <= high:
        yield Text("  shows no preference for a seat", style="dim")
        return
    which = "first" if seat.value > 0.5 else "second"
    share = max(seat.value, 1 - seat.value)
    yield Text(
        f"  prefers the {which} seat: {share:.2f} instead of 0.50. A win counts only in both orders.", style="yellow"
    )
