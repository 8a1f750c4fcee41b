"""A report has the counts of the viewer: samples, causes, scored, failed and skipped."""

import json
import re

import pytest

import ragstone
from ragstone.report.html.run_page import run_html
from tests.report.pages import Page


@pytest.fixture(scope="module")
def partly(store):
    """Some cells are skipped, and the metric of the last sample fails."""
    rows = [
        {
            "id": f"p{number}",
            "question": "When?",
            "answer": "at nine",
            "references": ["at nine"],
            "contexts": ["at ten"],
        }
        | ({"facts": ["at nine"]} if number % 2 else {})
        for number in range(6)
    ]
    return ragstone.evaluate(rows, ["fact_recall", "token_f1"], store, name="partly")


@pytest.mark.parametrize("name", ["worse", "better", "hostile", "partly"])
def test_reports_and_the_viewer_count_alike(request, viewer, name):
    run = request.getfixturevalue(name)
    found, text = viewer.ready(run), run_html(run)
    page = Page(text)
    [embedded] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, flags=re.DOTALL)
    data = json.loads(embedded)
    seen = found["diagnosis"]
    assert data["dataset"]["rows"] == found["run"]["rows"]
    for field in ("samples", "looked_at", "failing"):
        assert data["diagnosis"][field] == seen[field]
    assert {(c["cause"], c["samples"], c["main_of"]) for c in data["diagnosis"]["causes"]} == {
        (c["name"], c["samples"], c["main"]) for c in seen["causes"]
    }
    assert {m["metric"]: (m["n_ok"], m["n_skipped"], m["n_failed"]) for m in data["metrics"]} == {
        m["metric"]: (m["ok"], m["skipped"], m["failed"]) for m in found["metrics"]
    }
    shown = " ".join(page.text("main").split())
    if seen["decided"]:
        assert seen["failing_text"] in shown
    for item in found["metrics"]:
        assert not item["skipped"] or f"{item['skipped']} skipped" in shown
