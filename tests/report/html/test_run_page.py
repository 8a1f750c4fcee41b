"""The HTML report of a run."""

import json
import re

import pytest

from ragstone.analysis.aggregate import aggregate
from ragstone.analysis.comparison import compare_runs
from ragstone.analysis.diagnosis import diagnose
from ragstone.engine.evaluate import evaluate
from ragstone.report.html import run_page
from ragstone.report.html.comparison_page import comparison_html
from ragstone.report.html.run_page import MOST_LISTED, PRINTED, run_html
from ragstone.report.markdown import run_markdown
from ragstone.views.diagnosis import DiagnosisView, headline
from tests.report.pages import Page
from tests.report.runs import harbour, hostile_rows


def test_the_embedded_numbers_are_those_of_the_run(pages, worse, hostile):
    for page, run in ((pages["run"], worse), (pages["hostile"], hostile)):
        [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
        assert "<" not in text
        assert json.loads(text) == json.loads(json.dumps(aggregate(run, diagnose(run))))


def test_the_page_says_what_the_run_says(pages, worse):
    page = Page(pages["run"])
    text = re.sub(r"\s+", " ", page.text("main"))
    found = diagnose(worse)
    counts = DiagnosisView.of(found).statuses_text
    assert text.index(counts) < text.index(headline(found)) < text.index("cost of the judge")
    assert f"{found.failing} of {found.decided}" in text
    for item in found.advice:
        assert item.text in text
    for row in worse.summary():
        assert f"{row.mean:.3f}" in text
        assert row.metric in text
    for count in found.causes:
        assert count.cause.meaning in text
    for metric in worse.info["metrics"]:
        assert metric["signature"] in text
    # Metadata with few values makes slices by itself.
    assert "By topic" in text
    assert "By difficulty" in text


def test_claims_are_coloured_and_labelled(pages):
    page = pages["hostile"]
    assert '<mark class="good">The boat is red.<sup>claim 1</sup></mark>' in page
    assert '<mark class="bad">It leaves at ten.<sup>claim 2</sup></mark>' in page
    text = Page(page).text("main")
    assert "✓ supported" in text
    assert "✗ contradicted" in text
    assert "✗ contradicts reference claim 2" in text
    # In rank order.
    assert text.index("doc </script>") < text.index("supports answer claim 2")


def test_facts_are_marked_where_they_stand(better):
    page = run_html(better, worst=25)
    marked = re.findall(r'<mark class="good(?: printed)?">(.*?)<sup>fact [\d, ]+</sup></mark>', page, flags=re.DOTALL)
    assert any("From Orlsay the first boat leaves at 06:20 and the last at 21:10" in text for text in marked)


def test_worst_samples_and_slices_are_chosen(worse):
    page = run_html(worse, worst=3, slices=["topic"])
    assert page.count('<details class="sample ') == 3
    assert "By difficulty" not in Page(page).text("main")
    none = Page(run_html(worse, worst=0))
    assert "worst" not in none.ids


@pytest.mark.parametrize(
    "rows",
    [
        [{"id": "a", "question": "q?", "answer": "x"}],
        [{"id": "a", "question": "q?", "answer": "", "references": ["y"], "contexts": []}],
        [{"id": "a", "answer": "x", "references": ["y"]}],
    ],
    ids=["no truth", "empty answer", "no question"],
)
def test_runs_with_little_in_them(rows, tmp_path):
    import ragstone

    run = ragstone.evaluate(rows, ["token_f1", "distinct_1", "ari", "recall"], tmp_path)
    page = Page(run_html(run))
    assert "verdict" in page.ids
    assert "token_f1" in page.text("main")
    Page(comparison_html(compare_runs(run, run)))


def test_samples_that_nothing_calls_bad_are_listed_all_the_same(tmp_path):
    """Readability says what answers are like, not which is the worst."""
    import ragstone

    rows = [{"id": name, "question": f"{name}?", "answer": "It is late."} for name in ("first", "second")]
    run = ragstone.evaluate(rows, ["ari", "distinct_1"], tmp_path)
    page = Page(run_html(run))
    assert "first?" in page.text("main")
    assert "second?" in page.text("main")
    assert "The worst" not in page.text("main")
    assert "worst samples" not in run_markdown(run)


@pytest.mark.slow
def test_many_rows_make_a_small_file(tmp_path, monkeypatch):
    import ragstone

    monkeypatch.setattr(run_page, "MOST_DIAGNOSED", 10_000)
    rows = [
        {
            "id": f"s{number}",
            "question": f"Question {number}?",
            "answer": "a b",
            "references": ["a" if number % 3 else "c"],
        }
        for number in range(20_000)
    ]
    run = ragstone.evaluate(rows, ["token_f1", "exact_match"], tmp_path)
    page = run_html(run)
    assert len(page) < 1_000_000
    text = Page(page).text("main")
    assert f"The worst {MOST_LISTED} of 20,000" in text
    assert "in the first 10,000 of 20,000 samples" in text


def test_long_texts_are_cut_and_said_so(tmp_path):
    import ragstone

    rows = [
        {
            "id": "a",
            "question": "q",
            "answer": "word " * 5000,
            "references": ["other"],
            "contexts": ["chunk " * 5000] * 30,
        }
    ]
    page = run_html(ragstone.evaluate(rows, ["token_f1"], tmp_path))
    text = Page(page).text("main")
    assert "25,000 characters in all" in text
    assert "and 10 more chunks" in text
    assert len(page) < 250_000


def test_a_metric_of_all_rows_is_left_out_of_distributions(tmp_path):
    run = harbour("better", tmp_path, ["bleu", "token_f1"])
    page = Page(run_html(run))
    figures = "".join(page.texts["figcaption"])
    assert "token_f1" in figures
    assert "bleu" not in figures


def test_worst_samples_come_before_the_metrics_and_a_few_are_printed(worse):
    page = Page(run_html(worse))
    sections = [box["id"] for box in page.find("section")]
    assert sections[:5] == ["verdict", "parts", "causes", "worst", "metrics"]
    samples = [box["class"].split()[1] for box in page.find("details") if box.get("class", "").startswith("sample ")]
    assert samples == ["printed"] * PRINTED + ["unprinted"] * (20 - PRINTED)
    assert [box for box in page.find("input") if "checked" in box] == []


def test_all_samples_are_shown_and_printed_on_request(worse):
    page = Page(run_html(worse, all_samples=True))
    assert sum(box.get("class", "").startswith("sample ") for box in page.find("details")) == 25
    assert [box["id"] for box in page.find("input") if "checked" in box] == ["print-all"]


def test_a_sample_that_was_not_examined_says_so_in_the_list_of_samples(tmp_path):
    rows = hostile_rows(2)
    bare = {name: rows[1][name] for name in ("query_id", "query", "gt_answer", "response", "retrieved_context")}
    run = evaluate([rows[0], bare], ["ragchecker", "token_f1"], tmp_path, format="ragchecker")
    assert "? not examined" in Page(run_html(run)).text("main").partition("All samples")[2]
