"""What must agree within one sample: every verdict belongs to a claim and, in a matrix, to a retrieved chunk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# Verdicts to the claims that they judge.
_CLAIMS_OF = {
    "answer_claims_in_reference": "answer_claims",
    "reference_claims_in_answer": "reference_claims",
    "answer_claims_in_contexts": "answer_claims",
    "reference_claims_in_contexts": "reference_claims",
}


def mismatches(values: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Field, message and hint for all verdicts that are more or fewer than what they judge; names as the file has them."""
    for field, claims_field in _CLAIMS_OF.items():
        verdicts = values.get(field)
        if verdicts is None:
            continue
        claims, chunks = values.get(claims_field), values.get("contexts")
        if claims is not None and len(claims) != len(verdicts):
            name = names.get(claims_field, claims_field)
            yield field, f"has {len(verdicts)} entries for the {len(claims)} of {name}", "give one for each claim"
        if field.endswith("_in_contexts") and chunks is not None:
            wrong = next((number for number, row in enumerate(verdicts, start=1) if len(row) != len(chunks)), None)
            if wrong:
                name = names.get("contexts", "contexts")
                found = len(verdicts[wrong - 1])
                yield (
                    field,
                    f"entry {wrong} has {found} verdicts for the {len(chunks)} of {name}",
                    "give one for each chunk",
                )
