import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.personal import Masker, find_personal, passes_iban, passes_luhn


def kinds(text):
    return [(finding.kind, text[finding.start : finding.end]) for finding in find_personal(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to anna.meier@example.org, please.", [("e-mail", "anna.meier@example.org")]),
        ("<jo+rag@mail.example.co.uk>", [("e-mail", "jo+rag@mail.example.co.uk")]),
        ("Call +49 30 901820 or 0049 (30) 90-18-20.", [("phone", "+49 30 901820"), ("phone", "0049 (30) 90-18-20")]),
        ("Tel. 030/901820-12", [("phone", "030/901820-12")]),
        ("(555) 010-4477", [("phone", "(555) 010-4477")]),
        ("555-010-4477", [("phone", "555-010-4477")]),
        ("mobile 01701234567", [("phone", "01701234567")]),
        ("card 4111 1111 1111 1111 expires", [("card", "4111 1111 1111 1111")]),
        ("378282246310005", [("card", "378282246310005")]),
        ("IBAN DE89 3704 0044 0532 0130 00 at the bank", [("account", "DE89 3704 0044 0532 0130 00")]),
        ("gb29nwbk60161331926819.", [("account", "gb29nwbk60161331926819")]),
    ],
)
def test_personal_data_is_found(text, expected):
    assert kinds(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The ferry leaves at 9.30 on 2024-05-01 and on 01.05.2024.",
        "It cost 1,234,567.89 euros, or 12 345 678.",
        "Order 4111111111111112 is no card.",
        "DE88370400440532013000 has a wrong check digit.",
        "Version 10.0.19045, address 192.168.100.200, 0.0012345678",
        "ISBN 978-3-16-148410-1",
        "@harbour on the net, a@b",
        "0000000000000000",
        "section 3.1.4, pages 100-120, 1990-2000",
        "trace 4bf92f3577b34da6a3ce929d0e0e4736",
    ],
)
def test_other_numbers_are_left_alone(text):
    assert kinds(text) == []


def test_the_same_data_has_the_same_placeholder_in_every_text():
    masker = Masker()
    assert masker.mask("From Jo@example.org to mia@example.org") == "From [e-mail 1] to [e-mail 2]"
    assert masker.mask("jo@example.org, +49 30 901820") == "[e-mail 1], [phone 1]"
    assert masker.mask("+493090 1820") == "[phone 1]"
    assert masker.counts == {"e-mail": 3, "phone": 2}


# Against their definitions


def luhn(body):
    """The number with the digit that checks it, as ISO/IEC 7812-1 computes it: from the right, every second doubled."""
    total = 0
    for place, digit in enumerate(reversed(body)):
        number = int(digit) * 2 if place % 2 == 0 else int(digit)
        total += number // 10 + number % 10
    return body + str(-total % 10)


def iban(country, account):
    number = "".join(str(string.digits.find(c)) if c.isdigit() else str(ord(c) - 55) for c in f"{account}{country}00")
    return f"{country}{98 - int(number) % 97:02d}{account}"


digits = st.text(string.digits, min_size=12, max_size=18)
cards = digits.filter(lambda body: body[0] not in "0" and len(set(body)) > 2).map(luhn)
accounts = st.builds(
    iban,
    st.sampled_from(["DE", "GB", "FR", "NL", "ES"]),
    st.text(string.digits + "ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=11, max_size=26),
)
words = st.lists(
    st.sampled_from(["the", "ferry", "leaves", "and", "pays", "for", "a", "ticket", "today"]), max_size=6
).map(" ".join)
emails = st.from_regex(r"[a-z][a-z0-9._+]{0,10}[a-z0-9]@[a-z]{1,8}\.(org|com|co\.uk)", fullmatch=True)


def test_the_checks_know_published_numbers():
    assert passes_luhn("79927398713")
    assert not passes_luhn("79927398710")
    assert passes_iban("GB82WEST12345698765432")
    assert not passes_iban("GB82WEST12345698765433")


@given(cards, st.integers(0, 15), st.integers(1, 9))
def test_one_wrong_digit_is_no_card(card, place, shift):
    assert passes_luhn(card)
    place %= len(card)
    wrong = card[:place] + str((int(card[place]) + shift) % 10) + card[place + 1 :]
    assert not passes_luhn(wrong)


@given(st.one_of(cards, accounts, emails), words, words)
def test_what_is_personal_is_gone_after_masking(secret, before, after):
    text = f"{before} {secret}, {after}"
    masked = Masker().mask(text)
    assert secret not in masked
    assert masked.startswith(before)
    assert masked.endswith(after)
    assert find_personal(masked) == []


@given(st.text())
def test_masking_twice_changes_nothing_more(text):
    once = Masker().mask(text)
    assert Masker().mask(once) == once
    if not find_personal(text):
        assert once == text
