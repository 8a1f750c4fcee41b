"""Printed reports: few pages, the summary and the worst samples first, everything on request, with and without scripts."""

import io

import pytest
from pypdf import PdfReader

from ragstone.analysis.comparison import compare_runs
from ragstone.report.html.comparison_page import comparison_html
from ragstone.report.html.run_page import PRINTED, run_html
from tests.web import made_runs

pytestmark = pytest.mark.slow

MARGINS = dict.fromkeys(("top", "right", "bottom", "left"), "15mm")
MOST = {"run": 12, "long": 12, "wordy": 12, "comparison": 15, "long comparison": 15}


@pytest.fixture(scope="module")
def files(better, worse, tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    long, other = made_runs.long_run(folder, 25), made_runs.long_run(folder, 25, start=3)
    wordy = made_runs.long_run(folder, 25, repeat=40)
    pages = {
        "run": run_html(worse),
        "long": run_html(long),
        "wordy": run_html(wordy),
        "comparison": comparison_html(compare_runs(worse, better, slices=["topic"])),
        "long comparison": comparison_html(compare_runs(long, other, anyway=True)),
        "run, all": run_html(worse, all_samples=True),
        "comparison, all": comparison_html(compare_runs(worse, better), all_samples=True),
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def printed(browser, files):
    """Print a page and return the texts of its sheets."""

    def printed(name, *, scripts=True, everything=False):
        context = browser.new_context(java_script_enabled=scripts, offline=True)
        page = context.new_page()
        page.goto((files / f"{name}.html").as_uri())
        if everything:
            page.get_by_label("print everything").check()
        paper = page.pdf(format="A4", margin=MARGINS)
        context.close()
        return [" ".join(sheet.extract_text().split()) for sheet in PdfReader(io.BytesIO(paper)).pages]

    return printed


@pytest.mark.parametrize(("name", "scripts"), [*((name, True) for name in MOST), ("wordy", False)])
def test_a_report_fits_on_few_pages(printed, name, scripts):
    sheets = printed(name, scripts=scripts)
    assert len(sheets) <= MOST[name]
    text = " ".join(sheets)
    heads = ["Scores that changed most"] if "comparison" in name else ["Why samples fail", "Worst samples", "Metrics"]
    places = [text.index(head) for head in ["VERDICT", *heads, "How it was measured"]]
    assert places == sorted(places)
    assert "All samples" not in text
    assert "Signatures" not in text


@pytest.mark.parametrize("scripts", [True, False])
def test_everything_is_printed_on_request(printed, worse, scripts):
    few, all_of_it = " ".join(printed("run", scripts=scripts)), printed("run", scripts=scripts, everything=True)
    text = " ".join(all_of_it)
    for part in ("All samples", "Signatures", "Distributions"):
        assert part in text
        assert part not in few
    assert text.count("Retrieved chunks") == 20
    assert few.count("Retrieved chunks") == PRINTED


def test_all_samples_are_printed_if_the_report_was_made_so(printed, worse):
    text = " ".join(printed("run, all", scripts=False))
    assert text.count("Retrieved chunks") == len(worse.samples.table)
    assert "claims, facts, chunks and scores of B" in " ".join(printed("comparison, all", scripts=False))


def test_what_was_folded_is_folded_again(browser, files):
    page = browser.new_page()
    page.goto((files / "run.html").as_uri())
    opened = page.locator("details[open]").count()
    page.pdf()
    assert page.locator("details[open]").count() == opened
    page.close()
