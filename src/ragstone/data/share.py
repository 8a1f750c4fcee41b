"""A score that is a share, and the items that it counts.

A metric returns a `Share` instead of a plain number, or `Cells` with `items` if it computes whole columns. `explain`, the viewer
and the report call the metric again and show the items, so that no metric is described twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Items:
    """The items of a share: the number of each, from 1, and what it adds to the numerator and to the denominator.

    Both are 0 or 1 for verdicts in words, and expected values for verdicts of the local judge.
    """

    kind: str
    parts: tuple[tuple[int, float, float], ...]
    # The text of each item, if the metric has it.
    texts: tuple[str, ...] = ()
    # The denominator if it is not the sum over the items, and what it is: `2 of 3 relevant chunks`.
    whole: float | None = None
    of: str = ""

    @classmethod
    def counted(
        cls,
        kind: str,
        above: Sequence[float],
        below: Sequence[float] | None = None,
        *,
        texts: Sequence[str] = (),
        whole: float | None = None,
        of: str = "",
    ) -> Self:
        """One item per entry of `above`. Items with 0 in `below` do not count and are left out."""
        sizes = [float(whole is None)] * len(above) if below is None else below
        parts = enumerate(zip(above, sizes, strict=True), 1)
        kept = ((number, float(part), float(size)) for number, (part, size) in parts if size > 0 or whole is not None)
        return cls(kind, tuple(kept), tuple(texts), whole, of)

    @property
    def above(self) -> tuple[int, ...]:
        """The items in the numerator."""
        return tuple(number for number, part, _ in self.parts if part > 0)

    @property
    def below(self) -> tuple[int, ...]:
        """The items in the denominator."""
        return tuple(number for number, _, size in self.parts if size > 0)

    @property
    def is_soft(self) -> bool:
        """Whether items count in part."""
        return any(value not in (0.0, 1.0) for _, *values in self.parts for value in values)

    @property
    def sums(self) -> tuple[float, float]:
        """Numerator and denominator."""
        below = sum(size for _, _, size in self.parts) if self.whole is None else self.whole
        return sum(part for _, part, _ in self.parts), below

    @property
    def value(self) -> float | None:
        """Numerator / denominator; None if there is nothing to count."""
        above, below = self.sums
        return above / below if below else None

    @property
    def plural(self) -> str:
        """The plural of the kind, or the name of the denominator."""
        return self.of or (f"{self.kind[:-1]}ies" if self.kind.endswith("y") else f"{self.kind}s")


class Share(float):
    """A number and the items behind it. Most have one kind of items; a harmonic mean has those of its two shares."""

    __slots__ = ("counts",)
    counts: tuple[Items, ...]

    def __new__(cls, value: float, *counts: Items) -> Self:
        """The value of the metric, and its items."""
        share = super().__new__(cls, value)
        share.counts = counts
        return share

    @classmethod
    def of(
        cls,
        kind: str,
        above: Sequence[float],
        below: Sequence[float] | None = None,
        *,
        texts: Sequence[str] = (),
        of: str = "",
    ) -> Self:
        """Sum of `above` / sum of `below`, or / number of items: `Share.of("sentence", [True, False], texts=sentences)`.

        At least one item must count.
        """
        value = sum(above) / (len(above) if below is None else sum(below))
        return cls(value, Items.counted(kind, above, below, texts=texts, of=of))


def harmonic_mean(one: Share, other: Share) -> Share:
    """The harmonic mean of two shares with the items of both; 0 if either is 0."""
    value = 2 * one * other / (one + other) if one and other else 0.0
    return Share(value, *one.counts, *other.counts)
