"""Markdown as safe HTML. Only the tags in this file are written; HTML in the text stays text.

Links are shown and cannot be followed. Text is passed on as ranges of the source, so that marked places are kept; the
writer escapes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol

# Longer texts are shown as they are.
_MAX_CHARACTERS = 200_000
_MAX_DEPTH = 8

_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})[^`\n]*$")
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ \t]+(?=\S)")
_RULE = re.compile(r"[ ]{0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_QUOTE = re.compile(r"[ ]{0,3}>[ ]?")
_ITEM = re.compile(r"([ \t]*)([-*+•]|\d{1,3}[.)])([ \t]+)(?=\S)")
_DELIMITERS = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*\|?[ \t]*+$")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\](\(([^()\s]{1,1000})(?:[ \t]+\"[^\"\n]{0,200}\")?\))")
_BREAK = re.compile(r"<br[ ]?/?>", re.IGNORECASE)
_SPECIAL = re.compile(r"[\\`*_~\[!<]")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_TAGS = {"**": "strong", "__": "strong", "*": "em", "_": "em", "~~": "s"}
_SIGN_OF_MARKDOWN = re.compile(
    r"^[ ]{0,3}(?:#{1,6}[ \t]+\S|>[ ]?\S|```|~~~)|^[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]+\S"
    r"|^[ \t]*+\|?[ \t]*+:?-{2,}+:?[ \t]*+\||\*\*\S|__\S|~~\S|`[^`\n]+`|\]\([^\s()]+\)|(?<![\w*])\*[^\s*][^*\n]*\*(?![\w*])"
    r"|(?<![\w_])_[^\s_][^_\n]*_(?![\w_])",
    re.MULTILINE,
)

Line = tuple[int, int]


def is_markdown(text: str) -> bool:
    """Whether a text contains Markdown; very long texts are never rendered."""
    return len(text) <= _MAX_CHARACTERS and _SIGN_OF_MARKDOWN.search(text) is not None


class Writer(Protocol):
    """Collects HTML: tags of our own, and ranges of the source, which it escapes."""

    def tag(self, html: str) -> None:
        """Add HTML of our own."""

    def emit(self, start: int, end: int) -> None:
        """Add a range of the text."""


def write_markdown(text: str, writer: Writer) -> None:
    """Write a text as HTML."""
    _Blocks(text, writer).write(_lines(text), 0)


def _lines(text: str) -> list[Line]:
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append((at, at + len(line.rstrip("\r"))))
        at += len(line) + 1
    return lines


class _Blocks:
    """Writes the blocks of a text. A line is a range of the source without the marks of the blocks around it."""

    def __init__(self, text: str, writer: Writer) -> None:
        self._text, self._writer = text, writer

    def write(self, lines: Sequence[Line], depth: int) -> None:
        """Write lines as blocks."""
        at = 0
        while at < len(lines):
            if not self._line(lines[at]).strip():
                at += 1
                continue
            at = next(
                end
                for block in (self._fence, self._heading, self._table, self._quote, self._list, self._paragraph)
                if (end := block(lines, at, depth))
            )

    def _line(self, line: Line) -> str:
        return self._text[line[0] : line[1]]

    def _fence(self, lines: Sequence[Line], at: int, _: int) -> int:
        opened = _FENCE.match(self._line(lines[at]))
        if not opened:
            return 0
        closing = re.compile(rf"[ ]{{0,3}}{re.escape(opened[1])}[`~]*[ \t]*$")
        end = next((n for n in range(at + 1, len(lines)) if closing.match(self._line(lines[n]))), len(lines))
        self._writer.tag('<pre dir="ltr"><code>')
        for start, stop in lines[at + 1 : end]:
            self._writer.emit(start, stop)
            self._writer.tag("\n")
        self._writer.tag("</code></pre>")
        return end + 1

    def _heading(self, lines: Sequence[Line], at: int, _: int) -> int:
        line = self._line(lines[at])
        if _RULE.match(line):
            self._writer.tag("<hr>")
            return at + 1
        match = _HEADING.match(line)
        if match:
            # Not a heading of the page: its outline is ours.
            self._writer.tag(f'<p class="h{len(match[1])}" dir="auto">')
            self._inline([(lines[at][0] + match.end(), lines[at][1])])
            self._writer.tag("</p>")
        return at + 1 if match else 0

    def _table(self, lines: Sequence[Line], at: int, _: int) -> int:
        if at + 1 >= len(lines) or "|" not in self._line(lines[at]):
            return 0
        rule = self._line(lines[at + 1])
        head = self._cells(lines[at])
        if not _DELIMITERS.match(rule) or "-" not in rule or len(self._cells(lines[at + 1])) != len(head):
            return 0
        end = at + 2
        while end < len(lines) and "|" in self._line(lines[end]):
            end += 1
        write = self._writer.tag
        write('<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr>')
        self._row(head, '<th scope="col" dir="auto">', "</th>")
        write("</tr></thead><tbody>")
        for line in lines[at + 2 : end]:
            write("<tr>")
            self._row(self._cells(line)[: len(head)], '<td dir="auto">', "</td>")
            write("</tr>")
        write("</tbody></table></div>")
        return end

    def _row(self, cells: Sequence[Line], opened: str, closed: str) -> None:
        for cell in cells:
            self._writer.tag(opened)
            self._inline([cell])
            self._writer.tag(closed)

    def _cells(self, line: Line) -> list[Line]:
        text, start = self._line(line), line[0]
        bars = [match.start() for match in re.finditer(r"(?<!\\)\|", text)]
        cuts = [-1, *bars, len(text)]
        cells = [(before + 1, after) for before, after in pairwise(cuts)]
        if bars and not text[: bars[0]].strip():
            cells = cells[1:]
        if len(cells) > 1 and not text[cells[-1][0] :].strip():
            cells = cells[:-1]
        return [_trimmed(text, *cell, start) for cell in cells]

    def _quote(self, lines: Sequence[Line], at: int, depth: int) -> int:
        inner = []
        for line in lines[at:]:
            match = _QUOTE.match(self._line(line))
            if not match:
                break
            inner.append((line[0] + match.end(), line[1]))
        if not inner or depth >= _MAX_DEPTH:
            return 0
        self._writer.tag("<blockquote>")
        self.write(inner, depth + 1)
        self._writer.tag("</blockquote>")
        return at + len(inner)

    def _list(self, lines: Sequence[Line], at: int, depth: int) -> int:
        first = _ITEM.match(self._line(lines[at]))
        if not first or depth >= _MAX_DEPTH:
            return 0
        ordered = first[2][0].isdigit()
        start = int(first[2][:-1]) if ordered else 1
        self._writer.tag(f'<ol start="{start}">' if ordered else "<ul>")
        while at < len(lines):
            item = _ITEM.match(self._line(lines[at]))
            if not item or item[2][0].isdigit() != ordered or len(item[1]) > len(first[1]) + 1:
                break
            at = self._item(lines, at, item, depth)
        self._writer.tag("</ol>" if ordered else "</ul>")
        return at

    def _item(self, lines: Sequence[Line], at: int, item: re.Match[str], depth: int) -> int:
        """Write an item: its line, the indented lines after it, and lines that continue its text."""
        indent = len(item[1])
        inner = [(lines[at][0] + item.end(), lines[at][1])]
        at += 1
        while at < len(lines):
            line = self._line(lines[at])
            if not line.strip():
                following = next((n for n in range(at, len(lines)) if self._line(lines[n]).strip()), None)
                if following is None:
                    return self._close_item(inner, len(lines), depth)
                if not self._is_inside(self._line(lines[following]), indent):
                    # A blank line between items of one list does not end the list.
                    return self._close_item(inner, following, depth)
            elif not self._is_inside(line, indent) and self._starts_block(lines, at):
                break
            spaces = len(line) - len(line.lstrip())
            cut = spaces if spaces <= item.end() else item.end()
            inner.append((min(lines[at][0] + cut, lines[at][1]), lines[at][1]))
            at += 1
        return self._close_item(inner, at, depth)

    def _close_item(self, inner: Sequence[Line], at: int, depth: int) -> int:
        self._writer.tag("<li>")
        self.write(inner, depth + 1)
        self._writer.tag("</li>")
        return at

    def _is_inside(self, line: str, indent: int) -> bool:
        return len(line) - len(line.lstrip()) >= indent + 2

    def _starts_block(self, lines: Sequence[Line], at: int) -> bool:
        line = self._line(lines[at])
        if any(pattern.match(line) for pattern in (_FENCE, _HEADING, _RULE, _QUOTE, _ITEM)):
            return True
        return "|" in line and at + 1 < len(lines) and bool(_DELIMITERS.match(self._line(lines[at + 1])))

    def _paragraph(self, lines: Sequence[Line], at: int, _: int) -> int:
        end = at + 1
        while end < len(lines) and self._line(lines[end]).strip() and not self._starts_block(lines, end):
            end += 1
        self._writer.tag('<p dir="auto">')
        self._inline(lines[at:end])
        self._writer.tag("</p>")
        return end

    def _inline(self, lines: Sequence[Line]) -> None:
        _Inline(self._text, lines, self._writer).write()


def _trimmed(text: str, start: int, end: int, offset: int) -> Line:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    return start + offset + left, max(start + offset + left, offset + start + len(part.rstrip()))


class _Inline:
    """Writes the text of one block: emphasis, code, links and line breaks."""

    def __init__(self, text: str, lines: Sequence[Line], writer: Writer) -> None:
        self._writer = writer
        # The text without the marks of the blocks around it, and the place of each character in the source.
        self._text = "\n".join(text[start:end] for start, end in lines)
        self._places: list[int] = []
        for start, end in lines:
            self._places += range(start, end + 1)
        # Marks that are not closed between a place and an end are not closed between a later place and this end.
        self._open: set[tuple[str, int]] = set()

    def write(self) -> None:
        """Write the whole text."""
        self._write(0, len(self._text), 0)

    def _emit(self, start: int, end: int) -> None:
        while start < end:
            stop = start + 1
            while stop < end and self._places[stop] == self._places[stop - 1] + 1:
                stop += 1
            if self._text[stop - 1] == "\n":
                self._writer.emit(self._places[start], self._places[stop - 1])
                self._writer.tag("\n")
            else:
                self._writer.emit(self._places[start], self._places[stop - 1] + 1)
            start = stop

    def _write(self, at: int, end: int, depth: int) -> None:
        done = at
        while match := _SPECIAL.search(self._text, at, end):
            at = match.start()
            after = self._special(done, at, end, depth)
            if after:
                done = at = after
            else:
                at += 1
        self._emit(done, end)

    def _special(self, done: int, at: int, end: int, depth: int) -> int:
        """Write the text up to a construct and the construct; 0 if there is none at this place."""
        sign = self._text[at]
        if sign == "\\":
            escaped = at + 1 < end and self._text[at + 1] in _PUNCTUATION
            if escaped:
                self._emit(done, at)
                self._emit(at + 1, at + 2)
            return at + 2 if escaped else 0
        handlers: dict[str, Callable[[int, int, int, int], int]] = {
            "`": self._code,
            "<": self._break,
            "[": self._link,
            "!": self._link,
        }
        return handlers.get(sign, self._emphasis)(done, at, end, depth)

    def _code(self, done: int, at: int, end: int, _: int) -> int:
        size = len(self._text[at:end]) - len(self._text[at:end].lstrip("`"))
        ticks = "`" * size
        close = self._find(ticks, re.compile(rf"(?<!`){ticks}(?!`)"), at + size, end)
        if close < 0:
            return 0
        self._emit(done, at)
        self._writer.tag("<code>")
        self._emit(at + size, close)
        self._writer.tag("</code>")
        return close + size

    def _break(self, done: int, at: int, end: int, _: int) -> int:
        match = _BREAK.match(self._text, at, end)
        if not match:
            return 0
        self._emit(done, at)
        self._writer.tag("<br>")
        return match.end()

    def _link(self, done: int, at: int, end: int, depth: int) -> int:
        match = _LINK.match(self._text, at, end)
        if not match:
            return 0
        self._emit(done, at)
        self._writer.tag('<span class="link">')
        self._write(*match.span(1), depth + 1)
        self._writer.tag('</span> <span class="url">')
        self._emit(*match.span(3))
        self._writer.tag("</span>")
        return match.end()

    def _emphasis(self, done: int, at: int, end: int, depth: int) -> int:
        sign = self._text[at]
        mark = sign * 2 if self._text.startswith(sign * 2, at, end) else sign
        if mark not in _TAGS or depth >= _MAX_DEPTH:
            return 0
        inner = at + len(mark)
        before = self._text[at - 1] if at else " "
        if inner >= end or self._text[inner].isspace() or (mark not in ("**", "~~") and before.isalnum()):
            return 0
        after = r"(?!\w)" if sign == "_" else ""
        single = rf"(?<!{re.escape(sign)})" if len(mark) == 1 else ""
        pattern = re.compile(rf"(?<=\S){single}{re.escape(mark)}(?!{re.escape(sign)}){after}")
        close = self._find(mark, pattern, inner + 1, end)
        if close < 0:
            return 0
        self._emit(done, at)
        self._writer.tag(f"<{_TAGS[mark]}>")
        self._write(inner, close, depth + 1)
        self._writer.tag(f"</{_TAGS[mark]}>")
        return close + len(mark)

    def _find(self, mark: str, pattern: re.Pattern[str], at: int, end: int) -> int:
        if (mark, end) in self._open:
            return -1
        match = pattern.search(self._text, at, end)
        if not match:
            self._open.add((mark, end))
        return match.start() if match else -1
