"""Words of many texts at once against those of one text at a time."""

import sys
import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.word_columns import number_words, respell
from ragstone.text.words import words

ODD = [
    "’",
    "“",
    "—",
    "…",
    "\u200d",
    "\u2028",
    "\u0301",
    "é",
    "ß",
    "東",
    "ไ",
    "\u0e31",
    "ﬁ",
    "½",
    "😀",
    "\ufe0f",
    "\x00",
    "_",
    "ह",
    "ि",
]
texts = st.lists(
    st.one_of(st.text(max_size=12), st.text(st.sampled_from([*"aB9 .,\n", *ODD]), max_size=12)), max_size=6
)


def spelled(found):
    known = found.words.to_pylist()
    assert len(set(known)) == len(known)
    lists = zip(found.offsets, found.offsets[1:], strict=False)
    return [[known[number] for number in found.numbers[start:end]] for start, end in lists]


def one_by_one(text):
    return [word.text for word in words(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat's 9 lives.", "the cat s 9 lives"),
        ("state-of-the-art_thing", "state of the art thing"),
        ("it’s “fine” — really…", "it s fine really"),
        ("Straße NAÏVE e\u0301", "strasse naïve é"),
        ("x\x00y", "x y"),
        ("東京は9時", "東 京 は 9 時"),
        ("...", ""),
        ("", ""),
    ],
)
def test_examples(text, expected):
    assert spelled(number_words(pa.array([text]))) == [expected.split()]


@given(texts)
def test_the_same_words_as_one_text_at_a_time(many):
    assert spelled(number_words(pa.array(many, type=pa.string()))) == [one_by_one(text) for text in many]


@given(texts, st.integers(0, 3))
def test_a_slice_of_a_column(many, start):
    column = pa.array(many, type=pa.string()).slice(start)
    assert spelled(number_words(column)) == [one_by_one(text) for text in many[start:]]


@pytest.mark.slow
def test_every_character():
    """Within words, in one text, since each takes its time alone."""
    characters = [
        chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) not in ("Cs", "Cn", "Co")
    ]
    text = " ".join(f"{character} a{character}b" for character in characters)
    assert spelled(number_words(pa.array([text]))) == [one_by_one(text)]


def test_dashes_and_quotes_that_are_gaps():
    for code in range(0x2000, 0x2040):
        assert not chr(code).isalnum()
        assert unicodedata.category(chr(code))[0] != "M"


def test_texts_that_touch():
    """Where one text ends in a letter and the next begins with one they stay two words."""
    assert spelled(number_words(pa.array(["a", "b", "", "c1", "É", "d", "e"]))) == [
        ["a"],
        ["b"],
        [],
        ["c1"],
        ["é"],
        ["d"],
        ["e"],
    ]


def test_respelled():
    number, spelling = respell(pa.array(["cats", "cat", "dog"]), lambda word: word.rstrip("s"))
    assert [spelling[place].as_py() for place in number] == ["cat", "cat", "dog"]
    assert len(spelling) == 2
