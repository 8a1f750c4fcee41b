"""The addresses of ground truth: what can be looked at, and what can be changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.datastructures import QueryParams

from ragstone.web.library import Library
from ragstone.web.truth.case import case_page, check_page, new_case_page
from ragstone.web.truth.changes import diff_page
from ragstone.web.truth.listing import truths_page
from ragstone.web.truth.making import export_page, make, make_page
from ragstone.web.truth.queue import queue_page
from ragstone.web.truth.rescoring import rescore_page, start_rescoring
from ragstone.web.truth.review import review_page, save
from ragstone.web.truth.table import read_version, truth_page

Page = dict[str, Any]


def _truths(library: Library, _: Sequence[str], query: QueryParams) -> Page:  # noqa: ARG001
    return truths_page(library)


def _truth(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return truth_page(library, names[0], None, query)


def _version(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return truth_page(library, names[0], read_version(names[1]), query)


def _case(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return case_page(library, names[0], query)


def _new(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return new_case_page(library, names[0], query)


def _queue(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return queue_page(library, names[0], query)


def _diff(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return diff_page(library, names[0], query)


def _export(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return export_page(library, names[0], query)


def _newest(library: Library, names: Sequence[str], _: QueryParams) -> Page:
    return {"page": "newest", "newest": library.truth.newest(names[0])}


def _make_page(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return make_page(library, library.run(names[0]), query)


def _rescore_page(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return rescore_page(library, names[0], query)


def _rescore(library: Library, names: Sequence[str], form: QueryParams) -> Page:
    return start_rescoring(library, names[0], form, form.getlist("run"))


def _make(library: Library, _: Sequence[str], form: QueryParams) -> Page:
    return make(library, form)


def _check(library: Library, names: Sequence[str], form: QueryParams) -> Page:
    return check_page(library, names[0], form)


def _review(library: Library, names: Sequence[str], form: QueryParams) -> Page:
    return review_page(library, names[0], form)


def _save(library: Library, names: Sequence[str], form: QueryParams) -> Page:
    return save(library, names[0], form)


# The more particular ones first: the first that fits is taken.
TRUTH_VIEWS = {
    "/runs/{run}/truth": _make_page,
    "/truth": _truths,
    "/truth/{name}/case": _case,
    "/truth/{name}/new": _new,
    "/truth/{name}/queue": _queue,
    "/truth/{name}/diff": _diff,
    "/truth/{name}/export": _export,
    "/truth/{name}/rescore": _rescore_page,
    "/truth/{name}/v{number}": _version,
    "/truth/{name}": _truth,
}
# For scripts alone: they have no page.
TRUTH_TWINS = {"/truth/{name}/newest": _newest}
TRUTH_CHANGES = {
    "/truth": _make,
    "/truth/{name}/check": _check,
    "/truth/{name}/review": _review,
    "/truth/{name}/save": _save,
    "/truth/{name}/rescore": _rescore,
}
