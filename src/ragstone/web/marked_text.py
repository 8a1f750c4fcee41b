"""Texts with marked places as safe HTML, as they are and with their Markdown rendered.

All text is escaped, and control characters are shown as codes. A mark is given by its place in the text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from ragstone.report.html.page import hue
from ragstone.text.languages import guess_language
from ragstone.text.word_diff import DiffPiece
from ragstone.views.phrases import visible
from ragstone.web.markdown_html import is_markdown, write_markdown

_MAX_EXCERPT = 4_000
_OTHER_SCRIPTS = frozenset({"ja", "ko", "zh", "ru", "ar", "hi", "he", "el", "th"})


def marked_text(pieces: Sequence[Mapping[str, Any]]) -> Markup:
    """A text in pieces with its marks; a text with Markdown in two views, of which the page shows one."""
    text = "".join(piece["text"] for piece in pieces)
    if not text.strip():
        return Markup('<p class="prose muted">(empty)</p>')
    plain = _Writer(pieces, anchors=not is_markdown(text))
    plain.emit(0, len(text))
    # The language sets fonts and line breaks of scripts other than Latin.
    code = "" if text[:400].isascii() else guess_language(text)
    language = Markup(' lang="{}"').format(code) if code in _OTHER_SCRIPTS else Markup("")
    raw = Markup('<p class="prose plain" dir="auto"{}>{}</p>').format(language, plain.html())
    if not is_markdown(text):
        return raw
    rendered = _Writer(pieces)
    write_markdown(text, rendered)
    return Markup('<div class="views"><div class="prose md"{}>{}</div>{}</div>').format(language, rendered.html(), raw)


class _Writer:
    """Collects HTML. Text comes as a range of the source and is cut where marks begin or end."""

    def __init__(self, pieces: Sequence[Mapping[str, Any]], anchors: bool = True) -> None:
        self._pieces = pieces
        self._starts: list[int] = []
        at = 0
        for piece in pieces:
            self._starts.append(at)
            at += len(piece["text"])
        self._anchors = anchors
        self._parts: list[str] = []
        # For each marked piece, the parts that it was cut into.
        self._marks: dict[int, list[int]] = {}

    def tag(self, html: str) -> None:
        """Add HTML of our own."""
        self._parts.append(html)

    def emit(self, start: int, end: int) -> None:
        """Add a range of the text."""
        number = max(0, bisect_right(self._starts, start) - 1)
        while start < end:
            piece, first = self._pieces[number], self._starts[number]
            stop = min(end, first + len(piece["text"]))
            if stop > start:
                words = str(escape(visible(piece["text"][start - first : stop - first])))
                if piece.get("keys") and words.strip():
                    self._marks.setdefault(number, []).append(len(self._parts))
                self._parts.append(words)
            start, number = stop, number + 1

    def html(self) -> Markup:
        """The HTML, with the marks around their parts and their labels after the last one."""
        parts = list(self._parts)
        for number, places in self._marks.items():
            piece = self._pieces[number]
            opened = f'<mark class="{_mark_class(piece)}" data-keys="{escape(" ".join(piece["keys"]))}">'
            for place in places:
                parts[place] = f"{opened}{parts[place]}</mark>"
            if self._anchors:
                anchors = (f'<span id="{escape(anchor)}" class="anchor"></span>' for anchor in piece.get("anchors", ()))
                parts[places[0]] = "".join(anchors) + parts[places[0]]
            labels = "".join(map(_label, piece["labels"]))
            if labels:
                parts[places[-1]] = parts[places[-1]].removesuffix("</mark>") + f"<sup>{labels}</sup></mark>"
        return Markup("".join(parts))  # noqa: S704  (escaped above)


def _mark_class(piece: Mapping[str, Any]) -> str:
    if piece["numbers"] and any(key.startswith("fact-") for key in piece["keys"]):
        return f"fact {hue(piece['numbers'][0])}"
    return f"said {escape(piece['tone'] or 'plain')}"


def _label(label: Mapping[str, str]) -> str:
    return f'<a href="#{escape(label["key"])}" dir="ltr">{escape(label["text"])}<span class="off"> {escape(label["words"])}</span></a>'


def excerpt(text: str, start: int, end: int, context: int) -> dict[str, str]:
    """Return a part of a text with the characters before and after it."""
    return {
        "before": ("… " if start > context else "") + text[max(0, start - context) : start],
        "here": text[start:end][:_MAX_EXCERPT],
        "after": text[end : end + context] + (" …" if len(text) > end + context else ""),
    }


def overlay(
    parts: Sequence[tuple[str, Sequence[int]]], pieces: Sequence[DiffPiece], kind: str, alike: bool = True
) -> list[dict[str, Any]]:
    """Return one of two compared texts in parts, each with its numbers and, if it changed, with its kind.

    `parts` is the text with numbers, `kind` is "gone" for the first text and "new" for the second.
    """
    changes = [(piece.text, piece.kind) for piece in pieces if piece.kind in ("same", kind)] if alike else []
    result: list[dict[str, Any]] = []
    left, change = 0, "same"
    for text, numbers in parts:
        at = 0
        while at < len(text):
            if not left and changes:
                found, change = changes.pop(0)
                left = len(found)
                continue
            # Text after the end of the diff is not compared.
            size, change = (min(left, len(text) - at), change) if left else (len(text) - at, "same")
            result.append(
                {"text": text[at : at + size], "numbers": list(numbers), "kind": "" if change == "same" else kind}
            )
            at, left = at + size, max(0, left - size)
    return result
