"""The kinds of questions, how many of each are wanted, and which passages each needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragstone.formats.documents import Passage

Kind = Literal["single", "several", "comparison", "table", "unanswerable", "paraphrase", "conversational"]
# Of a hundred questions.
SHARES: dict[Kind, int] = {
    "single": 30,
    "several": 20,
    "comparison": 10,
    "table": 10,
    "unanswerable": 10,
    "paraphrase": 10,
    "conversational": 10,
}
_ROW = re.compile(r"^[^\S\n]*\|(?:[^|\n]*[^\s|:-][^|\n]*\|){2,}[^\S\n]*$|^[^\t\n]+(?:\t[^\t\n]+)+$", re.MULTILINE)
_LEAST_ROWS = 2


@dataclass(frozen=True)
class Job:
    """One question that is to be written: its kind, and the passages that it is made from."""

    kind: Kind
    passages: tuple[Passage, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """What tells one job from another."""
        return (self.kind, *(passage.id for passage in self.passages))


def has_table(text: str) -> bool:
    """Whether a passage has rows with cells: a head and a row at least."""
    return len(_ROW.findall(text)) >= _LEAST_ROWS


def is_row(text: str) -> bool:
    """Whether a citation is a row, or cells of one."""
    return "|" in text or "\t" in text


def possible_kinds(passages: Sequence[Passage]) -> list[Kind]:
    """The kinds that these passages allow: no table, no question about one; no two passages, no comparison."""
    found = [kind for kind in SHARES if kind not in ("table", "comparison")]
    if any(has_table(passage.text) for passage in passages):
        found.append("table")
    if len(passages) > 1:
        found.append("comparison")
    return found
