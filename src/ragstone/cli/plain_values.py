"""Option values that already have their type are used as they are.

typer converts each value, also each default, with a pydantic model of its own. Importing pydantic and building these models
takes a tenth of a second per command, and most options are texts, which need no conversion.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, get_args, get_origin


class PlainValues:
    """The converter of one option: other values are left to typer's own converter, which is made when it is needed."""

    def __init__(self, descriptor: Any, make_converter: Callable[[], Any]) -> None:
        self._is_list = get_origin(descriptor.annotation) is list
        self._kind = get_args(descriptor.annotation)[0] if self._is_list else descriptor.annotation
        self._info = descriptor.parameter_info
        self._make_converter = make_converter

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value with the type of the option; an error of typer if it cannot be converted."""
        if self._is_list and isinstance(value, list | tuple) and all(map(self._is_plain, value)):
            return list(value)
        if not self._is_list and self._is_plain(value):
            return value
        if value is None and not (param.multiple or param.nargs == -1):
            return None
        return self._make_converter().coerce(value, param=param, ctx=ctx)

    def _is_plain(self, value: Any) -> bool:
        if type(value) is not self._kind or self._kind not in (str, int, float) or self._info.parser is not None:
            return False
        low, high = self._info.min, self._info.max
        return (low is None or value >= low) and (high is None or value <= high)


def use_plain_values(params: list[Any]) -> list[Any]:
    """The options and arguments of a command of typer, which now use plain values.

    Versions of typer that convert without pydantic are left alone.
    """
    for param in params:
        if hasattr(param, "get_runtime_param") and "get_runtime_param" not in vars(param):
            plain = PlainValues(param.type_descriptor, param.get_runtime_param)
            param.get_runtime_param = partial(_same, plain)
    return params


def _same(plain: PlainValues) -> PlainValues:
    return plain
