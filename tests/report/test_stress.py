"""Stress tests in the terminal: remarks about the test beds."""

from types import SimpleNamespace

from ragstone.report.stress import remark_lines


def bed(**changes):
    return SimpleNamespace(
        **{"bed": "noise", "left_out": {}, "short": [], "inexact": [], "contaminated": [], **changes}
    )


def test_remarks_count_questions_and_name_a_few():
    report = bed(left_out={"one passage": ["a", "b", "c", "d"]}, short=["e"])
    test = SimpleNamespace(holding=2, holding_questions=1, kept=False, beds=[report])
    contaminated, left_out, short = remark_lines(test)
    assert contaminated.startswith("2 passages of 1 question ")
    assert left_out == "noise: 4 questions (a, b, c, …) left out: one passage"
    assert short.startswith("noise: 1 question (e)")


def test_no_remarks():
    assert list(remark_lines(SimpleNamespace(holding=0, beds=[bed()]))) == []
