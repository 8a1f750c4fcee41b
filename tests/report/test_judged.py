"""Who judged stands in every report of a run: the language model by name, the local judge with where its figures are."""

import io

import pytest
from rich.console import Console

import ragstone
from ragstone.llm.base import Reply
from ragstone.report.html.run_page import run_html
from ragstone.report.judged import judge_lines
from ragstone.report.run_markdown import run_markdown
from ragstone.report.terminal import run_report
from ragstone.testing import FakeLLM
from tests.report.pages import Page

ROW = {
    "id": "1",
    "question": "What colour?",
    "answer": "It is red.",
    "references": ["Red."],
    "contexts": ["It is red."],
}
LOCAL = "m|v1|checker:local-judge/1#f034c748;passages/1|extractor:rules/1"
ASKED = (
    "m|v1|checker:vllm/our-judge:8b,temperature=0;25x10;repeats=1|extractor:vllm/our-judge:8b,temperature=0;sentences"
)
LADDER = "m|v1|checker:local-judge/1#f034c748;passages/1>openai/above,temperature=0;25x10;repeats=1@0.9"


def info(*signatures, judge=(), **totals):
    return {
        "metrics": [{"metric": f"m{place}", "signature": text} for place, text in enumerate(signatures)],
        "judge": dict(judge),
        "totals": totals,
    }


def test_nobody_judged():
    assert list(judge_lines(info("token_f1|v1"))) == []


def test_a_language_model_by_its_name():
    told = info(ASKED, ASKED, "token_f1|v1", judge={"checker": "vllm/our-judge:8b,temperature=0;25x10;repeats=1"})
    assert list(judge_lines(told)) == ["2 of 3 metrics come from the judge vllm/our-judge:8b."]
    two = {"extractor": "openai/a,temperature=0;sentences", "checker": "openai/b,temperature=0.5;25x10;repeats=1"}
    assert list(judge_lines(info(ASKED, judge=two))) == ["The metric comes from the judge openai/a and openai/b."]


def test_the_local_judge_with_its_figures():
    [line] = judge_lines(info(LOCAL, LOCAL, judge={"checker": "local-judge/1#f034c748;passages/1"}))
    assert line.startswith("All metrics come from the local judge,")
    assert line.endswith("ragstone models show local-judge")


def test_a_ladder_with_what_it_saved():
    ladder = {"decided_locally": 1500, "passed_on": 500, "calls_saved": 70, "estimated_agreement": 0.964}
    told = info(LADDER, judge={"checker": LADDER.partition("checker:")[2]}, ladder=ladder)
    assert list(judge_lines(told)) == [
        "Of 2,000 verdicts the local judge was sure of 1,500 and passed on 500 to openai/above: 70 calls saved, "
        "estimated agreement with asking always 96%."
    ]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    llm = FakeLLM(lambda request: Reply(request.guess, "openai/some_judge", 1, 1), "openai/some_judge")
    root = tmp_path_factory.mktemp("judged")
    return ragstone.evaluate([ROW], ["ragchecker.precision", "token_f1"], root, judge=llm, cache=False)


def test_every_report_says_it(judged, worse):
    line = "1 of 2 metrics comes from the judge openai/some_judge."
    screen = io.StringIO()
    Console(file=screen, width=110).print(run_report(judged))
    assert line in screen.getvalue()
    assert line in Page(run_html(judged)).text()
    assert line.replace("_", "\\_") in run_markdown(judged)
    assert "comes from the judge" not in Page(run_html(worse)).text()


def test_a_judge_of_ones_own_is_named():
    [line] = judge_lines(info("trained_grade|v1|expected_label/1|trained_judge:trained/years#0e8a327b", "token_f1|v1"))
    assert line.startswith("1 of 2 metrics comes from trained/years, a judge trained on your labels.")
