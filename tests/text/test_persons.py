"""Persons and keys by rules: what is found, what is not, and no places."""

import time

import pytest

from ragstone.text.persons import find_sensitive


def found(text, kind="person"):
    return [text[one.start : one.end] for one in find_sensitive(text) if one.kind == kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ask Anna Keller or Hans Peter Schmidt.", ["Anna Keller", "Hans Peter Schmidt"]),
        (
            "Dr. Smith and Mrs Jane O'Neill met Herr Prof. Dr. Müller-Lüdenscheidt.",
            ["Smith", "Jane O'Neill", "Müller-Lüdenscheidt"],
        ),
        ("Patient: Ngozi Adichie, born 1980", ["Ngozi Adichie"]),
        ("Emma's dog bit Emma Stone's cat.", ["Emma Stone"]),
        ("Frau Ursula von der Leyen sagte nichts.", ["Ursula von der Leyen"]),
        ("Yesterday Anna Maria J. de la Cruz called.", ["Anna Maria J. de la Cruz"]),
        ("患者：张伟，住院", ["张伟"]),
    ],
)
def test_persons(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Martin Luther King Boulevard and St. Louis District are closed; so is the Thomas Cook Group.",
        "The Santa Ana Army Base, the Albert Hall and the Paul Ehrlich Institute.",
        "Anna Maria and Peter are given names alone. John The Baptist.",
        "Per Person, Max Speed, Jan Feb Mar, Ben Nevis, Peer Review",
        "Miss the boat? The professor at Oxford. Name: unknown. Patient: see below",
        "",
    ],
)
def test_places_and_words_are_no_persons(text):
    assert found(text) == []


@pytest.mark.parametrize("text", ["Ask Oluwaseun Adeyemi.", "ANNA KELLER", "Anna was there."])
def test_rare_names_capitals_and_single_names_are_missed(text):
    """The limits that the documentation names."""
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password: hunter2x, then enter", ["hunter2x"]),
        ("api_key=sk-abcdefghijklmnopqrstuvwx", ["sk-abcdefghijklmnopqrstuvwx"]),
        ("AKIAIOSFODNN7EXAMPLE", ["AKIAIOSFODNN7EXAMPLE"]),
        ("-----BEGIN RSA PRIVATE KEY-----", ["-----BEGIN RSA PRIVATE KEY-----"]),
        ("Password: required. The API key: see the manual.", []),
        ("sk-learn and ghp_short", []),
        ("password: ********, Password: Required, api key: see-docs, api_key=YOUR_API_KEY", []),
        ("password: ****4821, password=${DB_PASSWORD_2}, access token: <token-1234>, api key: xxxxxxxx9", []),
        ("password: Tr0ub4dor&3, api key: bQxWzKpLmN", ["Tr0ub4dor&3", "bQxWzKpLmN"]),
    ],
)
def test_keys(text, expected):
    assert found(text, "key") == expected


def test_a_long_text_is_read_in_reasonable_time():
    text = "Anna Keller Anna " * 20_000 + "A" * 100_000 + " Mr " * 50_000
    assert len(found(text)) == 20_000


def test_words_after_a_number_are_no_account():
    assert found("The part VC6096 for use with GSM networks and a car", "account") == []


@pytest.mark.parametrize("text", ["A" + "a" * 100_000, "Ab-" * 33_000, "A'" * 50_000, "Name: " + "Aa-" * 33_000])
def test_one_long_word_is_read_in_linear_time(text):
    started = time.process_time()
    assert found(text) == []
    assert time.process_time() - started < 20
