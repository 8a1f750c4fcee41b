"""How many tokens a text is, roughly, without anybody's tokenizer.

The weights were fitted to the mean of two tokenizers of OpenAI (cl100k_base, o200k_base) over English prose and JSON,
where the estimate is within 10 % of it for 19 pieces of 1,500 characters in 20. Other scripts are counted by character.
"""

from __future__ import annotations

import re
import string
from functools import lru_cache

from ragstone.llm.base import Request

_WORD, _LETTER_PAST_SIX, _DIGITS, _SIGNS, _FURTHER_SIGN, _LINE = 0.91, 0.24, 1.9, 0.87, 0.19, 0.69
_LINES = re.compile(rb"\n\s*")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
# Tokens a character.
_SCRIPTS = (
    (re.compile("[\u0080-\u024f]+"), 1.2),  # Latin letters with marks: they break a word in two
    (re.compile("[\u0250-\u052f]+"), 0.5),  # Greek and Cyrillic
    (re.compile("[\u0530-\u06ff]+"), 0.65),  # Hebrew and Arabic
    (re.compile("[\u0700-\u10ff]+"), 0.8),  # the scripts of India and South-East Asia
    (re.compile("[\u1100-\uffff]+"), 1.0),  # signs; Chinese, Japanese, Korean
    (re.compile("[\U00010000-\U0010ffff]+"), 2.0),  # emoji and rare signs
)
_MESSAGE, _CONVERSATION = 4, 3


def _keep(wanted: str) -> bytes:
    """A table by which bytes.translate leaves only the wanted characters and makes spaces of all others."""
    return bytes(code if chr(code) in wanted else 32 for code in range(256))


# Cutting bytes into runs this way takes a fifth of the time of a regular expression that tells the runs apart.
_LETTERS, _NUMBERS, _PUNCTUATION = map(_keep, (string.ascii_letters, string.digits, string.punctuation))


@lru_cache(maxsize=512)
def estimate_tokens(text: str) -> int:
    """The number of tokens of a text, at least 1 if there is any."""
    plain = (text if text.isascii() else _NOT_ASCII.sub(" ", text)).encode()
    words = plain.translate(_LETTERS).split()
    signs = plain.translate(_PUNCTUATION).split()
    total = _WORD * len(words) + _LETTER_PAST_SIX * sum([len(word) - 6 for word in words if len(word) > 6])
    total += _DIGITS * sum([(len(number) + 2) // 3 for number in plain.translate(_NUMBERS).split()])
    total += (_SIGNS - _FURTHER_SIGN) * len(signs) + _FURTHER_SIGN * sum(map(len, signs))
    total += _LINE * len(_LINES.findall(plain))
    if not text.isascii():
        total += sum(weight * sum(map(len, script.findall(text))) for script, weight in _SCRIPTS)
    return max(round(total), 1 if text else 0)


def estimate_request(request: Request) -> tuple[int, int]:
    """Tokens that a request sends, and tokens that its reply will take if the guess is right."""
    sent = sum(estimate_tokens(message.content) + _MESSAGE for message in request.messages) + _CONVERSATION
    return sent, estimate_tokens(request.guess)
