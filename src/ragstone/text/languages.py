"""Guess the language of a short text by its script and, for Latin letters, by its function words.

Accurate enough to group questions: close languages are confused in very short texts, and an unclear text is `other`.
"""

from __future__ import annotations

import re
from functools import cache

OTHER = "other"
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_SMALL_WORDS = {
    "en": "the of and to in is are was were what which who how when where why do does did can could i you it for on with my this that there many much be has have had from by at not an a",
    "de": "der die das und ist sind war ein eine einen einem wie was wer wann wo warum kann ich du sie nicht mit für auf zu im in den dem des von bei gibt es viel viele wird hat haben",
    "fr": "le la les des et est sont un une comment que quel quelle quels quelles qui quand où pourquoi je vous tu il elle dans pour avec sur au aux du de ne pas combien ce cette l d j c est-ce",
    "es": "el la los las y es son un una cómo qué quién cuándo dónde por para con en del al de no cuál cuánto cuánta cuántos puedo hay se su mi que lo está",
    "it": "il lo la gli le e è sono un una come che chi quando dove perché per con nel della del di non quanto quale posso si c dei delle al alla",
    "pt": "o a os as e é são um uma como que quem quando onde por para com em do da dos das não qual quanto posso se há ao na no está",
    "nl": "de het een en is zijn was hoe wat wie wanneer waar waarom kan ik je niet met voor op van bij er veel wordt dat dit te",
    "pl": "i w na z do nie się jest są jak co kto kiedy gdzie dlaczego czy to ile jaki jaka jakie mogę od przez dla o",
}
_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 400


def guess_language(text: str) -> str:
    """A two-letter code, or `other`."""
    text = text[:_LONGEST]
    if not text.isascii():
        for code, letters in _SCRIPTS:
            # Many texts contain names and units in other scripts; a third of the letters must match.
            if 3 * len(letters.findall(text)) >= sum(map(str.isalpha, text)) > 0:
                return code
    words = _WORD.findall(text.casefold())
    scores = {code: sum(word in small for word in words) for code, small in _small_words().items()}
    best = max(scores.values())
    leaders = [code for code, score in scores.items() if score == best]
    if not best or (len(leaders) > 1 and "en" not in leaders):
        return OTHER
    return leaders[0]


@cache
def _small_words() -> dict[str, frozenset[str]]:
    return {code: frozenset(words.split()) for code, words in _SMALL_WORDS.items()}
