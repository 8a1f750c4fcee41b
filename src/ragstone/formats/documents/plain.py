"""Plain text and Markdown."""

from __future__ import annotations

from ragstone.formats.documents.base import Section, UnreadableError


def decode(data: bytes) -> str:
    """The characters of a text file: UTF-8, UTF-16 with its mark, else what Windows writes in western Europe."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _decoded(data, "utf-16")
    if b"\x00" in data[:8192]:
        raise UnreadableError("it is no text, and of no kind that can be read: txt, md, html, pdf, docx")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"it begins as {encoding}, and is not: {error.reason}") from error


def read_text(data: bytes) -> list[Section]:
    """The whole text as one section."""
    return [Section(_with_line_feeds(decode(data)))]


def read_markdown(data: bytes) -> list[Section]:
    """A section a heading, as it is written: what is cited from it stands in the file."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  (only who reads Markdown)

    text = _with_line_feeds(decode(data))
    lines = text.split("\n")
    tokens = MarkdownIt("commonmark").parse(text)
    heads = [
        (token.map[0], token.map[1], tokens[place + 1].content.strip())
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.map
    ]
    starts = [(0, 0, None), *heads]
    ends = [first for first, _, _ in heads] + [len(lines)]
    return [
        Section("\n".join(lines[body:end]).strip("\n"), heading)
        for (_, body, heading), end in zip(starts, ends, strict=True)
    ]


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
