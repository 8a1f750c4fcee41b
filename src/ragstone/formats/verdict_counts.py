"""Checks of given verdicts: as many as there are claims, facts or chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# Verdicts and the claims that they judge.
_CLAIMS_OF = {
    "answer_claims_in_reference": "answer_claims",
    "reference_claims_in_answer": "reference_claims",
    "answer_claims_in_contexts": "answer_claims",
    "reference_claims_in_contexts": "reference_claims",
    "answer_claims_in_all_contexts": "answer_claims",
    "reference_claims_in_all_contexts": "reference_claims",
    "verdict_agreement": "answer_claims",
    "answer_claims_in_history": "answer_claims",
    "reference_entities_in_contexts": "reference_entities",
    "answer_claims_in_corpus": "answer_claims",
    "nugget_support": "facts",
}


def find_mismatches(values: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Field, message and hint for verdicts whose number differs from that of their claims or chunks."""
    for field, claims_field in _CLAIMS_OF.items():
        verdicts = values.get(field)
        if verdicts is None:
            continue
        claims, chunks = values.get(claims_field), values.get("contexts")
        if claims is not None and len(claims) != len(verdicts):
            name = names.get(claims_field, claims_field)
            yield (
                field,
                f"has {len(verdicts)} entries for the {len(claims)} of {name}",
                f"write one per {'fact' if claims_field == 'facts' else 'claim'}",
            )
        if field.endswith("_claims_in_contexts") and chunks is not None:
            name = names.get("contexts", "contexts")
            for number, row in enumerate(verdicts, start=1):
                if len(row) != len(chunks):
                    message = f"entry {number} has {len(row)} verdicts for the {len(chunks)} of {name}"
                    yield field, message, "write one per chunk"
                    break
