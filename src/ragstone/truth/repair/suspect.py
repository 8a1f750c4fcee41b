"""A suspect: a case whose ground truth is likely wrong, why, and what speaks against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["systems", "references", "documents", "duplicates"]
TITLES: dict[Kind, str] = {
    "systems": "systems agree against the ground truth",
    "references": "references disagree with their facts",
    "documents": "facts do not stand in their documents",
    "duplicates": "the same question with other answers",
}


@dataclass(frozen=True)
class Witness:
    """One piece of evidence: who or what, its words, and what it says about the ground truth."""

    who: str
    text: str
    says: str = ""


@dataclass(frozen=True)
class Suspect:
    """A case to look at, with the reason in words."""

    kind: Kind
    case: str
    question: str
    reason: str
    witnesses: list[Witness] = field(default_factory=list)
