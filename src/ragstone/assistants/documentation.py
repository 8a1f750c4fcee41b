"""The pages of the documentation, which come with the package, by section."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import ragstone
from ragstone.errors import StorageError, UnknownNameError

_WORD = re.compile(r"[a-z0-9_]{2,}")
# A word in a heading counts as much as this many in the text.
_HEADING_WEIGHT = 6


class Section(NamedTuple):
    """A part of a page under one heading; the first has the title of the page."""

    page: str
    heading: str
    text: str


@lru_cache(maxsize=1)
def read_sections() -> tuple[Section, ...]:
    """All sections of all pages, in the order of the pages' names; then the schemas of JSON."""
    package = Path(ragstone.__file__).parent
    # In a wheel next to the modules, in a clone next to `src`.
    folder = next(
        (one for one in (package / "docs", package.parents[1] / "docs") if (one / "index.md").is_file()), None
    )
    if folder is None:
        raise StorageError("this installation has no documentation")
    pages = [*sorted(folder.rglob("*.md")), *sorted(folder.glob("schemas/*.json"))]
    return tuple(part for path in pages for part in _split(path.relative_to(folder).as_posix(), path))


def read_page(page: str, section: str = "") -> str:
    """A page, or one section of it, as Markdown; `.md` may be left out."""
    parts = [part for part in read_sections() if part.page in (page, f"{page}.md")]
    if not parts:
        known = list(dict.fromkeys(part.page for part in read_sections()))
        raise UnknownNameError("page", page[:100], known, f"The pages are: {', '.join(known)}.")
    chosen = [part for part in parts if not section or part.heading.casefold() == section.casefold()]
    if not chosen:
        raise UnknownNameError(f"section of {page}", section[:100], list_headings(page))
    return "".join(part.text for part in chosen)


def list_headings(page: str) -> list[str]:
    """The headings of the sections of a page."""
    return [part.heading for part in read_sections() if part.page == page]


def search_pages(query: str, top: int = 5) -> list[Section]:
    """The sections with the most words of the query, rare words first."""
    words, found = set(_WORD.findall(query.casefold())), list[tuple[float, Section]]()
    counts = _count_words()
    spread = Counter(word for heads, texts in counts for word in words if word in heads or word in texts)
    for part, (heads, texts) in zip(read_sections(), counts, strict=True):
        score = sum(
            (_HEADING_WEIGHT * (word in heads) + min(texts[word], 3)) / spread[word] for word in words if spread[word]
        )
        if score and part.page.endswith(".md"):
            found.append((score / len(part.text) ** 0.2, part))
    return [part for _, part in sorted(found, key=lambda item: -item[0])[:top]]


@lru_cache(maxsize=1)
def _count_words() -> list[tuple[set[str], Counter[str]]]:
    """The words of the heading and of the text of each section."""
    found = [(f"{part.page} {part.heading}".casefold(), part.text.casefold()) for part in read_sections()]
    return [(set(_WORD.findall(heading)), Counter(_WORD.findall(text))) for heading, text in found]


def _split(page: str, path: Path) -> Iterator[Section]:
    heading, lines, is_code = page, list[str](), False
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        is_code ^= line.startswith("```")
        if line.startswith(("# ", "## ")) and not is_code:
            # Pages that are made from code begin with a comment.
            if not re.fullmatch(r"\s*(<!--.*?-->)?\s*", "".join(lines)):
                yield Section(page, heading, "".join(lines))
            heading, lines = line.lstrip("#").strip(), []
        lines.append(line)
    yield Section(page, heading, "".join(lines))
