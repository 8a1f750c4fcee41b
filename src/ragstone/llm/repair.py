"""Where the JSON stands in a reply: after thoughts, between words, in fences.

Nothing is made up, and nothing is taken from the inside of JSON that is broken: the rest of it would be lost silently.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Any

from ragstone.llm.loose_json import DoubledError, JSONError, MalformedError, UnclosedError, read_at

# Prose has brackets too; a reply with more of them is not worth looking through.
_MOST_MISSES = 300

_SURROGATES = re.compile("[\ud800-\udfff]")
_THOUGHT_WORDS = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_THOUGHT_BEGINS = re.compile(rf"[<\[◁](?P<word>{_THOUGHT_WORDS})[>\]▷]", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(rf"[<\[◁]/(?:{_THOUGHT_WORDS})[>\]▷]", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>final(?:[^<{]*)<\|message\|>")
_TURN_ENDS = re.compile(r"(?:<\|(?:im_end|end|return|eot_id|endoftext)\|>|</s>|<end_of_turn>)\s*\Z")
_FENCE_MARKS = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$|```(?:json\w*|python|text)?", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Piece:
    """An object or list in a text, or JSON there that cannot be read."""

    start: int
    end: int
    value: Any = None
    fault: JSONError | None = None


def strip_marks(text: str) -> str:
    """The text without byte order mark and marks of turns around it, and with its quotes where they were escaped."""
    text = _SURROGATES.sub("\ufffd", text).strip().strip("\ufeff").strip()
    final = list(_FINAL_CHANNEL.finditer(text))
    if final:
        text = text[final[-1].end() :]
    text = _TURN_ENDS.sub("", text).strip()
    if '"' not in text and "&quot;" in text:
        text = html.unescape(text)
    return text


def drop_thoughts(text: str) -> tuple[str, bool]:
    """What follows the model's thoughts, and whether these never end. Tags inside of JSON are none."""
    while begin := _THOUGHT_BEGINS.search(text):
        if re.search(r"[{\[]", text[: begin.start()]):
            return text, False
        end = _THOUGHT_ENDS.search(text, begin.end())
        if not end:
            return text[begin.end() :].strip(), True
        text = (text[: begin.start()] + text[end.end() :]).strip()
    # Some servers send the thoughts without the tag that begins them.
    ends = list(_THOUGHT_ENDS.finditer(text))
    return (text[ends[-1].end() :].strip() if ends else text), False


def find_pieces(text: str) -> list[Piece]:
    """The outermost objects and lists of a text in their order. JSON that the text's end cuts off is UnclosedError."""
    pieces: list[Piece] = []
    at = misses = 0
    while found := re.compile(r"[{\[]").search(text, at):
        start = found.start()
        try:
            value, at = read_at(text, start)
            pieces.append(Piece(start, at, value))
        except UnclosedError:
            raise
        except JSONError as fault:
            misses += 1
            if misses > _MOST_MISSES:
                raise
            if fault.begun:
                at = _end_of_brackets(text, start, fault)
                pieces.append(Piece(start, at, fault=fault))
            else:
                at = start + 1
    return pieces


def between(text: str, pieces: list[Piece]) -> list[str]:
    """The words before, between and behind the pieces, without the marks of fences."""
    edges = [0, *(edge for piece in pieces for edge in (piece.start, piece.end)), len(text)]
    return [_FENCE_MARKS.sub("", text[start:end]).strip() for start, end in zip(edges[::2], edges[1::2], strict=True)]


def stands_alone(text: str, piece: Piece, label: str = "") -> bool:
    """Whether a piece is all that is said: the whole text (after a label), or the whole of a fenced block."""
    before, behind = text[: piece.start], text[piece.end :]
    if re.search(r"(?:```|~~~)[\w+-]*\s*\Z", before) and re.match(r"\s*(?:```|~~~)", behind):
        return True
    words = _FENCE_MARKS.sub("", before).strip(" \t\n\"'*:=").casefold()
    return words in ("", label) and not _FENCE_MARKS.sub("", behind).strip(" \t\n.;}")


def _end_of_brackets(text: str, start: int, fault: JSONError) -> int:
    """Where broken JSON ends, by its brackets; where they do not match, nothing behind it can be trusted."""
    depth = 0
    for found in re.compile(r"[{}\[\]]").finditer(text, start):
        depth += 1 if found[0] in "{[" else -1
        if depth == 0:
            return found.end()
    raise fault if isinstance(fault, DoubledError) else MalformedError(str(fault), begun=True)
