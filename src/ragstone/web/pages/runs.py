"""The table of runs: a column per headline metric and parameter, filters, and the choice of runs to compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate
from pathlib import PurePath
from typing import Any
from urllib.parse import urlencode

from ragstone.analysis.part_metrics import people_of
from ragstone.data.summary import SummaryRow
from ragstone.errors import DamagedError, StorageError
from ragstone.report.html.run_page import describe_run
from ragstone.storage.human_labels import read_human_labels
from ragstone.storage.runs import Run, RunFolder
from ragstone.views.phrases import one_line
from ragstone.views.run import FEW, arrow_of, headline_metrics
from ragstone.web.library import Library
from ragstone.web.navigation import ListPage, whole_number
from ragstone.web.pages.run_progress import progress_of
from ragstone.web.run_trend import trend_data

_PAGE_SIZE = 50
_MAX_COLUMNS = 6
_MAX_TREND = 30
_MAX_QUERY = 200
# The statuses of this many rows of the first runs are counted; a second or two. Of other runs they are known after a visit.
_MAX_COUNTED = 1_000
FINISHED, NAME, SAMPLES = "finished", "name", "samples"
# Prefixes of the sort orders by a metric, by a parameter and by a figure of the evaluated system.
_METRIC, _PARAM, _SYSTEM = "metric:", "param:", "system:"
# The columns about the evaluated system: heading, and the figure that sorts them.
_SYSTEM_COLUMNS = {"latency": "latency_p50", "tokens": "input_tokens", "cost": "cost_per_1000"}
_NAMES = {"query": "q", "descending": "dir"}


@dataclass(frozen=True)
class RunsState:
    """Filters, sort order and page of the table of runs. It is stored in the address."""

    query: str = ""
    name: str = ""
    # The key of a data set: a hash of its sample ids.
    data: str = ""
    # The metric of the trend of the runs of `name`, and its horizontal axis.
    metric: str = ""
    by: str = ""
    sort: str = FINISHED
    descending: bool = False
    page: int = 1

    @classmethod
    def read(cls, query: Mapping[str, str]) -> RunsState:
        """Read the state from a query."""
        return cls(
            query=query.get("q", "").strip()[:_MAX_QUERY],
            name=query.get("name", "")[:_MAX_QUERY],
            data=query.get("data", "")[:_MAX_QUERY],
            metric=query.get("metric", "")[:_MAX_QUERY],
            by=query.get("by", "")[:_MAX_QUERY],
            sort=query.get("sort", FINISHED)[:_MAX_QUERY],
            descending=query.get("dir") == "down",
            page=max(1, whole_number(query.get("page")) or 1),
        )

    def but(self, **changes: Any) -> RunsState:
        """Return a changed copy; it starts at the first page unless `page` is given."""
        return replace(self, **({"page": 1} | changes))

    def sorted_by(self, name: str, high_first: bool = False) -> RunsState:
        """Return the state sorted by a column; if it is the current column, the order is reversed."""
        return self.but(sort=name, descending=not self.descending if self.sort == name else high_first)

    @property
    def address(self) -> str:
        """The state as an address, without default values."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        changed = [
            (_NAMES.get(item.name, item.name), "down" if item.name == "descending" else values[item.name])
            for item in fields(self)
            if values[item.name] != item.default
        ]
        return f"/runs?{urlencode(changed)}" if changed else "/runs"

    def has_words(self, run: Run) -> bool:
        """Check the name, and the words in name, id and parameters."""
        params = [f"{name}={value}" for name, value in run.info.params.items()]
        text = " ".join([run.name, run.id, *params]).casefold()
        return self.name in ("", run.name) and all(word in text for word in self.query.casefold().split())


def runs_page(library: Library, query: Mapping[str, str]) -> dict[str, Any]:
    """One page of the runs, filtered and sorted; the newest first by default."""
    folders = library.folders()
    keys: dict[str, str | None] = {}
    finished, broken = _open_all(library, folders, keys)
    state = RunsState.read(query)
    matching = [run for run in finished if state.has_words(run) and state.data in ("", keys[run.id])]
    page = ListPage.cut(_sorted(library, matching, state), state.page, _PAGE_SIZE)
    state = state.but(page=page.number)
    system = [name for name in _SYSTEM_COLUMNS if any(getattr(library.figures(run), name) for run in page.items)]
    metrics, params = _metric_columns(page.items, bool(system)), _param_columns(page.items)
    rows = [_row(library, run, list(metrics), params, _trend(library, run, finished, keys)) for run in page.items]
    labels, totals = read_human_labels(library.root).stamp, accumulate(run.info.rows for run in page.items)
    for row, run, total in zip(rows, page.items, totals, strict=True):
        row["statuses"] = library.statuses(run, labels, total <= _MAX_COUNTED)
    return {
        "page": "runs",
        "title": "Runs",
        "root": str(library.root),
        "watch": "/watch" if library.watches.any() else "",
        "state": state,
        "total": len(finished),
        "fitting": len(matching),
        "pages": page.pages,
        "links": page.links(lambda number: state.but(page=number).address),
        "names": [name for name, count in Counter(run.name for run in finished).items() if count > 1],
        "datasets": _datasets(finished, keys),
        "trend": _named_trend(library, finished, keys, state) if state.name else None,
        "waiting": None in keys.values(),
        "broken": broken,
        "under_way": [progress for folder in folders if (progress := progress_of(folder))],
        "plain": [_head(state, name, name == SAMPLES) for name in (NAME, SAMPLES, FINISHED)],
        "metrics": [
            {"metric": name, "arrow": arrow_of(better), **_head(state, _METRIC + name, better != "lower")}
            for name, better in metrics.items()
        ],
        "system": [{"name": name, **_head(state, _SYSTEM + name)} for name in system],
        "params": [{"param": name, **_head(state, _PARAM + name)} for name in params],
        "runs": rows,
        "trends": any(len(row["course"]["values"]) > 1 for row in rows),
    }


def _open_all(
    library: Library, folders: Iterable[RunFolder], keys: dict[str, str | None]
) -> tuple[list[Run], list[dict[str, str]]]:
    """Return the readable runs and the reasons why others cannot be read: one broken folder must not hide the rest.

    Adds the data sets of the readable runs to `keys`.
    """
    runs, broken = [], []
    for folder in folders:
        try:
            if run := library.open(folder):
                library.summary(run)
                keys[run.id] = library.dataset_key(run)
                runs.append(run)
            elif not folder.plan.exists() and folder.scores.exists():
                raise DamagedError(folder.manifest, "there is no such file")
        except StorageError as error:
            broken.append({"id": folder.id, "why": str(error)})
    return runs, broken


def _sorted(library: Library, runs: list[Run], state: RunsState) -> list[Run]:
    """Sort the runs, which come newest first; runs without a value come last in both directions."""
    kind, _, name = state.sort.partition(":")
    values: dict[str, Any]
    if f"{kind}:" == _METRIC:
        values = {run.id: _quoted(run, row) if (row := library.summary(run).get(name)) else None for run in runs}
    elif f"{kind}:" == _SYSTEM and name in _SYSTEM_COLUMNS:
        values = {run.id: getattr(library.figures(run), _SYSTEM_COLUMNS[name]) for run in runs}
    elif f"{kind}:" == _PARAM:
        values = {run.id: run.info.params.get(name) for run in runs}
    elif state.sort in (NAME, SAMPLES):
        values = {run.id: run.name.casefold() if state.sort == NAME else run.info.rows for run in runs}
    else:
        listed = runs[::-1] if state.descending else runs  # within a second, by start
        return sorted(listed, key=lambda run: str(run.info["finished_at"]), reverse=not state.descending)
    known = [run for run in runs if values[run.id] is not None]
    known.sort(key=lambda run: _sort_key(values[run.id]), reverse=state.descending)
    return [*known, *(run for run in runs if values[run.id] is None)]


def _quoted(run: Run, row: SummaryRow) -> float | None:
    """Return the number to quote, as on the page of the run."""
    people = people_of(run.info, [row]).get(row.metric)
    return people.mean if people else row.mean


def _sort_key(value: Any) -> tuple[bool, float, str]:
    is_number = isinstance(value, int | float)
    return not is_number, float(value) if is_number else 0.0, "" if is_number else str(value).casefold()


def _head(state: RunsState, sort: str, high_first: bool = False) -> dict[str, str]:
    # The default order is the newest first.
    down = state.descending != (sort == FINISHED)
    order = ("descending" if down else "ascending") if state.sort == sort else ""
    return {"sort": sort, "address": state.sorted_by(sort, high_first).address, "order": order}


def _metric_columns(runs: Iterable[Run], system: bool) -> dict[str, str]:
    """Return the headline metrics of the runs with their directions, the most frequent first.

    Metrics of the system are left out if it has columns of its own.
    """
    chosen = [
        metric
        for run in runs
        for metric in headline_metrics(run.info.metrics, FEW)
        if not system or metric.family != "system"
    ]
    counts = Counter(metric.metric for metric in chosen)
    better = {metric.metric: metric.better for metric in chosen}
    return {name: better[name] for name, _ in counts.most_common(_MAX_COLUMNS - 2 * system)}


def _param_columns(runs: Iterable[Run]) -> list[str]:
    counts = Counter(name for run in runs for name in run.info.params)
    return [name for name, _ in counts.most_common(_MAX_COLUMNS)]


def _datasets(runs: Sequence[Run], keys: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """Return the data sets: the runs that have the same sample ids."""
    members: dict[str, list[Run]] = {}
    for run in runs:
        if key := keys[run.id]:
            members.setdefault(key, []).append(run)
    names = {key: f"{_dataset_name(group)}, {group[0].info.rows:,} samples" for key, group in members.items()}
    common = Counter(names.values())
    return [
        {
            "key": key,
            # A run distinguishes data sets of the same file name.
            "name": names[key] if common[names[key]] == 1 else f"{names[key]}, as in {one_line(group[0].name, 40)}",
            "runs": len(group),
        }
        for key, group in members.items()
    ]


def _dataset_name(runs: Sequence[Run]) -> str:
    """Return the name of the ground truth, of the file or, if the files differ, of their folder."""
    truths = {str((run.info.get("truth") or {}).get("name") or "") for run in runs}
    paths = [PurePath(str(run.info["dataset"].get("path") or "")) for run in runs]
    for names in (truths, {path.name for path in paths}, {path.parent.name for path in paths}):
        if len(names) == 1 and (name := next(iter(names))):
            return one_line(name, 40)
    return one_line(f"{paths[-1].name} and others", 40)


def _named_trend(
    library: Library, runs: Sequence[Run], keys: Mapping[str, str | None], state: RunsState
) -> dict[str, Any] | None:
    """Return the trend of the runs of a name on the data set of the newest of them, or on the chosen one."""
    named = [run for run in runs if run.name == state.name and state.data in ("", keys[run.id])]
    same = [run for run in named if keys[run.id] and keys[run.id] == keys[named[0].id]]
    return trend_data(same, library.summary, state.metric, state.by)


def _trend(library: Library, run: Run, runs: Sequence[Run], keys: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the main metric of the runs of the same system on the same data set, from the oldest to the newest."""
    main = headline_metrics(run.info.metrics, 1)
    metric = main[0].metric if main else ""
    same = [other for other in runs if other.name == run.name and keys[run.id] and keys[other.id] == keys[run.id]]
    listed = [
        (other.id, row.mean) for other in same[:_MAX_TREND] if (row := library.summary(other).get(metric)) and metric
    ][::-1]
    here = next((position for position, (name, _) in enumerate(listed) if name == run.id), None)
    address = f"{RunsState(name=run.name, data=keys[run.id] or '', metric=metric).address}#trend"
    return {"metric": metric, "values": [mean for _, mean in listed], "here": here, "address": address}


def _row(
    library: Library, run: Run, metrics: Sequence[str], params: Sequence[str], trend: Mapping[str, Any]
) -> dict[str, Any]:
    summary, described = library.summary(run), describe_run(run)
    rows = [summary.get(name) for name in metrics]
    return {
        **described,
        "metrics": [
            {
                "metric": name,
                "mean": row.mean if row else None,
                "quoted": _quoted(run, row) if row else None,
                "low": row.ci_low if row else None,
                "high": row.ci_high if row else None,
            }
            for name, row in zip(metrics, rows, strict=True)
        ],
        "system": library.figures(run),
        "values": [described["params"].get(name, "") for name in params],
        "course": trend,
    }


VIEWS = {"/runs": runs_page}
