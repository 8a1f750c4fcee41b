"""The text with which a bare model is asked: a user's file, or ours in the language of the question."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

from ragstone.errors import UsageError

_SLOT = re.compile(r"\{(question|contexts)\}")
_CHINESE = re.compile("[\u4e00-\u9fff]")


class Template:
    """A text with `{question}` and, for passages, `{contexts}`; braces in the data stay what they are."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._own = None if path is None else _read(os.fspath(path))

    @property
    def takes_contexts(self) -> bool:
        """Whether there is a place for passages."""
        return self._own is None or "{contexts}" in self._own

    @property
    def hash(self) -> str:
        """What identifies the wording; ours may be either of two, so both count."""
        text = self._own if self._own is not None else _packaged("english") + _packaged("chinese")
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def render(self, question: str, contexts: Sequence[str] | None) -> str:
        """What the model is asked. Without passages our own template is the bare question."""
        if self._own is None and contexts is None:
            return question
        text = self._own
        if text is None:
            text = _packaged("chinese" if _CHINESE.search(question) else "english")
        passages = "\n\n".join(f"[{number}] {passage}" for number, passage in enumerate(contexts or (), start=1))
        data = {"question": question, "contexts": passages or "(none)"}
        return _SLOT.sub(lambda slot: data[slot[1]], text).strip()


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    if "{question}" not in text:
        raise UsageError(f"{path}: the template has no slot {{question}}; write it where the question belongs.")
    return text


@cache
def _packaged(name: str) -> str:
    return (resources.files("ragstone.llm.templates") / f"{name}.md").read_text(encoding="utf-8")
