"""Several runs in the terminal: who they are, how they rank, and each metric as a picture where few are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ragstone.compare.leaderboard import Leaderboard, Place, Ranking
from ragstone.report.plain import indented, one_line, visible
from ragstone.report.terminal import DIRECTION

_STRIP = 24
# So many metrics are drawn run by run; more are one table.
MOST_DRAWN = 4


def leaderboard_report(found: Leaderboard, by: str | None = None) -> RenderableType:
    """The runs, and either a picture for each of a few metrics or one table of all; `by` orders by a parameter."""
    parts: list[RenderableType] = [_runs_table(found)]
    if len(found.rankings) <= MOST_DRAWN:
        for ranking in found.rankings:
            parts += [_title(ranking), _drawn(found, ranking, by)]
    else:
        parts += [Text(), _matrix(found, by)]
    parts += _notes(found)
    parts.append(
        Text(
            "\nRuns that share a letter cannot be told apart; a rank is 1 plus the number of runs that are certainly better. "
            f"All means are over the {found.samples:,} samples that all runs have.",
            style="dim",
        )
    )
    return Group(*parts)


def order_runs(found: Leaderboard, by: str | None) -> list[int]:
    """The runs as given, or by a parameter: numbers first, by size."""
    order = list(range(len(found.runs)))
    if by is None:
        return order
    column = found.parameters.index(by)
    return sorted(order, key=lambda run: _sort_key(found.values(run)[column]))


def _sort_key(value: Any) -> tuple[int, float, str]:
    if isinstance(value, int | float):
        return 0, float(value), ""
    return (2, 0.0, "") if value is None else (1, 0.0, str(value))


def _runs_table(found: Leaderboard) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", style="bold")
    table.add_column("run", overflow="fold")
    for name in found.parameters:
        table.add_column(visible(name), justify="right", overflow="fold")
    table.add_column("samples", justify="right")
    for number, run in enumerate(found.runs):
        values = ["–" if value is None else visible(str(value)) for value in found.values(number)]
        table.add_row(letter(number), Text(visible(run.name)), *values, f"{run.info['dataset']['rows']:,}")
    return table


def letter(number: int) -> str:
    """A run's letter: A, B, C."""
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def _title(ranking: Ranking) -> Text:
    text = Text(f"\n{visible(ranking.metric)} {DIRECTION[ranking.better]}", style="bold")
    text.append(f"  {ranking.samples:,} samples", style="not bold dim")
    return text


def _drawn(found: Leaderboard, ranking: Ranking, by: str | None) -> Table:
    places = {place.run: place for place in ranking.places}
    order = [run for run in order_runs(found, by) if run in places] if by else [place.run for place in ranking.places]
    low, high = _range(ranking)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("", style="bold")
    table.add_column("run", overflow="fold")
    if by:
        table.add_column(visible(by), justify="right", overflow="fold")
    for head in ("mean", f"{found.settings.level:.0%} interval"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column(f"{low:<{_STRIP // 2}.3g}{high:>{_STRIP // 2}.3g}", no_wrap=True)
    table.add_column("group", no_wrap=True)
    for run in order:
        table.add_row(*_row(found, places[run], by, (low, high)))
    return table


def _row(found: Leaderboard, place: Place, by: str | None, ends: tuple[float, float]) -> list[RenderableType]:
    value = found.values(place.run)[found.parameters.index(by)] if by else None
    interval = place.interval
    return [
        "–" if place.rank is None else str(place.rank),
        letter(place.run),
        Text(one_line(found.runs[place.run].name, 30)),
        *([] if by is None else ["–" if value is None else visible(str(value))]),
        f"{place.mean:.3f}",
        "–" if interval is None else f"{interval.low:.3f} – {interval.high:.3f}",
        _strip(place, *ends),
        place.letters,
    ]


def _range(ranking: Ranking) -> tuple[float, float]:
    """The ends of the strip: those of the intervals, so that small differences can be seen."""
    ends = [end for place in ranking.places for end in (place.interval or (place.mean, place.mean))]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _strip(place: Place, low: float, high: float) -> Text:
    ends = place.interval or (place.mean, place.mean)
    first, last, centre = (
        max(0, min(_STRIP - 1, int((value - low) / (high - low) * _STRIP))) for value in (*ends, place.mean)
    )
    marks = ["━" if first <= position <= last else "·" for position in range(_STRIP)]
    marks[centre] = "●"
    text = Text("".join(marks), style="dim")
    text.stylize("not dim cyan" if place.rank != 1 else "not dim green", first, last + 1)
    text.stylize("bold", centre, centre + 1)
    return text


def _matrix(found: Leaderboard, by: str | None) -> Table:
    """A row a metric, a column a run: mean and letters; the first rank is set off."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("metric", overflow="fold")
    order = order_runs(found, by)
    for run in order:
        table.add_column(letter(run), justify="left", no_wrap=True)
    for ranking in found.rankings:
        places = {place.run: place for place in ranking.places}
        cells = [_matrix_cell(places.get(run), places) for run in order]
        table.add_row(Text(f"{visible(ranking.metric)} {DIRECTION[ranking.better]}"), *cells)
    return table


def _matrix_cell(place: Place | None, places: dict[int, Place]) -> Text:
    if place is None:
        return Text("–", style="dim")
    apart = any(other.rank != 1 for other in places.values())
    text = Text(f"{place.mean:.3f} ", style="bold green" if place.rank == 1 and apart else "")
    text.append(place.letters, style="not bold dim")
    return text


def _notes(found: Leaderboard) -> Iterator[RenderableType]:
    notes: dict[str, list[str]] = {}
    for ranking in found.rankings:
        if ranking.note:
            notes.setdefault(ranking.note, []).append(ranking.metric)
    for name, what in found.refused.items():
        notes.setdefault(f"not ranked, made in different ways: {what}", []).append(name)
    lines: Sequence[str] = [*found.remarks, *(f"{', '.join(names)}: {note}" for note, names in notes.items())]
    if lines:
        yield Text("\nremarks", style="bold")
    for line in lines:
        yield indented(line)


def leaderboard_dict(found: Leaderboard) -> dict[str, Any]:
    """For programs: everything."""
    return {
        "runs": [
            {"run": run.path, "id": run.id, "name": run.name, "params": run.info.get("params") or {}}
            for run in found.runs
        ],
        "samples": found.samples,
        "remarks": list(found.remarks),
        "refused": dict(found.refused),
        "metrics": [
            {
                "metric": ranking.metric,
                "better": ranking.better,
                "samples": ranking.samples,
                "note": ranking.note,
                "places": [
                    {
                        "run": found.runs[place.run].id,
                        "name": found.runs[place.run].name,
                        "mean": place.mean,
                        "low": place.interval.low if place.interval else None,
                        "high": place.interval.high if place.interval else None,
                        "rank": place.rank,
                        "group": place.letters,
                    }
                    for place in ranking.places
                ],
            }
            for ranking in found.rankings
        ],
    }
