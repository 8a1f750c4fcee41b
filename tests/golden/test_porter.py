"""Against nltk's PorterStemmer as it comes, on the words of Wikipedia and on made-up ones."""

import json
import lzma
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.text.porter import stem
from tests.shared_data import shared_data

nltk_stem = pytest.importorskip("nltk.stem.porter").PorterStemmer().stem

ENDINGS = "s es ies ed ing eed ied y al ally alli ational ization fulness logi bli li ment ement ion tion at bl iz ll e"


@pytest.mark.slow
def test_the_words_of_wikipedia():
    with lzma.open(shared_data("wiki/articles.jsonl.xz"), "rt", encoding="utf-8") as lines:
        words = {word for line in list(lines)[:1500] for word in re.findall(r"\w+", json.dumps(json.loads(line)))}
    assert len(words) > 20_000
    assert {word: stem(word) for word in words} == {word: nltk_stem(word) for word in words}


@settings(max_examples=500)
@given(st.lists(st.sampled_from([*ENDINGS.split(), *"aeiouybcdlnstz"]), min_size=1, max_size=7).map("".join))
def test_made_up_words(word):
    assert stem(word) == nltk_stem(word)


@given(st.text())
def test_any_text(text):
    assert stem(text) == nltk_stem(text)
