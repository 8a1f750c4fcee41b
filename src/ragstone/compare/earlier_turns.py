"""The earlier turns of a sample's conversation, and the claims of the answer that they support."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.compare.sample_evidence import Case
from ragstone.text.overlap import content_stems

_YES = "entailment"


@dataclass(frozen=True)
class EarlierTurn:
    """A message before the question, with the numbers of the answer claims that it supports."""

    number: int
    role: str
    text: str
    chunks: int
    claims: tuple[int, ...]


def earlier_turns(case: Case) -> list[EarlierTurn]:
    """The turns in order; empty without a conversation."""
    behind = {number: turn_behind(case, number) for number in range(1, len(case.claims("answer")) + 1)}
    return [
        EarlierTurn(
            number,
            turn.role,
            turn.text,
            len(turn.contexts or ()),
            tuple(claim for claim, place in behind.items() if place == number),
        )
        for number, turn in enumerate(case.sample.history or (), start=1)
    ]


def turn_behind(case: Case, claim: int) -> int | None:
    """The turn that has most words of an answer claim (both from 1), or whose chunks have; None if no turn supports it.

    The judge reads all turns as one text, so the turn is found by its words.
    """
    verdicts, turns = case.verdicts("answer_claims_in_history"), case.sample.history or []
    if claim > len(verdicts) or verdicts[claim - 1] != _YES or not turns:
        return None
    wanted = content_stems(case.claims("answer")[claim - 1].text)
    texts = [[turn.text, *(chunk.text for chunk in turn.contexts or ())] for turn in turns]
    common = [max(len(wanted & content_stems(text)) for text in some) for some in texts]
    return common.index(max(common)) + 1


def standalone_question(case: Case) -> str | None:
    """The question as it was completed from the conversation; None if it was not changed."""
    completed = case.evidence.get("standalone_question")
    return None if completed is None or completed == case.sample.question else str(completed)
