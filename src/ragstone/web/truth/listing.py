"""The list of ground truths: what there is, how large, who saved it last."""

from __future__ import annotations

from typing import Any

from ragstone.errors import StorageError
from ragstone.report.plain import one_line
from ragstone.truth.versions import VersionInfo
from ragstone.web.library import Library
from ragstone.web.truth.addresses import truth_address, version_address
from ragstone.web.truth.shelf import Shelf


def truths_page(library: Library) -> dict[str, Any]:
    """Every ground truth under the root with its newest version."""
    found, broken = [], []
    for name in library.truth.names():
        try:
            found.append(_row(library.truth, name))
        except StorageError as error:  # one broken folder must not hide the rest
            broken.append({"name": name, "why": str(error)})
    return {
        "page": "truths",
        "title": "Ground truth",
        "root": str(library.root),
        "truths": found,
        "broken": broken,
        "runs": any(library.is_finished(folder) for folder in library.folders()[:1]),
    }


def about_version(shelf: Shelf, info: VersionInfo) -> dict[str, Any]:
    """What every page says of a version."""
    return {
        "name": info.name,
        "number": info.number,
        "address": version_address(info.name, info.number),
        "created_at": info.created_at,
        "author": one_line(info.author, 80),
        "note": one_line(info.note, 300),
        "parent": info.parent,
        "cases": info.rows,
        "facts": dict(shelf.counts(info.name, info.number)),
        "waiting": shelf.waiting(info.name, info.number),
    }


def _row(shelf: Shelf, name: str) -> dict[str, Any]:
    numbers = shelf.numbers(name)
    newest = shelf.infos(name)[-1]
    return {
        "name": name,
        "address": truth_address(name),
        "versions": len(numbers),
        "newest": about_version(shelf, newest),
        "queue": truth_address(name, "queue"),
    }
