"""What a user's next message says about the answer before it: thanks, a complaint, or nothing.

By phrases that anybody can read and extend. They must say that the *answer* was wrong or not wanted ("that is wrong", "I
asked for the price"); a new question that only has such words in it ("which parts of the form are wrong?") says nothing.
A message that thanks and complains complains.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal, NamedTuple

Kind = Literal["thanks", "complaint"]
# What is said about an answer is said at once; further down a new request may say anything.
_LOOKED_AT = 160


class Feedback(NamedTuple):
    """What a message says about the answer, and in which words."""

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
# "No thanks" and "thanks for nothing" thank nobody.
_NOT_THANKS = re.compile(
    r"\bno,? thanks\b|\bno,? thank you\b|\bthanks for nothing\b|\bnein danke\b|\bnon merci\b|\bno gracias\b"
)


def read_feedback(message: str) -> Feedback | None:
    """What the message says about the answer before it; None if nothing."""
    folded = _fold(message[: _LOOKED_AT * 2])[:_LOOKED_AT]
    if found := _pattern(_COMPLAINTS).search(folded):
        return Feedback("complaint", found[0].strip())
    if (found := _pattern(_THANKS).search(folded)) and not _NOT_THANKS.search(folded):
        return Feedback("thanks", found[0].strip())
    return None


def _fold(text: str) -> str:
    """Lower case without accents, with straight apostrophes and single spaces."""
    parts = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))
    return " ".join("".join(part for part in parts if not unicodedata.combining(part)).split()).lstrip("¡¿-–—* \"'")


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{phrase})" for phrase in phrases))
