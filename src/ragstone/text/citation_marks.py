"""Find the citations in an answer: `[1]`, `[2, 3]`, `[doc-3]`, `[^1]`, `【1†source】`, `¹`, and links to sources.

A mark that is written like a citation always counts: a number in brackets, a footnote, `[doc 3]`. Other brackets, links and
addresses count only if a chunk has that id or source. Code, array indexes, years, intervals and the list of references at
the end are no citations.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from ragstone.text.lexicon import late_pattern, word_set
from ragstone.text.words import Span

_NUMBERS = r"\d{1,3}(?:\s?[-–—]\s?\d{1,3})?"
_LISTED = rf"{_NUMBERS}(?:\s?(?:[,;&]|\band\b)\s?{_NUMBERS}){{0,20}}"
_KEY = (
    r"(?:docs?|documents?|sources?|src|chunks?|contexts?|passages?|refs?|references?|citations?|cites?|cit|snippets?|"
    r"excerpts?|files?)"
)
_UP = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_MARK = late_pattern(
    r"(?P<image>!?)\[(?P<shown>[^\[\]\n]{0,200}|\[[^\[\]\n]{1,20}\])\]\(\s?<?(?P<target>(?:[^()\s<>]|\([^()\s<>]{0,100}\)){1,500})>?(?:\s\"[^\"\n]{0,200}\")?\s?\)"
    r"|【(?P<lens>[^【】\n]{1,120})】"
    r"|\[\^(?P<note>[^\[\]\s]{1,40})\]"
    rf"|\[{{1,2}}\s?(?P<numbers>{_LISTED})\s?(?:,\s?pp?\.?\s?\d{{1,4}}(?:[-–]\d{{1,4}})?)?\]{{1,2}}"
    r"|\[(?P<name>[^\[\]\n]{1,100})\]"
    rf"|<sup>\s?\[?(?P<sup>{_LISTED})\]?\s?</sup>"
    rf"|(?P<up>[{_UP}]{{1,3}}(?:[,˒][{_UP}]{{1,3}}){{0,9}})"
    r"|(?P<url>https?://[^\s<>\[\]()\"'，。]{4,500})",
    re.IGNORECASE,
)
# In every text that has a mark; for Arrow, which reads many texts at once.
MARK_HINT = r"[\[【¹²³⁴⁵⁶⁷⁸⁹]|<sup>|https?://"
_CODE = late_pattern(
    r"^[ \t]*(?P<fence>```|~~~).*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z)|`[^`\n]{1,500}`|\$(?=\S)[^$\n]{1,200}(?<=\S)\$(?!\d)"
    r"|^(?:\t| {4})[ \t]*\S*[=;{}].*$",
    re.DOTALL | re.MULTILINE,
)
# Before or after a number in brackets that is an index or an interval.
_INDEXED = late_pattern(r"(?<!\w)(?:[a-z]|\w*[_$]\w*|arr|argv|args?|vec|df|obj|dict|params|idx|elem)$")
_ASSIGNED = late_pattern(r"(?:[=∈≤≥<]|\\|\"\s?:|\bin_|(?:^|[\n;{:])[ \t]*return)\s?$")
_INTERVAL = late_pattern(
    r"\b(?:interval|range|array|list|vector|tuple|matrix|shape|scale|between)s?\s?$", re.IGNORECASE
)
_USED_AS_CODE = late_pattern(r"\s?(?:=(?!=)|\+=|-=|->|\+\+)|\.[a-z_]\w*\(|\.[a-z_]+\s?=|\[[a-z_\"']")
# A raised digit after one of these is a power.
_UNITS = word_set("meter metre meters metres inch inches feet foot yard yards mile miles pixel pixels")
_LEAST_LETTERS = 4
_KEYED = late_pattern(
    rf"{_KEY}(?:\s?[-_:#.]\s?|\s)?(?P<number>\d{{1,3}})(?:\s?[-–]\s?(?P<last>\d{{1,3}}))?", re.IGNORECASE
)
_KEY_AND_NAME = late_pattern(rf"{_KEY}\s?[:=]\s?(?P<name>\S.*)", re.IGNORECASE)
_PAGE_WORD = r"(?:pp?\.|pages?|seiten?|s\.)"
# The comma before a page separates nothing: `report.pdf, p. 12`.
_SEPARATOR = late_pattern(rf"\s?(?:[,;&]|\band\b)(?!\s?{_PAGE_WORD}\s?\w)\s?", re.IGNORECASE)
_PAGE = late_pattern(rf"(?P<source>\S[^,;]*?)[\s,;]*\b{_PAGE_WORD}\s?(?P<page>[\w.-]+)", re.IGNORECASE)
_MOST_IN_RANGE = 20
_start_of = attrgetter("start")
_FILE = late_pattern(r"[^\s/]{1,80}\.(?:pdf|md|txt|html?|docx?|pptx?|xlsx?|csv|json)", re.IGNORECASE)

_HEADING = late_pattern(
    r"[ \t]*(?:#{1,6}[ \t]*|\*\*|__)?(?:references?|sources?|citations?|footnotes?|bibliography|works cited|quellen|literatur|"
    r"sources citées|références|fuentes|referencias)[ \t]*+:?(?:\*\*|__)?[ \t]*+:?[ \t]*+",
    re.IGNORECASE,
)
_DEFINED = late_pattern(r"[ \t]*(?:[-*][ \t]+)?\[(?P<label>\^[^\[\]\s]{1,40}|\d{1,3})\][ \t]?:[ \t]*(?P<text>\S.*)")
_LISTED_LINE = late_pattern(r"[ \t]*(?:[-*][ \t]+)?(?P<mark>\[(?P<label>\d{1,3})\])[ \t]+(?P<text>\S.*)")
_NUMBERED_LINE = late_pattern(r"[ \t]*(?P<label>\d{1,3})[.)][ \t]+(?P<text>\S.*)")
_BULLET_LINE = late_pattern(r"[ \t]*[-*•][ \t]+\S.*")


class Cited(NamedTuple):
    """The id, the source and the page of a chunk, by which it can be cited."""

    id: str | None = None
    source: str | None = None
    page: str | None = None


class CitationMark(NamedTuple):
    """A mark in a text: for each thing that it cites the names to look for, the best first; `#3` is a rank.

    `~3` is a rank that counts only if no chunk has a source. A mark that is not `sure` counts only if a chunk has its name.
    """

    start: int
    end: int
    names: tuple[tuple[str, ...], ...]
    sure: bool


class References(NamedTuple):
    """The references that a text lists: the text of each label, and the places of lists and definitions."""

    labels: Mapping[str, str]
    # Whole lines that only list what was cited.
    lines: tuple[Span, ...]
    # Numbers in brackets that number a list.
    bullets: tuple[Span, ...]


def find_marks(text: str) -> tuple[list[CitationMark], References]:
    """The marks of a text in order, and the references that it lists."""
    if not _MARK.search(text):
        return [], References({}, (), ())
    code = [Span(*match.span()) for match in _CODE.finditer(text)]
    found = list(_read_marks(text, code))
    references = _read_references(text, code, found)
    hidden = sorted([*references.lines, *references.bullets])
    return [mark for mark in found if not _is_inside(mark.start, hidden)], references


def resolve(mark: CitationMark, chunks: Sequence[Cited], references: References) -> list[tuple[int, ...]] | None:
    """For each thing that a mark cites the positions of its chunks, none if there is no such chunk; None if it is not a citation."""
    found = [_find(names, chunks, references.labels) for names in mark.names]
    return found if mark.sure or any(found) else None


def find_chunks(name: str, chunks: Sequence[Cited]) -> tuple[int, ...]:
    """The chunks that a given citation names: by id, source, or rank as a number from 1."""
    return _find((name, f"#{name}") if name.isdecimal() else (name,), chunks, {})


def _is_inside(place: int, spans: Sequence[Span]) -> bool:
    """Whether a place is in one of several sorted spans that do not overlap."""
    number = bisect_right(spans, place, key=_start_of)
    return number > 0 and place < spans[number - 1].end


# The names of each thing that a mark cites, and whether it is a citation for sure; None if it is not one.
Names = tuple[tuple[tuple[str, ...], ...], bool]


def _read_marks(text: str, code: Sequence[Span]) -> Iterator[CitationMark]:
    refused = -1
    for match in _MARK.finditer(text):
        start, end = match.span()
        found = None if _is_inside(start, code) or match["image"] else _read(text, match)
        # In `rows[0][1]` the second index belongs to the first.
        if found is None or (match["numbers"] and refused == start):
            refused = end
        else:
            # Punctuation after an address is not part of it.
            end = start + len(found[0][0][0]) if match["url"] else end
            yield CitationMark(start, end, *found)


def _read(text: str, match: re.Match[str]) -> Names | None:
    start, end = match.span()
    if match["target"] is not None:
        shown, target = match["shown"].strip("[]^ "), match["target"]
        names = (target, f"~{shown}") if shown.isdecimal() else (target,)
        return (names,), shown.isdecimal() and len(shown) < 4
    if match["lens"] is not None:
        return _lens(match["lens"])
    if match["note"] is not None:
        return ((f"^{match['note']}", f"#{match['note']}"),), True
    if match["numbers"] is not None:
        ranks = _ranks(match["numbers"])
        is_plain = ranks and 0 not in ranks and not _is_code(text, start, end, len(ranks) > 1)
        return (tuple((f"#{rank}", str(rank)) for rank in ranks), True) if is_plain else None
    if match["name"] is not None:
        return _named(match["name"].strip()) if text[start - 1 : start] != "\\" else None
    if raised := match["sup"] or match["up"]:
        ranks = _ranks(raised.translate(str.maketrans(_UP + "˒", "0123456789,")))
        if not ranks or 0 in ranks or not _is_raised_mark(text[max(0, start - 60) : start], bool(match["sup"])):
            return None
        return tuple((f"#{rank}",) for rank in ranks), True
    return ((match["url"].rstrip(".,;:!?*_"),),), False


def _lens(inside: str) -> Names:
    """`【1†source】`, `【4:0†handbook.pdf】`: the second number counts from 0."""
    head, dagger, name = inside.partition("†")
    numbers = re.fullmatch(r"\s?(?P<first>\d{1,3})(?::(?P<second>\d{1,3}))?\s?", head)
    if numbers is None:
        ranks = _ranks(head)
        return (tuple((f"#{rank}",) for rank in ranks), True) if ranks else (((inside.strip(),),), False)
    rank = int(numbers["first"]) if numbers["second"] is None else int(numbers["second"]) + 1
    name = name.strip()
    if not dagger or not name or name.lower() == "source" or re.fullmatch(r"L\d+(?:-L?\d+)?", name):
        return ((f"#{rank}",),), True
    return ((name, f"~{rank}"),), True


def _named(inside: str) -> Names | None:
    """`[doc-3]`, `[Source: handbook.pdf]`, `[handbook]`."""
    if named := _KEY_AND_NAME.fullmatch(inside):
        names = tuple(_name_or_rank(part) for part in _SEPARATOR.split(named["name"]) if part)
        return (names, True) if names else None
    parts = [part for part in _SEPARATOR.split(inside) if part]
    keyed = [_KEYED.fullmatch(part) for part in parts]
    if not parts or not keyed[0]:
        source = page["source"] if (page := _PAGE.fullmatch(inside)) else inside
        return ((inside,),) if len(parts) < 2 else tuple((part,) for part in parts), bool(_FILE.fullmatch(source))
    names_of: list[tuple[str, ...]] = []
    for part, key in zip(parts, keyed, strict=True):
        if key is None:
            # `[doc 1, 3]`
            names_of.append(_name_or_rank(part))
            continue
        last = int(key["last"] or key["number"])
        ranks = range(int(key["number"]), last + 1)
        names_of += [(part, f"#{rank}") if key["last"] is None else (f"#{rank}",) for rank in ranks[:_MOST_IN_RANGE]]
    return (tuple(names_of), True) if names_of else None


def _name_or_rank(part: str) -> tuple[str, ...]:
    return (part, f"#{part}") if part.isdecimal() else (part,)


def _ranks(listed: str) -> list[int]:
    """`1, 3-5` as 1, 3, 4, 5; nothing if a range is too long or runs backwards."""
    ranks: list[int] = []
    for part in _SEPARATOR.split(listed.strip()):
        ends = [end.strip() for end in re.split(r"[-–—]", part)]
        if not all(end.isdecimal() for end in ends) or len(ends) > 2:
            return []
        first, last = int(ends[0]), int(ends[-1])
        if not 0 <= last - first <= _MOST_IN_RANGE:
            return []
        ranks += range(first, last + 1)
    return ranks


def _is_code(text: str, start: int, end: int, several: bool) -> bool:
    """Whether numbers in brackets are an index, an interval or an array."""
    before, after = text[max(0, start - 60) : start], text[end : end + 30]
    if _ASSIGNED.search(before) or _USED_AS_CODE.match(after):
        return True
    return bool(_INDEXED.search(before) or (several and _INTERVAL.search(before)))


def _is_raised_mark(before: str, tagged: bool) -> bool:
    """Whether a raised number can be a mark: it follows a full stop or a word, and is not a power of a unit or a number."""
    before = before.rstrip(" (") if tagged else before
    last = before[-1:]
    if not last or last.isspace():
        return False
    word = re.search(r"[^\W\d_]{1,40}$", before[-40:])
    if word is None:
        return not last.isalnum() and last not in "([{=+*/^-"
    return len(word[0]) >= _LEAST_LETTERS and word[0].lower() not in _UNITS


def _read_references(text: str, code: Sequence[Span], marks: Sequence[CitationMark]) -> References:
    """Definitions of footnotes, the list under a heading such as "Sources", and lists that are numbered like citations."""
    labels: dict[str, str] = {}
    lines: list[Span] = []
    listed: list[tuple[re.Match[str], Span]] = []
    spans = [Span(*match.span()) for match in re.finditer(r"[^\n]+", text) if not _is_inside(match.start(), code)]
    heading = None
    for span in spans:
        line = text[span.start : span.end]
        if _HEADING.fullmatch(line):
            heading = span
        elif defined := _DEFINED.fullmatch(line):
            labels.setdefault(defined["label"].lower(), defined["text"])
            lines += [span] if heading is None else [heading, span]
        elif heading and (item := _LISTED_LINE.fullmatch(line) or _NUMBERED_LINE.fullmatch(line)):
            labels.setdefault(item["label"], item["text"])
            lines += [heading, span]
        elif heading and _BULLET_LINE.fullmatch(line):
            lines += [heading, span]
        else:
            heading = heading if not line.strip() else None
            if item := _LISTED_LINE.fullmatch(line):
                listed.append((item, span))
    bullets = []
    # Where each name is cited first, without the marks that number a line.
    numbering = {span.start + item.start("mark") for item, span in listed}
    cited = [mark for mark in reversed(marks) if mark.start not in numbering]
    first = {names: mark.start for mark in cited for names in mark.names}
    for item, span in listed:
        number = (f"#{int(item['label'])}", str(int(item["label"])))
        place = span.start + item.start("mark")
        if first.get(number, span.start) < span.start:
            labels.setdefault(item["label"], item["text"])
            lines.append(span)
        elif len(listed) > 1:
            bullets.append(Span(place, place + len(item["mark"])))
    return References(labels, tuple(sorted(set(lines))), tuple(bullets))


def _find(names: Sequence[str], chunks: Sequence[Cited], labels: Mapping[str, str]) -> tuple[int, ...]:
    first = names[0].lstrip("#") if names else ""
    if definition := labels.get(first.lower()) or labels.get(f"^{first.lower()}"):
        if found := _in_definition(definition, chunks):
            return found
        if re.search(r"https?://", definition) and any(chunk.source for chunk in chunks):
            return ()  # it cites something that was not retrieved
    for name in names:
        if found := _by_name(name, chunks):
            return found
    return ()


def _in_definition(definition: str, chunks: Sequence[Cited]) -> tuple[int, ...]:
    """The chunks whose id or source the text of a footnote names."""
    if whole := _by_name(definition.strip(), chunks):
        return whole
    keyed = re.match(rf"[\[(]?{_KEYED.pattern}\b", definition, re.IGNORECASE)
    if keyed and (named := _by_name(keyed[0].strip("[("), chunks) or _by_name(f"#{keyed['number']}", chunks)):
        return named
    folded = _folded(definition, fragment=True)
    return tuple(
        position
        for position, chunk in enumerate(chunks)
        if any(_contains(folded, name) for name in (_folded(chunk.id or ""), *_file_names(chunk.source or "")))
    )


def _contains(text: str, name: str) -> bool:
    """Whether a whole name is in a text; names of one or two characters do not count."""
    return len(name) > 2 and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _by_name(name: str, chunks: Sequence[Cited]) -> tuple[int, ...]:
    if name[:1] in "#~" and name[1:].isdecimal():
        rank = int(name[1:])
        is_open = name[0] == "#" or not any(chunk.source for chunk in chunks)
        return (rank - 1,) if is_open and 1 <= rank <= len(chunks) else ()
    wanted = _folded(name)
    if by_id := tuple(at for at, chunk in enumerate(chunks) if chunk.id and _folded(chunk.id) == wanted):
        return by_id
    if not wanted:
        return ()
    if found := tuple(at for at, chunk in enumerate(chunks) if chunk.source and wanted in _source_names(chunk.source)):
        return found
    return _on_page(wanted, chunks)


def _on_page(wanted: str, chunks: Sequence[Cited]) -> tuple[int, ...]:
    """The chunks of a source and page that a citation names together; all of the source if their pages are not known."""
    if not (named := _PAGE.fullmatch(wanted)):
        return ()
    of_source = [at for at, chunk in enumerate(chunks) if named["source"] in _source_names(chunk.source or "")]
    pages = [(chunks[at].page or "").casefold() for at in of_source]
    return tuple(at for at, page in zip(of_source, pages, strict=True) if page == named["page"] or not any(pages))


def _folded(name: str, fragment: bool = False) -> str:
    """A name without case, without the scheme and the final slash of an address and, unless wanted, its fragment."""
    folded = re.sub(r"https?://(?:www\.)?", "", name.strip().strip("<>").casefold())
    return (folded if fragment else folded.partition("#")[0]).rstrip("/")


def _file_names(source: str) -> set[str]:
    """A source in full, and the name of its file."""
    folded = _folded(source)
    return {folded, re.split(r"[/\\]", folded)[-1]} - {""}


def _source_names(source: str) -> set[str]:
    """A source in full, and the name of its file with and without ending."""
    names = _file_names(source)
    return names | {name.rsplit(".", 1)[0] for name in names if _FILE.fullmatch(name)}
