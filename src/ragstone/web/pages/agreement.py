"""Agreement pages: the labels of people in a store, and how far the judge of a run agrees with them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.datastructures import QueryParams

from ragstone.report.html.run_page import describe_run
from ragstone.storage.human_labels import answer_labels, labels_of, read_human_labels
from ragstone.storage.label_rounds import random_order
from ragstone.storage.runs import Run
from ragstone.views.label_agreement import WANTED, LabelAgreement, count_people, measure_labels
from ragstone.views.phrases import one_line
from ragstone.web.library import Library
from ragstone.web.pages.leaderboard import newest_runs
from ragstone.web.row_plots import AGREE, DISAGREE
from ragstone.web.run_index import RunIndex

_MAX_RUNS = 50


def agreement_page(library: Library, _query: QueryParams) -> dict[str, Any]:
    """The people who labelled, and the runs with labels."""
    stored = read_human_labels(library.root)
    keys = {label.about for label in stored.labels}
    runs = []
    for run in newest_runs(library)[:_MAX_RUNS] if keys else ():
        count = sum(key in keys for key in library.answer_keys(run))
        if count:
            runs.append(
                {**describe_run(run), "address": f"/agreement/{run.id}", "labelled": count, "rows": run.info.rows}
            )
    return {
        "page": "agreement",
        "title": "Agreement",
        "run": None,
        "people": [asdict(person) for person in count_people(stored.labels)],
        "runs": runs,
        "damaged": list(stored.damaged),
    }


def run_agreement_page(library: Library, query: QueryParams, run: str) -> dict[str, Any]:
    """The agreement of one run with the labels of people; `?by=` is the status or metric of the plot."""
    found = library.run(run)
    index, rows, insight = library.index(found), answer_labels(found), library.insight(found)
    keys, known = library.answer_keys(found), labels_of(found)
    first = next((row for row in random_order(found) if keys[row] not in known.by_key), None)
    head = {
        "page": "agreement",
        "title": f"Agreement of {one_line(found.name, 60)}",
        "run": describe_run(found),
        "damaged": list(known.damaged),
        "next_address": "" if first is None else f"/runs/{found.id}/samples/{first + 1}?pick=random",
    }
    if not rows or insight is None:
        return {**head, "ready": not rows or insight is not None, "measured": None}
    among = set(keys)
    labels = [label for label in known.labels if label.about in among]
    wrong = [label.wrong for label in insight.causes]
    measured = measure_labels(found, rows, wrong, index.scores, labels, query.get("by", ""))
    return {**head, "ready": True, "measured": _describe(index, found, measured)}


def _describe(index: RunIndex, run: Run, measured: LabelAgreement) -> dict[str, Any]:
    def row_of(row: int) -> dict[str, Any]:
        name, question = one_line(index.ids[row].as_py(), 60), one_line(index.question(row), 160)
        return {"row": row + 1, "id": name, "question": question, "address": f"/runs/{run.id}/samples/{row + 1}"}

    disagreements = [
        {
            **row_of(one.row),
            "predicted": one.predicted,
            "labels": [
                {"author": label.author, "words": label.value, "note": one_line(label.note, 300)}
                for label in one.labels
            ],
        }
        for one in measured.disagreements
    ]
    points = [
        {**asdict(one), **row_of(one.row), "status": AGREE if one.agrees else DISAGREE, "chosen": True}
        for one in measured.points
    ]
    divided = [row_of(row) for row in measured.divided]
    return {**asdict(measured), "disagreements": disagreements, "divided": divided, "points": points, "wanted": WANTED}


VIEWS = {"/agreement": agreement_page, "/agreement/{run}": run_agreement_page}
