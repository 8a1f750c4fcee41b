"""The exam of a judge in words: verdict, tables, patterns, cost and advice."""

import pytest

from ragstone.agreement.judge_check import Examined, JudgeCheck, RowCost
from ragstone.report.judges import check_report
from ragstone.tools.judge_exam import VERDICTS, ExamMark
from tests.report.drawing import draw

RIGHT, WEAK, CHANCE = (ExamMark(VERDICTS, right, 24, 0, 1 / 3) for right in (23, 15, 9))
COST = RowCost(calls=300, input_tokens=120_000, output_tokens=900, cost_usd=0.0123, seconds=45.0)


def report(*ways, best=0):
    check = JudgeCheck("openai/x", "openai/x,temperature=0", ways, ways[best])
    return " ".join(draw(check_report(check), 160).split())


@pytest.mark.parametrize(
    ("mark", "verdict", "advice"),
    [
        (RIGHT, "openai/x: usable", "Use --verdicts tokens."),
        (WEAK, "openai/x: weak: better than chance", "Use --verdicts tokens."),
        (CHANCE, "openai/x: at chance", "Do not trust its verdicts."),
    ],
)
def test_the_verdict_and_the_advice(mark, verdict, advice):
    text = report(Examined("tokens", (mark,), usable=24, asked=24, row_cost=COST))
    assert verdict in text
    assert advice in text
    assert "by tokens" in text
    assert f"{mark.right} 24 {mark.interval.low:.2f} – {mark.interval.high:.2f} 0.33" in text


def test_both_ways_and_the_better_one():
    json = Examined(
        "json", (CHANCE, ExamMark("  supported", 8, 8, 0)), ("all 24 verdicts are equal (entailment)",), 22, 24, 3
    )
    text = report(json, Examined("tokens", (RIGHT,), usable=24, asked=24), best=1)
    assert "as JSON" in text
    assert "All 24 verdicts are equal (entailment)." in text
    assert "Usable replies: 22 of 24, 3 of them after a second request." in text
    assert "Use --verdicts tokens." in text


def test_the_cost_of_rows():
    one = Examined("tokens", (RIGHT,), usable=24, asked=24, row_cost=COST)
    assert "300 calls, 120,000 tokens in, 900 out, 0.0123 usd, 45 s one after the other" in report(one)
    cached = COST._replace(seconds=None, cost_usd=None)
    text = report(Examined("tokens", (RIGHT,), usable=24, asked=24, row_cost=cached))
    assert "cost unknown, time unknown (replies came from the cache: --no-cache measures)" in text
    free = RowCost(0, 0, 0, 0.0, 2.0)
    assert "no model calls, 2 s" in report(Examined("local", (RIGHT,), usable=24, asked=24, row_cost=free))


def test_a_way_that_is_not_possible_and_the_local_judge():
    text = report(Examined("json", (RIGHT,), usable=24, asked=24), Examined("tokens", why_not="no log-probabilities"))
    assert "tokens: no log-probabilities" in text
    assert "reads English items only" in report(Examined("local", (RIGHT,), usable=24, asked=24))


def test_names_cannot_act():
    check = JudgeCheck("openai/\x1b[31mx", "s", (one := Examined("json", (RIGHT,), usable=1, asked=1),), one)
    assert "\x1b" not in draw(check_report(check))
