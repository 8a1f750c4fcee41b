"""The chips above the sample table: statuses, unsure verdicts, failed scores and labels, each with its number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ragstone.analysis.cause_texts import NOT_EXAMINED
from ragstone.analysis.row_columns import RowJudgements
from ragstone.analysis.row_filter import terms_of
from ragstone.web.run_index import ROW_STATUSES, RunIndex, TableState

UNSURE = "unsure > 0"
_TONES = {"wrong": "bad", "look": "unsure", "fine": "good", "no judgement": "silent"}


def row_chips(index: RunIndex, known: RowJudgements, state: TableState) -> list[dict[str, Any]]:
    """Return the chips with at least one row. A click on a chosen chip removes its filter."""
    return [chip for chip in _chips(index, known, state) if chip["rows"] or chip["chosen"]]


def _chips(index: RunIndex, known: RowJudgements, state: TableState) -> Iterator[dict[str, Any]]:
    def chip(name: str, rows: np.ndarray, chosen: bool, changed: TableState, meaning: str = "") -> dict[str, Any]:
        address = f"{changed.address or '?'}#samples"
        tone, count = _TONES.get(name, ""), int(np.count_nonzero(rows))
        return {"name": name, "tone": tone, "rows": count, "chosen": chosen, "address": address, "meaning": meaning}

    def by_cause(name: str, rows: np.ndarray, meaning: str = "") -> dict[str, Any]:
        chosen = state.cause == name
        return chip(name, rows, chosen, state.but(cause="" if chosen else name), meaning)

    def by_term(name: str, rows: np.ndarray, term: str, meaning: str) -> dict[str, Any]:
        # An invalid filter is replaced.
        terms = [shown for _, shown in terms_of(state.where)]
        changed = [one for one in terms if one != term] if term in terms else [*terms, term]
        return chip(name, rows, term in terms, state.but(where=" and ".join(changed)), meaning)

    for status in ROW_STATUSES:
        yield by_cause(status, known.statuses == status)
    unsure = index.named.unsure
    if unsure is not None:
        yield by_term("unsure", unsure > 0, UNSURE, "rows with a verdict that the judge is unsure of")
    failed = state.status == "failed"
    yield chip("failed", index.named.failed > 0, failed, state.but(status="" if failed else "failed"), "a score failed")
    yield by_cause(NOT_EXAMINED, known.names == NOT_EXAMINED, "verdicts are missing")
    if known.labels is not None:
        yield by_term("labelled", known.labelled > 0, "labelled", "rows with a label of a person")
        yield by_term("disagreed with", known.disagreed > 0, "disagreed", "rows whose label contradicts the judge")
