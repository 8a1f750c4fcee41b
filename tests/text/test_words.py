"""Folded words and their places, in many scripts."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragstone.text.words import FoldedText, word_texts, words

# All of Unicode, and often what is hard: marks, unspaced scripts, ligatures, white space.
hard = st.sampled_from(
    "aZ9 .\t\x00\u00a0\u0301\u0308ßẞÄäﬁﬀ½²İıςΣﷺ\ufe70\u037a中文東々かがｶﾞカ\u3099ไทย่ำहिन्दीعربي\u0651مُ한글\u1112\u1161😀\ufe0f\u200d\u20e3\u0e48"
)
texts = st.text(st.characters() | hard, max_size=20)


def folded(text: str) -> list[str]:
    return [word.text for word in words(text)]


def found(fact: str, chunk: str) -> list[str]:
    return [chunk[span.start : span.end] for span in FoldedText(chunk).find(FoldedText(fact))]


@given(texts)
@example("\u0e48\u0e48")
def test_offsets_slice_to_the_word(text):
    end = 0
    for word in words(text):
        assert end <= word.start < word.end <= len(text)
        assert folded(text[word.start : word.end]) == [word.text]
        assert word.text
        assert " " not in word.text
        end = word.end


@given(texts)
def test_nothing_but_words_is_left_out(text):
    covered = {position for word in words(text) for position in range(word.start, word.end)}
    assert not [character for position, character in enumerate(text) if character.isalnum() and position not in covered]


@pytest.mark.slow
def test_every_letter_digit_and_emoji_of_unicode_is_a_word_and_nothing_else_is():
    voice_marks = (0xFF9E, 0xFF9F)  # of half-width kana: letters to Unicode, but they belong to the letter before
    for code in range(0x34000):  # beyond are no letters
        emoji = 0x2600 <= code <= 0x27BF or 0x1F000 <= code <= 0x1FAFF
        is_word = (chr(code).isalnum() or emoji) and code not in voice_marks
        assert len(folded(chr(code))) == is_word, hex(code)


@given(texts)
def test_one_unicode_form(text):
    assert folded(unicodedata.normalize("NFC", text)) == folded(unicodedata.normalize("NFD", text))


@given(texts, texts, texts)
@example("", "\u0e48\u0e48\u0e01", "")
def test_a_fact_is_found_wherever_it_stands(before, fact, after):
    chunk = f"{before} {fact} {after}"
    places = found(fact, chunk)
    assert bool(places) == bool(folded(fact))
    assert all(folded(place) == folded(fact) for place in places)


@given(texts, texts)
def test_found_means_the_same_words_in_a_row(fact, chunk):
    needle, hay = folded(fact), folded(chunk)
    expected = any(hay[at : at + len(needle)] == needle for at in range(len(hay))) if needle else False
    assert bool(found(fact, chunk)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World-wide 42!", ["hello", "world", "wide", "42"]),
        ("snake_case", ["snake", "case"]),
        ("Straße", ["strasse"]),
        ("GROẞ", ["gross"]),
        ("Mu\u0308nchen", ["münchen"]),
        ("ﬁnancial oﬀer", ["financial", "offer"]),
        ("ΟΔΟΣ οδός", ["οδοσ", "οδόσ"]),
        ("ＡＢＣ１", ["abc1"]),
        ("東京タワー2020年", ["東", "京", "タ", "ワ", "ー", "2020", "年"]),
        ("か\u3099く", ["が", "く"]),
        ("人々", ["人", "々"]),
        ("ไทย", ["ไ", "ท", "ย"]),
        ("น้ำ", ["น้", "\u0e4d\u0e32"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("مُحَمَّد كتاب", ["مُحَمَّد", "كتاب"]),
        ("한국어 말", ["한국어", "말"]),
        ("go 🚀👩\u200d🚀 now", ["go", "🚀", "👩", "🚀", "now"]),
        ("1\ufe0f\u20e3", ["1\ufe0f\u20e3"]),
        ("a\x00b", ["a", "b"]),
        ("é\x00é", ["é", "é"]),
        ("x² ½", ["x2", "1⁄2"]),
        ("ﷺ", ["صلىاللهعليهوسلم"]),
        ("\u0301", []),
        ("  …—\n", []),
        ("", []),
    ],
)
def test_words(text, expected):
    assert folded(text) == expected


@pytest.mark.parametrize(
    ("fact", "chunk", "place"),
    [
        ("9 million", "19 million", None),
        ("9 million", "1.9 million", "9 million"),
        ("million", "millions", None),
        ("9 MILLION", "about 9\n\n million.", "9\n\n million"),
        ("$4,825", "revenues of $4 825 billion", "4 825"),
        ("MÜNCHEN", "in Mu\u0308nchen, dort", "Mu\u0308nchen"),
        ("Strasse", "Die STRAßE!", "STRAßE"),
        ("Fuß", "Fußball", None),
        ("financial", "the ﬁnancial year", "ﬁnancial"),
        ("東京", "日本の東京です", "東京"),
        ("京東", "東京です", None),
        ("ประเทศไทย", "ในประเทศไทยมี", "ประเทศไทย"),
        ("हिन्दी", "यह हिन्दी है।", "हिन्दी"),
        ("كتاب", "هذا كتاب.", "كتاب"),
        ("كتاب", "هذا الكتاب.", None),
        ("a b", "a\x00b", "a\x00b"),
        ("1 April 1976", "on “1 April, 1976”", "1 April, 1976"),
        ("...", "any ... thing", None),
        ("", "", None),
    ],
)
def test_find(fact, chunk, place):
    assert found(fact, chunk) == ([] if place is None else [place])


def test_every_place_is_found():
    text = FoldedText("to be or not to be, To-Be!")
    assert text.find(FoldedText("to be")) == [(0, 5), (13, 18), (20, 25)]


def test_places_do_not_overlap():
    assert FoldedText("a a a a a").find(FoldedText("a a")) == [(0, 3), (4, 7)]


def test_a_text_without_words_is_false():
    assert not FoldedText("— !")
    assert FoldedText("x")


def test_a_long_text_is_quick():
    chunk = FoldedText("wörter und mehr " * 5_000 + "das Ende")
    assert chunk.find(FoldedText("DAS ENDE")) == [(80_000, 80_008)]


def test_a_variation_selector_belongs_to_its_letter():
    assert folded("x葛\U000e0100飾") == ["x", "葛\U000e0100", "飾"]
    assert folded("a\U000e01efb") == ["a\U000e01efb"]


def test_a_number_in_a_circle_is_a_digit_and_no_emoji():
    assert folded("a❶b ☀a") == ["a❶b", "☀", "a"]


@pytest.mark.slow
@pytest.mark.parametrize("word", ["nine", "neün"])
def test_many_places_in_a_long_text(word):
    places = FoldedText(f"{word}, " * 50_000).find(FoldedText(word))
    assert places == [(start, start + 4) for start in range(0, 300_000, 6)]


@given(texts)
@example("It's 9.30 AM")
def test_words_without_positions_are_the_same(text):
    assert word_texts(text) == folded(text)
