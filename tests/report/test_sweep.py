"""A sweep in the terminal: who is best, what stopped and failed, and nothing that hostile names could do."""

from dataclasses import replace

from rich.console import Console

from ragstone.report.sweep import failed_lines, headline, quote_lines, sweep_report
from ragstone.sweep.sweep_folder import SweepQuote
from tests.sweep.made_results import make_results


def printed(results, width=140):
    console = Console(width=width, record=True, file=None, highlight=False)
    with console.capture() as captured:
        console.print(sweep_report(results))
    return captured.get()


def test_the_report_has_all_parts():
    text = printed(make_results())
    assert "k=4 is best: token_f1 0.800, but 1 other setting does not differ significantly" in text
    assert "4 settings, 20 questions, 48 answers; all settings on all questions would be 80; 0.5000 usd spent" in text
    assert "+0.050 to +0.350" in text
    assert "interactions are averaged over" in " ".join(text.split())
    assert "they change together" in text
    assert "0.200 after 8 questions; B has 0.900 on the same" in text
    assert "at most 5%" in text
    assert "the index raised" in text
    assert "1 question without an answer" in text
    assert "a remark" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_headlines():
    results = make_results()
    best, second, *rest = results.standings
    apart = (best, replace(second, group="b", rank=2), *rest)
    assert headline(replace(results, standings=apart)).endswith("token_f1 0.800.")
    untested = (replace(best, rank=None, group=""), replace(second, rank=None, group=""))
    assert "too few to test" in headline(replace(results, standings=untested))
    assert headline(replace(results, standings=tuple(rest))) == "No setting answered all questions."
    assert headline(replace(results, standings=tuple(rest[1:]))) == "Every setting failed."
    assert len(failed_lines(results)) == 2


def test_a_quote():
    quote = SweepQuote(3, 20, "function/rag", 60.0, None, 12.0, 0.5, 30.0, {"k=9": "no such index"})
    text = "\n".join(quote_lines(quote))
    assert "60 calls of function/rag for 3 settings × 20 questions; cost unknown" in text
    assert "12 calls of judge models; cost 0.5000 usd" in text
    assert "k=9 cannot be opened: no such index" in text
