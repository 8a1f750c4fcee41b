"""Which passages a generator is shown: so many of one kind and the other, shuffled by a seed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ragstone.data.types import Chunk

# Whether a passage holds the answer, does not, or holds a false one; a letter each, so that a row's passages read as a word.
Kind = Literal["+", "-", "!"]


class Passage(NamedTuple):
    """A passage in a test bed."""

    kind: Kind
    chunk: Chunk


def count_negatives(passages: int, rate: float) -> int:
    """How many of so many passages are noise: rounded up, but not because of a number's last digits."""
    return math.ceil(round(passages * rate, 9))


def mix(
    positives: Sequence[Chunk], negatives: Sequence[Chunk], passages: int, rate: float, kind: Kind = "+"
) -> list[Passage]:
    """Negatives as the rate says and positives for the rest, the first ones of each; too few of one kind: the other fills up."""
    noise = count_negatives(passages, rate)
    good = min(passages - noise, len(positives))
    noise = min(passages - good, len(negatives))
    good = min(passages - noise, len(positives))
    return [
        *(Passage(kind, chunk) for chunk in positives[:good]),
        *(Passage("-", chunk) for chunk in negatives[:noise]),
    ]


def mix_groups(
    groups: Sequence[Sequence[Chunk]], ordered: Sequence[Chunk], negatives: Sequence[Chunk], passages: int, rate: float
) -> list[Passage]:
    """One positive of each group whatever the rate, further ones in turn as the rate allows, and negatives for the rest.

    `ordered` are all positives in turn, so that the first of them cover all groups.
    """
    wanted = max(len(groups), passages - count_negatives(passages, rate))
    good = min(wanted, len(ordered))
    noise = min(passages - good, len(negatives))
    good = min(passages - noise, len(ordered))
    return [
        *(Passage("+", chunk) for chunk in ordered[:good]),
        *(Passage("-", chunk) for chunk in negatives[:noise]),
    ]


def shuffle(passages: Sequence[Passage], *seed: object) -> list[Passage]:
    """The same passages in an order that the seed decides."""
    mixed = list(passages)
    random.Random("|".join(map(str, seed))).shuffle(mixed)  # noqa: S311  (an order, no secret)
    return mixed
