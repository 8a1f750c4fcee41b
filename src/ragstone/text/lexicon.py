"""Word lists from `lexicon.toml`, and regular expressions that are compiled at first use."""

from __future__ import annotations

import re
import tomllib
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast


def lexicon(table: str) -> dict[str, Any]:
    """One table of `lexicon.toml`."""
    return cast("dict[str, Any]", _read_file()[table])


@cache
def _read_file() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def word_set(words: str) -> frozenset[str]:
    """The words of a list that is separated by white space."""
    return frozenset(words.split())


@cache
def number_words() -> dict[str, int]:
    """`zero` to `twenty`, `thirty`, …, `ninety`, with their numbers."""
    ones, tens = (lexicon("numbers")[name].split() for name in ("ones", "tens"))
    return dict(zip([*ones, *tens], [*range(20), *range(20, 100, 10)], strict=True))


def late_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, compiled when one of its methods is used: compiling all of them takes a tenth of the time of a small run.

    Functions of `re` do not accept it: call its methods.
    """
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
