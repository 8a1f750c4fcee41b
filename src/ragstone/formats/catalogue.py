"""All formats, found by looking into this package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

import ragstone.formats as package
from ragstone.data.schema import FIELDS
from ragstone.errors import InputError, Problem, UnknownNameError, UsageError, nearest
from ragstone.formats.base import Format
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source


@cache
def formats() -> dict[str, Format]:
    """Every format by name; a module of this package with a FORMAT is one."""
    modules = (
        importlib.import_module(f"{package.__name__}.{info.name}") for info in pkgutil.iter_modules(package.__path__)
    )
    found = [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return {item.name: item for item in sorted(found, key=lambda item: item.name)}


def find_format(name: str) -> Format:
    """The format of that name."""
    if name not in formats():
        raise UnknownNameError("format", name, formats(), f"There are: {', '.join(formats())}.")
    return formats()[name]


def recognise(sources: Sequence[Source]) -> Format:
    """The one format that the content fits. Foreign formats are asked first: their names are the more particular ones."""
    candidates = [item for item in formats().values() if item.name != "ragstone" and item.recognises(sources)]
    if not candidates and formats()["ragstone"].recognises(sources):
        return formats()["ragstone"]
    if len(candidates) == 1:
        return candidates[0]
    names = " and ".join(str(source) for source in sources)
    if candidates:
        choices = " or ".join(item.name for item in candidates)
        raise UsageError(f"{names} could be {choices}: say which with --format")
    for source in sources:
        _check_readable(source)
    raise UsageError(f"cannot tell the format of {names}. {_advice(sources)}")


def _check_readable(source: Source) -> None:
    """Say what is wrong with a file of which not a single row can be read: then its format is not the question."""
    if source.kind in ("folder", "text") or source.keys():
        return
    report = Report()
    for _ in source.rows(report):
        return
    report.raise_problems(str(source))
    raise InputError(str(source), [Problem("has no samples", hint="there must be at least one")])


def _advice(sources: Sequence[Source]) -> str:
    if len(sources) > 1:
        return "Two files must be DIAL tables, or TREC qrels and run; say which with --format."
    if sources[0].kind == "folder":
        return "It is a folder: give a file, or a folder of BEIR with corpus.jsonl, queries.jsonl and qrels."
    keys = sorted(sources[0].keys())
    if not keys:
        return f"Say which it is with --format: {', '.join(formats())}."
    near = next(((name, key) for key in keys for name in nearest(key, FIELDS, 1)), None)
    known = "question, answer, contexts, references"
    example = f"--map {near[0]}={near[1]}" if near else f"--map question={keys[0]}"
    return (
        f"Its columns are {', '.join(keys[:12])}; ours are {known} and more. Rename them with, for instance, {example}"
    )
