"""A run in the terminal: what is shown, and that nothing in the data can redraw the screen."""

import io
import re
from types import SimpleNamespace

import pytest
from rich.console import Console

import ragstone
from ragstone.data.summary import ALL, SummaryRow
from ragstone.registry import metric
from ragstone.report.names import MetricName
from ragstone.report.terminal import run_report


def draw(run, width=110, **options):
    screen = io.StringIO()
    Console(file=screen, width=width, highlight=False, **options).print(run_report(run))
    return screen.getvalue()


def fake(*rows, **changes):
    """A run of these summary rows; each metric is described as a share unless told otherwise."""
    described = {
        "judges": "answer",
        "against": "references",
        "better": "higher",
        "bounds": [0.0, 1.0],
        "signature": "m|v1",
        **changes,
    }
    metrics = [{"metric": row.metric, **described} for row in rows if row.n_ok or row.n_failed]
    return SimpleNamespace(summary=lambda: list(rows), info={"metrics": metrics, "totals": {}})


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
    assert text.index("not computed") < text.index("empty cells")


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
    run = fake(*rows)
    for item, judges in zip(run.info["metrics"], ("contexts", "ranking", ""), strict=True):
        item["judges"] = judges
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
    run = fake(row(skipped=1, failed=1, reason="why"))
    assert "\x1b" in draw(run, force_terminal=True, color_system="truecolor")
    assert "\x1b" not in draw(run)


@pytest.mark.parametrize("width", [70, 80, 95, 110, 200])
def test_a_narrow_terminal_loses_the_pictures_and_no_number(width):
    """80 columns are what most terminals open with: the first table that anybody sees."""
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
    reason = lines[lines.index("empty cells") + 1 :]
    assert len(reason) > 1
    assert all(line.startswith("  ") and not line.startswith("   ") for line in reason)


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (34, ["  ragchecker.context_utilization ↑"]),
        (33, ["  ragchecker.", "    context_utilization ↑"]),
        (24, ["  ragchecker.context_", "    utilization ↑"]),
    ],
)
def test_names_are_broken_between_their_parts(width, lines):
    screen = io.StringIO()
    name = MetricName("ragchecker.context_utilization", "  ", " ↑")
    Console(file=screen, width=width, highlight=False).print(name)
    assert screen.getvalue().splitlines() == lines


def test_a_run_without_anything():
    assert "metric" in draw(fake())


def test_headlines_first_and_the_rest_on_demand():
    names = ["fact_recall", "recall", "token_f1", "refusal", "rouge_2", "broken"]
    rows = [row(name, failed=1, reason="out of order") if name == "broken" else row(name) for name in names]
    screen = io.StringIO()
    Console(file=screen, width=110, highlight=False).print(run_report(fake(*rows), full=False))
    short = screen.getvalue()
    assert "rouge_2" not in short
    # What failed is never left out.
    assert "broken" in short
    assert "1 more metric with --full" in short
    assert "rouge_2" in draw(fake(*rows))
    few = io.StringIO()
    Console(file=few, width=110, highlight=False).print(run_report(fake(row("token_f1"), row("rouge_2")), full=False))
    assert "rouge_2" in few.getvalue()


def test_what_was_not_computed_does_not_count_as_shown():
    rows = [row(name) for name in ("token_f1", "k_precision", "refusal", "rouge_2", "rouge_l")]
    run = fake(*rows, *(row(name, ok=0, reason="needs facts, which no row has") for name in ("fact_recall", "recall")))
    screen = io.StringIO()
    Console(file=screen, width=110, highlight=False).print(run_report(run, full=False))
    assert "rouge_l" in screen.getvalue()
    assert "more metric" not in screen.getvalue()
