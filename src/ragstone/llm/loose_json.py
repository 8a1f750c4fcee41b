"""A tolerant JSON parser for model replies: accepts what has one meaning and rejects what would need a guess.

Accepted in addition to JSON: single and typographic quotes, raw line ends in strings, balanced quotes inside strings, unquoted
keys, True/False/None, trailing commas, comments, full-width commas and colons. Nothing is closed or filled in: truncated JSON
raises UnclosedError, a key with two values DuplicateKeyError, anything else MalformedError. `find_pieces` finds JSON between
other text. It never returns the inside of broken JSON, because the rest would be lost silently.

Error messages are sent to the model in a second request. Its cache key has a version number in their place.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_MAX_DEPTH = 40

_SPACE = re.compile(r"(?:\s|\ufeff|[\u200b\u2060])+")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_ELISION = re.compile(r"\.\.\.|…|\betc\b")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_LITERALS = {"true": True, "false": False, "null": None, "none": None}
# Closing quotes by opening quote.
_CLOSERS = {'"': '"', "'": "'", "“": '”“"', "”": '”“"', "„": '“”"', "«": "»", "‘": "’'", "’": "’'", "`": "`"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "\n": "\n"}
_UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?")
_HEX_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})")
_COMMAS, _COLONS = ",，", ":："


class JSONError(ValueError):
    """The text cannot be read as JSON. `begun` means that it started like JSON."""

    def __init__(self, message: str, begun: bool = False) -> None:
        super().__init__(message)
        self.begun = begun


class MalformedError(JSONError):
    """Invalid syntax."""


class UnclosedError(JSONError):
    """The text ends before the JSON does."""


class DuplicateKeyError(JSONError):
    """An object has the same key twice with different values."""


def _read_at(text: str, start: int) -> tuple[Any, int]:
    """Return the object or list that starts here, and its end; else raise a JSONError."""
    try:
        return _STRICT.raw_decode(text, start)
    except DuplicateKeyError:
        raise
    except (ValueError, RecursionError):
        reader = _Reader(text, start)
        return reader.read_value(""), reader.at


def unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object from its pairs. A repeated key must have the same value."""
    unique: dict[str, Any] = {}
    for key, value in pairs:
        if key in unique and unique[key] != value:
            raise DuplicateKeyError(f"the key {key[:40]!r} has two values", begun=True)
        unique[key] = value
    return unique


def _no_constant(name: str) -> Any:
    raise MalformedError(f"{name} is not a number", begun=True)


_STRICT = json.JSONDecoder(object_pairs_hook=unique_object, parse_constant=_no_constant)


class _Reader:
    """Reads one value from left to right."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.depth = 0
        # Whether a colon or a comma was read; prose in brackets has none.
        self.begun = False

    def read_value(self, enders: str) -> Any:
        """Read the value at the current position. `enders` are the characters that may follow it."""
        mark = self._peek()
        if mark in "{[":
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                raise self._malformed("too many brackets")
            value: Any = self._read_object() if mark == "{" else self._read_list()
            self.depth -= 1
            return value
        if mark in _CLOSERS:
            return self._read_string(enders)
        return self._read_bare(enders)

    def _read_object(self) -> dict[str, Any]:
        self.at += 1
        pairs: list[tuple[str, Any]] = []
        while self._peek() != "}":
            key = self._read_string(_COLONS) if self._peek() in _CLOSERS else self._read_word()
            if self._peek() not in _COLONS:
                raise self._malformed("a colon is missing")
            self.at += 1
            self.begun = True
            pairs.append((key, self.read_value(_COMMAS + "}")))
            self._read_comma("}")
        self.at += 1
        return unique_object(pairs)

    def _read_list(self) -> list[Any]:
        self.at += 1
        items: list[Any] = []
        while self._peek() != "]":
            items.append(self.read_value(_COMMAS + "]"))
            # The comma between two objects may be missing.
            if not (isinstance(items[-1], dict) and self._peek() == "{"):
                self._read_comma("]")
        self.at += 1
        return items

    def _read_comma(self, ender: str) -> None:
        mark = self._peek()
        if mark in _COMMAS:
            self.at += 1
            self.begun = True
            if self._peek() in _COMMAS:
                raise self._malformed("nothing stands between two commas")
        elif mark != ender:
            raise self._malformed("a comma is missing")

    def _read_word(self) -> str:
        match = _WORD.match(self.text, self.at)
        if not match:
            raise self._malformed("a key is missing")
        self.at = match.end()
        return match[0]

    def _read_bare(self, enders: str) -> Any:
        """Read a number, true, false, null, or an unquoted word as the value of a key."""
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            return json.loads(number[0])
        word = self._read_word()
        if word.casefold() in _LITERALS:
            return _LITERALS[word.casefold()]
        # In a list, an unquoted word may be a remark.
        if "}" in enders and self._peek() in enders:
            return word
        raise self._malformed(f"{word[:20]!r} has no quotes")

    def _read_string(self, enders: str) -> str:
        opener = self.text[self.at]
        closers = _CLOSERS[opener]
        parts: list[str] = []
        inner: list[int] = []
        at = start = self.at + 1
        while at < len(self.text):
            char = self.text[at]
            if char == "\\":
                piece, at = _unescape(self.text, at)
                parts.append(piece)
                continue
            if char in closers:
                if self._ends_string(at + 1, enders):
                    self.at = at + 1
                    if opener in "\"'" and not _pair_up(self.text, start, inner, at):
                        raise self._malformed("a quote inside of a string is not escaped")
                    return "".join(parts)
                inner.append(at)
            parts.append(char)
            at += 1
        raise UnclosedError("the text ends inside of a string", self.begun)

    def _ends_string(self, at: int, enders: str) -> bool:
        """Return whether a quote before this position ends the string: a valid character follows."""
        if match := _SPACE.match(self.text, at):
            at = match.end()
        if at == len(self.text):
            return True
        follows = self.text[at]
        return follows in enders or (follows in "/#" and bool(_COMMENT.match(self.text, at)))

    def _peek(self) -> str:
        """Skip space and comments and return the next character."""
        while match := _SPACE.match(self.text, self.at) or _COMMENT.match(self.text, self.at):
            if match[0][0] in "/#" and _ELISION.search(match[0]):
                raise self._malformed("something was left out")
            self.at = match.end()
        if self.at == len(self.text):
            raise UnclosedError("the text ends before the JSON does", self.begun)
        return self.text[self.at]

    def _malformed(self, message: str) -> MalformedError:
        return MalformedError(f"{message}, near {self.text[max(0, self.at - 10) : self.at + 10]!r}", self.begun)


def _unescape(text: str, at: int) -> tuple[str, int]:
    """Return the character of an escape and its end. An invalid escape is kept, except before Markdown marks."""
    mark = text[at + 1 : at + 2]
    if mark in _ESCAPES:
        return _ESCAPES[mark], at + 2
    if match := _UNICODE_ESCAPE.match(text, at):
        high, low = int(match[1], 16), match[2]
        if 0xD800 <= high < 0xDC00 and low:
            return chr(0x10000 + ((high - 0xD800) << 10) + int(low, 16) - 0xDC00), match.end()
        return chr(high), at + 6
    if match := _HEX_ESCAPE.match(text, at):
        return chr(int(match[1] or match[2], 16)), match.end()
    # Markdown escapes such as `supported\_by`. Brackets are kept: `\(` is mathematics.
    return (mark, at + 2) if mark and mark in "_'`*#&$-.!~>|+" else ("\\", at + 1)


def _pair_up(text: str, start: int, inner: list[int], end: int) -> bool:
    """Return whether the quotes inside a string open and close in turn, so that none of them ended it."""
    quotes = [at for at in inner if not (text[at] == "'" and text[at - 1].isalnum() and text[at + 1].isalnum())]
    if len(quotes) % 2:
        return False
    for opening, closing in zip(quotes[::2], quotes[1::2], strict=True):
        opens = (opening == start or not text[opening - 1].isalnum()) and not text[opening + 1].isspace()
        closes = not text[closing - 1].isspace() and (closing + 1 == end or not text[closing + 1].isalnum())
        # An opening quote follows a space or a bracket; after a comma or quote it would start a new string.
        if not (opens and closes) or (opening > start and text[opening - 1] not in " \t\n([{—–-"):
            return False
    return True


# Brackets in prose that are tried before giving up.
_MAX_MISSES = 300

_FENCE_MARKS = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$|```(?:json\w*|python|text)?", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Piece:
    """An object or list in a text, or JSON that cannot be read."""

    start: int
    end: int
    value: Any = None
    fault: JSONError | None = None


def find_pieces(text: str) -> list[Piece]:
    """Return the outermost objects and lists of a text in order. Raises UnclosedError if the text is truncated."""
    pieces: list[Piece] = []
    at = misses = 0
    while match := re.compile(r"[{\[]").search(text, at):
        start = match.start()
        try:
            value, at = _read_at(text, start)
            pieces.append(Piece(start, at, value))
        except UnclosedError:
            raise
        except JSONError as fault:
            misses += 1
            if misses > _MAX_MISSES:
                raise
            if fault.begun:
                at = _end_of_brackets(text, start, fault)
                pieces.append(Piece(start, at, fault=fault))
            else:
                at = start + 1
    return pieces


def between(text: str, pieces: list[Piece]) -> list[str]:
    """Return the text before, between and after the pieces, without code fences."""
    edges = [0, *(edge for piece in pieces for edge in (piece.start, piece.end)), len(text)]
    return [_FENCE_MARKS.sub("", text[start:end]).strip() for start, end in zip(edges[::2], edges[1::2], strict=True)]


def stands_alone(text: str, piece: Piece, label: str = "") -> bool:
    """Return whether a piece is the whole text, apart from a label, or a whole fenced block."""
    before, behind = text[: piece.start], text[piece.end :]
    if re.search(r"(?:```|~~~)[\w+-]*\s*\Z", before) and re.match(r"\s*(?:```|~~~)", behind):
        return True
    words = _FENCE_MARKS.sub("", before).strip(" \t\n\"'*:=").casefold()
    return words in ("", label) and not _FENCE_MARKS.sub("", behind).strip(" \t\n.;}")


def _end_of_brackets(text: str, start: int, fault: JSONError) -> int:
    """Return the end of broken JSON. Raises if its brackets do not match, since the rest cannot be trusted."""
    depth = 0
    for match in re.compile(r"[{}\[\]]").finditer(text, start):
        depth += 1 if match[0] in "{[" else -1
        if depth == 0:
            return match.end()
    raise fault if isinstance(fault, DuplicateKeyError) else MalformedError(str(fault), begun=True)
