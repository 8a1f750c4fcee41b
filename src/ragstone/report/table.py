"""One table model for all reports, with renderers for the terminal, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from ragstone.views.phrases import visible

# Styles of the tones in the terminal.
TONES = {"good": "bold green", "bad": "bold red", "unsure": "yellow", "muted": "dim", "strong": "bold"}
_ANY_WIDTH = 10_000
_INDENT = "  "
_RULERS = {"left": "---", "right": "--:", "center": ":-:"}
_EMOJI = {"▲": "🟢", "▼": "🔴", "✓": "✅", "✗": "❌", "?": "❔"}
_TEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "–": "--",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "≈": r"$\approx$",
}


@dataclass(frozen=True)
class Column:
    """A column of a table.

    `wrap`: cells may take several lines, broken between words or between the parts of a metric name.
    `priority`: the column is optional. In a narrow terminal, columns with a low number are kept first;
    columns with the same number are kept or dropped together.
    `drawn`: the cells are drawings for the terminal; Markdown and LaTeX leave the column out.
    """

    heading: str = ""
    align: Literal["left", "right", "center"] = "left"
    wrap: Literal["", "words", "name"] = ""
    priority: int | None = None
    drawn: bool = False
    width: int | None = None


@dataclass(frozen=True)
class Cell:
    """A cell: its text, the value behind it, a tone, a mark before the text, and a shorter text for narrow terminals."""

    text: str | Text
    value: object = None
    tone: str = ""
    mark: str = ""
    narrow: str | None = None

    @property
    def plain(self) -> str:
        """The text without styles or mark."""
        return self.text.plain if isinstance(self.text, Text) else self.text


@dataclass(frozen=True)
class Row:
    """Cells, one per column. Rows with the same group follow each other under the name of the group."""

    cells: Sequence[Cell]
    group: str = ""


@dataclass
class Table:
    """Columns and rows. Rich prints it, fitted to the width of the terminal."""

    columns: Sequence[Column]
    rows: list[Row] = field(default_factory=list)
    indent: int = 0
    heading_style: str = "dim"

    def add(self, *cells: Cell | str | Text, group: str = "") -> None:
        """Add a row."""
        if len(cells) != len(self.columns):
            raise ValueError(f"{len(cells)} cells for {len(self.columns)} columns")
        self.rows.append(Row([cell if isinstance(cell, Cell) else Cell(cell) for cell in cells], group))

    def select(self, keep: Iterable[int]) -> Table:
        """The table with only these columns, by position."""
        kept = list(keep)
        rows = [Row([row.cells[at] for at in kept], row.group) for row in self.rows]
        return replace(self, columns=[self.columns[at] for at in kept], rows=rows)

    def markdown(self) -> list[str]:
        """A Markdown table and an empty line. Groups become a second column with the heading `part`."""
        table = self._without_drawings()
        grouped = any(row.group for row in table.rows)
        headings = [escape_markdown(column.heading) for column in table.columns]
        ruler = [_RULERS[column.align] for column in table.columns]
        lines = [[_markdown_cell(cell) for cell in row.cells] for row in table.rows]
        if grouped:
            headings.insert(1, "part")
            ruler.insert(1, "---")
            for line, row in zip(lines, table.rows, strict=True):
                line.insert(1, escape_markdown(row.group))
        return [
            f"| {' | '.join(headings)} |",
            f"|{'|'.join(ruler)}|",
            *(f"| {' | '.join(line)} |" for line in lines),
            "",
        ]

    def latex(self, caption: str, label: str) -> str:
        """A LaTeX table with the rules of the booktabs package. The caption is LaTeX already."""
        table = self._without_drawings()
        lines = [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"  \centering",
            f"  \\caption{{{caption}}}",
            f"  \\label{{{label}}}",
            f"  \\begin{{tabular}}{{{''.join(column.align[0] for column in table.columns)}}}",
            r"    \toprule",
            _latex_row(_latex_text(column.heading) for column in table.columns),
        ]
        for group, rows in _groups(table.rows):
            lines.append(r"    \midrule")
            if group:
                title = f"\\emph{{{escape_latex(group)}}}"
                lines.append(f"    \\multicolumn{{{len(table.columns)}}}{{l}}{{{title}}} \\\\")
            lines += [_latex_row(map(_latex_cell, row.cells)) for row in rows]
        return "\n".join([*lines, r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]) + "\n"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Drop optional columns until the table fits; then reduce the gaps, then use the narrow texts of cells."""
        table = self.select(self._fitted(console, options))
        forms = (_to_rich(table), _to_rich(table, gap=1), _to_rich(table, narrow=True))
        yield next((form for form in forms if _fits(form, console, options)), forms[2])

    def fitted_headings(self, console: Console, options: ConsoleOptions) -> list[str]:
        """The headings of the columns that are shown in this terminal."""
        return [self.columns[at].heading for at in self._fitted(console, options)]

    def _fitted(self, console: Console, options: ConsoleOptions) -> list[int]:
        kept = [at for at, column in enumerate(self.columns) if column.priority is None]
        for priority in sorted({column.priority for column in self.columns if column.priority is not None}):
            more = [at for at, column in enumerate(self.columns) if column.priority == priority or at in kept]
            if _fits(_to_rich(self.select(more)), console, options):
                kept = more
        return kept

    def _without_drawings(self) -> Table:
        return self.select(at for at, column in enumerate(self.columns) if not column.drawn)


def _to_rich(source: Table, gap: int = 2, narrow: bool = False) -> RichTable:
    headed = any(column.heading for column in source.columns)
    table = RichTable(
        box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style=source.heading_style, show_header=headed
    )
    margin = " " * source.indent
    for at, column in enumerate(source.columns):
        heading = Text(f"{'' if at else margin}{column.heading}")
        table.add_column(
            heading,
            justify=column.align,
            no_wrap=not column.wrap,
            overflow="fold" if column.wrap else "ellipsis",
            min_width=column.width,
        )
    for group, rows in _groups(source.rows):
        if group:
            table.add_row(Text(f"{margin}{group}", style="bold"))
        inner = f"{margin}{_INDENT}" if group else margin
        for row in rows:
            cells = zip(source.columns, row.cells, strict=True)
            table.add_row(
                *(_terminal_cell(column, cell, narrow, "" if at else inner) for at, (column, cell) in enumerate(cells))
            )
    return table


def _groups(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    listed = list(rows)
    for group in dict.fromkeys(row.group for row in listed):
        yield group, [row for row in listed if row.group == group]


def _fits(table: RichTable, console: Console, options: ConsoleOptions) -> bool:
    return console.measure(table, options=options.update(max_width=_ANY_WIDTH)).maximum <= options.max_width


def columns(*headings: str, align: Literal["left", "right", "center"] = "right") -> list[Column]:
    """Columns that differ only in their headings; numbers by default."""
    return [Column(heading, align) for heading in headings]


def interval_strip(
    value: float | None,
    interval: Sequence[float] | None,
    scale: tuple[float, float] = (0.0, 1.0),
    style: str = "cyan",
    width: int = 24,
) -> Text:
    """A value and its interval on a line; 0 is marked if it lies inside the scale."""
    low, high = scale

    def position(at: float) -> int:
        return max(0, min(width - 1, int((at - low) / (high - low) * width)))

    if value is None:
        return Text("·" * width, style="dim")
    first, last = (position(end) for end in interval or (value, value))
    marks = ["━" if first <= at <= last else "·" for at in range(width)]
    if low < 0 < high and marks[position(0)] == "·":
        marks[position(0)] = "│"
    marks[position(value)] = "●"
    text = Text("".join(marks), style="dim")
    text.stylize(f"not dim {style}", first, last + 1)
    text.stylize("bold", position(value), position(value) + 1)
    return text


def escape_markdown(text: str) -> str:
    """Text on one line that cannot become Markdown or HTML: no table cells, tags, links or mentions."""
    line = " ".join(visible(text).split())
    line = re.sub(r"[\\`*_{}\[\]|#]", r"\\\g<0>", line)
    return re.sub("[<>@]", lambda match: f"&#{ord(match[0])};", line)


def escape_latex(text: str) -> str:
    """Text on one line with the special characters of LaTeX escaped."""
    return "".join(_TEX.get(sign, sign) for sign in " ".join(visible(text).split()))


def _markdown_cell(cell: Cell) -> str:
    mark = f"{_EMOJI.get(cell.mark, cell.mark)} " if cell.mark else ""
    return mark + escape_markdown(cell.plain)


def _latex_row(cells: Iterable[str]) -> str:
    return f"    {' & '.join(cells)} \\\\"


def _latex_cell(cell: Cell) -> str:
    text = cell.plain
    if isinstance(cell.value, tuple):
        text = "[" + re.sub(r" (–|to) ", ", ", text) + "]"
    written = _latex_text(text)
    return f"\\textbf{{{written}}}" if cell.mark else written


def _latex_text(text: str) -> str:
    """Escaped text; signed numbers in math mode, so that the minus is as long as the plus."""
    escaped = escape_latex(re.sub(r"−(?=\d)", "-", text))
    return re.sub(r"(?<![\w.$-])[+-]\d[\d.]*", r"$\g<0>$", escaped)


def _terminal_cell(column: Column, cell: Cell, narrow: bool, margin: str) -> RenderableType:
    style = TONES.get(cell.tone, cell.tone)
    mark = f"{cell.mark} " if cell.mark else ""
    if isinstance(cell.text, Text):
        return Text.assemble(margin, mark, cell.text)
    text = cell.narrow if narrow and cell.narrow is not None else cell.text
    if column.wrap == "name":
        return _Name(text, margin, style)
    return Text(f"{margin}{mark}{visible(text)}", style=style)


class _Name:
    """A metric name that is broken between its parts. Later lines are indented."""

    def __init__(self, name: str, margin: str, style: str) -> None:
        self._name = visible(name)
        self._margin = margin
        self._style = style

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        whole = cell_len(f"{self._margin}{self._name}")
        return Measurement(min(whole, 1), whole)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = "\n".join(self._lines(options.max_width)).replace("\xa0", " ")
        yield Text(lines, style=self._style, overflow="fold")

    def _lines(self, width: int) -> Iterator[str]:
        line, later = self._margin, f"{self._margin}{_INDENT}"
        for piece in _name_pieces(self._name, width - len(later)):
            if line.strip() and cell_len(f"{line}{piece}".rstrip()) > width:
                yield line.rstrip()
                line = later
            line += piece
        yield line


def _name_pieces(name: str, width: int) -> Iterator[str]:
    """The name split after dots, brackets and spaces; parts that are too long are split after underscores too."""
    for part in re.split(r"(?<=[.(, ])", name):
        yield from [part] if cell_len(part) <= width else re.split(r"(?<=_)", part)
