"""Texts with fewer different characters have the same distances and positions."""

import random

from rapidfuzz import fuzz

from ragstone.text import matchers
from ragstone.text.matchers import Alphabet, shorten


def test_ascii_texts_stay_as_they_are():
    texts = ["a fact", "a text"]
    assert shorten(texts) is texts


def test_equal_characters_stay_equal():
    short = shorten(["гавань", "αγορά", "港", "\ud800", "", "гавань 港"])
    assert list(map(len, short)) == [6, 5, 1, 1, 0, 8]
    assert short[0] == short[5][:6]
    assert short[2] == short[5][-1]
    assert len(set("".join(short))) == len(set("гавань αγορά港\ud800"))
    assert all(ord(letter) < 256 for text in short for letter in text)


def test_alignments_are_the_same():
    chance = random.Random(1)
    for _ in range(200):
        letters = chance.choice(["абвгд ", "αβγδ ab ", "港口燈塔 x", "äöü abc ", "👩😀ab "])
        fact = "".join(chance.choices(letters, k=chance.randint(1, 90)))
        text = "".join(chance.choices(letters, k=chance.randint(90, 200)))
        cut = chance.randrange(len(text))
        text = f"{text[:cut]}{fact[: len(fact) - chance.randint(0, 3)]}{text[cut:]}"
        for cutoff in (None, 90):
            expected = fuzz.partial_ratio_alignment(fact, text, score_cutoff=cutoff)
            assert fuzz.partial_ratio_alignment(*shorten([fact, text]), score_cutoff=cutoff) == expected


def test_too_many_characters_stay_as_they_are():
    many = ["".join(map(chr, range(0x4E00, 0x4E00 + 255))), "x"]
    assert shorten(many) is many
    assert Alphabet().shorten(many) is None
    assert Alphabet().shorten([many[0][:254]]) is not None


def test_a_full_alphabet_is_replaced(monkeypatch):
    monkeypatch.setattr(matchers, "_current", [Alphabet()])
    first, second = ("".join(map(chr, range(start, start + 200))) for start in (0x4E00, 0x5E00))
    for text in (first, second, first):
        [short] = shorten([text])
        assert len(set(short)) == 200
        assert max(map(ord, short)) < 255
