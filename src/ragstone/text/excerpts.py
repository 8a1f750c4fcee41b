"""The part of a chunk that decides about a claim: the nearest sentence with its neighbours, or a row of a table with its head."""

from __future__ import annotations

from ragstone.text.passages import Passages, is_table_head

# Longer sentences are cut in parts of fewer words than the excerpt has.
_CHARACTERS_PER_WORD = 8
_OVERLAP = 5


def excerpt(text: str, claim: str, most: int) -> str:
    """The part of a text around the sentence nearest to a claim, of at most about `most` characters."""
    if len(text) <= most:
        return text
    passages = Passages(text, max(most // _CHARACTERS_PER_WORD, 2 * _OVERLAP), _OVERLAP)
    near = passages.nearest_evidence(claim)
    if near is None:
        return f"{text[:most].rstrip()}…"
    head = _table_head(text, near[0].start)
    start, end = passages.with_neighbours(near[0], most - len(head))
    before = "…" if text[:start].strip() else ""
    if head and head not in text[start:end]:
        skipped = text[text.index(head) + len(head) : start].strip(" \r\n|:-")
        before = f"{head}\n…\n" if skipped else f"{head}\n"
    return f"{before}{text[start:end]}{'…' if text[end:].strip(' |') else ''}"


def _table_head(text: str, place: int) -> str:
    """The line with the heads of the table that a place is in; empty if it is in none."""
    end = text.find("\n", place)
    lines = text[: end if end >= 0 else len(text)].split("\n")
    for at in range(len(lines) - 1, 0, -1):
        if not lines[at].lstrip().startswith(("|", "<tr")):
            break
        if is_table_head(lines[at - 1], "\n".join(["", *lines[at : at + 1]])):
            return lines[at - 1]
    return ""
