"""How test beds are built, what they contain, and what is reported about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from ragstone.data.types import Chunk
from ragstone.errors import UsageError

Ability = Literal["noise", "rejection", "integration", "counterfactual"]
Attack = Literal["injection", "poison", "conflict", "overload"]
Bed = Ability | Attack
# RGB's abilities, which are tested by default, and attacks.
ABILITIES: tuple[Ability, ...] = get_args(Ability)
ATTACKS: tuple[Attack, ...] = get_args(Attack)
BEDS: tuple[Bed, ...] = (*ABILITIES, *ATTACKS)
# A passage with the answer, without it, or a hostile or false one; the passages of a row are stored as one string.
Kind = Literal["+", "-", "!"]


class Passage(NamedTuple):
    """A passage in a test bed."""

    kind: Kind
    chunk: Chunk


@dataclass(frozen=True)
class Setting:
    """How test beds are built."""

    passages: int = 5
    rates: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    repeats: int = 1
    seed: int = 0
    beds: tuple[Bed, ...] = ABILITIES
    keep_contaminated: bool = False
    # The numbers of hostile chunks in the beds of attacks.
    hostile: tuple[int, ...] = (1, 3)

    def __post_init__(self) -> None:
        if self.passages < 1 or self.repeats < 1:
            raise UsageError("passages and repeats must be at least 1")
        if not self.rates or any(not 0 <= rate <= 1 for rate in self.rates) or len(set(self.rates)) < len(self.rates):
            raise UsageError("noise rates must be different numbers from 0 to 1")
        if not self.hostile or min(self.hostile) < 1 or len(set(self.hostile)) < len(self.hostile):
            raise UsageError("numbers of hostile chunks must be different and at least 1")
        for bed in self.beds:
            if bed not in BEDS:
                raise UsageError(f"'{bed}' is not a test bed. Choose from: {', '.join(BEDS)}")


@dataclass
class BedReport:
    """The size of a bed, and the questions that are left out or need a remark."""

    bed: Bed
    questions: int = 0
    rows: int = 0
    # Question ids per reason.
    left_out: dict[str, list[str]] = field(default_factory=dict)
    # Questions with fewer passages than requested.
    short: list[str] = field(default_factory=list)
    # Questions whose share of noise differs from the requested rate at some rate.
    inexact: list[str] = field(default_factory=list)
    # Questions with a row in which a noise passage contains the answer.
    contaminated: list[str] = field(default_factory=list)
