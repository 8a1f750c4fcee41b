"""User feedback on an answer: the next message by its phrases, and other signals as weighted features.

A message is a complaint if it states that the *answer* was wrong or not wanted ("that is wrong", "I asked for the price").
A new question that only contains such words ("which parts of the form are wrong?") is not feedback. A message that thanks
and complains is a complaint.

A feature is 0 if its signal was not seen, 1 if it was, and between for degrees. Its weight is the log-odds that the answer
is good: a like of weight 3 alone means a good answer with probability 1 / (1 + e^-3) = 0.95, the signal's confidence.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

Kind = Literal["thanks", "complaint"]
# Feedback comes first in a message; further down a new request may contain any words.
_LOOKED_AT = 160


class Feedback(NamedTuple):
    """The kind of feedback in a message, and the words that express it."""

    kind: Kind
    words: str


_IT = "(?:that|this|it|your answer|the answer|your response|the response)"
_COMPLAINTS = (
    # English
    r"\bno[,.!;:]? (?:i|we) (?:wanted|meant|asked|need(?:ed)?|was asking|am asking|am looking|was looking)\b",
    r"\bnot what (?:i|we) (?:asked|wanted|meant|need(?:ed)?|was asking|was looking|am looking|am asking)\b",
    r"\b(?:i|we) (?:did not|didn't) (?:ask|mean|want)\b",
    r"^(?:no[,.!;:]? |but |sorry[,.!;:]? )?i (?:meant|asked (?:for|about|you|how|what|when|where|why|who))\b",
    rf"(?<!\bif )(?<!\bwhen )\b{_IT}(?: is|'s| was) (?:just |simply |still |totally |completely )?"
    r"(?:wrong|incorrect|false|nonsense|not (?:correct|right|true|helpful|useful|relevant|it)|irrelevant|useless|outdated|"
    r"made up)\b(?! to\b)",
    rf"\b{_IT} (?:isn't|wasn't) (?:correct|right|true|helpful|useful|relevant|it)\b(?! to\b)",
    rf"\bi (?:don't|do not) think {_IT}(?: is|'s| was) (?:correct|right|true)\b",
    r"\bbut i (?:meant|wanted|asked (?:for|about))\b",
    r"\b(?:that|this|it|your answer|the answer) (?:does not|doesn't|did not|didn't) (?:answer|help|work|make sense)\b",
    r"\byou (?:have |'ve )?(?:misunderstood|misread|did not (?:answer|understand)|didn't (?:answer|understand)|got (?:it|that) wrong|missed the point)\b",
    r"^(?:no(?:pe)?[,.!]? )?(?:that's )?(?:wrong|incorrect|not (?:correct|right|true|helpful))\b(?!.*\?)",
    r"\byou(?:'re| are) (?:wrong|mistaken)\b",
    r"^(?:please )?(?:try again|answer again|do it again|read (?:it|the question) again|look again)\b",
    r"\b(?:something else|another thing)\b(?=[ .!]*$)",
    r"^are you sure\b",
    # German
    r"\bnein[,.!;:]? ich (?:wollte|meinte|habe|hatte|brauche|suche|fragte)\b",
    r"\bnicht(?: das)?,? (?:das )?was ich (?:wollte|meinte|gefragt|gesucht|brauche|wissen)\b",
    r"\b(?:das|dies|die antwort|deine antwort|ihre antwort) (?:ist|war) (?:leider |einfach |immer noch )?(?:falsch|nicht (?:richtig|korrekt|hilfreich)|unsinn|quatsch|veraltet)\b",
    r"\b(?:das|dies) (?:stimmt|hilft|passt)(?: mir)?(?: so| leider)? nicht\b",
    r"\b(?:du hast|sie haben) (?:mich |die frage )?(?:falsch|nicht|missverstanden)\b",
    r"^(?:ich meinte|ich habe (?:nach|doch) |falsch\b|bist du sicher|noch ?mal bitte|versuch(?:e)? es (?:noch|erneut))",
    r"\betwas ander(?:e|er)s\b(?=[ .!]*$)",
    # French
    r"\bnon[,.!;:]? (?:je (?:voulais|cherchais|demandais|parlais)|j'ai (?:demande|besoin))\b",
    r"\bpas ce que (?:je (?:voulais|demandais|cherchais)|j'ai demande)\b",
    r"\b(?:c'est|c'etait|la reponse est|votre reponse est|ta reponse est) (?:faux|fausse|incorrecte?|inexacte?|pas (?:correct|ca|bon|juste|exact)|n'importe quoi)\b(?! que)",
    r"\b(?:ca|cela) ne (?:repond|m'aide|marche|correspond)\b",
    r"\b(?:vous n'avez|tu n'as) pas (?:compris|repondu)\b",
    r"^(?:je voulais dire|faux\b|etes-vous sur|es-tu sur|reessaye)",
    r"\bautre chose\b(?=[ .!]*$)",
    # Spanish
    r"\bno[,.!;:]? (?:yo )?(?:queria|pregunte|preguntaba|buscaba|necesito|me referia)\b",
    r"\bno es lo que (?:pedi|queria|pregunte|buscaba|necesito)\b",
    r"\b(?:eso|esto|la respuesta|tu respuesta|su respuesta)(?: no)? (?:es|esta) (?:mal|incorrect[oa]|fals[oa]|equivocad[oa]|correct[oa](?<=no es correcto)|un error)\b",
    r"\b(?:eso|esto) no (?:es (?:correcto|cierto|verdad|eso)|responde|me sirve|me ayuda)\b",
    r"\bno (?:has|ha|me has|me ha) (?:entendido|respondido|contestado)\b",
    r"^(?:me referia a|incorrecto\b|estas seguro|intentalo de nuevo)",
    r"\botra cosa\b(?=[ .!]*$)",
    # Chinese
    r"不是(?:我(?:想|要|问|需要)|这个意思|这样)|我(?:问|要|想问|指)的(?:不)?是|^(?:不对|不是|错了|答错|不正确|重新(?:回答|来)|再试)|"
    r"(?:回答|答案|这|那)(?:是)?(?:不对|错|不正确|没用|没有帮助)|答非所问|你(?:没有?|没)(?:理解|明白|回答)|你(?:理解|搞)错",
)
_THANKS = (
    r"\b(?:thanks|thank you|thx|cheers|much appreciated)\b",
    r"^(?:great|perfect|excellent|awesome|brilliant|wonderful|amazing|nice|super|good (?:answer|job|work)|well done|very helpful|exactly|that (?:helps|helped|works|worked))\b(?![^.!?]*\?)",
    r"\b(?:that|this|it|your answer)(?: is|'s| was) (?:really |very |so |exactly )?(?:helpful|perfect|great|what i (?:needed|wanted|was looking for))\b",
    r"\b(?:danke|dankeschon|vielen dank|besten dank)\b|^(?:super|perfekt|prima|genau das|sehr gut|hat geholfen)\b(?![^.!?]*\?)",
    r"\bmerci\b|^(?:parfait|super|genial|excellent|tres bien|impeccable)\b(?![^.!?]*\?)",
    r"\b(?:gracias|muchas gracias)\b|^(?:perfecto|genial|excelente|muy bien|estupendo)\b(?![^.!?]*\?)",
    r"谢谢|多谢|感谢|^(?:太好了|很好|完美|非常好|太棒)",
)
# "No thanks" and "thanks for nothing" are not thanks.
_NOT_THANKS = re.compile(
    r"\bno,? thanks\b|\bno,? thank you\b|\bthanks for nothing\b|\bnein danke\b|\bnon merci\b|\bno gracias\b"
)


def read_feedback(message: str) -> Feedback | None:
    """The feedback that a message gives on the answer before it; None if it gives none."""
    folded = _fold(message[: _LOOKED_AT * 2])[:_LOOKED_AT]
    if match := _pattern(_COMPLAINTS).search(folded):
        return Feedback("complaint", match[0].strip())
    if (match := _pattern(_THANKS).search(folded)) and not _NOT_THANKS.search(folded):
        return Feedback("thanks", match[0].strip())
    return None


def _fold(text: str) -> str:
    """Lower case without accents, with straight apostrophes and single spaces."""
    parts = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))
    return " ".join("".join(part for part in parts if not unicodedata.combining(part)).split()).lstrip("¡¿-–—* \"'")


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{phrase})" for phrase in phrases))


KINDS = ("like", "dislike", "copy", "regenerate", "reading_time", "next_message")
# Chosen by judgement, from experience with such signals in search and chat: users press buttons rarely and deliberately,
# a complaint is nearly as clear, copying and repeating a question are weaker, and focus time is the weakest.
# `ragstone truth signals --labels` learns weights from labelled answers.
WEIGHTS: Mapping[str, float] = {
    "like": 3.0,
    "dislike": -3.0,
    "copy": 1.2,
    "regenerate": -1.5,
    "reading_time": 0.5,
    "thanks": 1.5,
    "complaint": -2.2,
}
MEANINGS = {
    "like": "the user liked it",
    "dislike": "the user disliked it",
    "copy": "it was copied",
    "regenerate": "the user asked for another answer to the same question",
    "reading_time": "time in focus relative to the reading time: −1 far too short, +1 long enough",
    "thanks": "the next message thanks",
    "complaint": "the next message complains",
}
_WORDS_PER_SECOND = 4.0
_SHORTEST_READING_S = 2.0
# After ten times the reading time the user was probably away.
_AWAY = 10.0


def features_of(signals: Iterable[tuple[str, Any]], answer_words: int) -> dict[str, float]:
    """The features of an answer from its signals (kind and value); signals without information are left out."""
    features: dict[str, float] = {}
    for kind, value in signals:
        if kind == "next_message":
            if feedback := read_feedback(str(value)):
                features[feedback.kind] = 1.0
        elif kind == "reading_time":
            if (tilt := reading_tilt(float(value), answer_words)) is not None:
                features["reading_time"] = tilt
        elif kind in ("thanks", "complaint") or (kind in KINDS and (value is None or float(value) > 0)):
            features[kind] = 1.0
    return features


def reading_tilt(seconds: float, answer_words: int) -> float | None:
    """From −1 for a quarter of the reading time or less to +1 for all of it; None if the user was away."""
    expected = max(_SHORTEST_READING_S, answer_words / _WORDS_PER_SECOND)
    if not seconds >= 0 or seconds > _AWAY * expected:
        return None
    return max(-1.0, min(1.0, 1.0 + math.log2(max(seconds, 1e-9) / expected)))
