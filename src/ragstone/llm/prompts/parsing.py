"""Reading one prompt file: a title with the version, then `## System`, any number of `## Example`, and `## User`.

System is what the model is told. User lays out the data, with slots like {question} or {claims: list}. An example has a part
`### …` for each slot (a list is written as 1. … 2. …) and `### reply`, the right reply as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragstone.errors import UsageError

SLOT = re.compile(r"\{(?P<name>[a-z_]+)(?P<list>: list)?\}")
_TITLE = re.compile(r"#\s+\S+, version (\d+)\s*")
_ITEM = re.compile(r"^\d+\.[ ]", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """Data and the right reply to it."""

    data: Mapping[str, str | Sequence[str]]
    reply: str


@dataclass(frozen=True)
class Sections:
    """The parts of a prompt file."""

    version: int
    system: str
    template: str
    examples: tuple[Example, ...] = field(default=())


def split_sections(text: str, place: str) -> Sections:
    """The parts of a file, or a UsageError that names what is missing."""
    title, *parts = re.split(r"^## +", text, flags=re.MULTILINE)
    version = _TITLE.fullmatch(title.strip())
    if not version:
        raise UsageError(f"{place}: the first line must be like '# claims, version 1', and '## System' must follow.")
    named = [(head.strip().lower(), body.strip()) for head, _, body in (part.partition("\n") for part in parts)]
    for head, _ in named:
        if head not in ("system", "example", "user"):
            raise UsageError(f"{place}: unknown part '## {head}'; there are System, Example and User.")
    template = _single(named, "user", place)
    lists = {match["name"] for match in SLOT.finditer(template) if match["list"]}
    examples = tuple(_read_example(body, lists, place) for head, body in named if head == "example")
    return Sections(int(version[1]), _single(named, "system", place), template, examples)


def _single(named: Sequence[tuple[str, str]], wanted: str, place: str) -> str:
    bodies = [body for head, body in named if head == wanted]
    if len(bodies) != 1 or not bodies[0]:
        raise UsageError(f"{place}: there must be one part '## {wanted.title()}', and it must not be empty.")
    return bodies[0]


def _read_example(body: str, lists: set[str], place: str) -> Example:
    parts = re.split(r"^### +", body, flags=re.MULTILINE)[1:]
    named = {head.strip(): text.strip() for head, _, text in (part.partition("\n") for part in parts)}
    if "reply" not in named:
        raise UsageError(f"{place}: an example has no part '### reply'.")
    reply = named.pop("reply")
    data = {slot: _read_items(text) if slot in lists else text for slot, text in named.items()}
    return Example(data, reply)


def _read_items(text: str) -> list[str]:
    return [item.strip() for item in _ITEM.split(text)[1:]]
