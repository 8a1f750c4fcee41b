"""Guess the language of a short text by its script and, for Latin letters, by its function words.

`guess_language` is accurate enough to group questions: close languages are confused in very short texts, and an unclear text
is `other`. `foreign_language` is careful: it names a language only if a text is surely not in one of the known ones.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from ragstone.text.late_pattern import late_pattern

OTHER = "other"
_SCRIPTS = (
    ("ja", late_pattern("[\u3040-\u30ff]")),
    ("ko", late_pattern("[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", late_pattern("[\u3400-\u9fff]")),
    ("ru", late_pattern("[\u0400-\u04ff]")),
    ("ar", late_pattern("[\u0600-\u06ff]")),
    ("hi", late_pattern("[\u0900-\u097f]")),
    ("he", late_pattern("[\u0590-\u05ff]")),
    ("el", late_pattern("[\u0370-\u03ff]")),
    ("th", late_pattern("[\u0e00-\u0e7f]")),
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
_WORD = late_pattern(r"[^\W\d_]+")
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


# Function words of running text that are rare in English. Words that several languages share count for each of them.
_FOREIGN_WORDS = {
    "de": "der die das und ist sind ein eine einen einem einer eines nicht mit für auf zu im den dem des von bei wird werden hat haben oder aus nach wenn auch nur kann sich über vor zum zur bis sie er es wir dass durch sein muss",
    "fr": "le la les des et est sont un une dans pour avec sur au aux du de ne pas ce cette qui que par plus ou se sa son ses leur vous il elle être avoir peut sans entre mais chaque doit si en l d c n s qu",
    "es": "el la los las y es son un una por para con en del al de se su que no lo como más o pero sus le está están puede hasta desde cuando sin sobre cada si debe entre también",
    "it": "il lo la gli le e è sono un una per con nel nella della del di non che si dei delle al alla alle allo agli in a da dal dalla più anche come o ma ogni deve può se i suo sua",
    "pt": "o a os as e é são um uma por para com em do da dos das não que se ao na no como mais ou mas pode até cada deve seu sua entre também nas nos pelo pela",
    "nl": "de het een en is zijn niet met voor op van bij er wordt worden dat dit te of aan ook als maar naar uit door kan moet om tot je u hun dan nog geen",
    "pl": "i w na z do nie się jest są od przez dla o po za ze który która które lub oraz jak być może tylko przy jego ich tym tej ma co to nad pod już",
    "sv": "och att det som är en ett på av för med den till inte kan har från om vid eller när också ska efter de man under var",
    "da": "og at det som er en et på af for med den til ikke kan har fra om ved eller når også skal efter de man være bliver",
    "cs": "a v na se je že s z do to nebo pro jako jsou by které který při ve ze po od být až také jen pokud",
    "tr": "ve bir bu için ile olarak da de olan en daha çok gibi ya veya her kadar sonra ise değil olur",
    "fi": "ja on ei se että oli joka hän mutta kun myös tai sekä ovat jos niin voi kuin sen ovat",
    "ro": "și în de la cu pe nu este sunt un o care din pentru sau se mai prin după că al ale",
    "id": "dan yang di untuk dengan tidak ini itu dari pada adalah ke dalam atau akan bisa dapat oleh juga",
    "vi": "và là của có không được cho các một trong với này để khi những người từ đến",
}
_ENGLISH_WORDS = (
    "the of and to is are was were what which who how when where why does did can could you it for on with my this that there many "
    "much be has have had from by at not an or as if its they their we our your he she his her will would must should may only than "
    "then after before until up out into over more most all any each one two per about also so but been being don't isn't it's "
    "doesn't you're"
)
# Frequent in English and elsewhere: they show nothing.
_SHARED_WORDS = frozenset(
    [
        "a",
        "an",
        "as",
        "at",
        "do",
        "en",
        "i",
        "in",
        "is",
        "it",
        "me",
        "no",
        "o",
        "of",
        "on",
        "per",
        "so",
        "te",
        "was",
        "we",
    ]
)
_TEXT = 3_000
_LEAST_WORDS = 5
_LEAST_SHARE, _LEAST_COUNT, _LEAST_ALONE = 0.15, 3, 2
_LEAST_LETTERS = 4


def foreign_language(text: str, known: Collection[str] = ("en",)) -> str | None:
    """The language of a text that is surely in none of the known ones (two-letter codes); None for short or unclear texts."""
    text = text[:_TEXT]
    letters = sum(map(str.isalpha, text))
    if not text.isascii():
        for code, script in _SCRIPTS:
            count = len(script.findall(text))
            if count >= _LEAST_LETTERS and 2 * count > letters:
                # Chinese characters and kana both occur in Japanese.
                return None if code in known else code
    found = _WORD_WITH_APOSTROPHE.findall(text.casefold())
    if len(found) < _LEAST_WORDS:
        return None
    english, foreign = _running_words()
    accented = sum(not word.isascii() and "’" not in word for word in found)
    scores = {code: sum(word in small for word in found) for code, small in foreign.items()}
    # Accents are rare in English and speak for the language whose function words are there.
    scores = {code: score + accented if score else 0 for code, score in scores.items()}
    scores["en"] = sum(word in english for word in found)
    best = max(scores, key=lambda code: (scores[code], code in known))
    mine = max((scores[code] for code in known if code in scores), default=0)
    enough = max(_LEAST_COUNT if mine else _LEAST_ALONE, _LEAST_SHARE * len(found))
    return best if best not in known and scores[best] >= enough and scores[best] > 2 * mine else None


_WORD_WITH_APOSTROPHE = late_pattern(r"[^\W\d_]+(?:['’][^\W\d_]{1,2}\b)?")


@cache
def _running_words() -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    english = frozenset(_ENGLISH_WORDS.split()) - _SHARED_WORDS
    return english, {code: frozenset(words.split()) - _SHARED_WORDS for code, words in _FOREIGN_WORDS.items()}
