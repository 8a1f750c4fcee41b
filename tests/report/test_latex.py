"""Runs and comparisons as LaTeX: the numbers, and text from data that is escaped."""

import re

from ragstone.analysis.comparison import compare_runs
from ragstone.report.exports import comparison_latex, run_latex


def test_latex_by_hand(worse):
    text = run_latex(worse)
    row = worse.summary()["fact_recall"]
    expected = rf"fact\_recall $\uparrow$ & {row.mean:.3f} & [{row.ci_low:.3f}, {row.ci_high:.3f}] & {row.n_ok} \\"
    assert expected in text
    assert text.count(r"\midrule") == 2
    assert r"\label{tab:harbour-worse}" in text
    check_tex(text, 4)


def test_latex_of_a_comparison(worse, better):
    found = compare_runs(worse, better)
    text = comparison_latex(found)
    item = found["fact_recall"]
    assert rf"fact\_recall $\uparrow$ & {item.before:.3f} & {item.after:.3f} & ${item.difference:+.3f}$" in text
    assert text.count(r"\textbf{better}") == len(found.having("better")) > 0
    check_tex(text, 7)


def test_latex_of_hostile_names(hostile):
    text = run_latex(hostile)
    check_tex(text, 4)
    assert r"\textless{}/script\textgreater{}" in text
    assert r"\textbackslash{}u202e" in text


def check_tex(text, columns):
    """Every row has its cells, every environment ends, braces are in balance."""
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert rows
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {columns - 1}
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    begun, ended = re.findall(r"\\begin\{(\w+)\}", text), re.findall(r"\\end\{(\w+)\}", text)
    assert begun == ended[::-1]
