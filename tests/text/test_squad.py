"""The SQuAD normalisation against examples worked out by hand from the official evaluate-v1.1.py."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.squad import normalise, tokens


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
        ("Beyoncé’s «the» — hit", "beyoncé’s « » — hit"),
        ("ÄPFEL", "äpfel"),
        ("a\u00a0the\u2003b", "b"),
        ("東京は首都です。", "東 京 は 首 都 で す"),
        ("x\x00y", "x\x00y"),
    ],
)
def test_examples(text, expected):
    assert normalise(text) == expected


@given(st.text())
def test_laws(text):
    words = tokens(text)
    assert normalise(text) == " ".join(words)
    assert not {"a", "an", "the"} & set(words)
    assert all(word and not set(word) & set(string.punctuation) and word.split() == [word] for word in words)


@given(st.text(st.characters(codec="ascii")))
def test_normalising_twice_changes_nothing(text):
    assert normalise(normalise(text)) == normalise(text)
