"""The plots of a run that filter its samples: failing share per slice, latency, and one metric against another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from ragstone.analysis.cause_texts import LOOK
from ragstone.analysis.row_columns import USAGE_NAMES, RowJudgements
from ragstone.analysis.row_filter import with_ranges, write_name
from ragstone.report.html.charts import Scale, count_values, element, line, short, text
from ragstone.report.html.run_page import value_range
from ragstone.views.label_agreement import STATUS
from ragstone.views.phrases import one_line
from ragstone.views.run import headline_metrics
from ragstone.web.run_index import RunIndex, TableState, range_start

WRONG, NO_JUDGEMENT = "wrong", "no judgement"
AGREE, DISAGREE = "agree", "disagree"
MOST_POINTS = 2_000
_MOST_QUERY = 300
_NUMBERS = ("wrong", "unsure", "quality", *USAGE_NAMES)
_SIZE = (620.0, 400.0)
_LEFT, _RIGHT, _TOP, _FLOOR = 46.0, 12.0, 20.0, 34.0
# Points of the same value are spread by at most this many pixels.
_JITTER = 4.0
_TONES = {WRONG: "bad", LOOK: "unsure", "fine": "good", NO_JUDGEMENT: "none", AGREE: "good", DISAGREE: "bad"}
# Statuses differ in colour and in shape: a cross, a triangle, a ring and a square around the middle.
_CROSS, _RING = "m-3.5-3.5 7 7m0-7-7 7", "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0"
_SHAPES = {WRONG: _CROSS, LOOK: "m0-4 4 7h-8z", "fine": _RING, NO_JUDGEMENT: "m-3-3h6v6h-6z"}
_AGREEMENT_SHAPES = {AGREE: _RING, DISAGREE: _CROSS}
_STRIPS = {"wrong": 0.0, "partly": 0.5, "right": 1.0}
_STRIP_SIZE = (620.0, 250.0)
_GOLDEN = 0.618


def run_plots(
    index: RunIndex, known: RowJudgements, state: TableState, order: np.ndarray, slices: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return the latency and two columns of the rows in this order; the slices get their wrong rows and those to look at."""
    for part in slices:
        _add_failing_shares(part, index.named.labels(part["column"]), known, state)
    return {"latency": _latency_data(index, state), "scatter": _scatter_data(index, known, state, order)}


def _add_failing_shares(part: dict[str, Any], labels: np.ndarray, known: RowJudgements, state: TableState) -> None:
    """Add the share of wrong rows and the rows to look at to the slices of a column, and sort them: the worst first."""
    judged = np.array([status is not None and status != NO_JUDGEMENT for status in known.statuses], dtype=bool)
    kinds = (judged, known.statuses == WRONG, known.statuses == LOOK)
    of, wrong, look = (Counter(labels[rows].tolist()) for rows in kinds)
    for row in part["rows"]:
        label = row["key"].removeprefix(f"{part['column']}=")
        row["failing"] = {
            "wrong": wrong[label],
            "of": of[label],
            "share": wrong[label] / of[label] if of[label] else 0.0,
            "address": f"{state.but(slice=row['key'], cause=WRONG).address}#samples",
            "look": look[label],
            "look_address": f"{state.but(slice=row['key'], cause=LOOK).address}#samples",
        }
    part["rows"].sort(key=lambda row: (-row["failing"]["share"], -row["failing"]["look"], -row["samples"]))


def _latency_data(index: RunIndex, state: TableState) -> dict[str, Any] | None:
    """Return the distribution of the latency; None if no sample has one. The slowest samples are in the system strip."""
    values = index.named["latency"]() if "latency" in index.named else np.zeros(0)
    if not np.isfinite(values).any():
        return None
    low, high = value_range(values, (0.0, None))
    return {
        "spread": {"low": low, "high": high, "counts": count_values(values, low, high).tolist()},
        "start": range_start(state, "latency"),
        "median": float(np.nanmedian(values)),
    }


def _scatter_data(
    index: RunIndex, known: RowJudgements, state: TableState, matching: np.ndarray
) -> dict[str, Any] | None:
    """Return two columns of the rows as points, and links to the four quarters around their means; None without two columns."""
    columns = index.named.judged(known)
    choices = [*index.scores, *(name for name in _NUMBERS if name in columns)]
    first = [metric.metric for metric in headline_metrics(index.metrics, 2)]
    x = state.x if state.x in choices else next(iter(first), "")
    y = next((name for name in (state.y, *first, *choices) if name in choices and name != x), "")
    if not x or not y:
        return None
    across, up = (np.asarray(columns[name](), dtype=float) for name in (x, y))
    rows = np.flatnonzero(np.isfinite(across) & np.isfinite(up))
    chosen = np.zeros(len(index.ids), dtype=bool)
    chosen[matching] = True
    # Filtered rows first: the sample of a large run must show them.
    mixed = np.random.default_rng(0).permutation(rows)
    shown = np.sort(mixed[np.argsort(~chosen[mixed], kind="stable")][:MOST_POINTS])
    return {
        "x": _axis(index, x, across),
        "y": _axis(index, y, up),
        "choices": choices,
        "rows": len(rows),
        "start": range_start(state, x, y),
        # Thousands of links: a long filter would make the page slow.
        "query": query if len(query := state.but(page=1).address) <= _MOST_QUERY else "",
        "run": index.run.id,
        "points": [
            {
                "row": int(row) + 1,
                "id": one_line(index.ids[row].as_py(), 60),
                "x": float(across[row]),
                "y": float(up[row]),
            }
            | {"status": known.statuses[row] or NO_JUDGEMENT, "chosen": bool(chosen[row])}
            for row in shown
        ],
        "quarters": _quarters(index, known, state, matching, {x: across, y: up}) if len(rows) else [],
    }


def _axis(index: RunIndex, name: str, values: np.ndarray) -> dict[str, Any]:
    bounds = next((metric.bounds for metric in index.metrics if metric.metric == name), (None, None))
    low, high = value_range(np.where(np.isfinite(values), values, np.nan), bounds)
    return {"name": name, "written": write_name(name), "low": low, "high": high}


def _quarters(
    index: RunIndex, known: RowJudgements, state: TableState, matching: np.ndarray, columns: Mapping[str, np.ndarray]
) -> list[dict[str, Any]]:
    """Return the samples below and above the means of both columns, among those that pass the other filters."""
    (x, across), (y, up) = columns.items()
    kept = state.but(where=with_ranges(state.where, dict.fromkeys(columns, (None, None))))
    rows = matching if kept == state.but() else index.select(kept, known)[0]
    middles = {name: float(f"{np.nanmean(values):.3g}") for name, values in columns.items()}
    found = []
    for is_left in (True, False):
        for is_low in (True, False):
            ranges = {
                name: (None, middle) if below else (middle, None)
                for (name, middle), below in zip(middles.items(), (is_left, is_low), strict=True)
            }
            inside = (across[rows] < middles[x]) == is_left
            inside &= (up[rows] < middles[y]) == is_low
            inside &= ~np.isnan(across[rows]) & ~np.isnan(up[rows])
            changed = state.but(where=with_ranges(kept.where, ranges))
            words = " and ".join(
                f"{name} {'<' if below else '≥'} {short(middles[name])}" for name, below in ((x, is_left), (y, is_low))
            )
            address = f"{changed.address}#samples"
            found.append({"words": words, "rows": int(np.count_nonzero(inside)), "address": address})
    return found


def scatter_plot(data: Mapping[str, Any]) -> Markup:
    """Draw the points, each a link to its sample. A script turns a rectangle that is dragged over them into a filter."""
    width, height = _SIZE
    x, y = data["x"], data["y"]
    over, up = (
        Scale(x["low"], x["high"], _LEFT + 6, width - _RIGHT - 6),
        Scale(y["low"], y["high"], height - _FLOOR - 6, _TOP + 6),
    )
    parts = [line(_LEFT, up(tick), width - _RIGHT, up(tick), "grid") for tick in up.ticks()]
    parts += [text(_LEFT - 6, up(tick) + 4, short(tick), "end") for tick in up.ticks()]
    parts += [line(over(tick), _TOP, over(tick), height - _FLOOR, "grid") for tick in over.ticks()]
    parts += [text(over(tick), height - _FLOOR + 16, short(tick)) for tick in over.ticks()]
    parts.append(text(width - _RIGHT, height - 3, f"{x['name']} →", "end"))
    parts.append(text(4, 10, f"↑ {y['name']}", "start"))
    # Points outside of the filter first, so that they do not cover those within.
    spread = np.random.default_rng(0).uniform(-_JITTER, _JITTER, (len(data["points"]), 2))
    drawn = sorted(zip(data["points"], spread.tolist(), strict=True), key=lambda pair: pair[0]["chosen"])
    marks = [_mark(data, point, over(point["x"]) + dx, up(point["y"]) + dy) for point, (dx, dy) in drawn]
    counts = Counter(point["status"] for point in data["points"])
    words = ", ".join(f"{counts[status]:,} {status}" for status in _SHAPES if counts[status])
    ends = (over.left, over.right, x["low"], x["high"], up.left, up.right, y["low"], y["high"])
    return element(
        "svg",
        *parts,
        Markup("").join(marks),
        element("rect", class_="brush", width=0, height=0),
        **_frame(width, height, f"{y['name']} against {x['name']}, {len(data['points']):,} samples: {words}"),
        data_start=data["start"],
        data_x=x["written"],
        data_y=y["written"],
        data_axes=" ".join(repr(float(one)) for one in ends),
    )


def _frame(width: float, height: float, words: str) -> dict[str, Any]:
    """The attributes of a plot with links, and what it shows in words."""
    size = {"viewBox": f"0 0 {width:g} {height:g}", "width": width, "height": height}
    return {"class_": "plot scatter", "role": "group", "aria_label": words, **size}


def _mark(data: Mapping[str, Any], point: Mapping[str, Any], x: float, y: float) -> Markup:
    """One point. Written as text: there are thousands of them."""
    status, faded = point["status"], "" if point["chosen"] else " out"
    address = escape(point.get("address") or f"/runs/{data['run']}/samples/{point['row']}{data['query']}")
    words = escape(f"{point['id']}: {short(point['x'])}, {short(point['y'])}, {status}")
    drawn = (_SHAPES | _AGREEMENT_SHAPES)[status]
    shape = f'<path class="point {_TONES[status]}{faded}" d="M{x:.1f} {y:.1f}{drawn}"/>'
    return Markup(f'<a href="{address}" tabindex="-1"><title>{words}</title>{shape}</a>')  # noqa: S704  (all escaped)


def agreement_plot(data: Mapping[str, Any]) -> Markup:
    """Draw labelled rows, each a link to its sample: the score of the judge across, the label of people as strips."""
    width, height = _STRIP_SIZE
    over, up = Scale(0.0, 1.0, 62.0, width - _RIGHT - 6), Scale(0.0, 1.0, height - _FLOOR - 26, 40.0)
    parts = [line(over(tick), 10, over(tick), height - _FLOOR, "grid") for tick in over.ticks()]
    parts += [text(over(tick), height - _FLOOR + 16, short(tick)) for tick in over.ticks()]
    parts += [text(50, up(at) + 4, words, "end") for words, at in _STRIPS.items()]
    axis = "probability that the answer is right" if data["shown"] == STATUS else f"{data['shown']}, higher is better"
    parts.append(text(width - _RIGHT, height - 3, f"{axis} →", "end"))
    # Rows of a strip are spread evenly, in the same way on every visit.
    marks = [
        _mark(data, point, over(point["x"]), up(point["y"]) + 44 * ((number * _GOLDEN) % 1 - 0.5))
        for number, point in enumerate(data["points"][:MOST_POINTS])
    ]
    words = f"{data['shown']} against the labels of people: {'; '.join(count_agreements(data['points']))}"
    return element("svg", *parts, Markup("").join(marks), **_frame(width, height, words))


def count_agreements(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the points of each strip in words."""
    strips = {at: words for words, at in _STRIPS.items()}
    found = Counter((strips.get(one["y"], "differently by several people"), one["agrees"]) for one in points)
    names = [
        name for name in (*_STRIPS, "differently by several people") if {(name, True), (name, False)} & found.keys()
    ]
    return [f"labelled {name}: {found[name, True]} agree, {found[name, False]} disagree" for name in names]


def legend_marks(names: Sequence[str] = tuple(_SHAPES)) -> list[tuple[str, Markup]]:
    """Return statuses with their shapes."""
    box = {"class_": "plot mark", "viewBox": "0 0 12 12", "width": 12, "height": 12, "aria_hidden": "true"}
    shapes = _SHAPES | _AGREEMENT_SHAPES
    paths = [(name, element("path", class_=f"point {_TONES[name]}", d=f"M6 6{shapes[name]}")) for name in names]
    return [(name, element("svg", path, **box)) for name, path in paths]
