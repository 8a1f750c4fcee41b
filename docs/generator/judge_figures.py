"""Makes the tables of docs/judge-figures.md from the cards of the judges and the stored measurements."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from generator.marked_blocks import filled

from ragstone.agreement.labelled_sets import SETS, SetResult
from ragstone.models.large_judge import read_large_card
from ragstone.models.local_judge import Card, read_card
from ragstone.report.judges import card_lines, sets_table
from ragstone.report.table import Column, Table, columns

DOCS = Path(__file__).parents[1]
# Measures of the large judge's card, one column each.
_MEASURES = {
    "ROC-AUC": "AUC",
    "accuracy": "right",
    "accuracy of three verdicts": "three verdicts right",
    "accuracy where at least 90 % sure": "right if 90 % sure",
    "recall of contradictions at precision .9": "contradictions found at precision .9",
}


def judge_figures_page() -> str:
    """The written text with the figures of the day."""
    with resources.as_file(resources.files("ragstone.models") / "weights" / "local_judge") as folder:
        card, facts = read_card(folder), json.loads((folder / "card.json").read_text(encoding="utf-8"))
    blocks = {
        "contradictions": [_contradictions(facts)],
        "status": _status_table().markdown(),
        "sets": _sets_lines(),
        "small": _small_lines(card),
        "large": _large_lines(),
    }
    return filled(DOCS / "judge-figures.md", blocks)


def _contradictions(facts: Mapping[str, Any]) -> str:
    found = facts["measured"]["contradiction with rules, unseen domains"]
    return (
        f"In unseen domains the small judge finds {100 * found['recall']:.0f} % of the contradictions, and "
        f"{100 * found['precision']:.0f} % of those that it names are right."
    )


def _status_table() -> Table:
    """How often the status of a row was right, by judge and by the fields of the row."""
    stored = json.loads((resources.files("ragstone.analysis") / "row_status.json").read_text(encoding="utf-8"))
    shown = ("wrong is wrong", "fine is fine", "look", "faults not called fine", "good rows called wrong", "AUC")
    table = Table([Column("judge"), Column("there are"), *columns("rows", "domains", *shown)])
    for judge, kinds in stored["models"].items():
        for kind, model in kinds.items():
            never = model["most"] < 0.9
            figures = [
                "never" if never and name.endswith("wrong") else f"{model['left out'][name]:.2f}" for name in shown
            ]
            table.add(judge, kind, str(model["rows"]), str(model["domains"]), *figures)
    return table


def _sets_lines() -> Iterator[str]:
    """Judges on the labelled sets, from `training/judge_sets/NAME.json`."""
    paths = sorted((DOCS.parent / "training" / "judge_sets").glob("*.json"))
    rows = [SetResult(**row) for path in paths for row in json.loads(path.read_text(encoding="utf-8"))]
    yield from (f"- *{name}*: {text}." for name, text in SETS.items())
    yield ""
    yield from sets_table(rows).markdown()


def _small_lines(card: Card) -> Iterator[str]:
    """The card, with the figures by kind of claim on two lines; `ragstone models show local-judge` prints all of them."""
    for line in card_lines(card):
        if not re.match(r"\| (not )?supported: |\| unseen domains: (?!together|contradictions)", line):
            yield line
    by_kind = {name: _by_kind(card, name) for name in ("supported", "not supported")}
    yield from ("", "Decided rightly, by kind of claim (rows):", "")
    yield from (f"- *{name}*: {', '.join(shares)}." for name, shares in by_kind.items())


def _by_kind(card: Card, heading: str) -> list[str]:
    figures = [figure for figure in card.figures if figure["data"].startswith(f"{heading}: ")]
    return [f"{one['data'].partition(': ')[2]} {one['judge']:.2f} ({one['rows']})" for one in figures]


def _large_lines() -> Iterator[str]:
    """The card, one line per set of data; a cell has the large judge's figure and, after a stroke, the small one's."""
    card = read_large_card()
    yield from (card.what, "", f"Licence: {card.licence}. Languages: {', '.join(card.languages)}. {card.source}", "")
    table = Table([Column("data"), *columns("rows", *_MEASURES.values())])
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for figure in card.figures:
        judged, _, measure = figure["measure"].rpartition(", ")
        data = f"{figure['data']}: answers" if judged == "answer match" else figure["data"]
        key = (data, f"{figure['rows']:,}")
        small = "" if figure["small"] is None else f" / {figure['small']:.2f}"
        lines.setdefault(key, {})[measure] = f"{figure['judge']:.2f}{small}"
    for key, cells in lines.items():
        table.add(*key, *(cells.get(measure, "") for measure in _MEASURES))
    yield from table.markdown()
    yield from ("Limits:", "", *(f"- {limit}" for limit in card.limits))
