"""The result of a run in one table: one row per metric."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from ragstone.data.schema import SUMMARY
from ragstone.number_format import with_interval

ALL = "all"


@dataclass(frozen=True)
class SummaryRow:
    """A metric over all rows or a slice: the mean of the ok cells, its interval, and the number of missing cells."""

    metric: str
    slice: str
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    n_ok: int
    n_skipped: int
    n_failed: int
    reason: str | None = None


class Summary(Sequence[SummaryRow]):
    """The rows, printable, and by the metric's name: `summary["recall@5"].mean`."""

    def __init__(self, rows: Sequence[SummaryRow]) -> None:
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SummaryRow]:
        return iter(self.rows)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self.rows[key]
        for row in self.rows:
            if row.metric == key and row.slice == ALL:
                return row
        known = dict.fromkeys(row.metric for row in self.rows)
        raise KeyError(f"this run has no metric '{key}'. Choose from: {', '.join(known)}")

    def to_arrow(self) -> pa.Table:
        """The stored table."""
        return pa.Table.from_pylist([asdict(row) for row in self.rows], schema=SUMMARY)

    def to_pandas(self) -> Any:
        """The table as a DataFrame."""
        return self.to_arrow().to_pandas()

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Summary:
        """A summary from its stored table."""
        return cls([SummaryRow(**row) for row in table.to_pylist()])

    def lines(self) -> list[tuple[str, str, str, str]]:
        """Metric, mean, interval and counts as text for a table; metrics that no row has a value of are left out."""
        return [
            (
                row.metric,
                *with_interval(row.mean, row.ci_low, row.ci_high, " to "),
                f"{row.n_ok}/{row.n_skipped}/{row.n_failed}",
            )
            for row in self.rows
            if row.n_ok or row.n_failed
        ]

    @property
    def left_out(self) -> str:
        """How many metrics the printed table leaves out; empty if it has all."""
        count = len({row.metric for row in self.rows} - {row.metric for row in self.rows if row.n_ok or row.n_failed})
        return f"{count} metric{' is' if count == 1 else 's are'} not computed: run.missing" if count else ""

    def __str__(self) -> str:
        lines = [("metric", "mean", "95 % interval", "ok/skipped/failed"), *self.lines()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        return "\n".join([*table, *filter(None, [self.left_out])])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{name}</th>" for name in ("metric", "mean", "95 % interval", "ok/skipped/failed"))
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in line)}</tr>" for line in self.lines())
        note = f"<p>{self.left_out}</p>" if self.left_out else ""
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{note}"
