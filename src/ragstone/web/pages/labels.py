"""The change that stores a label of a person, and the row to label next."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np
from starlette.datastructures import QueryParams

from ragstone.agreement.stored_labels import draw_round
from ragstone.analysis.label_use import claim_targets, sample_key
from ragstone.analysis.sample_evidence import Case
from ragstone.errors import UsageError
from ragstone.storage.human_labels import HumanLabel, check_author, labels_of, remove_label, write_label
from ragstone.storage.label_rounds import random_order, read_rounds
from ragstone.views.sample import sample_view
from ragstone.web.label_bar import REMOVE, label_bar
from ragstone.web.library import Library
from ragstone.web.pages.sample import describe_sample, read_sample
from ragstone.web.run_index import RunIndex

_SAMPLE_PAGE = re.compile(r"/runs/[^/?#\\\s]+/samples/[0-9]{1,9}(\?[^\s\\#]*)?")
# Two people who finish a round at the same time get the same next one.
_DRAW = Lock()


def save_label(library: Library, form: QueryParams) -> dict[str, Any]:
    """Store or remove a label. A script gets the new state of the sample; a form is sent on to the next row."""
    index = library.index(library.run(form.get("run", "")))
    at, case, _ = read_sample(index, form.get("row", ""), index.run.info.evidence)
    author = check_author(form.get("author", ""))
    wanted = _read_label(case, form.get("label", ""), author)
    known = labels_of(index.run)
    before = next((one for one in known.by_key.get(wanted.key, ()) if _same(one.author, author)), None)
    if wanted.value == REMOVE:
        remove_label(library.root, author, wanted.key)
    else:
        note = form.get("note", "") or (before.note if before else "")
        label = replace(
            wanted,
            note=note,
            run=index.run.id,
            run_name=index.run.name,
            sample_id=case.sample.id,
            question=case.sample.question or "",
            answer=case.sample.answer or "",
        )
        write_label(library.root, label)
    goes = "" if wanted.kind == "claim" or wanted.value == REMOVE else _next(library, index, form, author, at)
    if form.get("by") != "script":
        here = f"/runs/{index.run.id}/samples/{at}{_query(form)}"
        return {"go": goes or here}
    return _after(library, index, at, wanted, before) | {"next": goes}


def _read_label(case: Case, text: str, author: str) -> HumanLabel:
    """A label from the value of a button: `answer right`, or `claim KEY entailment`."""
    kind, _, rest = text.partition(" ")
    key = about = sample_key(case.sample)
    if kind == "answer":
        return HumanLabel(key, "answer", author, rest, about=about)
    key, _, value = rest.partition(" ")
    found = next((one for one in claim_targets(case.sample, case.judged or case.evidence) if one.key == key), None)
    if kind != "claim" or found is None:
        raise UsageError("the label does not belong to this sample. Reload the page and try again.")
    label = HumanLabel(key, "claim", author, value, about=about)
    return replace(label, claim=found.claim, against=found.against, judged=found.judged)


def _same(first: str, second: str) -> bool:
    return first.casefold() == second.casefold()


def _query(form: QueryParams) -> str:
    """The query of the page from which a form was sent."""
    known = _SAMPLE_PAGE.fullmatch(form.get("here", ""))
    return (known[1] or "") if known else ""


def _after(library: Library, index: RunIndex, at: int, wanted: HumanLabel, before: HumanLabel | None) -> dict[str, Any]:
    """The state of a sample after a label, and what undoes it."""
    _, case, outcome = read_sample(index, str(at), index.run.info.evidence)
    undo = f"{wanted.kind} {wanted.key} " if wanted.kind == "claim" else "answer "
    return {
        "page": "label",
        "title": "Label",
        "sample": describe_sample(sample_view(at, case, outcome)),
        "labels": label_bar(library, index.run, at, case)["labels"],
        "undo": {"label": f"{undo}{before.value if before else REMOVE}", "note": before.note if before else ""},
    }


def _next(library: Library, index: RunIndex, form: QueryParams, author: str, at: int) -> str:
    """The address of the row to label next; empty if there is none, or if the person stays."""
    pick, address = form.get("pick", ""), form.get("next", "")
    if pick in ("", "stay"):
        return address if not pick and _SAMPLE_PAGE.fullmatch(address) else ""
    known, keys = labels_of(index.run), library.answer_keys(index.run)
    mine = {label.key for label in known.labels if _same(label.author, author)}
    done = {row for row, key in enumerate(keys) if key in mine or row == at - 1}
    if pick == "useful":
        order: Iterable[int] = _useful(library, index, done)
    else:
        order = random_order(index.run) if pick == "random" else _least_sure(library, index)
    row = next((row for row in order if row not in done), None)
    return "" if row is None else f"/runs/{index.run.id}/samples/{row + 1}{_query(form)}"


def _useful(library: Library, index: RunIndex, done: Collection[int]) -> list[int]:
    """The rows of the rounds of this run; a person who has labelled all of them gets a new round."""
    with _DRAW:
        rows = [row for one in read_rounds(index.run) for row in one.rows]
        if all(row in done for row in rows):
            insight = library.insight(index.run)
            wrong = [label.wrong for label in insight.causes] if insight else []
            rows += draw_round(index.run, [None if chance is None else 1 - chance for chance in wrong]).rows
        return rows


def _least_sure(library: Library, index: RunIndex) -> Iterable[int]:
    """The rows that the judge is least sure of first; then those without a judgement."""
    insight = library.insight(index.run)
    wrong = [label.wrong for label in insight.causes] if insight else []
    distance = [2.0 if chance is None else abs(chance - 0.5) for chance in wrong]
    return map(int, np.argsort([*distance, *[3.0] * (len(index.ids) - len(distance))], kind="stable"))


CHANGES = {"/labels/save": save_label}
