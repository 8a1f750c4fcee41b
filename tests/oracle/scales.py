"""Grades of the oracle: on the scale that a prompt names, and how likely it might have said the next higher or lower one."""

from __future__ import annotations

import math
import re
from typing import Any

# What stands in the instructions, and from where to where it goes.
SCALES = {"from 0 to 100": (0, 100), "one to five stars": (1, 5), "from 1 to 10": (1, 10)}
_PIECE = re.compile(r"\s+|\d+|\w+|[^\w\s]")


def on_scale(body: dict[str, Any], share: float) -> dict[str, Any]:
    """A share as a whole grade, after reasons where they are asked for."""
    told = body["messages"][0]["content"]
    low, high = next(ends for words, ends in SCALES.items() if words in told)
    reasons = {"reasoning": f"It is worth {share:.2f} of 1."} if '"reasoning"' in told else {}
    return {**reasons, "grade": round(low + share * (high - low))}


# What a word may be taken for.
WORDS = {"yes": "no", "no": "Yes", "true": "unknown", "false": "unknown", "unknown": "False"}


def one_token(word: str) -> list[dict[str, Any]]:
    """A word, spelled as models spell it; another one is not impossible."""
    shares = {word.title(): 0.9, word: 0.09, WORDS[word]: 1e-6, "Well": 0.01}
    others = [{"token": token, "logprob": math.log(share)} for token, share in shares.items()]
    return [{**others[0], "top_logprobs": others}]


def with_alternatives(text: str) -> list[dict[str, Any]]:
    """The tokens of a reply; a number might as well, a quarter each, have been one more or one less."""
    return [_token(piece) for piece in _PIECE.findall(text)]


def _token(piece: str) -> dict[str, Any]:
    shares = {piece: 1.0}
    if piece.isdigit():
        shares = {piece: 0.5, str(int(piece) + 1): 0.25, str(int(piece) - 1): 0.25}
    others = [{"token": token, "logprob": math.log(share)} for token, share in shares.items()]
    return {"token": piece, "logprob": others[0]["logprob"], "top_logprobs": others}
