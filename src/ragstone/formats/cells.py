"""Cells of a table of text, such as CSV: lists and mappings are JSON, and absence needs a sign."""

from __future__ import annotations

import json
import re
from typing import Any

from ragstone.data.schema import GIVEN_EVIDENCE
from ragstone.formats.messages import decode
from ragstone.formats.values import Unfit, plain, shown

_LIST_HINT = 'write lists as JSON: ["first", "second"]'
_LISTS_ONLY = {"contexts", "facts", *GIVEN_EVIDENCE}
# An empty cell is an empty answer, so the absent one has the sign that databases export; the sign itself is escaped.
_NO_ANSWER = "\\N"
_ESCAPED = re.compile(r"\\+N")


def parse_cell(name: str, cell: str) -> Any:
    """What a cell holds for a field; a single word may stand for itself where that is clear."""
    if name == "answer":
        return _parse_answer(cell)
    if not cell or cell.isspace():
        return None
    if name in ("id", "question"):
        return cell
    if cell.lstrip()[0] in "[{":
        try:
            return json.loads(cell)
        except (ValueError, RecursionError) as error:
            raise Unfit(f"is not JSON: {error}", _LIST_HINT) from None
    if name in _LISTS_ONLY:
        raise Unfit(f"is not a JSON list: {shown(cell)}", _LIST_HINT)
    return cell


def answer_cell(answer: str | None) -> str:
    """An answer as a cell that reads back as the same."""
    if answer is None:
        return _NO_ANSWER
    return f"\\{answer}" if _ESCAPED.fullmatch(answer) else answer


def _parse_answer(cell: str) -> str | None:
    if cell == _NO_ANSWER:
        return None
    return cell[1:] if _ESCAPED.fullmatch(cell) else cell


def unpack(value: Any) -> Any:
    """A list or mapping, also where a table holds it as JSON text or as an array; everything else as it is."""
    return decode(plain(value))
