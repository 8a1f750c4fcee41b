"""The styles in which people ask: with slips of the keyboard, in keywords, at length, as a follow-up, in anger."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from ragstone.text.lexicon import word_set
from ragstone.text.overlap import FUNCTION_WORDS

Style = Literal["plain", "typo", "keyword", "long", "follow-up", "angry"]
STYLES: tuple[Style, ...] = get_args(Style)
# Of ten questions; the other styles have one each.
_PLAIN = 5
_KEPT = word_set("how when who where long much many time before after between within until")
_DROPPED = word_set("missing here stated named must may can should")
_LONG = (
    "I am preparing something on this and others rely on it, so I would like to be certain. I have looked around and found "
    "nothing that I trust. {question} A short answer is enough."
)
_ANGRY = (
    "This is the third time I am asking, and there is no straight answer. {question} How hard can that be?",
    "I have had enough of being sent from one page to the next. {question} Just tell me.",
)


def shuffled_styles(styles: Sequence[Style], chance: random.Random) -> Iterator[Style]:
    """An endless stream of styles: plain five times as often as any other."""
    drawn = [style for style in dict.fromkeys(styles) for _ in range(_PLAIN if style == "plain" else 1)]
    while True:
        chance.shuffle(drawn)
        yield from drawn


def restyled(question: str, style: Style) -> str:
    """A question in a style by rule, in English; `follow-up` is not done here."""
    chance = random.Random(question)  # noqa: S311  (a draw, not a secret)
    if style == "typo":
        return mistyped(question)
    if style == "keyword":
        found = [word.strip(",").lower() for word in re.findall(r"[^\s?:“”–]+", question)]
        kept = [word for word in found if word in _KEPT or word not in FUNCTION_WORDS | _DROPPED]
        return " ".join(word for word, before in zip(kept, ["", *kept], strict=False) if word != before)
    if style in ("long", "angry"):
        return (_LONG if style == "long" else chance.choice(_ANGRY)).format(
            question=question[:1].upper() + question[1:]
        )
    return question


def mistyped(question: str) -> str:
    """The question with one to three slips in long words, always the same; names, numbers and quotations stay."""
    chance = random.Random(question)  # noqa: S311  (a draw, not a secret)
    quoted = [match.span() for match in re.finditer(r"“[^”]*”|\"[^\"]*\"", question)]
    spans = [
        match.span()
        for match in re.finditer(r"(?<![\w'’-])[^\W\d_A-Z]{5,}(?![\w'’-])", question)
        if not any(start <= match.start() < end for start, end in quoted)
    ]
    for start, end in sorted(chance.sample(spans, min(len(spans), 1 + len(spans) // 4, 3)), reverse=True):
        at = chance.randrange(start + 1, end - 2)
        swapped, dropped = question[at + 1] + question[at], question[at]
        slip = chance.choice((swapped, dropped, question[at] * 2 + question[at + 1]))
        question = question[:at] + slip + question[at + 2 :]
    return question
