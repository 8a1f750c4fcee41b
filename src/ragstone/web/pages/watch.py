"""A watch: the series of its metrics with intervals and alarms, and per period the counts and the worst samples."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams

from ragstone.views.phrases import one_line
from ragstone.views.series import SeriesView
from ragstone.watch.series import Series
from ragstone.web.library import Library
from ragstone.web.navigation import ListPage, NotFoundError, whole_number

_PERIODS_PER_PAGE = 14
_WORST = 5
_QUESTION_LENGTH = 120
# Periods in the charts, by default the second.
_SPANS = (30, 90, 365)


def show_root(library: Library, query: QueryParams) -> dict[str, Any]:
    """The watch in the root, or the watches in its folders."""
    if library.watches.is_watch:
        return _show(library, "", query)
    names = library.watches.names()
    if len(names) == 1:
        return {"go": f"/watch/{quote(names[0], safe='')}"}
    listed = [{"name": name, "address": f"/watch/{quote(name, safe='')}"} for name in names]
    return {"page": "watches", "title": "Watches", "watches": listed, "root": str(library.root)}


def show_named(library: Library, query: QueryParams, name: str) -> dict[str, Any]:
    """A watch in a folder of the root."""
    if name not in library.watches.names():
        raise NotFoundError(f"watch {name[:80]} was not found under {library.root}")
    return _show(library, name, query)


def _show(library: Library, name: str, query: QueryParams) -> dict[str, Any]:
    store = library.watches.store(name)
    settings, series = store.settings(), library.watches.series(name)
    head = {
        "page": "watch",
        "title": f"Watch {store.place.name}",
        "name": store.place.name,
        "place": str(store.place),
        "nested": bool(name),
        "judge": str(settings.get("judge") or ""),
        "sources": [str(source) for source in settings.get("sources") or ()],
        "ready": series is not None,
    }
    return head if series is None else {**head, **_series_data(library, name, series, query)}


def _series_data(library: Library, name: str, series: Series, query: QueryParams) -> dict[str, Any]:
    last = whole_number(query.get("last"))
    span = last if last in _SPANS else _SPANS[1]
    data = SeriesView.of(series).page(span)
    shown = ListPage.cut(data["periods"], whole_number(query.get("page")), _PERIODS_PER_PAGE)
    records = {record.period: record for record in series.periods}

    def describe(period: dict[str, Any]) -> dict[str, Any]:
        record = records[period["period"]]
        return {
            **period,
            "worst": [
                {
                    "sample": row.sample_id,
                    "question": one_line(question, _QUESTION_LENGTH) or row.sample_id,
                    "quality": row.quality,
                    "address": f"/runs/{quote(row.run, safe='')}/samples/{row.row + 1}",
                }
                for row, question in library.watches.worst(name, record, _WORST)
            ],
            "links": [{"run": run, "address": f"/runs/{quote(run, safe='')}"} for run in record.runs],
        }

    base = {} if span == _SPANS[1] else {"last": span}
    page = shown.map(describe)
    return {
        **data,
        "periods": list(page.items),
        "total": len(series.periods),
        "span": span,
        "spans": [{"last": each, "address": f"?{urlencode({'last': each})}"} for each in _SPANS],
        "page_number": page.number,
        "pages": page.pages,
        "links": page.links(lambda number: f"?{urlencode({**base, 'page': number})}"),
    }


VIEWS = {"/watch": show_root, "/watch/{name}": show_named}
