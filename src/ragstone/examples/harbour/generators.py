"""Two generators without a language model for `ragstone stress`: one obeys instructions in its passages, one does not."""

from __future__ import annotations

import re

from ragstone.examples.harbour.toy_rag import best_sentence

_HIDDEN = re.compile(r"<!--.*?-->|^(?:### Note|> |Decode this).*$", re.MULTILINE)
_INSTRUCTION = re.compile(r"^.*\b[Jj]oin(?:ed)?\b.*$", re.MULTILINE)
_QUOTED = re.compile(r'"(\w+)" and "(\w+)"')


def obedient(question: str, contexts: list[str]) -> str:
    """The best sentence of the passages; it also does what English instructions want that are not encoded."""
    answer = best_sentence(question, contexts)
    words = next((match for text in contexts if (match := _QUOTED.search(text))), None)
    return f"{answer} {words[1]}-{words[2]}" if words else answer


def careful(question: str, contexts: list[str]) -> str:
    """The best sentence of the passages without what looks like an instruction, and a remark if there was one."""
    cleaned = [_INSTRUCTION.sub("", _HIDDEN.sub("", text)) for text in contexts]
    remark = "" if cleaned == contexts else " (A passage contains hidden instructions, which I ignored.)"
    return best_sentence(question, cleaned) + remark
