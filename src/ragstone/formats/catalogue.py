"""The formats in this package, by name and by content."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ragstone.errors import InputError, Problem, UnknownNameError, UsageError
from ragstone.formats.base import Format
from ragstone.formats.chat import check_assistant, messages_column
from ragstone.formats.column_map import map_columns, note_columns
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source


@cache
def formats() -> dict[str, Format]:
    """All formats by name: the FORMAT of each module of this package that has one."""
    names = [info.name for info in pkgutil.iter_modules([str(Path(__file__).parent)])]
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names]
    found = [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return {item.name: item for item in sorted(found, key=lambda item: item.name)}


def find_format(name: str) -> Format:
    """The format of that name."""
    if name not in formats():
        raise UnknownNameError("format", name, formats(), f"Choose from: {', '.join(formats())}.")
    return formats()[name]


def recognise(sources: Sequence[Source]) -> Format:
    """The format that matches the content. Foreign formats come first, as their names are more specific."""
    candidates = [item for item in formats().values() if item.name != "ragstone" and item.recognises(sources)]
    own = formats()["ragstone"]
    if not candidates and own.recognises(sources):
        candidates = [own]
    if len(candidates) == 1:
        note_columns(sources, candidates[0])
        return candidates[0]
    names = " and ".join(str(source) for source in sources)
    if candidates:
        choices = " or ".join(item.name for item in candidates)
        raise UsageError(f"{names} could be {choices}: choose one with --format")
    for source in sources:
        _check_readable(source)
    if len(sources) == 1 and sources[0].keys():
        if name := messages_column(sources[0]):
            sources[0].guess({"messages": name})
            return formats()["chat"]
        check_assistant(sources[0])
        map_columns(sources[0])
        return own
    raise UsageError(f"cannot detect the format of {names}. {_advice(sources)}")


def _check_readable(source: Source) -> None:
    """Raise the problems of a file without a single readable row: its format is not the reason."""
    if source.kind in ("folder", "text") or source.keys():
        return
    report = Report()
    for _ in source.rows(report):
        return
    report.raise_problems(str(source))
    raise InputError(str(source), [Problem("has no samples", hint="there must be at least one")])


def _advice(sources: Sequence[Source]) -> str:
    if len(sources) > 1:
        return "Two files must be DIAL tables, or TREC qrels and run. Choose with --format."
    if sources[0].kind == "folder":
        return "It is a folder: pass a file, or a BEIR folder with corpus.jsonl, queries.jsonl and qrels."
    if sources[0].kind == "text" and sources[0].is_workbook:
        return "It is an Excel workbook: save the sheet as CSV UTF-8 and pass that file."
    return f"Choose one with --format: {', '.join(formats())}."
