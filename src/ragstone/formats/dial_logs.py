"""DIAL's parsed logs: files of requests and replies in folders of deployments and days; a sample an exchange.

Rows that cannot be used are counted by reason and passed over, and so are parts that cannot be read: a log is as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ragstone.errors import InputError, StorageError
from ragstone.formats.base import Draft
from ragstone.formats.dial_rows import Rating, Unusable, read_row
from ragstone.formats.log_parts import Part, Selection, find_parts
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.storage.places import Place

_MARKS = [
    {"assembled_response"},
    {"question", "answer", "attachments"},
    {"request", "response", "trace"},
]
_PARTS_LOOKED_FOR = 3
_HALF_WRITTEN = "parts that are half-written or damaged"


class DialLogsFormat:
    """The exchanges of all parts that are asked for; ratings that stand among them go to `on_rating`."""

    name = "dial_logs"
    title = "DIAL parsed logs: a file or a folder of them by deployment and day"
    given: tuple[str, ...] = ()
    tolerant = True
    walks_folders = True

    def __init__(self, selection: Selection | None = None, on_rating: Callable[[Rating], None] | None = None) -> None:
        self.selection = selection or Selection()
        self.on_rating = on_rating

    def recognises(self, sources: Sequence[Source]) -> bool:
        """One file with the columns of these logs, or a folder in which the folders of days hold such files."""
        if len(sources) != 1:
            return False
        source = sources[0]
        if source.kind != "folder":
            return any(mark <= source.keys() for mark in _MARKS)
        return source.place is not None and _looks_like_logs(source.place)

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """The exchanges, part by part."""
        parts = report.info.setdefault("parts", [])
        for source in sources:
            if source.place is None:
                yield from self._of_part(source, Part(), report)
                continue
            for part in find_parts(source.place, self.selection):
                parts.append(str(part.place))
                yield from self._of_part(source if part.place == source.place else Source(part.place), part, report)

    def _of_part(self, source: Source, part: Part, report: Report) -> Iterator[Draft]:
        """The exchanges of one part; what of it cannot be read is counted."""
        unread = Report()
        rows = 0
        try:
            for row in source.rows(unread):
                rows += 1
                yield from self._of_row(row.values, f"{source}, {row.where}", part, report)
        except (InputError, StorageError):
            _check_storage(part.place)
            report.leave_out(_HALF_WRITTEN, str(source))
        if unread.total:
            report.leave_out("rows that cannot be read", f"{source}, {unread.problems[0].where}", unread.total)
        report.info["rows_read"] = report.info.get("rows_read", 0) + rows + unread.total

    def _of_row(self, row: Mapping[str, Any], where: str, part: Part, report: Report) -> Iterator[Draft]:
        found = read_row(row, part.day, lambda reason: report.leave_out(reason, where))
        if isinstance(found, Unusable):
            report.leave_out(found.reason, where)
            return
        if isinstance(found, Rating):
            report.info["ratings"] = report.info.get("ratings", 0) + 1
            if self.on_rating:
                self.on_rating(found)
            return
        metadata = found["metadata"]
        if part.deployment:
            metadata.setdefault("deployment", part.deployment)
        if not self.selection.has_deployment(metadata.get("deployment")):
            report.leave_out("rows of other deployments", where)
            return
        yield Draft(where, found)


def _looks_like_logs(folder: Place) -> bool:
    """Whether a folder holds the parts of a log where these logs have them: in folders of days."""
    parts = itertools.islice(find_parts(folder, Selection()), _PARTS_LOOKED_FOR)
    return any(part.day is not None for part in parts)


def _check_storage(place: Place | None) -> None:
    """Fail if the storage does not answer: only a file that can be read byte by byte is to blame for what it holds."""
    if place is not None:
        with place.open_input() as stream:
            stream.seek(max(0, stream.size() - 8))
            stream.read(8)


FORMAT = DialLogsFormat()
