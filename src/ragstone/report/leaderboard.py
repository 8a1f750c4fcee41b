"""Several runs in the terminal: the runs, their ranks, and a drawing per metric if there are few metrics."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.analysis.leaderboard import Leaderboard, Place, Ranking
from ragstone.number_format import number, with_interval
from ragstone.report.run import metric_label
from ragstone.report.table import Cell, Column, Table, columns, interval_strip
from ragstone.report.text import section
from ragstone.views.comparison import run_dict
from ragstone.views.phrases import by_reason, one_line, visible
from ragstone.views.run import DIRECTION

# With more metrics than this, one table of all metrics replaces the drawings.
_MOST_DRAWN = 4


def leaderboard_report(board: Leaderboard, by: str | None = None) -> RenderableType:
    """The runs, and either a drawing per metric or one table of all metrics. `by` orders by a parameter."""
    parts: list[RenderableType] = [_runs_table(board)]
    if len(board.rankings) <= _MOST_DRAWN:
        for ranking in board.rankings:
            heading = Text(f"\n{visible(ranking.metric)} {DIRECTION[ranking.better]}", style="bold")
            heading.append(f"  {ranking.samples:,} samples", style="not bold dim")
            parts += [heading, _ranking_table(board, ranking, by)]
    else:
        parts += [Text(), _matrix(board, by)]
    explanation = (
        "\nThe data do not show a difference between runs that share a letter. The rank is 1 plus the number of runs that "
        f"are significantly better. All means are over the {board.samples:,} samples that all runs have."
    )
    return Group(*parts, *section("remarks", remark_lines(board)), Text(explanation, style="dim"))


def remark_lines(board: Leaderboard) -> list[str]:
    """Remarks, and the notes and refused metrics by reason."""
    notes = [(ranking.metric, ranking.note) for ranking in board.rankings]
    notes += [(name, f"not ranked, the signatures differ: {change}") for name, change in board.refused.items()]
    return [*board.remarks, *(f"{', '.join(names)}: {note}" for note, names in by_reason(notes).items())]


def order_runs(board: Leaderboard, by: str | None) -> list[int]:
    """The runs in their order, or ordered by a parameter: numbers first."""
    order = list(range(len(board.runs)))
    if by is None:
        return order
    column = board.parameters.index(by)
    return sorted(order, key=lambda run: _sort_key(board.values(run)[column]))


def _sort_key(value: Any) -> tuple[int, float, str]:
    if isinstance(value, int | float):
        return 0, float(value), ""
    return (2, 0.0, "") if value is None else (1, 0.0, str(value))


def letter(number: int) -> str:
    """The letter of a run: A, B, C."""
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def parameter_text(value: Any) -> str:
    """The value of a parameter, or a dash."""
    return "–" if value is None else str(value)


def _runs_table(board: Leaderboard) -> Table:
    parameters = [Column(visible(name), "right", "words") for name in board.parameters]
    table = Table([Column(), Column("run", wrap="words"), *parameters, Column("samples", "right")])
    for at, run in enumerate(board.runs):
        values = map(parameter_text, board.values(at))
        table.add(Cell(letter(at), tone="strong"), run.name, *values, f"{run.info['dataset']['rows']:,}")
    return table


def _ranking_table(board: Leaderboard, ranking: Ranking, by: str | None) -> Table:
    places = {place.run: place for place in ranking.places}
    low, high = scale = _scale(ranking)
    table = Table(
        [
            Column("rank", "right"),
            Column(),
            Column("run", wrap="words"),
            *([Column(visible(by), "right", "words")] if by else []),
            *columns("mean", f"{board.settings.level:.0%} interval"),
            Column(f"{low:<12.3g}{high:>12.3g}", drawn=True),
            Column("group"),
        ]
    )
    for run in (run for run in order_runs(board, by) if run in places) if by else places:
        place = places[run]
        table.add(
            "–" if place.rank is None else str(place.rank),
            Cell(letter(run), tone="strong"),
            one_line(board.runs[run].name, 30),
            *([parameter_text(board.values(run)[board.parameters.index(by)])] if by else []),
            *with_interval(place.mean, *(place.interval or (None, None))),
            interval_strip(place.mean, place.interval, scale, "green" if place.rank == 1 else "cyan"),
            place.letters,
        )
    return table


def _scale(ranking: Ranking) -> tuple[float, float]:
    """The ends of the intervals, so that small differences are visible."""
    ends = [end for place in ranking.places for end in (place.interval or (place.mean, place.mean))]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _matrix(board: Leaderboard, by: str | None) -> Table:
    """One row per metric, one column per run: mean and group. The first rank is highlighted."""
    order = order_runs(board, by)
    table = Table([Column("metric", wrap="name"), *columns(*map(letter, order), align="left")])
    for ranking in board.rankings:
        places = {place.run: place for place in ranking.places}
        highlight = any(place.rank != 1 for place in ranking.places)
        cells = (_matrix_cell(places.get(run), highlight) for run in order)
        table.add(metric_label(ranking.metric, ranking.better), *cells)
    return table


def _matrix_cell(place: Place | None, highlight: bool) -> Text:
    if place is None:
        return Text("–", style="dim")
    text = Text(f"{number(place.mean)} ", style="bold green" if place.rank == 1 and highlight else "")
    text.append(place.letters, style="not bold dim")
    return text


def leaderboard_dict(board: Leaderboard) -> dict[str, Any]:
    """The leaderboard as JSON."""
    return {
        "runs": [run_dict(run) for run in board.runs],
        "samples": board.samples,
        "remarks": list(board.remarks),
        "refused": dict(board.refused),
        "metrics": [
            {name: getattr(ranking, name) for name in ("metric", "better", "samples", "note")}
            | {"places": [_place_dict(board, place) for place in ranking.places]}
            for ranking in board.rankings
        ],
    }


def _place_dict(board: Leaderboard, place: Place) -> dict[str, Any]:
    run, (low, high) = board.runs[place.run], place.interval or (None, None)
    ends = {"mean": place.mean, "low": low, "high": high}
    return {"run": run.id, "name": run.name, **ends, "rank": place.rank, "group": place.letters}
