"""Regular expressions that are compiled at first use: compiling all of them takes a tenth of the time of a small run."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


def late_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, compiled when one of its methods is used. Functions of `re` do not accept it: call its methods."""
    return cast("re.Pattern[str]", _LatePattern(source, flags))


class _LatePattern:
    """Gets the methods of the compiled pattern as its own attributes, each at first use."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        attribute = getattr(self._compiled, name)
        setattr(self, name, attribute)
        return attribute
