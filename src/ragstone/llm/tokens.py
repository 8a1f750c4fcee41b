"""How many tokens a text is, roughly, without anybody's tokenizer.

The weights were fitted to the mean of two tokenizers of OpenAI (cl100k_base, o200k_base) over English prose and JSON,
where the estimate is within 10 % of it for 19 pieces of 1,500 characters in 20. Other scripts are counted by character.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ragstone.llm.base import Request

_PIECES = re.compile(r"[A-Za-z]+|[0-9]{1,3}|\n\s*|[!-/:-@\[-`{-~]+")
_WORD, _LETTER_PAST_SIX, _DIGITS, _SIGNS, _FURTHER_SIGN, _LINE = 0.91, 0.24, 1.6, 0.87, 0.19, 0.69
# Tokens a character, by the first code point past the script.
_SCRIPTS = (
    (0x0250, 1.2),  # Latin letters with marks: they break a word in two
    (0x0530, 0.5),  # Greek and Cyrillic
    (0x0700, 0.65),  # Hebrew and Arabic
    (0x1100, 0.8),  # the scripts of India and South-East Asia
    (0x2E80, 1.0),  # signs
    (0x10000, 1.0),  # Chinese, Japanese, Korean
    (0x110000, 2.0),  # emoji and rare signs
)
_MESSAGE, _CONVERSATION = 4, 3


@lru_cache(maxsize=512)
def estimate_tokens(text: str) -> int:
    """The number of tokens of a text, at least 1 if there is any."""
    total = 0.0
    for piece in _PIECES.findall(text):
        first = piece[0]
        if first.isalpha():
            total += _WORD + _LETTER_PAST_SIX * max(0, len(piece) - 6)
        elif first == "\n":
            total += _LINE
        elif first.isdigit():
            total += _DIGITS
        else:
            total += _SIGNS + _FURTHER_SIGN * (len(piece) - 1)
    if not text.isascii():
        total += sum(_weight(ord(character)) for character in text if character > "\x7f")
    return max(round(total), 1 if text else 0)


def estimate_request(request: Request) -> tuple[int, int]:
    """Tokens that a request sends, and tokens that its reply will take if the guess is right."""
    sent = sum(estimate_tokens(message.content) + _MESSAGE for message in request.messages) + _CONVERSATION
    return sent, estimate_tokens(request.guess)


def _weight(code: int) -> float:
    return next(weight for end, weight in _SCRIPTS if code < end)
