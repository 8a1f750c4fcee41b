"""Names and numbers by their spelling."""

import pytest

from ragstone.text.names import has_capitals, names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The ferry Aurora leaves Bergen at 9.30.", ["Aurora", "Bergen", "9.30"]),
        ("Who met Anna van Dyke in 1903?", ["Anna van Dyke", "1903"]),
        ("Ferries are slow.", []),
        ("It cost $5 million.", ["$5 million"]),
        ("Oslo and Oslo.", ["Oslo and Oslo"]),
        ("", []),
    ],
)
def test_names(text, expected):
    assert names(text) == expected


@pytest.mark.parametrize(("text", "capitals"), [("Oslo", True), ("北京", False), ("12", True), ("北京 A", True)])
def test_has_capitals(text, capitals):
    assert has_capitals(text) is capitals
