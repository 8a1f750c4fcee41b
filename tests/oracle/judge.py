"""The perfect judge of the world: it reads the texts of a prompt and replies what is true.

It understands the world's sentences and nothing else, so what it says is right by definition. What it is shown is what
stood in the prompt: a prompt that garbles its data gets wrong replies, and the tests notice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.oracle.expected import claims, entities, generated_questions
from tests.oracle.language import REFUSALS, Statement, read, read_question
from tests.oracle.verdicts import needed, verdict
from tests.oracle.world import is_true

Data = Mapping[str, Any]


def judge(prompt: str, data: Data) -> dict[str, Any]:
    """The true reply to a prompt about some data."""
    return _TASKS[prompt](data)


def _claims(data: Data) -> dict[str, Any]:
    return {"claims": [statement.text for statement in claims(read(data["text"]))]}


def _triplets(data: Data) -> dict[str, Any]:
    found = [statement.meaning for statement in claims(read(data["text"])) if statement.meaning]
    return {"triplets": [dict(zip(("subject", "relation", "object"), meaning, strict=True)) for meaning in found]}


def _claims_and_entities(data: Data) -> dict[str, Any]:
    return {**_claims(data), "entities": entities(read(data["text"]))}


def _verdicts(data: Data) -> dict[str, Any]:
    said = read(data["text"])
    return {
        "verdicts": [
            {"claim": number, "verdict": _on(claim, said)} for number, claim in enumerate(data["claims"], start=1)
        ]
    }


def _context_verdicts(data: Data) -> dict[str, Any]:
    chunks = [read(chunk) for chunk in data["chunks"]]
    together = [statement for chunk in chunks for statement in chunk]
    replies = []
    for number, claim in enumerate(data["claims"], start=1):
        found = [_on(claim, chunk) for chunk in chunks]
        replies.append(
            {
                "claim": number,
                "supported_by": _places(found, "entailment"),
                "contradicted_by": _places(found, "contradiction"),
                "together": _on(claim, together),
            }
        )
    return {"verdicts": replies}


def _questions(data: Data) -> dict[str, Any]:
    said = read(data["answer"])
    noncommittal = any(statement.text in REFUSALS.values() for statement in said)
    count = int(data["count"])
    return {"questions": generated_questions(claims(said), count) or ["?"] * count, "noncommittal": noncommittal}


def _needed_sentences(data: Data) -> dict[str, Any]:
    asked = read_question(data["question"])
    assert asked, f"no question of the world: {data['question']!r}"
    truths = [_truth(sentence) for sentence in data["sentences"]]
    return {"needed": [place for place, is_needed in enumerate(needed(*asked, truths), start=1) if is_needed]}


def _usefulness(data: Data) -> dict[str, Any]:
    wanted = [statement.text for statement in claims(read(data["answer"]))]
    found = [any(_on(claim, read(chunk)) == "entailment" for claim in wanted) for chunk in data["chunks"]]
    return {"useful": [place for place, useful in enumerate(found, start=1) if useful]}


def _on(claim: str, statements: Sequence[Statement]) -> str:
    [read_claim] = read(claim)
    assert read_claim.meaning, f"no claim of the world: {claim!r}"
    return verdict(read_claim.meaning, statements)


def _places(found: list[str], wanted: str) -> list[int]:
    return [place for place, given in enumerate(found, start=1) if given == wanted]


def _truth(sentence: str) -> Any:
    [statement] = read(sentence) or [Statement(sentence, "nothing")]
    return statement.meaning if statement in claims([statement]) and is_true(statement.meaning) else None  # type: ignore[arg-type]


_TASKS: dict[str, Callable[[Data], dict[str, Any]]] = {
    "claims": _claims,
    "triplets": _triplets,
    "claims_and_entities": _claims_and_entities,
    "verdicts": _verdicts,
    "context_verdicts": _context_verdicts,
    "questions": _questions,
    "needed_sentences": _needed_sentences,
    "usefulness": _usefulness,
}
