"""Chunks as people write them: one text, a JSON or Python list in a cell, or mappings that call the text otherwise."""

from __future__ import annotations

import ast
import io
import itertools
import re
import shlex
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from ragstone.errors import UsageError
from ragstone.formats.chunk_parts import further_parts
from ragstone.formats.values import RepeatedKeyError, lift, load_json, plain

_LOOKS_LIKE_LIST = re.compile(r"\s*(?:\[\s*(?:[\"'{\[\]]|\d+\s*(?:,|\]\s*$))|\{\s*[\"'])")
# What may separate chunks in a cell, as it is written on the command line; the more specific ones first.
_SEPARATORS = {
    **{mark: mark for mark in ("||", " ## ", " ### ", " --- ", " *** ", " === ", ";;", "<br>", " | ")},
    r"\n---\n": "\n---\n",
    r"\n\n": "\n\n",
    r"\n": "\n",
}
# Names of the text of a chunk in other tools, the more specific ones first.
_TEXT_KEYS = ("page_content", "chunk_text", "content", "chunk", "passage", "snippet", "body", "document", "contents")


def parse_list(cell: str) -> Any:
    """The list or mapping that a text contains as JSON, or as Python and numpy print it; None if it contains none."""
    if not _LOOKS_LIKE_LIST.match(cell):
        return None
    try:
        return load_json(cell)
    except RepeatedKeyError:
        raise
    except (ValueError, RecursionError):
        return _parse_python(cell)


def _parse_python(cell: str) -> Any:
    try:
        every = tokenize.generate_tokens(io.StringIO(cell.strip()).readline)
        tokens = [token for token in every if token.string.strip()]
    except (tokenize.TokenError, SyntaxError):
        return None
    inner = tokens[1:-1]
    # numpy prints ['a' 'b'] without commas, which Python would read as one text.
    if inner and all(token.type == tokenize.STRING for token in inner) and tokens[0].string == "[":
        texts = [ast.literal_eval(token.string) for token in inner]
        return texts if all(isinstance(text, str) for text in texts) else None
    if any(one.type == two.type == tokenize.STRING for one, two in itertools.pairwise(tokens)):
        return None
    try:
        value = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, list | tuple | dict) else None


def text_of_chunk(item: Any) -> str | None:
    """The text of a chunk that is a text or a mapping; None if it has none."""
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        return next((item[key] for key in ("text", *_TEXT_KEYS) if isinstance(item.get(key), str)), None)
    return None


def paths_of_texts(values: Mapping[str, Any], levels: int) -> Iterator[str]:
    """The paths of lists of texts, or of mappings with a text, in a mapping: `hits`, `results.hits`."""
    for name, part in values.items():
        if isinstance(part, list | tuple) and any(map(text_of_chunk, part)):
            yield str(name)
        elif isinstance(part, Mapping) and levels > 1:
            yield from (f"{name}.{path}" for path in paths_of_texts(part, levels - 1))


def read_separator(text: str | None) -> str:
    r"""The text between chunks; `\n` and `\t` may be written with a backslash, as a shell passes them."""
    if text is None:
        return ""
    if not text:
        raise UsageError("the text between chunks is empty; name one, for example --split-contexts '||'")
    return text.replace("\\n", "\n").replace("\\t", "\t")


@dataclass
class OneTexts:
    """Counts contexts that are one text, and what could separate chunks in them."""

    texts: int = 0
    separated: Counter[str] = field(default_factory=Counter)

    def add(self, text: str) -> None:
        """Count a text."""
        self.texts += 1
        self.separated.update(name for name, mark in _SEPARATORS.items() if mark in text.strip())

    @property
    def _likely(self) -> str:
        return next((name for name in _SEPARATORS if 2 * self.separated[name] > self.texts), "")

    @property
    def options(self) -> list[str]:
        """The option that splits them; none for line breaks alone, because one chunk may have paragraphs."""
        return ["--split-contexts", self._likely] if _SEPARATORS.get(self._likely, "").strip() else []

    @property
    def remark(self) -> str:
        """How the texts were read, with the separator that most of them have; empty if there are none."""
        if not self.texts:
            return ""
        name = self._likely or "SEPARATOR"
        return (
            "contexts that are one text are read as one chunk. "
            + ("Most look like several: if so," if self._likely else "If they are several,")
            + f" add --split-contexts {shlex.quote(name)}, or write a JSON list or several columns"
        )


def open_contexts(value: Any, separator: str = "") -> tuple[Any, str]:
    """Contexts as a list of chunks, and a remark on how they were read. Other values are left for the checks.

    One text is split at the separator; it is one chunk without one.
    """
    remark = ""
    if isinstance(value, str) and value.strip():
        if _LOOKS_LIKE_LIST.match(value):
            if (parsed := parse_list(value)) is None:
                return value, ""
            value = [parsed] if isinstance(parsed, Mapping) else list(parsed)
        else:
            parts = value.split(separator) if separator else [value]
            return (parts if len(parts) == 1 else [part.strip() for part in parts if part.strip()]), ""
    is_list = isinstance(value, list | tuple) and len(value) > 0
    if is_list and all(isinstance(item, Mapping) and "text" not in item for item in value):
        keys = {next((key for key in _TEXT_KEYS if isinstance(item.get(key), str)), None) for item in value}
        if None not in keys and len(keys) == 1:
            [key] = keys
            value = [_rename(item, str(key)) for item in value]
            remark = f"the text of a chunk is its part '{key}'"
    return value, remark


def name_parts(contexts: Any, names: Mapping[str, str]) -> tuple[Any, set[str]]:
    """Contexts whose chunks have our names for the parts that the user mapped, and which of their names were found."""
    items = parse_list(contexts) if isinstance(contexts, str) else plain(contexts)
    if not isinstance(items, list | tuple):
        return contexts, set()
    chunks = [reduce(lift, names, dict(item)) if isinstance(item, Mapping) else item for item in items]
    mappings = [chunk for chunk in chunks if isinstance(chunk, dict)]
    found = {name for chunk in mappings for name in names if chunk.get(name) is not None}
    for chunk in mappings:
        chunk.update({ours: chunk[name] for name, ours in names.items() if name in chunk})
    return chunks, found


def parts_of(chunk: Mapping[str, Any]) -> set[str]:
    """The names of the parts of a chunk; that of its text is `text`."""
    key = "text" if "text" in chunk else next((key for key in _TEXT_KEYS if isinstance(chunk.get(key), str)), "text")
    return {"text" if name == key else str(name) for name in chunk}


def _rename(chunk: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The chunk with our name for its text; the source may be in the metadata, as LangChain has it."""
    renamed = {name: part for name, part in chunk.items() if name != key} | {"text": chunk[key]}
    about = chunk.get("metadata")
    if isinstance(about, Mapping) and isinstance(about.get("source"), str):
        renamed.setdefault("source", about["source"])
    return {**further_parts(about), **renamed}


def union_of_steps(steps: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """The chunks of all steps in the order in which they were found, each once; None if no step lists what it retrieved.

    Two chunks are the same if their ids and texts are equal.
    """
    made = list(steps)
    lists = [step["contexts"] for step in made if step.get("contexts") is not None]
    if made and not lists:
        return None
    union: dict[tuple[Any, Any], dict[str, Any]] = {}
    for chunk in (chunk for chunks in lists for chunk in chunks):
        union.setdefault((chunk.get("id"), chunk["text"] or chunk.get("image")), chunk)
    return list(union.values())


def fill_texts(values: Mapping[str, Any]) -> None:
    """Give chunks of steps and earlier messages that are known by id only the text of the context with their id."""
    inner = [
        chunk for name in ("steps", "history") for one in values.get(name) or () for chunk in one["contexts"] or ()
    ]
    if inner:
        texts = {chunk.get("id"): chunk["text"] for chunk in values.get("contexts") or ()}
        for chunk in inner:
            chunk["text"] = chunk["text"] or texts.get(chunk.get("id") or "", "")
