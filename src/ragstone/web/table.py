"""The state of a table of samples: it lives in the address, so that a link shows the same view to everybody."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

WORST = "worst"
PLAIN_SORTS = (WORST, "quality", "row")
STATUSES = ("failed", "skipped", "complete")
PAGE_SIZES = (25, 50, 100, 200)
_LONGEST_QUERY = 200
_LONGEST_SLICE = 1_000


@dataclass(frozen=True)
class TableState:
    """How a table is sorted and filtered, and which of its pages is shown."""

    query: str = ""
    status: str = ""
    cause: str = ""
    # The column of a slice and its label: `kind=two steps`.
    slice: str = ""
    sort: str = WORST
    descending: bool = False
    columns: tuple[str, ...] = ()
    page: int = 1
    size: int = 50

    @classmethod
    def read(cls, query: Mapping[str, str], columns: Sequence[str], known: Collection[str]) -> TableState:
        """From an address; what it cannot mean is left at its default."""
        sort = query.get("sort", WORST)
        size = _whole(query.get("size"), 50)
        return cls(
            query=query.get("q", "").strip()[:_LONGEST_QUERY],
            status=status if (status := query.get("status", "")) in STATUSES else "",
            cause=query.get("cause", "")[:_LONGEST_QUERY],
            slice=query.get("slice", "")[:_LONGEST_SLICE],
            sort=sort if sort in known or sort in PLAIN_SORTS else WORST,
            descending=query.get("dir") == "down",
            columns=tuple(dict.fromkeys(name for name in columns if name in known)),
            page=max(1, _whole(query.get("page"), 1)),
            size=size if size in PAGE_SIZES else 50,
        )

    def but(self, **changes: Any) -> TableState:
        """The same with some changes; any change but of the page begins at the first."""
        return replace(self, **({"page": 1} | changes))

    def sorted_by(self, name: str, best_is_high: bool = True) -> TableState:
        """Sorted by a column: the worst first, and the other way round when it is asked for again."""
        if self.sort == name:
            return self.but(descending=not self.descending)
        return self.but(sort=name, descending=not best_is_high)

    @property
    def address(self) -> str:
        """The query of an address; what is at its default is left out."""
        names = {"query": "q", "columns": "col"}
        pairs: list[tuple[str, str]] = []
        for item in fields(self):
            value = getattr(self, item.name)
            if value == item.default:
                continue
            if item.name == "descending":
                pairs.append(("dir", "down"))
            elif isinstance(value, tuple):
                pairs += [("col", name) for name in value]
            else:
                pairs.append((names.get(item.name, item.name), str(value)))
        return f"?{urlencode(pairs)}" if pairs else ""


def _whole(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else default
