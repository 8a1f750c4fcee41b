"""Texts with marked places as safe HTML, as they are and with their Markdown rendered.

All text is escaped, and control characters are shown as codes. A mark is given by its place in the text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple
from unicodedata import bidirectional

from markupsafe import Markup, escape

from ragstone.report.html.markdown_html import is_markdown, write_markdown
from ragstone.text.languages import guess_language
from ragstone.text.word_diff import DiffPiece
from ragstone.views.marks import Piece
from ragstone.views.phrases import visible

_MAX_EXCERPT = 4_000
_OTHER_SCRIPTS = frozenset({"ja", "ko", "zh", "ru", "ar", "hi", "he", "el", "th"})
_HUES = 8
_TAGS = {"gone": "del", "new": "ins"}
# A text, or its pieces: dataclasses, or dictionaries with a `text`.
Text = str | Sequence[Any]


def marked_text(pieces: Text, name: str = "fact ", most: int = 0, views: bool = True) -> Markup:
    """A text in pieces with its marks; a text with Markdown in two views, of which the page shows one.

    `name` is written before the numbers of a piece. A report prints about `most` characters.
    """
    given = [{"text": pieces}] if isinstance(pieces, str) else pieces
    found = [one if isinstance(one, Mapping) else vars(one) for one in given]
    listed = [_Piece.of(one, name) for one in (_for_print(found, most) if most else found)]
    text = "".join(piece.text for piece in listed)
    if not text.strip():
        return Markup('<p class="prose muted">(empty)</p>')
    # The language sets fonts and line breaks of scripts other than Latin.
    code = "" if text[:400].isascii() else guess_language(text)
    language = Markup(' lang="{}"').format(code) if code in _OTHER_SCRIPTS else Markup("")
    has_markdown = is_markdown(text)
    plain = _Writer(listed, anchors=not has_markdown)
    plain.emit(0, len(text))
    raw = Markup('<p class="prose plain" dir="auto"{}>{}</p>').format(language, plain.html())
    if not has_markdown:
        return raw
    rendered = _Writer(listed)
    write_markdown(text, rendered)
    # Bullets and columns follow the direction of the text; each paragraph has its own.
    strong = next((kind for kind in map(bidirectional, text) if kind in ("L", "R", "AL")), "L")
    side = "ltr" if strong == "L" else "rtl"
    html = Markup('<div class="prose md" dir="{}"{}>{}</div>').format(side, language, rendered.html())
    return Markup('<div class="views">{}{}</div>').format(html, raw) if views else html


def diff_text(pieces: Sequence[DiffPiece]) -> Markup:
    """A word diff as one text. If the texts have Markdown, side by side: as one text, their marks of layout would mix."""
    sides = [[one for one in pieces if one.kind in ("same", kind)] for kind in ("gone", "new")]
    before, after = texts = ["".join(one.text for one in side) for side in sides]
    if not any(map(is_markdown, texts)):
        sides = [list(pieces)]
    elif before == after or not (before.strip() and after.strip()):
        sides = [sides[0] if before.strip() and not after.strip() else sides[1]]
    shown = [marked_text([{"text": one.text, "tag": _TAGS.get(one.kind)} for one in side]) for side in sides]
    return Markup('<div class="diff{}">{}</div>').format(" sides" if len(shown) > 1 else "", Markup("").join(shown))


def _for_print(pieces: Sequence[Mapping[str, Any]], most: int) -> Iterator[dict[str, Any]]:
    """The pieces of a report. What is not printed is wrapped, and so is what is printed next to it."""
    parts = list(cut_for_print([Piece(**one) for one in pieces], most))
    whole = all(printed for _, printed in parts)
    for piece, printed in parts:
        yield {**vars(piece), "print": "" if whole else "printed" if printed else "unprinted"}


class _Piece(NamedTuple):
    """A piece of a text: HTML around each part that it is cut into, before the first, within the last and after it."""

    text: str
    opened: str
    closed: str
    before: str = ""
    label: str = ""
    after: str = ""

    @classmethod
    def of(cls, piece: Mapping[str, Any], name: str) -> _Piece:
        """A piece of a page: linked with claims or facts, the place of a fact, or changed; or one of a report."""
        if keys := piece.get("keys"):
            anchors = (f'<span id="{escape(anchor)}" class="anchor"></span>' for anchor in piece.get("anchors", ()))
            opened = f'<mark class="{_mark_class(piece)}" data-keys="{escape(" ".join(keys))}">'
            labels = "".join(map(_label, piece["labels"]))
            return cls(piece["text"], opened, "</mark>", "".join(anchors), f"<sup>{labels}</sup>" if labels else "")
        kind, numbers, tag, printed = map(piece.get, ("kind", "numbers", "tag", "print"))
        around = [("mark", kind)] if kind in _TAGS else []
        if numbers:
            tone = f"fact {hue(numbers[0])}" if printed is None else f"{piece['tone'] or 'plain'} {printed}".strip()
            around.append(("mark", tone))
        elif printed or tag:
            around.append((tag or "span", printed))
        opened = "".join(f'<{one} class="{escape(classes)}">' if classes else f"<{one}>" for one, classes in around)
        label = f"<sup>{escape(name)}{', '.join(map(str, numbers))}</sup>" if numbers and name else ""
        cut = '<i class="cut"></i>' if printed == "unprinted" and not numbers else ""
        return cls(piece["text"], opened, "".join(f"</{one}>" for one, _ in around[::-1]), label=label, after=cut)


class _Writer:
    """Collects HTML. Text comes as a range of the source and is cut where marks begin or end."""

    def __init__(self, pieces: Sequence[_Piece], anchors: bool = True) -> None:
        self._pieces = pieces
        self._starts = [0, *accumulate(len(piece.text) for piece in pieces)]
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
            stop = min(end, first + len(piece.text))
            if stop > start:
                words = str(escape(visible(piece.text[start - first : stop - first])))
                if piece.opened and words.strip():
                    self._marks.setdefault(number, []).append(len(self._parts))
                self._parts.append(words)
            start, number = stop, number + 1

    def html(self) -> Markup:
        """The HTML, with the marks around their parts and their labels after the last one."""
        parts = list(self._parts)
        for number, places in self._marks.items():
            piece = self._pieces[number]
            for place in places:
                label = piece.label if place == places[-1] else ""
                parts[place] = f"{piece.opened}{parts[place]}{label}{piece.closed}"
            parts[places[-1]] += piece.after
            if self._anchors:
                parts[places[0]] = piece.before + parts[places[0]]
        return Markup("".join(parts))  # noqa: S704  (escaped above)


def _mark_class(piece: Mapping[str, Any]) -> str:
    if piece["numbers"] and any(key.startswith("fact-") for key in piece["keys"]):
        return f"fact {hue(piece['numbers'][0])}"
    return f"said {escape(piece['tone'] or 'plain')}"


def _label(label: Mapping[str, str]) -> str:
    return f'<a href="#{escape(label["key"])}" dir="ltr">{escape(label["text"])}<span class="off"> {escape(label["words"])}</span></a>'


def hue(number: int) -> str:
    """The CSS class for the colour of a fact, by its number from 1."""
    return f"hue{(number - 1) % _HUES}"


def cut_for_print(pieces: Sequence[Piece], most: int) -> Iterator[tuple[Piece, bool]]:
    """Parts of a text, and whether they are printed: marks and what is near them, or the first `most` characters."""
    marked = [place for place, piece in enumerate(pieces) if piece.numbers]
    left = 3 * most
    for place, piece in enumerate(pieces):
        if piece.numbers:
            yield piece, left > 0
            left -= len(piece.text)
            continue
        head = most if not marked else most // 2 if place > marked[0] else 0
        tail = most // 2 if marked and place < marked[-1] else 0
        for part, printed in _split(piece.text, min(head, max(0, left)), min(tail, max(0, left))):
            yield Piece(part), printed
            left -= len(part) if printed else 0


def _split(text: str, head: int, tail: int) -> Iterator[tuple[str, bool]]:
    """The start, the middle that is not printed, and the end, cut between words if possible."""
    if len(text) <= head + tail + 80:
        yield text, True
        return
    start = text.rfind(" ", head // 2, head) + 1 or head
    end = max(text.find(" ", len(text) - tail, len(text) - tail // 2), len(text) - tail)
    for part, printed in ((text[:start], True), (text[start:end], False), (text[end:], True)):
        if part:
            yield part, printed


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
