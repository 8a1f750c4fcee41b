"""A small language that selects rows of a run: `unsure > 0 and faithfulness < .5 and slice.topic = "refunds"`.

    expression := and-part ("or" and-part)*          and-part := not-part ("and" not-part)*
    not-part   := "not" not-part | "(" expression ")" | condition
    condition  := name | name operator value | name "contains" text | name "is" ["not"] "missing"
    operator   := = != < <= > >=

A text is parsed to an immutable tree, and the tree is evaluated with arrays. A missing value matches no comparison; `not`
selects all other rows. Length, depth and the number of conditions are limited, so that any text is parsed and evaluated fast.
"""

from __future__ import annotations

import math
import operator as compare
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.analysis.cause_names import OLD_NAMES
from ragstone.data.usage import number_of
from ragstone.errors import UsageError, nearest

# Numbers (nan is missing), or texts (None is missing).
Column: TypeAlias = np.ndarray | pa.ChunkedArray
# The columns by their full names; each is read when a filter names it.
Columns: TypeAlias = Mapping[str, Callable[[], Column]]

MAX_LENGTH = 1_000
_MAX_DEPTH = 20
_MAX_CONDITIONS = 40
_MAX_SHOWN = 60
_KEYWORDS = frozenset(("and", "or", "not", "contains", "is", "missing"))
_OPERATORS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "=": compare.eq,
    "!=": compare.ne,
    "<": compare.lt,
    "<=": compare.le,
    ">": compare.gt,
    ">=": compare.ge,
}
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?%?(?![\w.%]))
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<quoted>`[^`]+`)
    |(?P<word>[^\W\d][\w.@:/-]*)
    |(?P<operator><=|>=|!=|==|[=<>])
    |(?P<bracket>[()])
    |(?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_LIKE_NUMBER = re.compile(r"[+-]?\.?\d[\w.%]*")
_PLAIN_NAME = re.compile(r"[^\W\d][\w.@:/-]*")


class FilterError(UsageError):
    """A filter is not valid. `position` is the place of the mistake, counted from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} (at character {position + 1})")
        self.position = position


@dataclass(frozen=True)
class Condition:
    """One comparison of a column. The operator is one of `=` to `>=`, `contains`, `missing`, or `true` for a name alone."""

    name: str
    operator: str
    value: float | str | None
    position: int


@dataclass(frozen=True)
class Not:
    """All rows that the part does not match."""

    part: Node


@dataclass(frozen=True)
class Both:
    """The rows that all parts match."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Either:
    """The rows that a part matches."""

    parts: tuple[Node, ...]


Node = Condition | Not | Both | Either


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class RowFilter:
    """A parsed filter: its tree, and the terms that it joins by `and`, each with its text."""

    tree: Node
    terms: tuple[tuple[Node, str], ...]

    @classmethod
    def parse(cls, text: str) -> RowFilter:
        """Parse a filter; raises FilterError with the position of the first mistake."""
        # Arrow takes no lone surrogates, which a command line may contain.
        text = text.encode("utf-8", "replace").decode()
        if len(text) > MAX_LENGTH:
            raise FilterError(f"the filter is longer than {MAX_LENGTH:,} characters", MAX_LENGTH)
        parser = _Parser(_tokens(text))
        tree = parser.expression(0)
        if parser.next.kind != "end":
            raise parser.error("expected and, or, or the end")
        if isinstance(tree, Both) and len(parser.spans) == len(tree.parts):
            spans = zip(tree.parts, parser.spans, strict=True)
            return cls(tree, tuple((part, text[start:end]) for part, (start, end) in spans))
        return cls(tree, ((tree, f"({text.strip()})" if isinstance(tree, Either) else text.strip()),))

    def rows(self, columns: Columns, count: int) -> np.ndarray:
        """Mark the rows that match; raises FilterError if a name is unknown or a comparison does not fit its column."""
        return _evaluate(self.tree, _Names(columns), count)


def terms_of(text: str) -> tuple[tuple[Node, str], ...]:
    """The terms that a filter joins by `and`; none if it is empty or not valid."""
    try:
        return RowFilter.parse(text).terms if text.strip() else ()
    except FilterError:
        return ()


def with_ranges(text: str, ranges: Mapping[str, tuple[float | None, float | None]], *, closed: bool = False) -> str:
    """The filter with values of these columns from the first to below the second number, in place of other ranges.

    None is an open end. With `closed`, the second number is included.
    """
    kept = [
        shown
        for node, shown in terms_of(text)
        if not (isinstance(node, Condition) and node.operator[0] in "<>" and node.name in ranges)
    ]
    for name, (low, high) in ranges.items():
        kept += [] if low is None else [f"{write_name(name)} >= {low!r}"]
        kept += [] if high is None else [f"{write_name(name)} {'<=' if closed else '<'} {high!r}"]
    return " and ".join(kept)


def write_name(name: str) -> str:
    """A name as a filter contains it: in backquotes if it is not one word."""
    return name if _PLAIN_NAME.fullmatch(name) and name.lower() not in _KEYWORDS else f"`{name}`"


def write_text(text: str) -> str:
    """A text as a filter contains it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while not found or found[-1].kind != "end":
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            if text[start] in "\"'`":
                raise FilterError("the closing quote is missing", start)
            if number := _LIKE_NUMBER.match(text, start):
                raise FilterError(f"{_shown(number[0])} is not a number", start)
            raise FilterError(f"{_shown(text[start])} is not expected here", start)
        kind = match.lastgroup
        word = match[kind]
        if kind == "word" and word.lower() in _KEYWORDS:
            kind, word = "keyword", word.lower()
        found.append(_Token(kind, word, match.start(match.lastgroup), match.end()))
        at = match.end()
    return found


class _Parser:
    """Recursive descent over tokens. `spans` are the places of the parts of the outermost `and`."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens, self._at, self._conditions = tokens, 0, 0
        self.spans: list[tuple[int, int]] = []

    @property
    def next(self) -> _Token:
        return self._tokens[self._at]

    def error(self, expected: str) -> FilterError:
        token = self.next
        instead = "the end" if token.kind == "end" else _shown(token.text)
        return FilterError(f"{expected}, not {instead}", token.start)

    def expression(self, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise FilterError(f"more than {_MAX_DEPTH} brackets and nots in each other", self.next.start)
        parts = [self._all(depth)]
        while self._accept("or"):
            parts.append(self._all(depth))
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _all(self, depth: int) -> Node:
        parts: list[Node] = []
        spans: list[tuple[int, int]] = []
        while not parts or self._accept("and"):
            start = self.next.start
            parts.append(self._part(depth))
            spans.append((start, self._tokens[self._at - 1].end))
        if not depth:
            self.spans = spans
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def _part(self, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise FilterError(f"more than {_MAX_DEPTH} brackets and nots in each other", self.next.start)
        if self._accept("not"):
            return Not(self._part(depth + 1))
        if self._accept("("):
            inside = self.expression(depth + 1)
            if not self._accept(")"):
                raise self.error("expected and, or, or )")
            return inside
        return self._condition()

    def _condition(self) -> Node:
        token = self.next
        if token.kind not in ("word", "quoted"):
            raise self.error("expected a name, such as faithfulness or status")
        self._conditions += 1
        if self._conditions > _MAX_CONDITIONS:
            raise FilterError(f"more than {_MAX_CONDITIONS} conditions", token.start)
        self._at += 1
        name = token.text.strip("`")
        if self._accept("is"):
            negated = self._accept("not")
            if not self._accept("missing"):
                raise self.error("expected missing")
            missing = Condition(name, "missing", None, token.start)
            return Not(missing) if negated else missing
        if self._accept("contains"):
            return Condition(name, "contains", self._text(), token.start)
        if self.next.kind == "operator":
            sign = {"==": "="}.get(self.next.text, self.next.text)
            self._at += 1
            value = self._value()
            value = OLD_NAMES.get(value, value) if name == "cause" and isinstance(value, str) else value
            return Condition(name, sign, value, token.start)
        return Condition(name, "true", None, token.start)

    def _value(self) -> float | str:
        token = self.next
        if token.kind != "number":
            return self._text()
        self._at += 1
        number = float(token.text.rstrip("%")) / (100 if token.text.endswith("%") else 1)
        if not math.isfinite(number):
            raise FilterError(f"{_shown(token.text)} is too large", token.start)
        return number

    def _text(self) -> str:
        token = self.next
        if token.kind not in ("text", "word", "number"):
            raise self.error("expected a number or a text in quotes")
        self._at += 1
        return re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL) if token.kind == "text" else token.text

    def _accept(self, word: str) -> bool:
        if self.next.kind in ("keyword", "bracket") and self.next.text == word:
            self._at += 1
            return True
        return False


class _Names:
    """Finds columns by full name, by the last part of a metric's name if only one metric has it, or by the name of a slice."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._read: dict[str, Column] = {}

    def find(self, condition: Condition) -> Column:
        """The column of a condition."""
        name = self._full(condition)
        if name not in self._read:
            self._read[name] = self._columns[name]()
        return self._read[name]

    def _full(self, condition: Condition) -> str:
        name = condition.name
        if name in self._columns:
            return name
        parts: dict[str, list[str]] = {}
        for full in self._columns:
            parts.setdefault(last_part(full), []).append(full)
        full_names = parts.get(name, [])
        if len(full_names) == 1:
            return full_names[0]
        if full_names:
            raise FilterError(f"{_shown(name)} is ambiguous: write {' or '.join(full_names[:4])}", condition.position)
        if f"slice.{name}" in self._columns:
            return f"slice.{name}"
        in_data = f"slice.{name.rpartition('.')[2]}"
        near = [in_data] if in_data in self._columns else nearest(name, [*parts, *self._columns], 1)
        hint = f"; did you mean {near[0]}?" if near else f"; the names are {', '.join(sorted(parts))}"
        hint += "" if condition.operator != "true" else "; the statuses are wrong, look and fine"
        raise FilterError(f"{_shown(name)} is not known{hint}", condition.position)


def last_part(name: str) -> str:
    """The name of a metric without its family: `faithfulness` of `ragchecker.faithfulness`."""
    if name.startswith("slice."):
        return name
    base, bracket, settings = name.partition("(")
    return base.rpartition(".")[2] + bracket + settings


def _evaluate(node: Node, names: _Names, count: int) -> np.ndarray:
    if isinstance(node, Condition):
        return _match(node, names.find(node), count)
    if isinstance(node, Not):
        return ~_evaluate(node.part, names, count)
    join = np.logical_and if isinstance(node, Both) else np.logical_or
    rows: np.ndarray = join.reduce([_evaluate(part, names, count) for part in node.parts])
    return rows


def _match(condition: Condition, column: Column, count: int) -> np.ndarray:
    is_number = isinstance(column, np.ndarray) and column.dtype != object
    sign, value = condition.operator, condition.value
    if sign == "missing":
        missing = np.isnan(column) if is_number else np.fromiter((one is None for one in _texts(column)), bool, count)
        return np.asarray(missing)
    if sign == "contains":
        if is_number:
            raise _misfit(condition, "is a number: use =, <, <=, > or >=")
        return _contains(column, str(value), count)
    if sign == "true":
        if not is_number:
            raise _misfit(condition, "is a text: compare it, such as with =, contains or is missing")
        return np.asarray(~np.isnan(column) & (column != 0))
    if isinstance(value, str):
        if is_number:
            raise _misfit(condition, f"is a number: compare it with a number, not with {_shown(value)}")
        if sign not in ("=", "!="):
            raise _misfit(condition, f"is a text: {sign} needs a number")
        return np.fromiter((one is not None and (one == value) is (sign == "=") for one in _texts(column)), bool, count)
    numbers = column if is_number else _numbers(column, count)
    with np.errstate(invalid="ignore"):
        return np.asarray(~np.isnan(numbers) & _OPERATORS[sign](numbers, float(value or 0.0)))


def _contains(column: Column, words: str, count: int) -> np.ndarray:
    if isinstance(column, pa.ChunkedArray):
        found = pc.fill_null(pc.match_substring(column, words, ignore_case=True), fill_value=False)
        return np.asarray(found.to_numpy(), dtype=bool)
    folded = words.lower()
    return np.fromiter((one is not None and folded in one.lower() for one in column), bool, count)


def _texts(column: Column) -> Sequence[str | None]:
    texts: Sequence[str | None] = column.to_pylist() if isinstance(column, pa.ChunkedArray) else column.tolist()
    return texts


def _numbers(column: Column, count: int) -> np.ndarray:
    """Texts that are numbers, such as the labels of `slice.top_k`."""
    known = map(number_of, _texts(column))
    return np.fromiter((np.nan if one is None else one for one in known), float, count)


def _misfit(condition: Condition, message: str) -> FilterError:
    return FilterError(f"{_shown(condition.name)} {message}", condition.position)


def _shown(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
