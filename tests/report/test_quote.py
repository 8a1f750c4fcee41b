"""The estimated cost of a run in the terminal."""

import pytest

from ragstone.engine.quote import Quote, QuoteLine
from ragstone.report.quote import line_report, quote_report
from tests.report.drawing import draw


def line(name="m", calls=10.0, cost=0.5, seconds=30.0):
    return QuoteLine(name, calls, 1000.0, 50.0, cost, seconds)


def test_metrics_and_their_total():
    quote = Quote(100, 20, line("total", 15), (line("a"), line("b", cost=None)), {"c": "needs facts"})
    lines = {text.split()[0]: text.split() for text in draw(quote_report(quote)).splitlines() if text.strip()}
    assert lines["a"] == ["a", "10", "1,000", "50", "0.5000", "30", "s"]
    assert lines["b"][4] == "unknown"
    assert lines["total"][1] == "15"
    assert lines["From"][:6] == ["From", "20", "of", "the", "100", "rows."]
    assert lines["c:"] == ["c:", "needs", "facts"]


def test_many_metrics_that_are_not_computed_are_only_counted():
    quote = Quote(100, 20, line("total", 15), (line("a"),), {f"c{at}": "needs facts" for at in range(64)})
    assert "c63: needs facts" in draw(quote_report(quote))
    short = draw(quote_report(quote, full=False))
    assert "64 metrics are not computed: --full" in short
    assert "needs facts" not in short


@pytest.mark.parametrize(("seconds", "text"), [(89, "89 s"), (600, "10 min"), (7200, "2.0 h")])
def test_durations(seconds, text):
    assert text in draw(line_report(line(seconds=seconds)))


def test_no_calls():
    assert "no model calls" in draw(line_report(line(calls=0)))
