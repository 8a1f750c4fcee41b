"""The HTML report: whole, safe, true to the run."""

import base64
import hashlib
import itertools
import json
import re

import pytest

from ragstone.compare.aggregate import aggregate
from ragstone.compare.comparison import compare_runs
from ragstone.compare.diagnosis import diagnose
from ragstone.report import comparing, diagnosis
from ragstone.report.html.comparison_page import comparison_html
from ragstone.report.html.page import breakable, script_json
from ragstone.report.html.run_page import MOST_LISTED, run_html
from ragstone.report.run_markdown import run_markdown
from tests.report.pages import Page
from tests.report.runs import BIDI, EVIL, harbour


@pytest.fixture(scope="session")
def pages(better, worse, hostile):
    return {
        "run": run_html(worse),
        "hostile": run_html(hostile),
        "comparison": comparison_html(compare_runs(worse, better, slices=["topic"])),
        "hostile comparison": comparison_html(compare_runs(hostile, hostile)),
    }


KINDS = ["run", "hostile", "comparison", "hostile comparison"]


@pytest.fixture(params=KINDS)
def page(pages, request):
    return pages[request.param]


def test_tags_are_in_balance_and_ids_are_unique(page):
    ids = Page(page).ids
    assert len(ids) == len(set(ids))


def test_links_stay_within_the_page(page):
    found = Page(page)
    assert len(found.links) >= 5
    assert [link for link in found.links if not link.startswith("#")] == []
    assert {link[1:] for link in found.links} <= set(found.ids)


def test_nothing_is_loaded_from_elsewhere(page):
    found = Page(page)
    names = {name for _, attributes in found.elements for name in attributes}
    assert not names & {"src", "srcset", "action", "formaction", "data", "poster", "xlink:href"}
    assert {tag for tag, _ in found.elements}.isdisjoint({"img", "link", "iframe", "object", "embed", "base", "form"})
    assert "url(" not in page
    assert "@import" not in page


def test_only_our_style_and_script_may_run(page):
    found = Page(page)
    [policy] = [one["content"] for one in found.find("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        [text] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    # Both would need a policy that allows more.
    names = {name for _, attributes in found.elements for name in attributes}
    assert "style" not in names
    assert not [name for name in names if name.startswith("on")]


def test_it_can_be_read_without_eyes(page):
    found = Page(page)
    assert [svg for svg in found.find("svg") if not svg.get("aria-label") or svg.get("role") != "img"] == []
    assert [head for head in found.find("th") if head.get("scope") not in ("col", "row")] == []
    assert [box for box in found.find("div") if box.get("class") == "scroll" and not box.get("aria-label")] == []
    levels = [int(tag[1]) for tag, _ in found.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert [pair for pair in itertools.pairwise(levels) if pair[1] > pair[0] + 1] == []
    assert found.find("html") == [{"lang": "en"}]


@pytest.mark.parametrize("kind", ["hostile", "hostile comparison"])
def test_hostile_text_is_shown_and_does_nothing(pages, kind):
    page = pages[kind]
    found = Page(page)
    # One for data, one for ours; none of theirs.
    assert [one.get("type") for one in found.find("script")] == ["application/json", None]
    assert "<img src=x onerror=alert(2)>" in found.text("main")
    assert "{{ 7*7 }}" in found.text("main")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]", page)
    assert "\\u202emorf\\u2066\\x1b[31m\\x00" in found.text("h1")


def test_the_embedded_numbers_are_those_of_the_run(pages, worse, hostile):
    for page, run in ((pages["run"], worse), (pages["hostile"], hostile)):
        [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
        assert "<" not in text
        assert json.loads(text) == json.loads(json.dumps(aggregate(run, diagnose(run))))


def test_script_json_survives_anything():
    value = {"text": f"{EVIL}\u2028<!--]]>", "n": [1, None, 0.5]}
    written = script_json(value)
    assert not set("<>&\u2028") & set(written)
    assert BIDI not in written
    assert json.loads(written) == value


def test_the_page_says_what_the_run_says(pages, worse):
    page = Page(pages["run"])
    text = re.sub(r"\s+", " ", page.text("main"))
    found = diagnose(worse)
    assert diagnosis.headline(found) in text
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
    assert "✓ reference says so" in text
    assert "✗ reference says otherwise" in text
    assert "✗ contradicts reference claim 2" in text
    # In rank order.
    assert text.index("doc </script>") < text.index("says answer claim 2")


def test_facts_are_marked_where_they_stand(better):
    page = run_html(better, worst=25)
    marked = re.findall(r'<mark class="good">(.*?)<sup>fact [\d, ]+</sup></mark>', page, flags=re.DOTALL)
    assert any("From Orlsay the first boat leaves at 06:20 and the last at 21:10" in text for text in marked)


def test_worst_samples_and_slices_are_chosen(worse):
    page = run_html(worse, worst=3, slices=["topic"])
    assert page.count('<details class="sample"') == 3
    assert "By difficulty" not in Page(page).text("main")
    none = Page(run_html(worse, worst=0))
    assert "worst" not in none.ids


def test_a_comparison_says_what_the_comparison_says(pages, worse, better):
    found = compare_runs(worse, better, slices=["topic"])
    text = re.sub(r"\s+", " ", Page(pages["comparison"]).text("main"))
    assert comparing.headline(found) in text
    for item in found.metrics:
        assert f"{item.difference:+.3f}".replace("-", "−") in text
    assert text.count("▲ better") >= len(found.having("better")) > 0
    changed = [sample for sample in found.changed if sample.gain > 0][:5]
    assert [sample.id for sample in changed if sample.question not in text] == []


def test_equal_runs_make_a_calm_page(pages):
    text = Page(pages["hostile comparison"]).text("main")
    assert "have the same scores in all 3 pairs" in text
    assert "▲" not in text
    assert "▼" not in text


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


def test_many_rows_make_a_small_file(tmp_path):
    import ragstone

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


def test_names_break_where_they_may():
    assert breakable("ragas.noise_sensitivity(mode=x)") == "ragas.<wbr>noise_<wbr>sensitivity(<wbr>mode=x)"
    assert breakable("<b>.x") == "&lt;b&gt;.<wbr>x"


def test_a_metric_of_all_rows_is_left_out_of_distributions(tmp_path):
    run = harbour("better", tmp_path, ["bleu", "token_f1"])
    page = Page(run_html(run))
    figures = "".join(page.texts["figcaption"])
    assert "token_f1" in figures
    assert "bleu" not in figures
