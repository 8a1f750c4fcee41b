"""Addresses as they are sent and as they are shown."""

import base64

import pytest

from ragstone.errors import UsageError
from ragstone.http.addresses import read_address, show_address


@pytest.mark.parametrize(
    ("text", "url", "shown"),
    [
        ("http://localhost:8000/v1", "http://localhost:8000/v1", "http://localhost:8000/v1"),
        ("https://me:secret@host/v1/", "https://host/v1/", "https://host/v1/"),
        ("https://host/v1?key=secret#part", "https://host/v1?key=secret", "https://host/v1"),
        ("http://me:s@cret@host:1", "http://host:1", "http://host:1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_secrets_are_taken_out(text, url, shown):
    address = read_address(text)
    assert (address.url, address.shown) == (url, shown)
    assert "cret" not in show_address(text)


def test_user_and_password_become_a_header():
    header = read_address("http://me:p%40ss@host").authorization
    assert header == f"Basic {base64.b64encode(b'me:p@ss').decode()}"
    assert read_address("http://host").authorization is None


@pytest.mark.parametrize("text", ["", "localhost:8000", "ftp://host", "http://", "http:///v1", "//host"])
def test_what_is_no_address(text):
    with pytest.raises(UsageError, match=r"not a web address.*http://host:port/v1"):
        read_address(text)


def test_a_wrong_address_is_shown_without_its_password():
    with pytest.raises(UsageError) as raised:
        read_address("ftp://me:secret@host")
    assert "secret" not in str(raised.value)
