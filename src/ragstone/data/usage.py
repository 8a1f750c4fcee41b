"""Names in the metadata of a sample for the cost of its answer, and for answers to a question that was asked repeatedly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

# What the evaluated system took to answer. Each is a number from 0.
USAGE = {
    "latency_s": "seconds until the whole answer",
    "first_token_s": "seconds until the first token of the answer",
    "input_tokens": "tokens sent to language models",
    "output_tokens": "tokens that language models wrote",
    "cost_usd": "price of the answer in US dollars",
}
# The id of the root span, if the sample was read from a trace; the id of the sample is that of the trace.
ROOT_SPAN = "root_span_id"
# The names of its spans; every sample that was read from a trace has them.
SPAN_NAMES = "span_names"
# The id of the question that several rows answer; rows without it answer a question of their own.
REPEAT_OF = "repeat_of"
# The same for rows that ask a question with other passages, as in `ragstone stress`: they depend on each other, but are no repeats.
QUESTION_ID = "question_id"
# The other answers to the same question.
OTHER_ANSWERS = "other_answers"


def number_of(value: Any) -> float | None:
    """A finite number of the metadata, also written as text as in CSV; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def question_of(sample_id: str, metadata: Mapping[str, Any] | None, column: str = REPEAT_OF) -> str:
    """The id of the question that a sample answers: the same for all its repeats."""
    name = (metadata or {}).get(column)
    return sample_id if name is None else str(name)
