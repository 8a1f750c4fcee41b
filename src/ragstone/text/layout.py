"""Lists, headings and tables: as running text that a small model can read, and tables as cells.

A line ends with a separator, so that items do not run together: `;`, or `:` after a heading. A row of a table repeats its column
heads: `Size: large; Price: 12 €.` Tables are those of Markdown and HTML, and lines with the same number of separators.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from ragstone.text.lexicon import late_pattern
from ragstone.text.verbatim import BULLET, plain_text

_STOPS = tuple(".!?:;,…。！？；：")
_HEADING = late_pattern(r"^[ \t]*#{1,6}[ \t]+|^[ \t]*(\*\*|__)[^*_\n]+\1[ \t]*:?[ \t]*$")
_RULE = late_pattern(r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$")
_SEPARATORS = (
    late_pattern(r"(?<!\\)\|"),
    late_pattern(r"\t+"),
    late_pattern(r";"),
    late_pattern(r" {2,}"),
    late_pattern(r","),
)
_MARKED = late_pattern(r"\||\t|<t", re.IGNORECASE)
_ANY_SEPARATOR = late_pattern(r"[|\t;,]| {2}")
_LEAST_CELLS, _LEAST_ROWS = 3, 3
# Longer cells between commas or semicolons are parts of sentences.
_MOST_WORDS = 6
_MARKS = {"✔": "yes", "✓": "yes", "✅": "yes", "☑": "yes", "✘": "no", "✗": "no", "✕": "no", "❌": "no", "☐": "no"}
_VALUE = late_pattern(r"\W{0,2}\d")
_TAG = late_pattern(r"<[^<>]{1,300}>")
_HTML_TABLE = late_pattern(r"<table\b.*?(?:</table>|\Z)", re.DOTALL | re.IGNORECASE)
_HTML_ROW = late_pattern(r"<tr\b[^>]*>(.*?)(?=</tr>|<tr\b|\Z)", re.DOTALL | re.IGNORECASE)
_HTML_CELL = late_pattern(r"<t[hd]\b[^>]*>(.*?)(?=</t[hd]>|<t[hd]\b|\Z)", re.DOTALL | re.IGNORECASE)
_HTML_LINES = (
    (late_pattern(r"[ \t]*<li\b[^>]*>", re.IGNORECASE), "\n- "),
    (late_pattern(r"[ \t]*<h[1-6]\b[^>]*>", re.IGNORECASE), "\n\n## "),
    (late_pattern(r"[ \t]*<(?:p|div|br)\b[^>]*>|</(?:h[1-6]|[ou]l|p|div)>", re.IGNORECASE), "\n"),
)

Row = list[str]


class Table(NamedTuple):
    """The column heads, if there are any, and the cells of each row, without layout marks."""

    heads: Row
    rows: list[Row]

    def lines(self) -> Iterator[str]:
        """Each row as a sentence, with the column heads."""
        for row in self.rows:
            pairs = [(head, cell) for head, cell in zip_longest(self.heads, row, fillvalue="") if cell]
            yield "; ".join(f"{head}: {cell}" if head else cell for head, cell in pairs) + "."


def readable(text: str) -> str:
    """The text without layout marks, with separators at the ends of lines and with the column heads in each row of a table."""
    text = _without_tags(text)
    if "\n" not in text:
        return plain_text(text)
    return "\n".join(_lines(text.split("\n")))


def split_tables(text: str) -> list[str | Table]:
    """A text as its tables (Markdown, HTML, tabs) and what is between them; the text itself if it has none."""
    if not _MARKED.search(text):
        return [text]
    blocks: list[str | Table] = []
    lines, start, at = _without_tags(text).split("\n"), 0, 0
    while at < len(lines):
        table, size = _table(lines, at, _SEPARATORS[:2])
        if table:
            blocks += ["\n".join(lines[start:at]), table]
            start = at + size
        at += size or 1
    return [*blocks, "\n".join(lines[start:])] if blocks else [text]


@lru_cache(maxsize=512)
def tables(text: str) -> tuple[Table, ...]:
    """The tables of a text."""
    return tuple(block for block in split_tables(text) if isinstance(block, Table))


def _without_tags(text: str) -> str:
    """HTML tables as Markdown tables; items, headings and paragraphs on lines of their own."""
    if "<" not in text or not _TAG.search(text):
        return text

    def table(match: re.Match[str]) -> str:
        rows = [[_cell_text(cell) for cell in _HTML_CELL.findall(row)] for row in _HTML_ROW.findall(match[0])]
        lines = [f"| {' | '.join(row)} |" for row in rows if row]
        return "\n".join(["", *lines[:1], "|---|" * bool(lines), *lines[1:], ""])

    if (found := _HTML_TABLE.search(text)) is None and not re.search(r"</\w+>|<br\b", text):
        return text
    text = _HTML_TABLE.sub(table, text) if found else text
    for tag, line in _HTML_LINES:
        text = tag.sub(line, text)
    return html.unescape(_TAG.sub("", text))


def _cell_text(cell: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", cell)).split()).replace("|", "/")


def _lines(lines: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        table, size = _table(lines, at, _SEPARATORS)
        if table:
            yield from table.lines()
            at += size
            continue
        line, following = lines[at], next((line for line in lines[at + 1 :] if line.strip()), "")
        yield _closed(line, following)
        at += 1


def _closed(line: str, following: str) -> str:
    """The line with a separator at its end, unless it has one or the sentence continues on the next line."""
    plain = plain_text(line).strip()
    if not plain or plain.endswith(_STOPS) or not following:
        return plain
    if _HEADING.match(line) or (_is_item(following) and not _is_item(line)):
        return f"{plain}:"
    return plain if following.lstrip()[:1].islower() else f"{plain};"


def _is_item(line: str) -> bool:
    return BULLET.match(line) is not None


def _table(lines: Sequence[str], at: int, separators: Sequence[re.Pattern[str]]) -> tuple[Table | None, int]:
    """The table that begins at a line, and its number of lines."""
    if not _ANY_SEPARATOR.search(lines[at]):
        return None, 0
    for separator in separators:
        rows, count, ruled = _rows(lines, at, separator)
        if len(rows) >= (2 if ruled else _LEAST_ROWS) and _is_table(rows, separator, ruled):
            heads, *body = cells = [[plain_text(_MARKS.get(cell, cell)) for cell in row] for row in rows]
            return (Table([], cells) if not ruled and _has_values(rows[0], rows[1]) else Table(heads, body)), count
    return None, 0


def _rows(lines: Sequence[str], at: int, separator: re.Pattern[str]) -> tuple[list[Row], int, bool]:
    """The cells of the lines from here on that have as many as the first one; a rule below the heads is not a row."""
    rows: list[Row] = []
    ruled, count = False, 0
    for line in lines[at:]:
        if rows and _RULE.match(line) and "-" in line:
            ruled, count = True, count + 1
            continue
        cells = [cell.strip() for cell in separator.split(line.strip().removeprefix("|").removesuffix("|"))]
        if len(cells) < 2 or (rows and len(cells) != len(rows[0]) and not (ruled and "|" in line)):
            break
        rows.append(cells)
        count += 1
    return rows, count, ruled


def _is_table(rows: Sequence[Row], separator: re.Pattern[str], ruled: bool) -> bool:
    if ruled:
        return True
    if len(rows[0]) < _LEAST_CELLS:
        return separator in _SEPARATORS[:2]
    return separator is _SEPARATORS[0] or all(len(cell.split()) <= _MOST_WORDS for row in rows for cell in row)


def _has_values(first: Row, second: Row) -> bool:
    """Whether the first row has values, not heads: numbers as in the second row, or `name: value` in all cells."""
    return all(":" in cell for cell in first if cell) or (
        bool(first[0]) and any(_VALUE.match(one) and _VALUE.match(two) for one, two in zip(first, second, strict=False))
    )
