"""Whether the cells of a table agree with a claim about one of its rows.

A claim names a row by the words of its first cell, or by a number within its limits ("60 to 31 days"), and a column by the words of the column head. A number of the claim must be
in the named row, and in the named column if there is one. If it is only in another row or another column, the claim is about
something else. Words are compared in the same way: the values of a column are the words of its cells. The rule returns None if
it cannot decide: no row or several rows are named, or the claim compares, adds up, excludes or negates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import fsum
from typing import NamedTuple

from ragstone.text.claim_numbers import counted_things, has_kind, has_number, read_limits, stated_numbers
from ragstone.text.layout import Row, Table, tables
from ragstone.text.lexicon import late_pattern, lexicon
from ragstone.text.overlap import content_stems
from ragstone.text.quantity_reader import Mention

_LEFT_OPEN = late_pattern(rf"\b(?:{''.join(lexicon('table_cells')['left_open'].split())})\b|n['’]t\b|\?", re.IGNORECASE)
_SAME = {stem: group.split()[0] for group in lexicon("table_cells")["same"].split(",") for stem in group.split()}
# Heads of one or two characters ("A", "B2") and of numbers need the head of their column before them: "zone A".
_SHORT_NAME = late_pattern(r"\w{1,2}|\W?\d[\d.,]*")
_CODE = late_pattern(r"^(?!\d+ [–-] \d)\w{1,2} [–-] ")
_CORE_END = late_pattern(r"[,(:]| [–-] (?=[a-z])")
_ITEM_END = late_pattern(r"[,;/+]| and | or |\(")
# The least share of the claim's words that a cell and its heads have, if the cell states the claim.
_STATED = 0.7
_SEVERAL = late_pattern(r"\d[^;,]*?(?:[×x–-]|\bto\b|\band\b)[^;,]*?\d")
_MOST_CELLS = 2_000
Stems = frozenset[str]


class CellCheck(NamedTuple):
    """Whether the cells agree with the claim; `reason` names the cell if they do not."""

    agrees: bool
    reason: str = ""


class _Claim(NamedTuple):
    text: str
    stems: Stems


@lru_cache(maxsize=2048)
def check_cells(claim: str, text: str) -> CellCheck | None:
    """Whether a table of the text has the claim, or something else in its place; None if that is not sure."""
    found = tables(text)
    if not found or _LEFT_OPEN.search(claim):
        return None
    read = _Claim(claim, _stems(claim))
    checks = [check for table in found for view in _views(table) if (check := _check(read, view))]
    return next((check for check in checks if check.agrees), checks[0] if checks else None)


def _views(table: Table) -> Iterator[Table]:
    """The table, and its columns as rows: items may be in either."""
    if table.heads and len(table.rows) * len(table.heads) <= _MOST_CELLS:
        rows = [[*row, *[""] * (len(table.heads) - len(row))][: len(table.heads)] for row in table.rows]
        yield Table(table.heads, rows)
        heads, *columns = [list(column) for column in zip(table.heads, *rows, strict=True)]
        yield Table(heads, columns)


def _stems(text: str) -> Stems:
    return frozenset(_SAME.get(stem, stem) for stem in content_stems(text))


def _check(claim: _Claim, table: Table) -> CellCheck | None:
    stated = stated_numbers(claim.text)
    row = _named_row(claim, table) or _row_with_limits(stated, table)
    if row is None:
        return None
    own = _stems(row[0])
    names = [Stems(), *(_stems(_CODE.sub("", head)) - own for head in table.heads[1:])]
    # A word of several heads says less: "collection" in "express collection" and "second collection".
    weigh = {stem: 1 / count for stem, count in Counter(stem for name in names for stem in name).items()}.__getitem__
    shares = [fsum(map(weigh, name & claim.stems)) / (fsum(map(weigh, name)) or 1.0) for name in names]
    numbers = [one for one in stated if not _is_in_name(one, claim, [row[0], *table.heads])]
    if numbers:
        found = [_check_number(claim, number, row, table, shares) for number in numbers]
        same = _same(claim, row, table, [one for one in found if isinstance(one, int)]) if all(found) else None
        return next((one for one in found if isinstance(one, CellCheck)), same)
    return _check_words(claim, row, table, shares)


def _named_row(claim: _Claim, table: Table) -> Row | None:
    """The only row whose name is in the claim; of "chair" and "chair, white" the one with more words of the claim."""
    shared = {at: _shared_name(claim, row[0], table.heads[0]) for at, row in enumerate(table.rows)}
    best = max(shared, key=lambda at: len(shared[at]), default=None)
    if best is None or not shared[best]:
        return None
    others = [name for at, name in shared.items() if at != best]
    return None if any(name == shared[best] or not name <= shared[best] for name in others) else table.rows[best]


def _row_with_limits(stated: Sequence[Mention], table: Table) -> Row | None:
    """The only row with limits around a number, if each row has limits and no other number is of the same kind."""
    limits = [read_limits(row[0]) for row in table.rows]
    if None in limits:
        return None
    inside = [
        row for row, one in zip(table.rows, limits, strict=True) for number in stated if one and one.contains(number)
    ]
    return inside[0] if len(inside) == 1 else None


def _shared_name(claim: _Claim, name: str, head: str) -> Stems:
    """The words of a row's name in the claim; none if its main words are not all there."""
    if _SHORT_NAME.fullmatch(name):
        named = re.search(rf"\b{re.escape(head)}s? {re.escape(name)}\b", claim.text, re.IGNORECASE) if head else None
        return frozenset([name.casefold()]) if named else frozenset()
    core = _stems(_CORE_END.split(_CODE.sub("", name))[0])
    return _stems(name) & claim.stems if core and core <= claim.stems else frozenset()


def _is_in_name(number: Mention, claim: _Claim, names: Sequence[str]) -> bool:
    limits = read_limits(names[0])
    return bool(limits and limits.contains(number)) or any(has_number(one, number, claim.text) for one in names if one)


def _best(shares: Sequence[float]) -> int | None:
    """The column that the claim names: the only one with the highest share of its words."""
    highest = max(shares, default=0.0)
    return shares.index(highest) if highest and shares.count(highest) == 1 else None


def _check_number(claim: _Claim, number: Mention, row: Row, table: Table, shares: Sequence[float]) -> CellCheck | int:
    """The column that has the number, what the row has in its place, or 0."""
    here = {at for at, cell in enumerate(row) if at and has_number(cell, number, claim.text)}
    named = _best(shares)
    alike = {at for at, cell in enumerate(row) if at and has_kind(cell, number)}
    for at in (alike - here) & ({named} if here else alike):
        cells = [other[at] for other in table.rows if other is not row]
        limits, others = read_limits(row[at]), [one for cell in cells if (one := read_limits(cell))]
        if limits and not limits.contains(number) and any(one.contains(number) for one in others):
            return _other(row, table, at)
    # "183 × 76 cm", "25 to 50 miles": which of the numbers is meant is not sure.
    if any(_SEVERAL.search(row[at]) for at in (here or alike)):
        return 0
    if here:
        if named in here or (named is None and here == alike and len(here) == 1):
            return next(iter(here)) if named is None else named
        is_other = named in alike and all(shares[at] < shares[named] for at in here)
        return _other(row, table, named) if is_other and named is not None else 0
    things = counted_things(number, claim.text)
    for at in sorted(alike, key=lambda at: -shares[at]):
        column = [other[at] for other in table.rows if other is not row]
        # Of several cells of a kind, one is meant only if the claim names its column or counts its things.
        is_meant = things & _stems(f"{table.heads[at]} {row[at]}") if things else len(alike) == 1
        if (shares[at] or is_meant) and any(has_number(cell, number, claim.text) for cell in column):
            return _other(row, table, at)
    return 0


def _check_words(claim: _Claim, row: Row, table: Table, shares: Sequence[float]) -> CellCheck | None:
    """A value of the named cell is in the claim, or one of another cell of its column or row."""
    named = _best(shares)
    if named is None:
        return None
    rest = claim.stems - _stems(row[0]) - _stems(table.heads[named])
    own = {item for item in _items(row[named]) if item <= rest}
    cells = [*(other[named] for other in table.rows if other is not row), *row[1:named], *row[named + 1 :]]
    others = {item for cell in cells for item in _items(cell) if item <= rest}
    if others - set(_items(row[named])):
        return None if own else _other(row, table, named)
    return _same(claim, row, table, [named]) if own else None


def _items(cell: str) -> list[Stems]:
    """The values of a cell in words: numbers alone are compared as numbers."""
    return [stems for item in _ITEM_END.split(cell) if any(map(str.isalpha, stems := _stems(item)))]


def _same(claim: _Claim, row: Row, table: Table, columns: Sequence[int]) -> CellCheck | None:
    """Agreement, if the claim says all that the cells say, and little that the cells and their heads do not say."""
    cells = _stems(" ".join(row[at] for at in columns))
    stated = cells | _stems(" ".join([row[0], table.heads[0], *(table.heads[at] for at in columns)]))
    is_whole = all(stem in claim.stems for stem in cells if stem.isalpha())
    is_stated = len(claim.stems & stated) >= _STATED * len(claim.stems)
    return CellCheck(agrees=True) if is_whole and is_stated else None


def _other(row: Row, table: Table, at: int) -> CellCheck:
    return CellCheck(agrees=False, reason=f"the table says {row[0]:.60}: {table.heads[at]:.60} {row[at]:.80}")
