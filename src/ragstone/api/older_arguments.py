"""The keyword arguments of 0.1.0. They work for one more version, with a warning that says what to write."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from ragstone.formats import open_reader
from ragstone.tools.judging_options import OPTIONS, as_judge
from ragstone.tools.keywords import refuses_unknown_names

_READING = ("format", "split_contexts", "encoding")
F = TypeVar("F", bound=Callable[..., Any])
# The function of `note=`, which is called with each remark in place of the logger.
NOTE: ContextVar[Callable[[str], object] | None] = ContextVar("note", default=None)


def accepts_older(function: F) -> F:
    """Decorator for a function with the arguments `data`, `columns`, `limit` and `judge`: it takes those of 0.1.0 too."""
    signature = inspect.signature(function)
    own = list(signature.parameters)

    @functools.wraps(function)
    def wrapper(*positional: Any, **keywords: Any) -> Any:
        older = {name: keywords.pop(name) for name in list(keywords) if name not in own}
        given = {name: value for name, value in older.items() if value is not None}
        if not given:
            return function(*positional, **keywords)
        arguments = signature.bind(*positional, **keywords).arguments
        token = NOTE.set(given.get("note"))
        try:
            instead = _translate(arguments, given)
            names = ", ".join(f"{name}=…" for name in given)
            text = (
                f"{function.__name__}({names}) is deprecated, the next version refuses it. Write {'; '.join(instead)}"
            )
            warnings.warn(text, DeprecationWarning, stacklevel=3)
            return function(**arguments)
        finally:
            NOTE.reset(token)

    older_names = [*OPTIONS, *_READING, *(["note", "workers"] if "backend" in own else [])]
    return cast("F", refuses_unknown_names(wrapper, [*own, *(name for name in older_names if name not in own)]))


def _translate(arguments: dict[str, Any], older: Mapping[str, Any]) -> list[str]:
    """Change the arguments to those of today; returns how each is written."""
    instead = []
    if models := {name: value for name, value in older.items() if name in OPTIONS}:
        judge = arguments.get("judge")
        instead.append(f"judge=ragstone.Judge({', '.join([*([_short(judge)] if judge else []), *_spelled(models)])})")
        arguments["judge"] = as_judge(judge, **models)
    if reading := {name: value for name, value in older.items() if name in _READING}:
        instead.append(f"data=ragstone.read_dataset(DATA, {', '.join(_spelled(reading))})")
        columns, limit = arguments.get("columns"), arguments.get("limit")
        arguments["data"] = open_reader(arguments["data"], columns=columns, limit=limit, **reading)
    if "workers" in older:
        arguments["backend"] = f"{arguments.get('backend', 'local')}:{older['workers']}"
        instead.append(f'backend="{arguments["backend"]}"')
    if "note" in older:
        instead.append('a handler for logging.getLogger("ragstone") in place of note=')
    return instead


def _spelled(values: Mapping[str, Any]) -> list[str]:
    return [f"{name}={_short(value)}" for name, value in values.items()]


def _short(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float | bool) and len(repr(value)) <= 60 else "…"
