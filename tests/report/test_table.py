"""The table model: fitting to the terminal, Markdown and LaTeX."""

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ragstone.report.table import Cell, Column, Table, columns, escape_latex, escape_markdown, interval_strip


def draw(table, width=80, **options):
    screen = io.StringIO()
    Console(file=screen, width=width, highlight=False, **options).print(table)
    return screen.getvalue()


def metrics():
    table = Table(
        [
            Column("metric", wrap="name"),
            *columns("mean", "interval"),
            Column("0" + " " * 22 + "1", priority=1, drawn=True),
            Column("p", "right", priority=2),
            Column("verdict"),
        ]
    )
    for name, value in (("ragchecker.context_utilization", 0.5), ("token_f1", 0.25)):
        interval = (value - 0.1, value + 0.1)
        table.add(
            f"{name}\xa0↑",
            Cell(f"{value:.3f}", value),
            Cell("{:.3f} – {:.3f}".format(*interval), interval),
            interval_strip(value, interval),
            Cell("0.012", 0.012),
            Cell("better", tone="good", mark="▲"),
            group="answer",
        )
    return table


@pytest.mark.parametrize(("width", "drawn", "p"), [(40, False, False), (80, False, True), (200, True, True)])
def test_optional_columns_are_dropped_in_order_of_priority(width, drawn, p):
    text = draw(metrics(), width)
    assert ("●" in text, "0.012" in text) == (drawn, p)
    assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [60, 80, 200])
def test_fixed_columns_keep_their_numbers(width):
    words = draw(metrics(), width).split()
    assert {"0.500", "0.400", "0.600", "0.250", "▲", "better"} <= set(words)


def test_columns_of_one_priority_are_dropped_together():
    table = Table([Column("a"), *(Column(name, priority=1) for name in ("b" * 10, "c" * 10))])
    table.add("1", "2", "3")
    assert draw(table, 30).split() == ["a", "b" * 10, "c" * 10, "1", "2", "3"]
    assert draw(table, 20).split() == ["a", "1"]


def test_gaps_shrink_before_cells_use_their_narrow_text():
    table = Table(columns("aaaa", "bbbb", align="left"))
    table.add("1111", Cell("22–22", narrow="22\n22"))
    assert draw(table, 11).splitlines()[0].rstrip() == "aaaa  bbbb"
    assert draw(table, 10).splitlines()[1] == "1111 22–22"
    assert "22–22" not in draw(table, 9)


def test_groups_are_titles_with_indented_rows():
    lines = draw(metrics(), 200).splitlines()
    assert lines[1].strip() == "answer"
    assert lines[2].startswith("  ragchecker.context_utilization ↑")


@pytest.mark.parametrize("width", [40, 80, 200])
def test_wide_characters_are_aligned(width):
    table = Table([Column("質問", wrap="words"), Column("n", "right")])
    table.add("港はいつ開きますか" * 3, "12")
    table.add("日本語", "3")
    lines = draw(table, width).splitlines()
    assert max(map(cell_len, lines)) <= width
    ends = {cell_len(line.rstrip()) for line in lines if re.search(r"(12|3|n)\s*$", line)}
    assert len(ends) == 1


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (32, ["ragchecker.context_utilization ↑"]),
        (31, ["ragchecker.", "  context_utilization ↑"]),
        (20, ["ragchecker.context_", "  utilization ↑"]),
    ],
)
def test_names_are_broken_between_their_parts(width, lines):
    table = Table([Column(wrap="name")])
    table.add("ragchecker.context_utilization\xa0↑")
    assert [line.rstrip() for line in draw(table, width).splitlines()] == lines


def test_tones_are_colours_only_in_colour_terminals():
    assert "\x1b[1;32m" in draw(metrics(), force_terminal=True, color_system="truecolor")
    assert "\x1b" not in draw(metrics())


def test_markup_and_control_characters_are_text():
    table = Table([Column("[b]x[/b]")])
    table.add("[red]a[/red]\x1b[2J")
    assert "[b]x[/b]" in draw(table)
    assert "[red]a[/red]\\x1b[2J" in draw(table)


def test_a_row_needs_one_cell_per_column():
    with pytest.raises(ValueError, match="2 cells for 1 columns"):
        Table([Column("a")]).add("1", "2")


def test_markdown_has_no_drawings_and_a_column_for_groups():
    lines = metrics().markdown()
    assert lines[0] == "| metric | part | mean | interval | p | verdict |"
    assert lines[1] == "|---|---|--:|--:|--:|---|"
    assert lines[3] == "| token\\_f1 ↑ | answer | 0.250 | 0.150 – 0.350 | 0.012 | 🟢 better |"


def test_markdown_escapes_pipes_and_tags():
    table = Table(columns("a|b", "c"))
    table.add("x | y\n<b>", Text("*z*"))
    heading, _, row, _ = table.markdown()
    assert heading == r"| a\|b | c |"
    assert row == r"| x \| y &#60;b&#62; | \*z\* |"


def test_latex_has_groups_intervals_and_bold_verdicts():
    text = metrics().latex("A caption.", "tab:x")
    assert r"\begin{tabular}{lrrrl}" in text
    assert r"\multicolumn{5}{l}{\emph{answer}} \\" in text
    assert r"token\_f1 $\uparrow$ & 0.250 & [0.150, 0.350] & 0.012 & \textbf{better} \\" in text
    assert text.count(r"\midrule") == 1


def test_latex_puts_signed_numbers_in_math_mode():
    table = Table(columns("B − A", "interval"))
    table.add("−0.100", Cell("-0.200 to +0.100", (-0.2, 0.1)))
    text = table.latex("", "tab:x")
    assert r"$-0.100$ & [$-0.200$, $+0.100$] \\" in text
    assert r"B $-$ A & interval \\" in text


@pytest.mark.parametrize("sign", list("&%$#_{}~^\\<>|"))
def test_special_characters_of_latex_are_escaped(sign):
    assert escape_latex(sign) != sign
    assert escape_latex(sign).startswith("\\")


@pytest.mark.parametrize("sign", list("\\`*_{}[]|#"))
def test_special_characters_of_markdown_are_escaped(sign):
    assert escape_markdown(f"a{sign}b") == f"a\\{sign}b"


@pytest.mark.parametrize(
    ("value", "interval", "scale", "picture"),
    [
        (0.5, (0.25, 0.75), (0.0, 1.0), "··━━●━━·"),
        (0.0, None, (0.0, 1.0), "●·······"),
        (1.0, None, (0.0, 1.0), "·······●"),
        (0.9, (0.7, 0.9), (-1.0, 1.0), "····│·━●"),
        (None, None, (0.0, 1.0), "········"),
    ],
)
def test_an_interval_on_a_line(value, interval, scale, picture):
    assert interval_strip(value, interval, scale, width=8).plain == picture
