"""Whether a text contains a statement word for word, by rule; and texts without layout marks.

A statement is contained if it is a whole sentence, a list item or a complete clause of the text, up to white space, case,
quotation marks and layout marks. It is denied if the only difference is a negation. Words cut out of a sentence do not count: "it is not true that the horn is red" does not
contain "the horn is red". Neither does a sentence that the text announces as false.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from ragstone.text.clauses import clauses, is_sentence
from ragstone.text.sentences import sentences

BULLET = re.compile(r"^[ \t]*(?:(?:[-*•‣◦–—+]|\(?\d{1,2}[.)]|\(?[a-z][.)])[ \t]+)+", re.MULTILINE)
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>+[ \t]?)", re.MULTILINE)
_INLINE_MARK = re.compile(r"\*\*|__|(?<!\w)[*_](?=[\w(“‘])|(?<=[\w.!?])[*_](?!\w)|`+")
_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)")
_QUOTES = str.maketrans("", "", '"“”„«»‹›「」『』')
_SINGLE = str.maketrans("‘’‚`", "''''")
_EDGES = " \t.,;:!…。！'()[]*_-–—"
# A heading before a sentence: "Product 300, Section 4: ...".
_HEADING = re.compile(r"^(?P<heading>[^:.!?\n]{1,80}):[ \t]+(?P<rest>\S.*)$", re.DOTALL)
_MOST_HEADING_WORDS = 8
_DENIES = re.compile(
    r"\b(?:not|never|no|false|untrue|incorrect|wrong|wrongly|myths?|misconceptions?|mistaken|outdated|rumou?rs?|claims?|claimed|"
    r"assumptions?|questions?|example|if|unless|fiction|lies?)\b",
    re.IGNORECASE,
)
# Announces that the next sentences are not true.
_FALSE = re.compile(
    r"\b(?:false|untrue|not true|incorrect|wrong|wrongly|myths?|misconceptions?|mistaken|rumou?rs?|no longer)\b",
    re.IGNORECASE,
)
# Ends a sentence even before a line in lower case: a stop at the end of a line, and the end of a table row.
_LINE_STOP = re.compile(r"(?<=[\w)][\w)][.!])\n")
_LEAST_WORDS, _LEAST_LETTERS = 3, 10
# Signs between the steps of a path, not of a comparison.
_STEP = re.compile(r"(?<=[^\W\d]) > (?=[A-Z][^\n>.]{0,60}$)|(?<=[^\W\d]) > (?=[A-Z][^\n>.]{0,60} > )", re.MULTILINE)
_SHORT_NEGATION = (
    ("cannot", "can not"),
    ("can't", "can not"),
    ("won't", "will not"),
    ("shan't", "shall not"),
    ("n't", " not"),
)
# Words that mean the negation of another one.
_OPPOSITES = {
    "closed": "open", "shut": "open", "forbidden": "allowed", "prohibited": "allowed", "banned": "allowed",
    "impossible": "possible", "unavailable": "available", "excluded": "included", "invalid": "valid", "illegal": "legal",
    "unable": "able", "without": "with", "disabled": "enabled", "inactive": "active", "unlimited": "limited",
}  # fmt: skip
_OPPOSITE = re.compile(rf"\b(?:{'|'.join(_OPPOSITES)})\b")
_NAME = re.compile(r"\b[A-Z]\w+|\b\d[\d.,]*\b")
# Between two names: their order does not matter.
_UNORDERED = re.compile(
    r"\b(?:and|or|with|between|both|like|near|equals?|same|similar|meets?|met|borders?|married|joins?|versus|vs|plus)\b"
)
_NEGATION = re.compile(r"\b(?:do not|not|never)(?: |$)")


def plain_text(text: str) -> str:
    """A text without Markdown marks, bullets and breadcrumb signs; words and line breaks stay."""
    text = _LINK.sub(r"\1", text)
    text = _LINE_MARK.sub("", text)
    text = BULLET.sub("", _LINE_MARK.sub("", text))
    return _STEP.sub(", ", _INLINE_MARK.sub("", text))


def contains_statement(text: str, claim: str) -> bool:
    """Whether every sentence of the claim is a sentence, a list item or a clause of the text."""
    wanted = _folded_sentences(claim)
    return bool(wanted) and set(wanted) <= _statements(text)


def denies_statement(text: str, claim: str) -> bool:
    """Whether a sentence of the claim, with one negation more or less, is in the text, and not without it."""
    return any(
        (other, not negated) in _skeletons(text) and (other, negated) not in _skeletons(text)
        for other, negated in map(_skeleton, _folded_sentences(claim))
        if len(other.split()) >= _LEAST_WORDS
    )


def swaps_names(text: str, claim: str) -> bool:
    """Whether a sentence of the claim is one of the text with two names or numbers in each other's place.

    Not if the words between them say that the order does not matter.
    """
    names = {_fold(word) for word in _NAME.findall(claim)}
    return bool(names) and any(
        _is_swap(one.split(), other.split(), names)
        for one in _folded_sentences(claim)
        for other in _by_words(text).get(tuple(sorted(one.split())), ())
    )


def _is_swap(one: list[str], other: list[str], names: set[str]) -> bool:
    differing = [at for at, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
    if len(differing) != 2:
        return False
    first, last = differing
    swapped = {one[first].strip(_EDGES), one[last].strip(_EDGES)}
    return swapped <= names and last > first + 1 and not _UNORDERED.search(" ".join(one[first:last]))


@lru_cache(maxsize=512)
def _by_words(text: str) -> dict[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}
    for statement in _statements(text):
        found.setdefault(tuple(sorted(statement.split())), []).append(statement)
    return found


def _folded_sentences(claim: str) -> list[str]:
    """The sentences; none if the claim is too short to be a statement."""
    wanted = [words for raw in _raw_sentences(claim) if (words := _fold(raw))]
    folded = " ".join(wanted)
    short = len(folded.split()) < _LEAST_WORDS and (folded.isascii() or len(folded) < _LEAST_LETTERS)
    return [] if short else wanted


@lru_cache(maxsize=512)
def _skeletons(text: str) -> frozenset[tuple[str, bool]]:
    return frozenset(map(_skeleton, _statements(text)))


def _skeleton(folded: str) -> tuple[str, bool]:
    """The words without negations, and whether their number is odd; `closed` is `not open`."""
    folded = _OPPOSITE.sub(lambda match: f"not {_OPPOSITES[match[0]]}", folded)
    for short, long in _SHORT_NEGATION:
        folded = folded.replace(short, long)
    other, count = _NEGATION.subn("", folded)
    return other.strip(), count % 2 == 1


@lru_cache(maxsize=512)
def _statements(text: str) -> frozenset[str]:
    found: set[str] = set()
    announced = False
    for raw in _raw_sentences(text):
        if not announced:
            rows = raw.split("\n") if " | " in raw else []
            found.update(form for part in {raw, *_LINE_STOP.split(raw), *rows} for form in _forms(part))
        # "The following is false:" concerns what comes next.
        denies = _FALSE.search(raw) is not None
        announced = (announced and not raw.rstrip().endswith(".")) or (
            denies and (raw.rstrip().endswith(":") or "following" in raw.lower())
        )
    return frozenset(found - {""})


def _forms(raw: str) -> Iterator[str]:
    """The sentence, its clauses, and the same without a heading before it."""
    yield _fold(raw)
    yield from (_fold(clause) for clause in clauses(raw))
    if match := _HEADING.match(raw):
        heading = match["heading"]
        is_short = len(heading.split()) <= _MOST_HEADING_WORDS
        if is_short and not _DENIES.search(heading) and not is_sentence(heading):
            yield from _forms(match["rest"])


def _raw_sentences(text: str) -> list[str]:
    # A list item starts a sentence, even in lower case.
    plain = plain_text(BULLET.sub(r"\n\g<0>", text))
    return [BULLET.sub("", plain[span.start : span.end]) for span in sentences(plain)]


def _fold(sentence: str) -> str:
    folded = unicodedata.normalize("NFKC", sentence).translate(_QUOTES).translate(_SINGLE).casefold()
    return " ".join(BULLET.sub("", folded).split()).strip(_EDGES)
