"""Web addresses with credentials, and their form for display."""

from __future__ import annotations

from base64 import b64encode
from typing import NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

from ragstone.errors import UsageError


class Address(NamedTuple):
    """An address without credentials, the header with the credentials, and the form to show."""

    url: str
    authorization: str | None
    shown: str


def read_address(text: str) -> Address:
    """Parse an address that a user wrote."""
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"'{show_address(text)}' is not a web address. Write it as http://host:port/v1.")
    host = parts.netloc.rpartition("@")[2]
    url = urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
    return Address(url, _basic(parts.username, parts.password), show_address(text))


def show_address(url: str) -> str:
    """Remove user, password, query and fragment, since each of them may contain a key."""
    parts = urlsplit(url.strip())
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _basic(user: str | None, password: str | None) -> str | None:
    if user is None and password is None:
        return None
    pair = f"{unquote(user or '')}:{unquote(password or '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"
