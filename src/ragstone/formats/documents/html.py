"""Web pages: the visible text by blocks, under its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragstone.errors import MissingExtraError
from ragstone.formats.documents.base import Section, UnreadableError

if TYPE_CHECKING:
    from lxml.html import HtmlElement


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Not the text of a document: code, menus, headers and footers.
_LEFT_OUT = _names("script style noscript template nav aside footer form button select svg iframe head")
_HEADINGS = _names("h1 h2 h3 h4 h5 h6")
_BLOCKS = _names(
    "p div section article main header li ul ol dl dt dd blockquote pre table tr figure figcaption body address hr br"
)
_SPACE = re.compile(r"\s+")


def read_html(data: bytes) -> list[Section]:
    """One section per heading; a table row is a line with bars between the cells."""
    try:
        from lxml import etree, html  # noqa: PLC0415  (only needed for web pages)
    except ImportError as error:
        raise MissingExtraError("Reading web pages", "documents") from error
    try:
        root = html.document_fromstring(data, parser=html.HTMLParser(encoding=_encoding(data)))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableError(f"it cannot be read as HTML: {error}") from error
    sections: list[tuple[str | None, list[str]]] = [(None, [])]
    line: list[str] = []
    for kind, text in (*_walk(root), ("break", "")):
        if kind == "text":
            line.append(text)
            continue
        if words := _SPACE.sub(" ", "".join(line)).strip():
            sections[-1][1].append(words)
        line = []
        if kind == "heading":
            sections.append((text, []))
    return [Section("\n".join(lines), heading) for heading, lines in sections]


def _encoding(data: bytes) -> str | None:
    """UTF-8 if the page is valid UTF-8, otherwise the encoding that it declares."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "utf-8"


def _walk(element: HtmlElement) -> Iterator[tuple[str, str]]:
    """The text and headings of a page in order, with breaks at the start and end of blocks."""
    tag: Any = element.tag
    if isinstance(tag, str) and tag not in _LEFT_OUT:
        if tag in _HEADINGS:
            yield "heading", _SPACE.sub(" ", element.text_content()).strip()
        elif tag == "tr":
            yield "break", ""
            cells = [_SPACE.sub(" ", cell.text_content()).strip() for cell in element.iterchildren("td", "th")]
            yield "text", f"| {' | '.join(cells)} |"
            yield "break", ""
        else:
            edge = [("break", "")] if tag in _BLOCKS else []
            yield from edge
            if element.text:
                yield "text", element.text
            for child in element:
                yield from _walk(child)
            yield from edge
    if element.tail:
        yield "text", element.tail
