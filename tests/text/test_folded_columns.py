"""Texts folded many at once against each text folded alone."""

import unicodedata

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragstone.text.folded_columns import fold_texts
from ragstone.text.words import FoldedText, words

# All of Unicode, and often what is hard: marks, unspaced scripts, ligatures, jamo, white space, the space between texts.
HARD = (
    "aZ9 .\t\n\x00\x0b\u00a0\u00ad\u0301\u0308\u0307iIßẞÄäﬁﬀ½²İıςΣΐﷺ\ufe70\u037a\u0345中文東々かがｶﾞカ\u3099ไทย่ำहिन्दीعربي\u0651مُ한글각\u1112\u1161\u11a8"
    "😀\ufe0f\u200d\u20e3\u0e48❶☀\ue000\uffff\U0001d7d8\U00020000\ufdfa\u2028\uac00\u09c7\u09be"
)
letters = st.characters(exclude_categories=("Cs",)) | st.sampled_from(HARD)
texts = st.lists(st.text(letters, max_size=20), max_size=8)


def folded(many: list[str]) -> list[str]:
    return [text.folded for text in fold_texts(pa.array(many, pa.string()))]


@given(texts)
@example(["", "é", " ", "straße é", "—", "中 a中b", "a"])
@example(["ἰ\u0345ß", "ﬁﬀ ŉ ǰ ΐ ΰ և ẖ ẗ"])
@settings(max_examples=400)
def test_the_same_as_one_by_one(many):
    assert folded(many) == [FoldedText(text).folded for text in many]


@pytest.mark.slow
def test_every_character_beside_others():
    for start in range(0, 0x30000, 512):
        codes = [chr(code) for code in range(start, start + 512) if not 0xD800 <= code < 0xE000]
        many = [f"é{letter}ωA {letter}{letter}中{letter}" for letter in codes]
        assert folded(many) == [FoldedText(text).folded for text in many], hex(start)


def test_neighbours_that_compose():
    pairs = [
        first + second
        for code in range(0xA0, 0x10000)
        if len(parts := unicodedata.normalize("NFD", chr(code))) > 1
        for first, second in [(parts[0], parts[1])]
    ]
    assert folded(pairs) == [FoldedText(text).folded for text in pairs]


def test_many_characters_that_fold_to_several():
    many = ["".join(chr(code) for code in range(0xFB50, 0xFDF0)), "ß"]
    assert folded(many) == [FoldedText(text).folded for text in many]


@given(st.text(letters, min_size=1, max_size=30), st.data())
@settings(max_examples=400)
def test_spans_are_those_of_the_words(text, data):
    text += "é中ß"
    found = list(words(text))
    first = data.draw(st.integers(0, len(found) - 1))
    last = data.draw(st.integers(first, len(found) - 1))
    [ours] = fold_texts(pa.array([text]))
    at = [place for place, letter in enumerate(ours.folded) if letter == " "]
    span = (found[first].start, found[last].end)
    assert ours.original(at[first] + 1, at[last + 1]) == FoldedText(text).original(at[first] + 1, at[last + 1]) == span


@pytest.mark.parametrize("text", ["das Haus — die Straße", "東京は9時", "дом и сад", "a\u0301b c", "👍 ok"])
def test_a_fact_is_found_where_it_stands(text):
    for word in words(text):
        [ours] = fold_texts(pa.array([f"x {text} y"]))
        assert (word.start + 2, word.end + 2) in ours.find(FoldedText(text[word.start : word.end]))
