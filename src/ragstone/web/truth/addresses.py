"""Where the pages of ground truth are. Ids of cases go into the query: they may hold anything."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode


def truth_address(name: str, part: str = "", /, **query: Any) -> str:
    """A page of a ground truth; parts of the query that are None or empty are left out."""
    said = urlencode([(key, value) for key, value in query.items() if value not in (None, "")])
    return f"/truth/{quote(name, safe='')}{f'/{part}' if part else ''}{f'?{said}' if said else ''}"


def version_address(name: str, number: int) -> str:
    """The page of a version."""
    return truth_address(name, f"v{number}")


def case_address(name: str, case: str, version: int | None = None, /, **query: Any) -> str:
    """The page of a case."""
    return truth_address(name, "case", id=case, v=version, **query)
