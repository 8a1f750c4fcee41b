"""Sweeps: the list, and the page that `ragstone sweep` also writes as a file, with a link from each setting to its run."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams

from ragstone.errors import StorageError
from ragstone.report.html.sweep_page import sweep_data
from ragstone.report.sweep import asked_line, headline
from ragstone.storage.places import read_json
from ragstone.sweep.results import read_results
from ragstone.sweep.sweep_folder import FOLDER, SweepFolder
from ragstone.views.phrases import one_line
from ragstone.web.library import Library
from ragstone.web.navigation import SAFE_NAME, NotFoundError, is_inside

_MAX_LISTED = 200


def sweeps_page(library: Library, query: QueryParams) -> dict[str, Any]:
    """The sweeps under the root, newest first."""
    del query
    folders = sweep_folders(library)
    listed = [_describe(folder) for folder in folders[:_MAX_LISTED]]
    return {
        "page": "sweeps",
        "title": "Sweeps",
        "root": str(library.root),
        "total": len(folders),
        "sweeps": [one for one in listed if one],
    }


def sweep_folders(library: Library) -> list[SweepFolder]:
    """The folders of sweeps under the root, newest first."""
    places = reversed((library.root / FOLDER).children())
    return [SweepFolder(place) for place in places if is_inside(library.root, place)]


def _describe(folder: SweepFolder) -> dict[str, Any] | None:
    """A row of the list; a sweep without results is not finished. None if the folder is not a sweep."""
    row: dict[str, Any] = {"id": folder.id, "name": folder.id, "address": f"/sweeps/{quote(folder.id, safe='')}"}
    row |= {"finished": False, "broken": ""}
    try:
        if not folder.is_finished:
            if not folder.plan.exists():
                return None
            plan = read_json(folder.plan)
            return {**row, "name": one_line(str(plan["name"]), 120) if isinstance(plan, dict) else folder.id}
        results = read_results(folder)
    except StorageError as error:
        return {**row, "broken": str(error)}
    return {
        **row,
        "finished": True,
        "name": one_line(results.name, 120) or folder.id,
        "headline": headline(results),
        "asked": asked_line(results),
    }


def sweep_page(library: Library, query: QueryParams, name: str) -> dict[str, Any]:
    """One sweep by the name of its folder."""
    del query
    place = library.root / FOLDER / name
    if not SAFE_NAME.fullmatch(name) or not is_inside(library.root, place) or not place.is_folder():
        raise NotFoundError(f"sweep {name[:80]} was not found under {library.root}")
    folder = SweepFolder(place)
    if not folder.is_finished:
        raise NotFoundError(f"sweep {name} is not finished. Repeat its command with --resume to finish it.")
    data = sweep_data(read_results(folder))
    known = {one.id for one in library.folders()}
    for row in data["rows"]:
        row["address"] = f"/runs/{quote(row['one'].run, safe='')}" if row["one"].run in known else ""
    runs = [row["one"].run for row in data["rows"] if row["address"] and row["one"].status == "finished"]
    best_two = f"/compare/{quote(runs[1], safe='')}/{quote(runs[0], safe='')}" if len(runs) > 1 else ""
    all_runs = f"/compare?{urlencode([('run', run) for run in runs])}" if len(runs) > 2 else ""
    return {"page": "sweep", **data, "best_two": best_two, "all_runs": all_runs}


VIEWS = {"/sweeps": sweeps_page, "/sweeps/{name}": sweep_page}
