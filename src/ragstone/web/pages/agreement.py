"""Agreement pages: the labels of people in a store, and how far the judge of a run agrees with them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.datastructures import QueryParams

from ragstone.report.html.run_page import describe_run
from ragstone.storage.human_labels import answer_labels, labels_of, read_human_labels
from ragstone.storage.runs import Run
from ragstone.views.label_agreement import WANTED, LabelAgreement, count_people, measure_labels
from ragstone.views.phrases import one_line
from ragstone.web.library import Library
from ragstone.web.pages.leaderboard import newest_runs
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


def run_agreement_page(library: Library, _query: QueryParams, run: str) -> dict[str, Any]:
    """The agreement of one run with the labels of people."""
    found = library.run(run)
    index, rows, insight = library.index(found), answer_labels(found), library.insight(found)
    head = {"page": "agreement", "title": f"Agreement of {one_line(found.name, 60)}", "run": describe_run(found)}
    if not rows or insight is None:
        return {
            **head,
            "ready": not rows or insight is not None,
            "measured": None,
            "damaged": list(labels_of(found).damaged),
        }
    keys = set(library.answer_keys(found))
    labels = [label for label in labels_of(found).labels if label.about in keys]
    measured = measure_labels(found, rows, [label.wrong for label in insight.causes], index.scores, labels)
    return {
        **head,
        "ready": True,
        "measured": _describe(index, found, measured),
        "damaged": list(labels_of(found).damaged),
    }


def _describe(index: RunIndex, run: Run, measured: LabelAgreement) -> dict[str, Any]:
    def row_of(row: int) -> dict[str, Any]:
        address = f"/runs/{run.id}/samples/{row + 1}"
        return {
            "row": row + 1,
            "id": one_line(index.ids[row].as_py(), 60),
            "question": one_line(index.question(row), 160),
            "address": address,
        }

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
    divided = [row_of(row) for row in measured.divided]
    random = f"/runs/{run.id}/samples/1?pick=random"
    return {
        **asdict(measured),
        "disagreements": disagreements,
        "divided": divided,
        "wanted": WANTED,
        "random_address": random,
    }


VIEWS = {"/agreement": agreement_page, "/agreement/{run}": run_agreement_page}
