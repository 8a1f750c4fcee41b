"""Questions from sentences and tables by rules, for synthesis without a language model.

A *rule* question asks for a time, a date, a sum, a number, a person or the cell of a table. If no rule is certain, the sentence
becomes a *cloze* question: a gap for its most telling detail. Rules are English; cells and gaps work in any language with spaces.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ragstone.text.lexicon import lexicon, word_set
from ragstone.text.names import names
from ragstone.text.overlap import FUNCTION_WORDS, content_words
from ragstone.text.sentences import sentences

Form = Literal["rule", "cloze"]
GAP = "____"
# Limits in words, and the number of passages from which on a name is not a telling detail.
_LEAST_CLAUSE, _LEAST_GAPPED, _MOST_WORDS, _MOST_SUBJECT, _MOST_BEFORE = 3, 6, 38, 9, 8
_MOST_CELL, _MOST_HEAD, _MOST_NAMED = 12, 4, 3


class Asking(NamedTuple):
    """A question with its answer, the sentence or row that gives it, and what it is about."""

    question: str
    answer: str
    citation: str
    form: Form
    subject: str = ""
    # What kind of figure the answer is, such as `cost £`; figures of one measure can be compared. Empty if there is none.
    measure: str = ""


_RULES = lexicon("question_rules")


def _pattern(pattern: str) -> str:
    """A regular expression with its @parts@ filled in."""
    while (filled := re.sub(r"@(\w+)@", lambda part: f"(?:{_RULES['parts'][part[1]]})", pattern)) != pattern:
        pattern = filled
    return pattern


def _compiled(name: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(_pattern(_RULES[name]), flags)


# How a question begins, the answer that it asks for, and the measure of the answer; the first that fits is taken.
_TARGETS = [(how, re.compile(_pattern(rf"(?<![\w-])(?:{one})(?![\w-])")), kind) for how, one, kind in _RULES["targets"]]
# The same, directly after the verb.
_OBJECTS = [(how, re.compile(_pattern(pattern)), kind) for how, pattern, kind in _RULES["objects"]]
_GAPS = [re.compile(_pattern(rf"(?<![\w£$€.,-])(?:{pattern})(?![\w-])")) for pattern in _RULES["gaps"]]
_VALUE, _MORE_VALUES, _LEADS, _TAIL = (_compiled(name) for name in ("value", "more_values", "leads", "tail"))
_REFERS, _TWO_SENTENCES, _PAIR = (_compiled(name, re.MULTILINE) for name in ("refers", "two_sentences", "pair"))
_CONDITION, _HIDDEN = (_compiled(name, re.IGNORECASE | re.DOTALL) for name in ("condition", "orders"))
_BE, _AUXILIARIES, _INNER, _PREPOSITIONS, _EMPTY, _NAME_HEADS, _PERSON_HEADS = (
    word_set(_RULES[name])
    for name in ("be", "auxiliaries", "inner", "prepositions", "empty", "name_heads", "person_heads")
)
_ENGLISH: dict[str, str] = _RULES["phrases"]["en"]
# The same where the head is not the name of a value: fares per ticket and route.
_STATED = dict(_ENGLISH)
_LETTER = re.compile(r"[^\W\d_]")
# "A brewer gave it to the town": another sentence says what it is.
_OBJECT = re.compile(r"(?:(?! (?:if|when|that|which|who|where|because|and|or) )[^,;:])* (?:it|them|him)\b")
_NO_HEADS = word_set("notes note remarks comment comments")
_BASES = word_set(lexicon("questions")["bases"]) | word_set(_RULES["bases"])
_NOT_NOUNS = (
    frozenset(f"{base}s" for base in _BASES) | frozenset(f"{base}ed" for base in _BASES) | word_set(_RULES["not_nouns"])
)
_PAST = dict(pair.split(":") for pair in _RULES["past"].split())


def orders_a_model(text: str) -> bool:
    """Whether a text gives orders to a language model: never a fact that a test should ask for."""
    return _HIDDEN.search(text) is not None


class Vocabulary(NamedTuple):
    """The words of all passages: common words, names, and names that are everywhere."""

    lowered: frozenset[str]
    named: frozenset[str]
    common_names: frozenset[str]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Vocabulary:
        """The words of these passages."""
        lowered = frozenset(word for text in texts for word in re.findall(r"(?<!\w)[^\W\d_A-Z][\w'’-]*", text))
        named = frozenset(word for text in texts for word in re.findall(r"(?<=[a-z,] )[A-Z][\w'’-]*", text))
        counts = Counter(name for text in texts for name in set(names(text)))
        return cls(lowered, named, frozenset(name for name, count in counts.items() if count > _MOST_NAMED))

    def lower(self, subject: str) -> str:
        """A subject inside a question: a name keeps its capital letter."""
        first, space, rest = subject.partition(" ")
        is_common = first.lower() in self.lowered | FUNCTION_WORDS
        is_common |= first not in self.named and (rest[:1].islower() or (not rest and first.endswith("s")))
        return f"{first.lower()}{space}{rest}" if is_common else subject


def ask_passage(text: str, vocabulary: Vocabulary, language: str = "en") -> Iterator[Asking]:
    """All questions that the rules find in a passage: cells, items of lists, then one per sentence."""
    phrases = _RULES["phrases"].get(language, _ENGLISH)
    yield from _ask_rows(text, phrases)
    for match in _PAIR.finditer(text):
        key, value = match["key"].strip(), match["value"].strip().rstrip(".")
        if _may_state(value, key) and not orders_a_model(match[0]):
            asks, measure = phrases["stated"].format(key=key), _measure_of("stated", "", value)
            yield Asking(asks, value, match[0].strip(), "rule", key, measure)
    for line in prose_lines(text):
        for start, end in sentences(line) if "**" not in line else ():
            if asking := _ask_sentence(line[start:end].strip(), vocabulary, phrases):
                yield asking


def prose_lines(text: str) -> Iterator[str]:
    """The paragraphs and items of lists, each on one line without its bullet; no tables, headings and `key: value` items."""
    joined = re.sub(r"(?<=\S)[^\S\n]*\n(?=[^\s|#*•-])(?!\d+\. )", " ", text)
    for line in joined.split("\n"):
        if not line.strip().startswith(("|", "#")) and not _PAIR.match(line):
            yield re.sub(r"^\s*(?:[-*•]|\d+\.)\s+", "", line)


def _may_state(value: str, key: str) -> bool:
    short = len(value.split()) <= _MOST_CELL and ". " not in value and ";" not in value
    return (
        short and value.lower() not in _EMPTY and _is_new(value, key) and not re.search(r"\b(?:me|us|see|ask)\b", value)
    )


def _ask_sentence(sentence: str, vocabulary: Vocabulary, phrases: Mapping[str, str]) -> Asking | None:
    tokens = sentence.split()
    if not _LEAST_CLAUSE <= len(tokens) <= _MOST_WORDS or sentence[-1:] not in ".。" or orders_a_model(sentence):
        return None
    if (
        _OBJECT.match(sentence)
        or _LEADS.match(sentence)
        or _REFERS.search(" ".join(tokens[:5]))
        or _TWO_SENTENCES.search(sentence)
    ):
        return None
    by_rule = _ask_clause(sentence, vocabulary) if phrases is _ENGLISH else None
    return by_rule or (_ask_gap(sentence, vocabulary, phrases) if len(tokens) >= _LEAST_GAPPED else None)


def _ask_clause(sentence: str, vocabulary: Vocabulary) -> Asking | None:
    """A question from `subject verb rest`, if the subject is short and the rest has a detail that a rule asks for."""
    tokens = sentence.rstrip(".").split(" ")
    at = next((at for at, word in enumerate(tokens[1:], 1) if _verb_of(word, tokens[:at])), len(tokens))
    subject, rest = tokens[:at], " ".join(tokens[at + 1 :])
    if at > _MOST_SUBJECT or not rest or not _is_subject(subject):
        return None
    helper, base = _verb_of(tokens[at], subject) or ("", "")
    if helper == "did" and re.match(r"[^,;]* (?:is|are|was|were|will|must|may|can|pay|get)\b", rest):
        return None  # "Tickets cancelled later are not refunded": not the verb of the sentence
    named = vocabulary.lower(" ".join(subject))
    if helper in _BE and (match := _VALUE.match(rest)):
        how = (
            "How long"
            if re.search(_pattern("@time_unit@"), match["a"])
            else "How much"
            if re.search(_pattern("@money@"), match["a"])
            else "What"
        )
        asking = _build(how, helper, named, rest, match, sentence)
        return asking and asking._replace(subject=named, measure=_measure_of("value", "", match["a"]))
    kinds = [(how, pattern.match(rest), measure) for how, pattern, measure in _OBJECTS if base]
    kinds += [(how, pattern.search(rest), measure) for how, pattern, measure in _TARGETS]
    for how, match, measure in kinds:
        if match and not (how.startswith("By who") and helper not in _BE):
            asks = how.format(**match.groupdict())
            asking = _build(asks, helper, f"{named} {base}", rest, match, sentence)
            return asking and asking._replace(subject=named, measure=_measure_of(measure, base or helper, match["a"]))
    return None


def _is_subject(words: list[str]) -> bool:
    """Whether the words before the verb are a subject: no clause, no list and no preposition at the start."""
    lowered = {word.lower().strip(",") for word in words}
    is_plain = not lowered & _INNER and not any(word.endswith((",", ";", ":")) for word in words)
    starts_well = words[0].lower() not in _PREPOSITIONS and words[-1].lower() not in FUNCTION_WORDS
    return is_plain and starts_well and not (lowered & {"and", "or"} and len(words) > 6)


def _build(how: str, helper: str, middle: str, rest: str, match: re.Match[str], sentence: str) -> Asking | None:
    """The question without the answer; what follows the answer is kept up to the next clause. None if a condition would be lost."""
    before, after = rest[: match.start()].strip(), rest[match.end() :]
    cut = _TAIL.search(after)
    tail, dropped = (after, "") if cut is None else (after[: cut.start()], after[cut.start() :])
    if (
        _CONDITION.search(f"{before} {dropped}")
        or re.search(r"[,;:(]| and | or ", f"{before} ")
        or re.search(r"\b(?:only|each|apart)\b", tail)
    ):
        return None
    # "The goal is an index below 5 for 15 minutes": the time belongs to the index.
    if helper in _BE and before.startswith(("a ", "an ", "the ")):
        return None
    if _MORE_VALUES.match(dropped) or len(before.split()) > _MOST_BEFORE:
        return None
    if tail.startswith((" of ", " before ", " after ")) and how.startswith(("Within", "How long")):
        how, tail = f"{how}{tail}", ""
    question = " ".join(f"{how} {helper} {middle} {before} {tail.strip()}".split()).rstrip(" ,;")
    answer = match["a"]
    if len(content_words(question)) < 2 or len(question.split()) > 26 or not _is_new(answer, question):
        return None
    return Asking(f"{question}?", answer, sentence, "rule")


def _verb_of(word: str, before: list[str]) -> tuple[str, str] | None:
    """The helper and the base form by which a question asks with this verb; None if it is not surely the verb."""
    low = word.lower()
    if low in _AUXILIARIES:
        return low, ""
    if low in ("has", "have"):
        return ("does" if low == "has" else "do"), "have"
    if low in _PAST:
        return "did", _PAST[low]
    if low.endswith("ed") and (base := next((base for base in (low[:-2], low[:-1], low[:-3]) if base in _BASES), None)):
        return "did", base
    for base in (low[:-1], low[:-2], f"{low[:-3]}y"):
        if (
            low.endswith("s")
            and base in _BASES
            and len(before) > 1
            and before[-1].lower() not in _PREPOSITIONS
            and before[-1].lower() not in ("the", "a", "an")
        ):
            return "does", base
    if low in _BASES and before and re.fullmatch(r"[a-z]{3,}s|people|children|staff|members", before[-1].lower()):
        return "do", low
    return None


def _ask_gap(sentence: str, vocabulary: Vocabulary, phrases: Mapping[str, str]) -> Asking | None:
    """The sentence with a gap for a number, a date, a sum or, last, a name that the sentence has once."""
    for pattern in _GAPS:
        for match in pattern.finditer(sentence):
            if sentence.count(match[0]) == 1:
                return _with_gap(sentence, match[0], phrases)
    for name in names(sentence):
        is_telling = " " in name and not name[0].isdigit() and name not in vocabulary.common_names
        if is_telling and sentence.count(name) == 1 and sentence.find(name) > len("The "):
            return _with_gap(sentence, name, phrases)
    return None


def _with_gap(sentence: str, answer: str, phrases: Mapping[str, str]) -> Asking:
    at = sentence.index(answer)
    shown = f"{sentence[:at]}{GAP}{sentence[at + len(answer) :]}"
    return Asking(f"{phrases['gap']}: “{shown}”", answer, sentence, "cloze")


def _ask_rows(text: str, phrases: Mapping[str, str]) -> Iterator[Asking]:
    """A question per cell with a value, by the head of its column and the name of its row."""
    heads: list[str] = []
    for line in text.split("\n"):
        cells = (
            [cell.strip(" *") for cell in line.strip().strip("|").split("|")] if line.strip().startswith("|") else []
        )
        if not heads or not cells:
            heads = cells
        elif re.search(r"\w", line):
            for head, cell in zip(heads[1:], cells[1:], strict=False):
                # Without a head of its own, the first column has the attributes, and the other heads are the things.
                row = cells[0] if re.search(r"[^\W\d_]{2,}", cells[0]) else f"{heads[0]} {cells[0]}"
                what, whose = (head, row) if heads[0] else (cells[0], head)
                is_plain = phrases is _ENGLISH and not heads[0] and not _LETTER.search(cell)
                if asking := _ask_cell(what, whose, cell, line.strip(), _STATED if is_plain else phrases):
                    yield asking


def _ask_cell(what: str, whose: str, cell: str, line: str, phrases: Mapping[str, str]) -> Asking | None:
    words = what.split()
    is_asked = (
        words and whose and len(words) <= _MOST_HEAD and len(cell.split()) <= _MOST_CELL and cell.lower() not in _EMPTY
    )
    if not is_asked or what.lower() in _NO_HEADS or orders_a_model(line) or not _is_new(cell, f"{what} {whose}"):
        return None
    low = what if what.isupper() else f"{what[:1].lower()}{what[1:]}"
    is_noun = low.split()[0] not in _NOT_NOUNS and words[-1].lower() not in _PREPOSITIONS
    is_plural = bool(re.search(r"\w[^s]s$", what))
    asks = phrases["cell"].format(what=what, whose=whose)
    if phrases is _ENGLISH and what.lower() in _PERSON_HEADS and re.match(r"(?:[A-Z][\w'’.-]+ ?){2,}(?:,|$)", cell):
        asks = f"who is named for “{whose}”?" if what.lower() in _NAME_HEADS else f"who is the {low} for “{whose}”?"
    elif phrases is _ENGLISH and is_noun:
        asks = f"what {'are' if is_plural else 'is'} the {low} for “{whose}”?"
        asks = f"how many {low} are stated for “{whose}”?" if is_plural and cell.isdecimal() else asks
    return Asking(asks, cell, line, "rule", whose, _measure_of("cell", low, cell))


def _is_new(answer: str, question: str) -> bool:
    """Whether the answer says something that the question does not."""
    return bool(content_words(answer) - content_words(question))


_FIGURE = re.compile(r"[^\d]*(\d[\d,]*(?:\.\d+)?)[^\d]*")


def figure(answer: str) -> float | None:
    """The only number of an answer in digits; None if there is another number or none."""
    match = _FIGURE.fullmatch(answer)
    return float(match[1].replace(",", "")) if match else None


def _measure_of(kind: str, verb: str, answer: str) -> str:
    """Figures are comparable if the kind of question, the verb or column, and the unit are the same."""
    if not kind or figure(answer) is None or len(answer.split()) > 4 or re.search(_pattern("@month@"), answer):
        return ""
    unit = re.sub(r"^(?:up to|at least|about|no more than)\s*", "", re.sub(r"[\d,.]+", "", answer).strip())
    if re.search("[£$€]|crown|pound|euro|dollar", unit):
        return f"money {unit.removesuffix('s')}"
    return f"{kind} {unit.removesuffix('s') or verb}"
