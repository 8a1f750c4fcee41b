"""Results at the prompt and in a notebook: a few lines of text, and HTML that is safe and complete by itself."""

import re
from html.parser import HTMLParser

import pytest

import ragstone
from tests.report.runs import EVIL

VOID = {"br", "wbr", "meta", "link", "img", "input"}


def results(run, other):
    worst = run.worst(2)
    return {
        "run": run,
        "diagnosis": run.diagnose(),
        "worst": worst,
        "explanation": run.explain(worst[0]),
        "score": run.explain(worst[0], "token_f1"),
        "missing": run.missing,
        "comparison": ragstone.compare(run, other),
        "gate": ragstone.gate(run, against=other, max_drop=0.02, min={"token_f1": 0.5}, max={"token_f1": 0.9}),
    }


@pytest.fixture(scope="module")
def shown(worse, better):
    return results(worse, better)


@pytest.fixture(scope="module")
def hostile_shown(hostile):
    return results(hostile, hostile)


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.elements, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(html):
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    return reader


def test_a_row_that_nothing_judged_names_its_worst_score(tmp_path):
    row = {"question": "Do dogs pay?", "answer": "Dogs pay.", "references": ["Half fare"]}
    run = ragstone.evaluate([row], metrics=["token_f1", "ari"], out=tmp_path)
    assert repr(run.worst(1)).splitlines()[1].split() == ["1", "token_f1", "0.000", "Do", "dogs", "pay?"]


def test_repr_is_a_few_lines(shown):
    for name, value in shown.items():
        lines = repr(value).splitlines()
        assert 1 < len(lines) <= 8, name
        assert max(map(len, lines)) <= 200, name


def test_cells_of_metrics_that_were_not_computed_are_not_skipped_cells():
    rows = [{"question": f"When does boat {n} leave?", "answer": "At nine."} for n in range(3)]
    run = ragstone.evaluate(rows, ["token_f1", "ari"])
    assert run.info.skipped
    assert "skipped cells" not in repr(run)


def test_one_worst_sample_is_a_line(shown):
    text = repr(shown["worst"][0])
    assert text.startswith("WorstSample(row=")
    assert len(text) < 250
    assert "\n" not in text


def test_a_comparison_without_evidence_has_numbers(worse, better, tmp_path):
    rows = [
        {"question": f"When does boat {n} leave?", "answer": "At nine.", "references": ["At nine."]} for n in range(8)
    ]
    other = [{**rows[0], "answer": "At ten."}, *rows[1:]]
    runs = [ragstone.evaluate(data, ["token_f1", "exact_match"]) for data in (rows, other)]
    text = repr(ragstone.compare(*runs))
    assert f"A {runs[0].id} → B {runs[1].id}, 8 pairs" in text
    assert "There is no evidence that B differs from A" in text
    assert "· token_f1 1.000 → 0.9" in text


def test_repr_says_what_matters(shown):
    assert repr(shown["run"]).startswith("Run harbour-worse (")
    assert "6 skipped cells: run.missing" in repr(shown["run"])
    assert "of 25 samples are wrong: 8 missing chunk" in repr(shown["diagnosis"])
    assert "wrong (90 %): missing chunk, retriever" in repr(shown["explanation"])
    assert "token_f1 = 0.000" in repr(shown["score"])
    assert "recall, skipped, 2 cells: no relevance and no reference contexts" in repr(shown["missing"])
    comparison = shown["comparison"]
    assert "Comparison harbour-worse → harbour-better, 25 pairs" in repr(comparison)
    assert comparison.failing.fixed
    assert comparison.as_dict()["failing"]["fixed"] == comparison.failing.fixed
    assert f"{len(comparison.failing.fixed)} fixed, " in " ".join(str(comparison).split())
    assert "▲ fact_recall 0.674 → 0.928" in repr(shown["comparison"])
    assert repr(shown["gate"]).startswith("Gate of harbour-worse against harbour-better: fails\n  ✗ ")


def test_print_shows_the_report_of_the_terminal(shown):
    assert "why samples fail" in str(shown["diagnosis"])
    assert "retrieved chunks" in str(shown["explanation"])
    assert "gained most" in str(shown["comparison"])
    assert "95 % interval" in str(shown["gate"])


def test_html_is_complete_without_script_and_loads_nothing(shown):
    for name, value in shown.items():
        html = value._repr_html_()
        reader = read(html)
        assert not {"script", "iframe", "link", "img", "object", "form"} & set(reader.elements), name
        assert not [key for key, _ in reader.attributes if key.startswith("on") or key in ("id", "src")], name
        assert not re.search(r"url\(|@import|https?:|<a ", html), name
        assert html.count("<style>") == 1


def test_html_has_the_tables_and_the_pictures_of_the_report(shown):
    for name in ("run", "diagnosis", "comparison", "gate"):
        elements = read(shown[name]._repr_html_()).elements
        assert {"table", "svg"} <= set(elements), name
    assert "Why samples fail" in shown["diagnosis"]._repr_html_()
    assert read(shown["worst"]._repr_html_()).elements.count("details") >= 2
    assert "fact_<wbr>recall" in shown["missing"]._repr_html_()


def test_the_style_is_scoped_small_and_follows_the_theme(shown):
    for name, value in shown.items():
        html = value._repr_html_()
        style = html[html.index("<style>") + 7 : html.index("</style>")]
        assert len(style) < 14_000, name
        for selectors in re.findall(r"(?:^|\}|\{)\s*([^{}@]+)\{", style):
            assert all(".ragstone" in one for one in selectors.split(",")), selectors
        for mark in ("prefers-color-scheme: dark", 'data-jp-theme-light="false"', ".vscode-dark"):
            assert mark in style


def test_hostile_text_is_escaped(hostile_shown):
    for name, value in hostile_shown.items():
        html = value._repr_html_()
        reader = read(html)
        assert not {"script", "img"} & set(reader.elements), name
        assert "<script" not in html
        assert "\x1b" not in html
        assert "\u202e" not in html
        for text in (repr(value), str(value)):
            assert "\x1b" not in text, name
            assert "\u202e" not in text, name
    assert EVIL not in hostile_shown["run"]._repr_html_()


def test_equal_names_of_two_runs(hostile_shown):
    assert "pairs" in repr(hostile_shown["comparison"])


def test_a_run_without_missing_scores(tmp_path):
    run = ragstone.evaluate([{"answer": "a", "references": ["a"]}], "token_f1", tmp_path)
    assert "token_<wbr>f1" in run._repr_html_()
    assert "Every cell has a value" in run.missing._repr_html_()
