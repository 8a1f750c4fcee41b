"""JSON as models write it: read where it can mean only one thing, refused where it would have to be guessed.

Accepted beside JSON: single and typographic quotes, raw line ends in strings, quotes inside of strings where they pair up,
unquoted keys, True/False/None, trailing commas, comments, full-width commas and colons. Nothing is ever closed or filled
in: what ends too early is UnclosedError, anything else is MalformedError, and a key that stands twice is DoubledError.
"""

from __future__ import annotations

import json
import re
from typing import Any

MOST_DEPTH = 40

_SPACE = re.compile(r"(?:\s|\ufeff|[\u200b\u2060])+")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_ELISION = re.compile(r"\.\.\.|…|\betc\b")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_LITERALS = {"true": True, "false": False, "null": None, "none": None}
# Which marks end a string, by the mark that begins it.
_CLOSERS = {'"': '"', "'": "'", "“": '”“"', "”": '”“"', "„": '“”"', "«": "»", "‘": "’'", "’": "’'", "`": "`"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "\n": "\n"}
_COMMAS, _COLONS = ",，", ":："


class JSONError(ValueError):
    """The text is not JSON that can be read. `begun` says that it at least began like JSON."""

    def __init__(self, message: str, begun: bool = False) -> None:
        super().__init__(message)
        self.begun = begun


class MalformedError(JSONError):
    """Something stands where it must not."""


class UnclosedError(JSONError):
    """The text ends before the JSON does."""


class DoubledError(JSONError):
    """An object has a key twice, with different values."""


def read_at(text: str, start: int) -> tuple[Any, int]:
    """The object or list that begins there, and where it ends; else a JSONError."""
    try:
        return _STRICT.raw_decode(text, start)
    except DoubledError:
        raise
    except (ValueError, RecursionError):
        reader = _Reader(text, start)
        return reader.read_value(""), reader.at


def unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object from its pairs; a key may come twice only with the same value."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise DoubledError(f"the key {key[:40]!r} stands there twice", begun=True)
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise MalformedError(f"{name} is no number", begun=True)


_STRICT = json.JSONDecoder(object_pairs_hook=unique_object, parse_constant=_no_constant)


class _Reader:
    """Reads one value, from left to right, without ever going back further than the last string."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.depth = 0
        # Whether a key with its colon, or an item with its comma, has been seen: prose in brackets has none.
        self.begun = False

    def read_value(self, enders: str) -> Any:
        """The value that begins here; the enders are what may follow it."""
        mark = self._peek()
        if mark in "{[":
            self.depth += 1
            if self.depth > MOST_DEPTH:
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
            # Objects are told apart by their own braces, so that a comma between them may be missing.
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
        found = _WORD.match(self.text, self.at)
        if not found:
            raise self._malformed("a key is missing")
        self.at = found.end()
        return found[0]

    def _read_bare(self, enders: str) -> Any:
        """A number, true, false, null, or (as the value of a key) a word without quotes."""
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            return json.loads(number[0])
        word = self._read_word()
        if word.casefold() in _LITERALS:
            return _LITERALS[word.casefold()]
        # In a list, a bare word is as likely a remark.
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
        """Whether a quote before this place ends a string: what may follow a string follows."""
        if found := _SPACE.match(self.text, at):
            at = found.end()
        if at == len(self.text):
            return True
        follows = self.text[at]
        return follows in enders or (follows in "/#" and bool(_COMMENT.match(self.text, at)))

    def _peek(self) -> str:
        """The next character that is neither space nor comment."""
        while found := _SPACE.match(self.text, self.at) or _COMMENT.match(self.text, self.at):
            if found[0][0] in "/#" and _ELISION.search(found[0]):
                raise self._malformed("something was left out")
            self.at = found.end()
        if self.at == len(self.text):
            raise UnclosedError("the text ends before the JSON does", self.begun)
        return self.text[self.at]

    def _malformed(self, message: str) -> MalformedError:
        return MalformedError(f"{message}, near {self.text[max(0, self.at - 10) : self.at + 10]!r}", self.begun)


def _unescape(text: str, at: int) -> tuple[str, int]:
    """What an escape stands for, and where it ends. What is no escape in JSON stays as it is, except before marks."""
    mark = text[at + 1 : at + 2]
    if mark in _ESCAPES:
        return _ESCAPES[mark], at + 2
    if found := re.compile(r"\\u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?").match(text, at):
        high, low = int(found[1], 16), found[2]
        if 0xD800 <= high < 0xDC00 and low:
            return chr(0x10000 + ((high - 0xD800) << 10) + int(low, 16) - 0xDC00), found.end()
        return chr(high), at + 6
    if found := re.compile(r"\\x([0-9a-fA-F]{2})|\\U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})").match(text, at):
        return chr(int(found[1] or found[2], 16)), found.end()
    # Markdown's escapes: `supported\_by`. Brackets are left alone: `\(` is mathematics.
    return (mark, at + 2) if mark and mark in "_'`*#&$-.!~>|+" else ("\\", at + 1)


def _pair_up(text: str, start: int, inner: list[int], end: int) -> bool:
    """Whether quotes inside of a string open and close in turn, so that none of them was the end of it."""
    quotes = [at for at in inner if not (text[at] == "'" and text[at - 1].isalnum() and text[at + 1].isalnum())]
    if len(quotes) % 2:
        return False
    for opening, closing in zip(quotes[::2], quotes[1::2], strict=True):
        opens = (opening == start or not text[opening - 1].isalnum()) and not text[opening + 1].isspace()
        closes = not text[closing - 1].isspace() and (closing + 1 == end or not text[closing + 1].isalnum())
        # What opens follows a space or a bracket; a comma or quote before it would be the seam of two strings.
        if not (opens and closes) or (opening > start and text[opening - 1] not in " \t\n([{—–-"):
            return False
    return True
