"""The SQuAD normalisation against examples worked out by hand from the official evaluate-v1.1.py."""

import string
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text import word_columns as numbering
from ragstone.text.squad import number_tokens, strict_tokens, tokens


def normalise(text):
    return " ".join(tokens(text))


PIECES = [
    *"aA the\t\n.,-_9",
    "\x00",
    "\x1c",
    "\x7f",
    "\u0301",
    "\u00a0",
    "\u3000",
    "é",
    "İ",
    "´",
    "ａ",
    "東",
    "\u0e31",
    "ﬁ",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Eiffel Tower", "eiffel tower"),
        ("  an  apple\ta\nday ", "apple day"),
        ("U.S.A.", "usa"),
        ("it's 3,000", "its 3000"),
        ("state-of-the-art", "stateoftheart"),
        ("A.", ""),
        ("the a an", ""),
        ("", ""),
        ("!?.", ""),
        ("theatre and banana", "theatre and banana"),
        ("a_b", "ab"),
        ("Saint Bernadette Soubirous", "saint bernadette soubirous"),
        ("Beyoncé’s «the» — hit", "beyoncés hit"),
        ("don’t", "dont"),
        ("the “Nile”", "nile"),
        ("well‑known, 1939–1945", "wellknown 19391945"),
        ("boats—ferries", "boats ferries"),
        ("don´t gar¸con", "dont garcon"),
        ("ÄPFEL", "äpfel"),
        ("a\u00a0the\u2003b", "b"),
        ("東京は首都です。", "東 京 は 首 都 で す"),
        ("x\x00y", "x\x00y"),
    ],
)
def test_examples(text, expected):
    assert normalise(text) == expected


@pytest.mark.parametrize(("text", "plain"), [("don’t", "don't"), ("the “Nile”", '"Nile"'), ("1939–1945", "1939-1945")])
def test_typographic_signs_match_their_ascii_forms(text, plain):
    assert tokens(text) == tokens(plain)
    assert strict_tokens(text) != strict_tokens(plain) == tokens(plain)


@given(st.text())
def test_laws(text):
    words = tokens(text)
    assert normalise(text) == " ".join(words)
    assert not {"a", "an", "the"} & set(words)
    assert all(word and not set(word) & set(string.punctuation) and word.split() == [word] for word in words)


@given(st.text(st.characters(codec="ascii")))
def test_normalising_twice_changes_nothing(text):
    assert normalise(normalise(text)) == normalise(text)


@given(st.lists(st.text(st.sampled_from(PIECES), max_size=12) | st.text(max_size=8), max_size=6), st.integers(1, 9))
def test_many_texts_at_once(texts, block):
    """Whatever parts or joins words: spaces of all kinds, controls, marks, what unfolds to spaces or articles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "_BLOCK", block)
        numbers, offsets, words = number_tokens(pa.array(texts, type=pa.string()))
    spelled = words.take(pa.array(numbers)).to_pylist()
    assert [spelled[start:end] for start, end in pairwise(offsets.tolist())] == [tokens(text) for text in texts]
