"""A run in the terminal: metrics, judges, and data that cannot send commands to the screen."""

import io
import re
from collections import Counter
from types import SimpleNamespace

import pytest
from rich.console import Console

import ragstone
from ragstone.analysis.diagnosis import Diagnosis, diagnose
from ragstone.analysis.part_metrics import people_dict, people_of
from ragstone.data.summary import ALL, SummaryRow
from ragstone.llm.base import Reply
from ragstone.registry import metric
from ragstone.report.html.run_page import run_html
from ragstone.report.markdown import run_markdown
from ragstone.report.run import call_line, metrics_table, run_report, run_summary
from ragstone.stats.judge_error import JudgeError, Level
from ragstone.storage.run_info import MetricInfo, RunInfo
from ragstone.testing import FakeLLM
from ragstone.views.run import RunView, judge_failure, judge_lines, verdict_lines
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
    metrics = [MetricInfo.declare(f"m{place}", text) for place, text in enumerate(signatures)]
    return make_info(metrics, judge=dict(judge), totals=totals)


def make_info(metrics, **parts):
    named = {"layout": 1, "name": "r", "created_at": "", "finished_at": "", "dataset": {"rows": 1}, "totals": {}}
    return RunInfo.from_json({**named, "skipped": {}, "evidence": [], "versions": {}, "metrics": metrics, **parts}, "r")


@pytest.mark.parametrize(("field", "is_said"), [("references", False), ("facts", False), ("contexts", True)])
def test_rows_judged_by_chunks_alone_are_rarely_called_wrong(field, is_said):
    told = make_info([MetricInfo.declare("m", LOCAL)], dataset={"rows": 1, "present": {field: 1}})
    assert ("Without references, doubtful rows need a look" in " ".join(judge_lines(told))) is is_said


def test_no_line_without_a_judge():
    assert list(judge_lines(info("token_f1|v1"))) == []


def test_a_language_model_by_its_name():
    told = info(ASKED, ASKED, "token_f1|v1", judge={"checker": "vllm/our-judge:8b,temperature=0;25x10;repeats=1"})
    assert list(judge_lines(told)) == [
        "2 of 3 metrics come from the judge vllm/our-judge:8b. Its error is not known and not in the intervals: "
        "ragstone agree RUN --human labels.csv estimates what people would say"
    ]
    two = {"extractor": "openai/a,temperature=0;sentences", "checker": "openai/b,temperature=0.5;25x10;repeats=1"}
    assert list(judge_lines(info(ASKED, judge=two))) == [
        "The metric comes from the judge openai/a and openai/b. Its error is not known and not in the intervals: "
        "ragstone agree RUN --human labels.csv estimates what people would say"
    ]


def test_the_local_judge_with_its_figures():
    line, advice = judge_lines(info(LOCAL, LOCAL, judge={"checker": "local-judge/1#f034c748;passages/1"}))
    assert "ragstone truth import answers.csv NAME" in advice
    assert line.startswith("All metrics come from the local judge,")
    assert "ragstone models show local-judge" in line
    assert "about 0.1" not in line


def test_a_ladder_with_what_it_saved():
    ladder = {"decided_locally": 1500, "passed_on": 500, "calls_saved": 70, "estimated_agreement": 0.964}
    told = info(LADDER, judge={"checker": LADDER.partition("checker:")[2]}, ladder=ladder)
    [line] = verdict_lines(told)
    assert all(number in line for number in ("2,000", "decided 1,500", "500 to openai/above", "70 calls saved", "96%"))


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    llm = FakeLLM(lambda request: Reply(request.guess, "openai/some_judge", 1, 1), "openai/some_judge")
    root = tmp_path_factory.mktemp("judged")
    return ragstone.evaluate([ROW], ["ragchecker.precision", "token_f1"], root, judge=llm, cache=False)


def test_every_report_names_the_judge(judged, worse):
    line = "1 of 2 metrics comes from the judge openai/some_judge."
    screen = io.StringIO()
    Console(file=screen, width=110).print(run_report(judged))
    assert line in screen.getvalue()
    assert line in Page(run_html(judged)).text()
    assert line.replace("_", "\\_") in run_markdown(judged)
    assert "comes from the judge" not in Page(run_html(worse)).text()


def test_a_trained_judge_is_named():
    [line] = judge_lines(info("trained_grade|v1|expected_label/1|trained_judge:trained/years#0e8a327b", "token_f1|v1"))
    assert line.startswith("1 of 2 metrics comes from trained/years, a judge trained on your labels.")


def draw(run, width=110, **options):
    screen = io.StringIO()
    Console(file=screen, width=width, highlight=False, **options).print(run_report(run))
    return screen.getvalue()


def draw_as(report):
    screen = io.StringIO()
    Console(file=screen, width=110, highlight=False).print(report)
    return screen.getvalue()


def fake(*rows, **changes):
    """A run of these summary rows; each metric is described as a share unless told otherwise."""
    described = {"judges": "answer", "against": "references", "signature": "m|v1", **changes}
    judges = described.pop("judges")
    parts = dict.fromkeys((row.metric for row in rows), judges) if isinstance(judges, str) else judges
    metrics = [
        MetricInfo.declare(row.metric, **described, judges=parts[row.metric])
        for row in rows
        if row.n_ok or row.n_failed
    ]
    return SimpleNamespace(summary=lambda: list(rows), info=make_info(metrics))


def row(name="m", mean=0.5, low=0.25, high=0.75, ok=4, skipped=0, failed=0, reason=None):
    return SummaryRow(name, ALL, mean, low, high, ok, skipped, failed, reason)


@pytest.mark.usefixtures("catalogue")
def test_a_run_with_scored_skipped_failed_and_unbounded_metrics():
    @metric("words", bounds=(0, None), better="none", judges="answer")
    def words(answer: str) -> float:
        return len(answer.split())

    @metric("broken", judges="answer", better="lower")
    def broken(answer: str) -> float:
        raise RuntimeError("out of order")

    data = [{"question": "q", "answer": "one two"}, {"question": "r", "answer": "one"}, {"question": "s"}]
    text = draw(ragstone.evaluate(data, "words,broken,fact_recall"))
    lines = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert lines["words"].split() == ["words", "1.500", "0.000", "–", "7.853", "2", "1", "0"]
    assert lines["broken"].split()[:4] == ["broken", "↓", "–", "–"]
    assert lines["broken"].split()[-3:] == ["0", "1", "2"]
    assert "fact_recall: needs facts, which no row has" in text
    assert "RuntimeError: out of order (2" in text
    assert text.index("not computed") < text.index("missing scores")


@pytest.mark.parametrize(
    ("mean", "low", "high", "picture"),
    [
        (0.0, 0.0, 0.0, "●·······················"),
        (1.0, 1.0, 1.0, "·······················●"),
        (0.5, 0.25, 0.75, "······━━━━━━●━━━━━━·····"),
        (0.5, None, None, "············●···········"),
    ],
)
def test_the_picture_of_an_interval(mean, low, high, picture):
    assert picture in draw(fake(row(mean=mean, low=low, high=high)))


def test_no_picture_without_a_scale():
    text = draw(fake(row(mean=3.0, low=1.0, high=5.0), bounds=[0.0, None]))
    assert "●" not in text
    assert "1.000 – 5.000" in text


def test_parts_of_the_system_are_told_apart():
    rows = [row("a"), row("b"), row("c")]
    run = fake(*rows, judges={"a": "contexts", "b": "ranking", "c": ""})
    text = draw(run)
    assert text.index("retrieval") < text.index(" a ") < text.index(" b ") < text.index("other") < text.index(" c ")


HOSTILE = ["[red]name[/red]", "[/]", "[bold", "a[/b]c", ":smile:", "[link=http://x]y[/link]", "\\[x]"]


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_in_names_and_reasons_is_shown_as_it_is(text):
    shown = draw(
        fake(row(text, reason=f"because {text}", skipped=1), row(f"{text} lost", ok=0, skipped=4, reason=text))
    )
    assert f"  {text} ↑" in shown
    assert f"{text}: because {text}" in shown
    assert f"{text} lost: {text}" in shown


def test_markup_in_the_part_that_a_metric_judges():
    assert "[red]part[/]" in draw(fake(row(), judges="[red]part[/]"))


@pytest.mark.usefixtures("catalogue")
@pytest.mark.parametrize("text", ["\x1b[2J\x1b[31mgone", "\x1b]0;title\x07", "\r\nforged line", "\x9b31m"])
def test_data_cannot_redraw_the_screen(text):
    @metric("echo")
    def echo(answer: str) -> float:
        raise ValueError(answer)

    shown = draw(ragstone.evaluate([{"question": "q", "answer": text}], "echo"))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)


def test_no_colour_means_no_escape_codes():
    run = fake(row(ok=100, skipped=1, failed=1, reason="why"))
    assert "\x1b" in draw(run, force_terminal=True, color_system="truecolor")
    assert "\x1b" not in draw(run)


@pytest.mark.parametrize("width", [70, 80, 95, 110, 200])
def test_a_narrow_terminal_loses_the_pictures_and_no_number(width):
    """80 columns are what most terminals open with: the first table that a user sees."""
    names = ["fact_recall@10", "k_precision"]
    text = draw(fake(*(row(name, ok=10_000, skipped=2, failed=3) for name in names)), width)
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.startswith("  ")}
    for name in names:
        assert [word for word in lines[name] if "━" not in word] == [
            *(name, "↑", "0.500", "0.250", "–", "0.750"),
            *("10000", "2", "3"),
        ]
    assert ("●" in text) == (width >= 95)
    assert "…" not in text


@pytest.mark.parametrize("width", [20, 40, 80, 300])
def test_any_width(width):
    text = draw(fake(row("a_rather_long_name_of_a_metric(with=parameters)@10"), row("b", reason="x" * 500)), width)
    assert max(map(len, text.splitlines())) <= width


def test_a_reason_that_takes_two_lines_is_indented_on_both():
    lines = draw(fake(row("k_precision", reason="the answer has no words " * 6, skipped=1)), 80).splitlines()
    reason = lines[lines.index("missing scores") + 1 :]
    assert len(reason) > 1
    assert all(line.startswith("  ") and not line.startswith("   ") for line in reason)


def test_a_run_without_anything():
    assert "metric" in draw(fake())


def test_headlines_first_and_the_rest_on_demand():
    names = ["fact_recall", "recall", "token_f1", "refusal", "rouge_2", "broken"]
    rows = [row(name, failed=1, reason="out of order") if name == "broken" else row(name) for name in names]
    screen = io.StringIO()
    Console(file=screen, width=110, highlight=False).print(summary(fake(*rows)))
    short = screen.getvalue()
    assert "rouge_2" not in short
    # What failed is never left out.
    assert "broken" in short
    assert "1 more metric with --full" in short
    assert "rouge_2" in draw(fake(*rows))
    few = io.StringIO()
    Console(file=few, width=110, highlight=False).print(summary(fake(row("token_f1"), row("rouge_2"))))
    assert "rouge_2" in few.getvalue()


def test_what_was_not_computed_does_not_count_as_shown():
    rows = [row(name) for name in ("token_f1", "k_precision", "refusal", "rouge_2", "rouge_l")]
    run = fake(*rows, *(row(name, ok=0, reason="needs facts, which no row has") for name in ("fact_recall", "recall")))
    screen = io.StringIO()
    Console(file=screen, width=110, highlight=False).print(summary(run))
    assert "rouge_l" in screen.getvalue()
    assert "more metric" not in screen.getvalue()


def summary(run):
    """The short form, without samples that were diagnosed."""
    nothing = Diagnosis(
        "unknown", False, {"retriever": "", "generator": ""}, (), (), (), (), 0, 0, Counter(), Counter()
    )
    return run_summary(RunView.of(run), nothing)


def broken_judge(*_):
    raise RuntimeError("the model is not loaded")


def first_line(run):
    screen = Console(file=io.StringIO(), width=200)
    screen.print(summary(run))
    return screen.file.getvalue().splitlines()[0]


def test_a_judge_that_failed_everywhere_comes_first_in_all_reports(tmp_path):
    rows = [ROW | {"id": str(number)} for number in range(3)]
    run = ragstone.evaluate(rows, ["token_f1", "answer_match"], tmp_path, judge=broken_judge, cache=False)
    failure = judge_failure(run)
    assert failure.startswith("The judge failed (")
    assert "3 of its 3 scores are missing. Main reason: " in failure
    assert "the model is not loaded" in failure
    assert first_line(run) == failure
    assert run_markdown(run).startswith("**The judge failed (")
    texts = Page(run_html(run)).text()
    assert texts.index("The judge failed (") < texts.index(
        "Why samples fail" if "Why samples fail" in texts else "retriever"
    )


def test_a_judge_that_failed_once_is_only_counted(tmp_path):
    replies = iter(["nothing", '{"matches": [1]}', '{"matches": [1]}'])
    rows = [ROW | {"id": str(number), "question": f"What colour {number}?"} for number in range(3)]
    run = ragstone.evaluate(
        rows, ["answer_match"], tmp_path, judge=FakeLLM(lambda _: next(replies, '{"matches": [1]}'))
    )
    assert judge_failure(run) is None


def test_calls_and_cost():
    tokens = {"input_tokens": 1200, "output_tokens": 30}
    assert call_line(info("token_f1|v1")) is None
    assert (
        call_line(info(ASKED, calls=1234, cached_calls=0, cost_usd=0.01234, **tokens))
        == "1,234 model calls, 0.0123 usd"
    )
    assert call_line(info(ASKED, calls=1, cached_calls=2, cost_usd=None, **tokens)) == (
        "1 model call, 2 from the cache, 1,200 tokens in, 30 out, price unknown"
    )
    assert call_line(info(ASKED, calls=0, cached_calls=2, cost_usd=0.0, **tokens)) == "no model calls, 2 from the cache"


def test_the_estimated_human_score_stands_for_the_mean():
    name, error = "ragchecker.faithfulness", JudgeError(Level(0.65, 0.01, 0.05, 40), Level(0.35, 0.01, 0.05, 40))
    metric = MetricInfo.declare(name, LOCAL, judges="answer")
    told = make_info([metric, MetricInfo.declare("m", LOCAL)], judge_error={name: error.as_dict()})
    rows = [SummaryRow(name, "all", 0.6, 0.58, 0.62, 50, 0, 0)]
    people = people_of(told, rows)
    low, high = people[name].interval()
    view = RunView.of(SimpleNamespace(summary=lambda: rows, info=told))
    [line] = metrics_table(view.metrics).rows
    assert [cell.plain for cell in line.cells[1:3]] == [f"≈ {people[name].mean:.2f}", f"{low:.2f} – {high:.2f}"]
    assert "0.600 (0.580 – 0.620)" in metrics_table(view.metrics, raw=True).rows[1].cells[0].plain
    assert view.explanations[0].startswith("≈ estimated human score")
    assert people_dict(told, rows[0]) == {"mean": people[name].mean, "low": low, "high": high}
    other = people_dict(told, SummaryRow("m", "all", 0.6, 0.58, 0.62, 50, 0, 0))
    assert other is not None
    assert other["reason"] == "this metric of the judge was not checked against labels"
    assert "and not measured for the others" in " ".join(judge_lines(told))
    for others in ([], [MetricInfo.declare("m", ASKED)]):
        told = make_info([metric, *others], judge_error={name: error.as_dict()})
        assert "not measured" not in " ".join(judge_lines(told))


def test_a_language_model_has_no_line_of_people():
    told = info(ASKED)
    assert people_dict(told, SummaryRow("m0", "all", 0.6, 0.58, 0.62, 50, 0, 0)) is None


def test_a_small_file_does_not_list_every_metric_that_it_lacks(tmp_path):
    run = ragstone.evaluate([{"question": "Why?", "answer": "Because of the tide."}], out=tmp_path)
    short, full = draw_as(summary(run)), draw_as(run_report(run))
    assert "steps.count" not in short
    assert "steps.count" in full.partition("not computed")[2]


def test_rows_without_a_status_are_counted_in_one_line():
    """Also if the user named the metrics and no row is wrong."""
    rows = [{"answer": "At nine.", "contexts": ["It opens at nine."], "references": ["At nine."]}] * 3
    run = ragstone.evaluate(rows, ["k_precision", "answer_match"])
    text = draw_as(run_summary(RunView.of(run), diagnose(run), named=True))
    assert text.startswith("3 rows have no status: no metric of this run judges rows (add -m ragchecker).\n\nmetric ")
