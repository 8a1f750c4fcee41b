"""Sentences of several scripts, as a person would cut them."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.sentences import sentences


def cut(text):
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "marked",
    [
        "It opened. | It closed!  | Did it? | It did…",
        "Dr. Smith met Mrs. Jones, e.g. on Mondays, vs. the rest. | They left.",
        "J. R. R. Tolkien wrote it. | It is long.",
        "He lives in the U.S. | The ship of the U.S. Navy sank at 5 p.m. | It was dark.",
        "It costs $3.50, or 1.234,5. | Version 2.0.1 is out. | See example.com. | Done",
        '"Is it true?" he asked. | "It is!" | (So it was.) | Fine.',
        "Wait... what happened? | Nothing.",
        "See Fig. 3, No. 5 and Sec. 2. | Then rest.",
        "Plan B. | The rest follows.",
        "1. Mix it. | 2. Bake it. | (3.) Eat it.",
        "Heading | - first item | - second item | * third | 4. fourth",
        "A line\nthat goes on\nhere. | Next.",
        "One paragraph | \n\n | another one".replace(" | \n\n | ", "\n\n| "),
        "東京は首都です。|人口は多い！|本当？！|「はい。」|そう．",
        "圆周率是３．１４。|好。",
        "यह एक वाक्य है। | यह दूसरा है॥",
        "هل هذا صحيح؟ | نعم.",
        "no stop at all",
        "Ende. | Über allem.",
    ],
)
def test_examples(marked):
    text = marked.replace(" | -", "\n-").replace(" | *", "\n*").replace(" | 4", "\n4").replace("|", "")
    assert cut(text) == [part.strip() for part in marked.split("|")]


@pytest.mark.parametrize("text", ["", " \n ", "...", "!? — 。"])
def test_no_sentence(text):
    assert cut(text) == []


@given(st.lists(st.sampled_from([*"aB1 .!?\n\"'()-", "。", "é", "Dr."]), max_size=30).map("".join))
def test_laws(text):
    """Sentences lie in order, begin and end with something to see, and leave out no letter."""
    found = sentences(text)
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in found)
    assert all(before.end <= after.start for before, after in pairwise(found))
    assert [c for c in text if c.isalnum()] == [c for part in cut(text) for c in part if c.isalnum()]


@pytest.mark.slow
@pytest.mark.parametrize("unit", [".", ". ", "\n", "\n \n", " ", "Mr. ", "a.", '."', "\nx", "A. (", "。"])
def test_a_megabyte_takes_seconds(unit):
    started = time.process_time()
    sentences(unit * (1_000_000 // len(unit)) + "x")
    assert time.process_time() - started < 30
