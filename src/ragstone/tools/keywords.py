"""Keyword arguments of public functions: a misspelled one is refused with the nearest names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar, cast

from ragstone.errors import UnknownColumnsError, nearest

# Options of the command line that have another name in Python.
_OTHER_NAMES = {"map": "columns", "baseline": "against", "slice": "slices", "metric": "metrics"}
# What an option of the command line is in Python if it is not an argument.
_INSTEAD = {"truth": 'from ragstone.truth.join import read_with_truth: pass read_with_truth(DATA, "NAME") as the data'}
F = TypeVar("F", bound=Callable[..., Any])


def refuses_unknown_names(function: F, names: Iterable[str] = ()) -> F:
    """Decorator: a keyword argument that the function does not have is a TypeError with a suggestion.

    `names` are those that it takes; those of its signature by default.
    """
    known = list(names) or list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def wrapper(*positional: Any, **keywords: Any) -> Any:
        for name in keywords:
            if name not in known:
                raise TypeError(describe_unknown(function.__name__, name, known))
        try:
            return function(*positional, **keywords)
        except UnknownColumnsError as error:
            named = dict(option.split("=", 1) for option in error.options if "=" in option)
            columns = named or {"question": "COLUMN", "answer": "COLUMN"}
            raise UnknownColumnsError(f"{error} (in Python: columns={columns})", error.options) from None

    return cast("F", wrapper)


def describe_unknown(function: str, name: str, known: Collection[str]) -> str:
    """The message about a keyword argument that a function does not have."""
    near = [_OTHER_NAMES[name]] if _OTHER_NAMES.get(name) in known else nearest(name, known)
    hint = f". {_INSTEAD[name]}" if name in _INSTEAD else f". Did you mean {' or '.join(near)}?" if near else ""
    return f"{function}() got an unexpected keyword argument '{name}'{hint}"
