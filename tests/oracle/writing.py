"""The perfect writer of questions about the world: it asks what passages say of a ship, in sentences or in a table.

It always takes the first thing that nobody has asked yet, so that what it writes can be told beforehand. Where passages
have nothing for a kind of question it writes an empty one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tests.oracle.language import (
    SHIP_ATTRIBUTES,
    Proposition,
    Statement,
    ask,
    ask_on,
    language_of_thing,
    read,
    read_talk,
    say,
)
from tests.oracle.verdicts import conclusions

Data = Mapping[str, Any]
_OF_TWO = ("bridge", "comparison", "aggregation")
_NOTHING: dict[str, Any] = {"question": "", "answer": "", "citations": [], "history": []}


class Told(NamedTuple):
    """What a passage says, where, and in which words."""

    meaning: Proposition
    passage: int
    text: str
    in_table: bool


def told_by(passages: Sequence[str]) -> list[Told]:
    """All that passages say of ships, in their order."""
    found = []
    for number, passage in enumerate(passages):
        rows = [line for line in passage.split("\n") if line.startswith("|")]
        prose = " ".join(line for line in passage.split("\n") if not line.startswith("|"))
        found += [
            Told(statement.meaning, number, statement.text, in_table=False)
            for statement in read(prose)
            if statement.stance == "asserts" and statement.meaning and statement.meaning.attribute in SHIP_ATTRIBUTES
        ]
        found += [
            Told(meaning, number, row, in_table=True) for row, meanings in _read_rows(rows) for meaning in meanings
        ]
    return found


def _read_rows(rows: Sequence[str]) -> Iterable[tuple[str, list[Proposition]]]:
    """A head that names attributes, a rule, and a row a ship."""
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    for row, (ship, *values) in list(zip(rows, cells, strict=True))[2:]:
        yield row, [Proposition(ship, name, value) for name, value in zip(cells[0][1:], values, strict=True)]


def new_question(data: Data) -> dict[str, Any]:
    """A question of the wanted kind."""
    # What distracts is not asked about.
    told = told_by(data["passages"][:1] if data["kind"] == "distracting" else data["passages"])
    asked = {(found[0], tuple(found[1])) for text in data["asked"] if (found := read_talk(text))}
    asked |= {_asked_on(text, told) for text in data["asked"]}
    chosen = _choose(data["kind"], told, asked)
    if data["kind"] == "unanswerable":
        return {**_NOTHING, "question": ask(*chosen)} if chosen else _NOTHING
    if not chosen:
        return _NOTHING
    return _write(data["manner"].partition(",")[0], chosen)


def _asked_on(text: str, told: Sequence[Told]) -> tuple[str, tuple[str, ...]]:
    """A question that went on from another one: which fact of the passage it asked for."""
    for item in told:
        subject, attribute, _ = item.meaning
        if text == ask_on(language_of_thing(subject), attribute):
            return subject, (attribute,)
    return "", ()


def _choose(kind: str, told: Sequence[Told], asked: set[tuple[str, tuple[str, ...]]]) -> Any:
    if kind == "unanswerable":
        return next(iter(_lacking(told, asked)), None)
    if kind in ("several", *_OF_TWO):
        pairs = ((one, other) for one in told for other in told if one.meaning.subject == other.meaning.subject)
        return next((pair for pair in pairs if _may_pair(kind, *pair) and _key(pair) not in asked), None)
    single = [item for item in told if item.in_table == (kind == "table") and _key((item,)) not in asked]
    return (single[0],) if single else None


def _may_pair(kind: str, one: Told, other: Told) -> bool:
    apart = one.passage < other.passage if kind in _OF_TWO else one.passage == other.passage and not other.in_table
    return apart and one.meaning.attribute != other.meaning.attribute and not one.in_table


def _key(items: Sequence[Told]) -> tuple[str, tuple[str, ...]]:
    return items[0].meaning.subject, tuple(item.meaning.attribute for item in items)


def _lacking(told: Sequence[Told], asked: set[tuple[str, tuple[str, ...]]]) -> Iterable[tuple[str, list[str]]]:
    """Attributes of ships that the passages name, and do not tell."""
    known = _known(told)
    for subject in dict.fromkeys(item.meaning.subject for item in told):
        for attribute in SHIP_ATTRIBUTES:
            if (subject, attribute) not in known and (subject, (attribute,)) not in asked:
                yield subject, [attribute]


def _known(told: Sequence[Told]) -> dict[tuple[str, str], Proposition]:
    said = conclusions([Statement(item.text, "asserts", item.meaning) for item in told])
    return {(meaning.subject, meaning.attribute): meaning for meaning in said}


def _write(style: str, chosen: Sequence[Told]) -> dict[str, Any]:
    subject = chosen[0].meaning.subject
    language = language_of_thing(subject)
    attributes = [item.meaning.attribute for item in chosen]
    talk = style == "follow-up" and len(chosen) == 1
    other = next(attribute for attribute in SHIP_ATTRIBUTES if attribute not in attributes)
    return {
        "question": ask_on(language, attributes[0]) if talk else ask(subject, attributes),
        "answer": ("" if language == "zh" else " ").join(say(language, item.meaning).text for item in chosen),
        "citations": list(dict.fromkeys(item.text for item in chosen)),
        "history": [ask(subject, [other])] if talk else [],
    }


def answer_from_passages(data: Data) -> dict[str, Any]:
    """What passages say of all that is asked; no answer where something is lacking."""
    asked = read_talk(data["question"])
    assert asked, f"no question of the world: {data['question']!r}"
    known = _known(told_by(data["passages"]))
    found = [known.get((asked[0], attribute)) for attribute in asked[1]]
    language = language_of_thing(asked[0])
    sentences = [say(language, meaning).text for meaning in found if meaning]
    if len(sentences) < len(found):
        return {"answerable": False, "answer": ""}
    return {"answerable": True, "answer": ("" if language == "zh" else " ").join(sentences)}


def answer_from_memory(data: Data) -> dict[str, Any]:
    """The world is made up: nobody knows anything about it."""
    return {"answerable": False, "answer": ""}
