"""One sample as a self-contained HTML file."""

from __future__ import annotations

from dataclasses import asdict

from ragstone.report.html.page import render_page
from ragstone.views.phrases import one_line
from ragstone.views.sample import SampleView


def sample_html(view: SampleView, run: str) -> str:
    """The file; `run` is the name of the run. Metadata are left out: they may name people and places."""
    data = {"title": one_line(f"{view.id} in {run}", 120), "sample": view, "run": run}
    embedded = {
        "schema": "ragstone.sample",
        "version": 1,
        "run": run,
        "id": view.id,
        "question": view.question,
        "status": view.status,
        "wrong": view.wrong,
        "cause": view.cause or None,
        "scores": [asdict(cell) for cell in view.scores],
    }
    return render_page("one_sample.html", data, embedded)
