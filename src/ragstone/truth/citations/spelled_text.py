"""Texts as words that match across spellings: hyphenated at the end of a line, or misread by a scanner.

Only known scanner confusions count. Any other different letter may make another word, often the opposite one: million
and billion, hypertension and hypotension, or wurden and würden differ in one or two letters.

Differences that change the meaning of a citation although its words match: signs, units, stops, cuts. For example, "5 million"
is in "3.5 million", "ferries run" is in "no ferries run", and -5 °C and 5 % have the same words as 5 °C and 5.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import product

from ragstone.text.sentences import sentences
from ragstone.text.words import Word, words

_TORN = re.compile(r"[-‐‑¬\u00ad]\s+|\u00ad")
_FOOTNOTE = re.compile(r"\[\s?(?:\d{1,3}|[a-z])\s?\]")
# Characters that a scanner confuses within a word; digits only between letters, not in numbers.
_GLYPHS = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("1", "i"), ("5", "s"), ("cl", "d"), ("ii", "u"))
_LEAST_LETTERS = 6
_DIGIT_INSIDE = re.compile(r"(?<=[^\W\d_])[015](?=[^\W\d_])")
_MOST_CONFUSED = 3


class Spelled:
    """A text as words with their positions and the gaps between them. Invisible characters are removed."""

    def __init__(self, text: str, footnotes: bool = True) -> None:
        self.text = text
        self._kept = _seen(text, footnotes)
        self.shown = text if len(self._kept) == len(text) else "".join(text[place] for place in self._kept)
        self.words: list[Word] = list(words(self.shown))

    def __bool__(self) -> bool:
        return bool(self.words)

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Converts a span of the shown text to a span of the original text."""
        return self._kept[start], self._kept[end - 1] + 1

    def gap(self, number: int) -> str:
        """The text between a word and the word before it; the last gap is the text after all words."""
        start = self.words[number - 1].end if number else 0
        end = self.words[number].start if number < len(self.words) else len(self.shown)
        return self.shown[start:end]

    def raw(self, number: int) -> str:
        """A word as it is written."""
        return self.shown[self.words[number].start : self.words[number].end]

    def is_torn(self, number: int) -> bool:
        """Whether the gap before a word is a hyphen at the end of a line, or a soft hyphen."""
        return bool(_TORN.fullmatch(self.gap(number)))

    def initials(self, number: int) -> str:
        """The letters of an abbreviation with stops that starts here, as in U.S.A.; empty if there is none."""
        letters = ""
        while number + len(letters) < len(self.words):
            raw = self.raw(number + len(letters))
            if len(raw) != 1 or not raw.isupper() or (letters and self.gap(number + len(letters)) != "."):
                break
            letters += raw
        return letters if len(letters) > 1 else ""

    @cached_property
    def sentence_starts(self) -> frozenset[int]:
        """The words that begin a sentence, except the first sentence."""
        begins = [span.start for span in sentences(self.shown)][1:]
        found, place = set(), 0
        for number, word in enumerate(self.words):
            if place < len(begins) and word.start >= begins[place]:
                found.add(number)
                while place < len(begins) and word.start >= begins[place]:
                    place += 1
        return frozenset(found)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The positions of each word."""
        found: dict[str, list[int]] = {}
        for number, word in enumerate(self.words):
            found.setdefault(word.text, []).append(number)
        return found

    @cached_property
    def _outlines(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in self.places:
            if len(word) >= _LEAST_LETTERS:
                found.setdefault(_outline(word), []).append(word)
        return found

    def beginnings(self, cited: Spelled) -> list[int]:
        """Where a citation may begin: at its first word, a part of it, or a misread form of it."""
        first = cited.words[0].text
        words = {first[:size] for size in range(1, len(first) + 1)} | set(self._outlines.get(_outline(first), ()))
        if len(cited.words) > 1 and (cited.is_torn(1) or cited.initials(0)):
            words |= {word for word in self.places if word.startswith(first)}
        return sorted(place for word in words for place in self.places.get(word, ()))


def _seen(text: str, footnotes: bool) -> Sequence[int]:
    """The positions of visible characters: no direction marks or joiners, and no [3] if `footnotes` is False."""
    hidden = [] if text.isascii() else [match.start() for match in _unseen().finditer(text)]
    if not footnotes:
        hidden += [place for match in _FOOTNOTE.finditer(text) for place in range(*match.span())]
    left_out = frozenset(hidden)
    return [place for place in range(len(text)) if place not in left_out] if left_out else range(len(text))


@cache
def _unseen() -> re.Pattern[str]:
    """Characters that only format others; the soft hyphen is kept because it may be visible."""
    codes = (chr(code) for code in range(0x80, 0x10000) if unicodedata.category(chr(code)) == "Cf" and code != 0xAD)
    return re.compile(f"[{''.join(codes)}]")


def has_footnotes(text: str) -> bool:
    """Whether a text contains a footnote mark such as [3]."""
    return bool(_FOOTNOTE.search(text))


def misread(noisy: str, true: str) -> bool:
    """Whether a scanner may have read one folded word as the other."""
    if noisy == true or min(len(noisy), len(true)) < _LEAST_LETTERS or not true.isalpha():
        return False
    # A cheap test first: most words have different outlines.
    return _outline(noisy) == _outline(true) and any(form == true for form in _readings(noisy))


@lru_cache(maxsize=1 << 14)
def _outline(word: str) -> str:
    """A word with all characters that a scanner confuses made the same."""
    for pair in (("ii", "u"), ("rn", "m"), ("vv", "w"), ("cl", "d"), ("0", "o"), ("1", "l"), ("i", "l"), ("5", "s")):
        word = word.replace(*pair)
    return word


def _readings(noisy: str) -> Iterator[str]:
    """The words that a scanner may have misread; the first letter is kept, since `cl` and `d` make two words there."""
    spots = [
        (match.start(), wrong, right)
        for pair in _GLYPHS
        for wrong, right in (pair, pair[::-1])
        if not right.isdigit()
        for match in re.finditer(re.escape(wrong), noisy)
        if _may_be_misread(noisy, match.start(), wrong, right)
    ]
    if len(spots) > _MOST_CONFUSED * 3:
        return
    for chosen in product((False, True), repeat=len(spots)):
        form = _replaced(noisy, [spot for spot, wanted in zip(spots, chosen, strict=True) if wanted])
        if form is not None:
            yield form


def _may_be_misread(noisy: str, place: int, wrong: str, right: str) -> bool:
    if wrong.isdigit():
        return bool(_DIGIT_INSIDE.match(noisy, place))
    return place > 0 or {wrong, right} == {"rn", "m"}


def _replaced(text: str, spots: list[tuple[int, str, str]]) -> str | None:
    """The text with some spots replaced; None if two overlap or there are too many."""
    parts, done = [], 0
    for place, wrong, right in sorted(spots):
        if place < done:
            return None
        parts += [text[done:place], right]
        done = place + len(wrong)
    return None if len(spots) > _MOST_CONFUSED else "".join([*parts, text[done:]])


_DASHES = re.compile("[-‐‑‒–—−]")
_MARKS = re.compile(
    r"[%％‰‱°$＄€£¥₹₽₩±≤≥≠≈×÷√∞?？]|(?<!\S)[.,](?=\d)"
    # A sign does not follow a letter; Chinese and Japanese have no space before it.
    r"|(?<![^\W\u3040-\u30ff\u3400-\u9fff])[-−–](?=[$€£]?[.,]?\d)|(?<=\W[A-Z])[-−](?!\w)"
    r"|(?<=\w)\+{1,2}(?!\w)|\+(?=\d)|(?<=[^\W\d_])\#(?!\w)"
    r"|[<>=~^](?=\s*\d)|(?<=\d)\s*[<>=^]"
    r"|\((?=[$€£]?\d[\d.,]*%?\))(?!\d{4}\))"
)
_SIGNS_BEFORE = re.compile(r"[^\s\w]+$")
_SIGNS_AFTER = re.compile(r"^(?:[^\S\n]?[%‰°$€£¥]|[^\s\w]+)")
_BREAKS = re.compile(r"[^\s\w'’‘\"“”«»*_`|-]")
_STOPS = re.compile(r"[.!?。！？;；…:：]")
_RAISED = re.compile(r"\d[⁰¹²³⁴⁵⁶⁷⁸⁹]")
_CASED_UNIT = re.compile(r"[mM](?:w|v|a|hz|j|pa|n|b|bit|bps|wh)|[kKMGTmgt]?(?:b|bit|bps|ib)", re.IGNORECASE)


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Ordinary words in lower case, but names or months with a capital letter.
_OTHER_WITH_CAPITAL = _listed(
    "may march august polish turkey china apple amazon job nice reading us it who aids mobile sat cat act "
    "era ram pet pin mad"
)
NEGATIONS = _listed(
    "no not never none nor neither without cannot nobody nothing nowhere hardly barely rarely seldom "  # voice: ok
    "scarcely deny denies denied false untrue unlikely impossible kein keine keinen keiner keinem keines "
    "nicht nie niemals nichts niemand ohne weder kaum ne pas jamais sans rien aucun aucune nunca sin sem "
    "não non mai senza не нет без никогда nein geen niet 不 没 沒 無 无 未 非 勿 莫 لا لم لن नहीं"
)
JOINTS = _listed("and but or while whereas although because und aber oder sondern während weil et mais ou y pero")
_NUMERALS = _listed(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand "
    "million billion trillion hundert tausend millionen milliarden million milliarde mio mrd 零 一 二 三 四 五 "
    "六 七 八 九 十 百 千 万 萬 亿 億 两"
)
_SCALES = _listed(
    "hundred thousand million billion trillion percent percentage bn mn hundert tausend million millionen "
    "milliarde milliarden mio mrd prozent cent mille millions milliards 百 千 万 萬 亿 億 ％ 成 倍"
)
# Words that limit or cancel the words right after them.
_LIMITS = _listed(
    "only except unless if whether fail fails failed failing refuse refuses refused "
    "nur außer ausser falls ob sofern 只 仅 僅 除 若"
)
_LIMIT_REACH = 2
_NEGATION_REACH = 4
_UNSPACED_REACH = 2
_LEAST_ASSERTION = 3


def compare_gaps(cited: Spelled, number: int, passage: Spelled, place: int) -> str | None:
    """The change of meaning between two words, or None."""
    ours, theirs = cited.gap(number), passage.gap(place)
    left, right = passage.words[place - 1].text, passage.words[place].text
    if left[-1:].isdigit() and right[:1].isdigit() and _between_digits(ours) != _between_digits(theirs):
        return f"a number is written differently: {_around(passage, place)}"
    if _marks(cited, number) != _marks(passage, place):
        return f"a sign or a unit is changed: {_around(passage, place)}"
    if ("/" in ours) != ("/" in theirs) and place > 1 and passage.words[place - 2].text[-1:].isdigit():
        return f"a unit is changed: {_around(passage, place)}"
    if _counts_on(left, right) and bool(_BREAKS.search(ours)) != bool(_BREAKS.search(theirs)):
        return f"a number is written differently: {_around(passage, place)}"
    if {_link(ours), _link(theirs)} == {"-", ","} or (
        left == "no" and right[:1].isdigit() and {_link(ours), _link(theirs)} == {",", "."}
    ):
        return f"a range or a number becomes a list: {_around(passage, place)}"
    if NEGATIONS & {left, right} and bool(_BREAKS.search(ours)) != bool(_BREAKS.search(theirs)):
        return f"a stop next to a negation is changed: {_around(passage, place)}"
    return _compare_stops(cited, number, passage, place)


def _counts_on(left: str, right: str) -> bool:
    """Whether two words are parts of one number, or of two consecutive numbers."""
    return (left[-1:].isdigit() and right in _SCALES) or (left in _SCALES and right[:1].isdigit())


def _link(gap: str) -> str:
    """How two words are connected: a dash without spaces, a comma or the like, a full stop, or nothing."""
    if _DASHES.fullmatch(gap):
        return "-"
    return "," if re.search(r"[,;，；、]", gap) else "." if "." in gap else ""


def _compare_stops(cited: Spelled, number: int, passage: Spelled, place: int) -> str | None:
    ours, theirs = cited.gap(number), passage.gap(place)
    if place in passage.sentence_starts and _STOPS.search(theirs) and not _parts(ours):
        return f"two sentences are merged: {_around(passage, place)}"
    if number in cited.sentence_starts and _STOPS.search(ours) and not _parts(theirs):
        return f"one sentence is made two: {_around(passage, place)}"
    if "\n" in theirs and _in_table(passage, place) and not _parts(ours):
        return f"two rows of a table are merged: {_around(passage, place)}"
    return None


def _parts(gap: str) -> bool:
    return "\n" in gap or bool(_BREAKS.search(gap))


def _in_table(passage: Spelled, place: int) -> bool:
    """Whether the lines on both sides of a gap have cells."""
    text, start, end = passage.shown, passage.words[place - 1].end, passage.words[place].start
    before = text[text.rfind("\n", 0, start) + 1 : start + passage.gap(place).index("\n")]
    stop = text.find("\n", end)
    after = text[text.rfind("\n", 0, end) + 1 : stop if stop >= 0 else len(text)]
    return all("|" in line or "\t" in line for line in (before, after))


def _between_digits(gap: str) -> str:
    """The text between two digits; a comma followed by a space is not a decimal comma."""
    plain = _DASHES.sub("-", unicodedata.normalize("NFKC", gap)).replace("|", " ")
    return re.sub(r"\s+", " ", plain) if re.search(r"[.,:/]", plain) else re.sub(r"\s+", "", plain)


def _marks(text: Spelled, number: int) -> list[str]:
    """The signs in the gap before a word, read in their context."""
    start = text.words[number - 1].end if number else 0
    end = text.words[number].start if number < len(text.words) else len(text.shown)
    return _marks_between(text.shown, start, end)


def _marks_between(text: str, start: int, end: int) -> list[str]:
    first = max(start - 2, 0)
    around, offset = text[first : end + 24], start - first
    found = [match for match in _MARKS.finditer(around) if offset <= match.start() < offset + end - start]
    return [unicodedata.normalize("NFKC", _DASHES.sub("-", match[0].strip())) for match in found]


def compare_words(cited: Spelled, number: int, passage: Spelled, place: int) -> str | None:
    """The change in a word that folds to the same text: a raised digit, or the case of a unit or a name."""
    ours, theirs = cited.raw(number), passage.raw(place)
    if ours == theirs:
        return None
    if bool(_RAISED.search(ours)) != bool(_RAISED.search(theirs)):
        return f"a raised digit is changed: {theirs!r} became {ours!r}"
    after_number = place > 0 and passage.words[place - 1].text[-1:].isdigit()
    if after_number and _CASED_UNIT.fullmatch(theirs) and ours != theirs:
        return f"a unit is changed: {theirs!r} became {ours!r}"
    named = theirs in _OTHER_WITH_CAPITAL and ours[:1].isupper() and number > 0
    return f"a word is made a name: {theirs!r} became {ours!r}" if named and not cited.shown.isupper() else None


def find_cut(cited: Spelled, passage: Spelled, first: int, last: int) -> str | None:
    """The omitted part that changes the meaning: of a number, a sign, half of a compound word, or a negation."""
    words, text = passage.words, passage.shown
    before, after = text[: words[first].start][-3:], text[words[last].end :][:3]
    if words[first].text[:1].isdigit() and re.search(r"\d[.,:/'’⁄–-]$", before):
        return "it begins within a number"
    if words[last].text[-1:].isdigit() and re.match(r"[.,:/'’⁄–-]\d", after):
        return "it ends within a number"
    if re.fullmatch(r"\d{3}", words[first].text) and re.search(r"\d[ \u00a0\u202f\u2009]$", before):
        return "it begins within a number"
    if re.search(r"\w[-‐‑]$", before) or re.match(r"[-‐‑]\w", after):
        return "it cuts a compound word in two"
    return (
        _cut_numeral(passage, first, last)
        or _cut_sign(cited, passage, first, last)
        or _cut_negation(passage, first, last)
    )


def _cut_numeral(passage: Spelled, first: int, last: int) -> str | None:
    words = passage.words
    if first and words[first].text[:1].isdigit() and words[first - 1].text in ("minus", "plus", "负"):
        return f"it begins within a number: {words[first - 1].text!r} comes before it"
    if first and _follow(passage, first) and words[first].text in _NUMERALS and words[first - 1].text in _NUMERALS:
        return f"it begins within a number: {words[first - 1].text!r} comes before it"
    counts = words[last].text[-1:].isdigit() or words[last].text in _NUMERALS
    if counts and last + 1 < len(words) and _follow(passage, last + 1) and words[last + 1].text in _SCALES:
        return f"it ends within a number: {words[last + 1].text!r} follows"
    return None


def _follow(passage: Spelled, place: int) -> bool:
    """Whether only space, a bracket or a hyphen separates a word from the one before."""
    return not passage.gap(place).strip(" -‐()\u00a0\n")


def _cut_sign(cited: Spelled, passage: Spelled, first: int, last: int) -> str | None:
    """A sign right before or after the span that the citation lacks, or one that only the citation has."""
    text, start, end = passage.shown, passage.words[first].start, passage.words[last].end
    begin = _SIGNS_BEFORE.search(text[:start][-4:])
    stop = _SIGNS_AFTER.match(text[end : end + 4])
    theirs = (
        _marks_between(text, start - len(begin[0]), start) if begin else [],
        _marks_between(text, end, end + len(stop[0])) if stop else [],
    )
    ours = _marks(cited, 0), _marks(cited, len(cited.words))
    for our, their in zip(ours, theirs, strict=True):
        asked = "?" in our, "?" in their
        if [mark for mark in our if mark != "?"] != [mark for mark in their if mark != "?"]:
            return f"a sign next to it is changed: {''.join(their) or 'none'} became {''.join(our) or 'none'}"
        if asked[0] and not asked[1]:
            return "a statement is made a question"
    if "?" in theirs[1] and re.search(r"[.!。！]", cited.gap(len(cited.words))):
        return "a question is made a statement"
    return None


def _cut_negation(passage: Spelled, first: int, last: int) -> str | None:
    """A negation or a limiting word in the same clause, right before or after the citation."""
    words = passage.words
    reach = _UNSPACED_REACH if not words[first].text.isascii() and len(words[first].text) == 1 else _NEGATION_REACH
    if last - first + 1 < _LEAST_ASSERTION:
        # One or two words assert nothing, unless they are all that the negation refers to.
        reach = max(last - first, 1)
    for place in range(first, max(first - reach, 0), -1):
        # The text after a colon still depends on the text before it: "it is not true that: …".
        gap = passage.gap(place).replace(":", "").replace("：", "")
        before = words[place - 1].text
        if place in passage.sentence_starts or _BREAKS.search(gap) or before in JOINTS:
            break
        if before in NEGATIONS or (before in _LIMITS and first - place < _LIMIT_REACH):
            return f"it is cut off from {before!r}, which comes before it"
    return _negated_behind(passage, last, min(reach, _UNSPACED_REACH))


def _negated_behind(passage: Spelled, last: int, reach: int) -> str | None:
    words = passage.words
    rest = passage.shown[words[last].end :]
    if re.match(r"(?:ない|なかった|ません|ませんでした|ず(?:に|、|。)|않|못)", rest):
        return "it is cut off from the negation that follows"
    for place in range(last + 1, min(last + 1 + reach, len(words))):
        if place in passage.sentence_starts or _BREAKS.search(passage.gap(place)) or words[place].text in JOINTS:
            return None
        if words[place].text in NEGATIONS:
            return f"it is cut off from {words[place].text!r}, which follows"
    return None


def _around(passage: Spelled, place: int) -> str:
    start, end = passage.words[place - 1].start, passage.words[place].end
    return repr(passage.shown[start:end])
