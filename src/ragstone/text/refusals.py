"""Find out by phrases whether an answer declines to answer.

An answer is a refusal if one of its clauses declines ("the documents do not say", "I cannot answer") and no clause has
content: the others only apologise, give advice, ask a question, or describe the documents. An answer that follows or
precedes a caveat ("the documents do not mention dogs, but cats travel free") is not a refusal. Neither is a "cannot" that
is itself the answer ("dogs cannot travel in the cabin"). After a clause that leaves the question unanswered ("I cannot
answer this"), short remarks without figures and without "but" are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import Enum, auto

from ragstone.text.refusal_phrases import fold, refusal_patterns


class _Kind(Enum):
    """The role of a clause in an answer."""

    DECLINES = auto()
    HARMLESS = auto()  # advice, an offer of help, or a description of the documents
    EMPTY = auto()  # an apology or a question
    CONTENT = auto()


# Longer clauses count as content.
_LONGEST_CLAUSE = 500
_LONGEST_ASIDE = 120
_EDGES = " \t\r\n.,;:!?…。，、；：！？؟،؛।॥*_#>`\"'“”‘’«»„「」『』()[]-–—•"
# Patterns take quadratic time in long runs of spaces.
_SPACES = re.compile(r"[^\S\n]{3,}")
_CITATIONS = re.compile(r"\s?\[[^\[\]\n]{1,40}\]")
_QUESTION = re.compile(r"[?？؟][\s*_\"'”’»」』)\]]*$")
# A clause of these kinds continues after these characters: "You can search for: ferries, fares".
_CONTINUING = {**dict.fromkeys("，،", (_Kind.HARMLESS,)), **dict.fromkeys(":：", (_Kind.HARMLESS, _Kind.DECLINES))}


def find_refusal(answer: str) -> str | None:
    """The first clause that declines, if the answer is a refusal; otherwise None."""
    patterns = refusal_patterns()
    declining = None
    previous = _Kind.EMPTY
    about_documents = False
    continuing: tuple[_Kind, ...] = ()
    for clause in _clauses(answer):
        folded = fold(clause).strip(_EDGES)
        if len(folded) > _LONGEST_CLAUSE:
            return None
        kind = _classify(folded, about_documents)
        if kind is _Kind.CONTENT:
            if _QUESTION.search(clause):
                kind = _Kind.EMPTY
            elif previous in continuing or (declining and _ends_list(folded)):
                kind = previous
            elif declining and patterns.answering.search(fold(declining)) and _is_aside(folded):
                kind = _Kind.HARMLESS
            else:
                return None
        if kind is _Kind.DECLINES:
            declining = declining or clause.strip()
        about_documents = about_documents or kind in (_Kind.DECLINES, _Kind.HARMLESS)
        previous, continuing = kind, _CONTINUING.get(clause.rstrip()[-1:], ())
    return declining


def _clauses(text: str) -> Iterator[str]:
    """Split a text lazily, so that a long answer is only split as far as needed."""
    text = _CITATIONS.sub("", unicodedata.normalize("NFC", _SPACES.sub("  ", text))).replace("’", "'").strip()
    start = 0
    for end in refusal_patterns().clause_ends.finditer(text):
        if text[start : end.end()].strip(_EDGES):
            yield text[start : end.end()]
        start = end.end()
    if text[start:].strip(_EDGES):
        yield text[start:]


def _classify(clause: str, about_documents: bool) -> _Kind:
    if refusal_patterns().added.search(clause):
        return _Kind.DECLINES
    scripts = refusal_patterns().scripts[: 1 if clause.isascii() else None]
    scripts = [patterns for patterns in scripts if patterns.script.search(clause)]
    while clause:
        for patterns in scripts:
            if patterns.has_cue(clause) and (
                patterns.of("heads").match(clause) or patterns.of("declines").search(clause)
            ):
                return _Kind.DECLINES
            if about_documents and patterns.of("echoes").match(clause):
                return _Kind.DECLINES
            if patterns.of("harmless").match(clause):
                return _Kind.HARMLESS
        lead = next(
            (match for patterns in scripts if (match := patterns.of("leads").match(clause)) and match.end()), None
        )
        if lead is None:
            return _Kind.CONTENT
        clause = clause[lead.end() :].strip(_EDGES)
    return _Kind.EMPTY


def _is_aside(clause: str) -> bool:
    """Whether a clause after "I cannot answer that" still gives no answer: short, no figures, no contrast."""
    return not (len(clause) > _LONGEST_ASIDE or re.search(r"\d", clause) or refusal_patterns().contrast.match(clause))


def _ends_list(clause: str) -> bool:
    """Whether a clause is only the end of a list that was split at a comma: "prices, | and dogs"."""
    return len(clause.split()) <= 3 and bool(refusal_patterns().joins.match(clause))


# "The pages give the days but not how long one waits", "nichts über Parkplätze": it is not there.
_ABSENT = re.compile(
    r"""\b(?:nothing|not|none|no|nowhere|cannot|unable)\b|n't\b
    |\b(?:nichts|nicht|kein\w*|nirgends)\b|\b(?:no|nada|ning[uú]n\w*|tampoco)\b|\b(?:ne|n'|rien|aucun\w*)\b""",
    re.VERBOSE,
)
_SOURCES = re.compile(
    r"""\b(?:documents?|pages?|texts?|passages?|chunks?|manual|information|excerpts?|sections?|sources?|guidance|rules|lists?|policy
    |mention\w*|stated?|says?|appears?|find|found|given|described|tell|answer|cover\w*|know
    |dokument\w*|unterlagen|angaben|text\w*|seiten?|erwähnt|steht|genannt|finde\w*|sagen|enthalten|enthält|beantworten
    |document\w*|textos?|información|menciona\w*|dice\w*|figura|aparece\w*|indica\w*|encuentr\w*|consta
    |mentionne\w*|indique\w*|trouve\w*|renseigne\w*)\b""",
    re.VERBOSE,
)


def says_absent(answer: str) -> bool:
    """Whether a sentence of an answer says that something is not in the documents; it may say more besides.

    Only for questions that are known to have no answer: elsewhere, "the price does not include meals" is an answer.
    """
    parts = re.split(r"[.!?;\n]\s", fold(answer.replace("’", "'")))
    return bool(find_refusal(answer)) or any(_ABSENT.search(part) and _SOURCES.search(part) for part in parts)


# The words that RGB's prompt asks for.
RGB_WORDS = ("factual error", "事实性错误")
