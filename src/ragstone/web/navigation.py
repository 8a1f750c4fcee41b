"""Numbers in addresses, pages of a list, and links to the neighbours of an item; what is not found.

The addresses of the ground-truth pages. Case ids go into the query because they may contain any character.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

from ragstone.errors import RagstoneError
from ragstone.storage.places import Place

T = TypeVar("T")
U = TypeVar("U")
_MAX_DIGITS = 9
# Names of folders in addresses: no name can lead out of the root.
SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+=@ -]{0,199}")


def whole_number(text: str | None) -> int | None:
    """Read a number from an address; None if it is not a whole number of at most nine digits."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS else None


def required_number(text: str, what: str) -> int:
    """Read a number from an address; raise NotFoundError if it is not one."""
    number = whole_number(text)
    if number is None:
        raise NotFoundError(f"{text[:80]} is not a {what} number; {what}s are counted from 1")
    return number


@dataclass(frozen=True)
class ListPage(Generic[T]):
    """One page of a list. `first` and `last` are positions in the whole list, counted from 1."""

    items: Sequence[T]
    number: int
    pages: int
    first: int
    last: int

    @classmethod
    def cut(cls, items: Sequence[T], number: int | None, size: int) -> ListPage[T]:
        """Return a page by its number from 1; numbers out of range give the first or the last page."""
        pages = max(1, -(-len(items) // size))
        number = min(max(1, number or 1), pages)
        start = (number - 1) * size
        shown = items[start : start + size]
        return cls(shown, number, pages, start + 1 if len(items) else 0, start + len(shown))

    def map(self, convert: Callable[[T], U]) -> ListPage[U]:
        """Return the page with converted items."""
        return ListPage([convert(item) for item in self.items], self.number, self.pages, self.first, self.last)

    def links(self, address: Callable[[int], str]) -> dict[str, str]:
        """Return the addresses of the first, previous, next and last page, without the current page."""
        numbers = {"first": 1, "previous": self.number - 1, "next": self.number + 1, "last": self.pages}
        return {
            name: address(number) or "?"
            for name, number in numbers.items()
            if 1 <= number <= self.pages and number != self.number
        }


def neighbours(count: int, at: int | None, address: Callable[[int], str]) -> dict[str, Any]:
    """Return the position of an item in a list and the addresses of the items before and after it."""

    def link(step: int) -> str:
        return address(at + step) if at is not None and 0 <= at + step < count else ""

    return {"place": None if at is None else at + 1, "of": count, "previous": link(-1), "next": link(1)}


def truth_address(name: str, part: str = "", /, **query: Any) -> str:
    """Return the address of a page of a ground truth; empty values in the query are left out."""
    encoded = urlencode([(key, value) for key, value in query.items() if value not in (None, "")])
    return f"/truth/{quote(name, safe='')}{f'/{part}' if part else ''}{f'?{encoded}' if encoded else ''}"


def version_address(name: str, number: int) -> str:
    """Return the address of a version."""
    return truth_address(name, f"v{number}")


def case_address(name: str, case: str, version: int | None = None, /, **query: Any) -> str:
    """Return the address of a case."""
    return truth_address(name, "case", id=case, v=version, **query)


class NotFoundError(RagstoneError):
    """The page, run, sample or ground truth does not exist under the root; `address` leads to what there is."""

    status = 404

    def __init__(self, words: str, address: str = "") -> None:
        super().__init__(words)
        self.address = address


def is_inside(root: Place, place: Place) -> bool:
    """Check that a path is inside the root, following symlinks."""
    if not root.is_local:
        return True
    top = os.path.realpath(root.path)
    return os.path.realpath(place.path).startswith(top.rstrip(os.sep) + os.sep)
