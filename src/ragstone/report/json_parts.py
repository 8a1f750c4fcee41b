"""Parts of JSON results: chosen fields, the first items of lists, and texts of limited length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from ragstone.errors import UnknownNameError


def pick_fields(value: Any, paths: Sequence[str], strict: bool = True) -> Any:
    """The named fields only: `name`, or `summary.metric` of all items of a list. If strict, an unknown name is an error.

    The last part of a name is enough if only one field has it. Below an empty list or null every name is accepted: a run without failures has no causes, and so no `causes.cause`.
    """
    wanted: dict[str, Any] = {}
    # Names may have dots themselves, as those of metrics.
    known, empty = dict[str, tuple[str, ...]](), set[str]()
    for names, inner in _list_fields(value):
        known[".".join(names)] = names
        if inner in (None, [], {}, ()):
            empty.add(".".join(names))
    whole = {known[path] for path in paths if path in known}
    for path in paths:
        alike = [path] if path in known else [one for one in known if one.endswith(f".{path}")]
        found = alike[0] if len(alike) == 1 else next((one for one in empty if path.startswith(f"{one}.")), None)
        if found is None and known and strict:
            raise UnknownNameError("field", path, known, f"The first fields are: {', '.join(islice(known, 40))}.")
        names, level = known.get(found or "", ()), wanted
        # A field that is wanted as a whole includes its parts.
        if not any(names[:end] in whole for end in range(len(names))):
            for name in names:
                level = level.setdefault(name, {})
    return _pick(value, wanted) if paths else value


def _pick(value: Any, wanted: dict[str, Any]) -> Any:
    if isinstance(value, list | tuple):
        return [_pick(item, wanted) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _pick(value[name], inner) if inner else value[name] for name, inner in wanted.items() if name in value
    }


def _list_fields(value: Any, start: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The path and the value of every field; items of a list share their paths."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _list_fields(item, start)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield (*start, name), inner
            yield from _list_fields(inner, (*start, name))


def cut_lists(value: Any, most: int) -> tuple[Any, dict[str, int]]:
    """The first `most` items of every list of objects or texts, and the length of each cut list by path.

    Numbers, such as intervals, stay whole. Items of a list share their paths; the longest list counts.
    """
    lengths: dict[str, int] = {}

    def cut(value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {name: cut(inner, f"{path}.{name}" if path else str(name)) for name, inner in value.items()}
        if not isinstance(value, list | tuple):
            return value
        if all(isinstance(item, int | float | None) for item in value):
            return list(value)
        if len(value) > most:
            lengths[path or "the list"] = max(len(value), lengths.get(path or "the list", 0))
        return [cut(item, path) for item in value[:most]]

    return cut(value, ""), lengths


def shorten_texts(value: Any, most: int) -> Any:
    """Every text, names of fields included, with at most `most` characters; a mark says how many are missing."""
    if isinstance(value, str):
        return value if len(value) <= most else f"{value[:most]}… ({len(value) - most:,} more characters)"
    if isinstance(value, dict):
        return {shorten_texts(str(name), most): shorten_texts(inner, most) for name, inner in value.items()}
    return [shorten_texts(item, most) for item in value] if isinstance(value, list | tuple) else value
