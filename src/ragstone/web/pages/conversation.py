"""The page of a conversation: the transcript with the status of each turn, and the evidence of the chosen turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from starlette.datastructures import QueryParams

from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.causes import find_causes
from ragstone.analysis.diagnosis import with_reasons
from ragstone.analysis.sample_evidence import NEEDED, Case, read_cases_at
from ragstone.storage.runs import Run
from ragstone.views.marks import Limits
from ragstone.views.phrases import one_line
from ragstone.web.library import Library
from ragstone.web.navigation import neighbours
from ragstone.web.pages.sample import sample_page

# Of a longer conversation, the turns around the chosen one are shown.
_MAX_TURNS = 100


def conversation_page(library: Library, query: QueryParams, run: str, row: str) -> dict[str, Any]:
    """The conversation of a sample by its row number from 1; that turn is chosen."""
    data = sample_page(library, query, run, row)
    found, chosen = library.run(run), int(data["sample"]["row"]) - 1
    name, rows = _rows_of(library, found, chosen)
    at = rows.index(chosen)
    start = max(0, min(at - _MAX_TURNS // 2, len(rows) - _MAX_TURNS))
    shown = rows[start : start + _MAX_TURNS]
    cases = read_cases_at(found, shown, NEEDED)
    outcomes = with_reasons(found, [find_causes(cases[one]) for one in shown])
    turns = _turns(cases, dict(zip(shown, outcomes, strict=True)), Limits.read(query))
    base = f"/runs/{found.id}/conversations"
    return {
        **data,
        "page": "transcript",
        "title": f"{one_line(name, 60)} in {one_line(found.name, 60)}",
        "name": one_line(name, 120),
        "first_turn": start + 1,
        "left_out": len(rows) - len(shown),
        "transcript": [{**turn, "address": f"{base}/{turn['row']}"} for turn in turns],
        "walk": {
            **data["walk"],
            **neighbours(len(rows), at, lambda place: f"{base}/{rows[place] + 1}"),
            "back": f"/runs/{found.id}#conversations",
        },
    }


def _turns(cases: Mapping[int, Case], outcomes: Mapping[int, Outcome], limits: Limits) -> Iterator[dict[str, Any]]:
    """The evaluated turns in order. Messages of the history that no earlier row has are shown before their turn.

    `number` is the place of a message among all of the conversation, from 1; that of a turn is the place of its question.
    """
    known = 0
    for row, outcome in outcomes.items():
        sample = cases[row].sample
        history = sample.history or []
        yield {
            "row": row + 1,
            "number": len(history) + 1,
            "earlier": [
                {"number": at + 1, "role": message.role, "text": limits.shorten(message.text)}
                for at, message in enumerate(history)
                if at >= known
            ],
            "question": limits.shorten(sample.question or ""),
            "answer": None if sample.answer is None else limits.shorten(sample.answer),
            "status": outcome.status,
            "wrong": outcome.wrong,
            "cause": outcome.cause.name if outcome.cause else "",
        }
        known = max(known, len(history) + 2)


def _rows_of(library: Library, run: Run, row: int) -> tuple[str, list[int]]:
    """The name of the conversation of a row and its rows; a row without one is its own."""
    for name, rows in library.conversations(run).items():
        if row in rows:
            return name, list(rows)
    return library.index(run).ids[row].as_py(), [row]


VIEWS = {"/runs/{run}/conversations/{row}": conversation_page}
