"""Tables for papers, with the rules of the booktabs package."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ragstone.compare.comparison import Comparison
from ragstone.data.summary import ALL
from ragstone.report.comparing import method_line
from ragstone.report.plain import visible
from ragstone.report.terminal import part_of
from ragstone.storage.runs import Run

_SPECIAL = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "--",
    "–": "--",
}
_ARROWS = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "none": ""}
_VERDICTS = {"better": r"\textbf{better}", "worse": r"\textbf{worse}"}


def run_latex(run: Run) -> str:
    """The means of a run with their intervals."""
    known = {metric["metric"]: metric for metric in run.info["metrics"]}
    summary = [row for row in run.summary() if row.slice == ALL and row.metric in known]
    groups = []
    for part in dict.fromkeys(part_of(known[row.metric]) for row in summary):
        rows = [
            (
                escape(row.metric) + _ARROWS[known[row.metric]["better"]],
                _number(row.mean),
                _interval(row.ci_low, row.ci_high, "{:.3f}"),
                str(row.n_ok),
            )
            for row in summary
            if part_of(known[row.metric]) == part
        ]
        groups.append((part, rows))
    caption = f"{escape(run.name)}: means with 95\\,\\% intervals over {run.info['dataset']['rows']} samples."
    return _table("lrrr", ("metric", "mean", r"95\,\% interval", "$n$"), groups, caption, f"tab:{_label(run.name)}")


def comparison_latex(found: Comparison) -> str:
    """Two runs: both means, the difference with its interval, the corrected p, the verdict."""
    known = {metric["metric"]: metric for metric in found.after.info["metrics"]}
    groups = []
    for part in dict.fromkeys(part_of(known[item.metric]) for item in found.metrics):
        rows = [
            (
                escape(item.metric) + _ARROWS[item.better],
                _number(item.before),
                _number(item.after),
                _number(item.difference, "{:+.3f}"),
                _interval(item.low, item.high, "{:+.3f}"),
                _chance(item.corrected_p),
                _VERDICTS.get(item.verdict or "", escape(item.verdict or "–")),
            )
            for item in found.metrics
            if part_of(known[item.metric]) == part
        ]
        groups.append((part, rows))
    heads = ("metric", "A", "B", r"B\,$-$\,A", r"95\,\% interval", "$p$", "verdict")
    names = f"A: {escape(found.before.name)}, B: {escape(found.after.name)}, {len(found.pairs)} pairs"
    caption = f"{names}. {escape(method_line(found))}"
    return _table("lrrrrrl", heads, groups, caption, f"tab:{_label(found.before.name)}-{_label(found.after.name)}")


def escape(text: str) -> str:
    """Text from data as TeX prints it."""
    return "".join(_SPECIAL.get(sign, sign) for sign in " ".join(visible(text).split()))


def _table(
    columns: str, heads: Sequence[str], groups: Sequence[tuple[str, Sequence[Sequence[str]]]], caption: str, label: str
) -> str:
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{caption}}}",
        f"  \\label{{{label}}}",
        f"  \\begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        _row(heads),
    ]
    for part, rows in groups:
        lines += [r"    \midrule", f"    \\multicolumn{{{len(columns)}}}{{l}}{{\\emph{{{escape(part)}}}}} \\\\"]
        lines += [_row(row) for row in rows]
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"    {' & '.join(cells)} \\\\"


def _number(value: float | None, form: str = "{:.3f}") -> str:
    return "--" if value is None else _signed(form.format(value))


def _signed(number: str) -> str:
    """A minus as long as a plus."""
    return f"${number}$" if number[0] in "+-" else number


def _interval(low: float | None, high: float | None, form: str) -> str:
    return "--" if low is None or high is None else f"[{_signed(form.format(low))}, {_signed(form.format(high))}]"


def _chance(value: float | None) -> str:
    return "--" if value is None else "$<$ 0.001" if value < 0.001 else f"{value:.3f}"


def _label(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "run"
