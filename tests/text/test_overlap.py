"""Longest common subsequences against the table of the textbook, and against rouge-score's way of reading it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text import overlap as subsequences
from ragstone.text.overlap import common_lengths, shares_topic, union_of_common

lines = st.lists(st.integers(0, 4), max_size=9)


def table(left, right):
    rows = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, one in enumerate(left, 1):
        for j, other in enumerate(right, 1):
            rows[i][j] = rows[i - 1][j - 1] + 1 if one == other else max(rows[i - 1][j], rows[i][j - 1])
    return rows


def places(left, right):
    """From the end of the table: equal numbers are taken, otherwise to the larger neighbour, upwards where they are equal."""
    rows, i, j, found = table(left, right), len(left), len(right), set()
    while i and j:
        if left[i - 1] == right[j - 1]:
            i, j = i - 1, j - 1
            found.add(i)
        elif rows[i][j - 1] > rows[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return found


def flat(rows):
    return np.array([number for row in rows for number in row], dtype=np.int64), np.cumsum([0, *map(len, rows)])


@given(st.lists(st.tuples(lines, lines), max_size=5), st.sampled_from([0, 0xD7FE, 0xE000, 0x10F7FC, 2_000_000]))
def test_lengths(pairs, first):
    """Also of numbers that have no character of their own."""
    left, right = ([[number + first for number in pair[side]] for pair in pairs] for side in (0, 1))
    found = common_lengths(*flat(left), *flat(right))
    assert found.tolist() == [table(*pair)[-1][-1] for pair in pairs]


@pytest.mark.parametrize("most_bits", [2**30, 4])
@given(line=lines, others=st.lists(lines, max_size=4))
def test_union(most_bits, line, others):
    expected = set().union(*(places(line, other) for other in others))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsequences, "_MOST_BITS", most_bits)
        assert union_of_common(line, others) == [line[place] for place in sorted(expected)]


def test_long_lines():
    line = list(range(3_000)) * 2
    assert union_of_common(line, [line[::-1][:3_000], line]) == line


@pytest.mark.parametrize(
    ("text", "question", "answer", "shares"),
    [
        (
            "Dogs are not allowed at Lakeside.",
            "Are dogs allowed at the lake pool?",
            "No, only guide dogs are allowed.",
            True,
        ),
        (
            "Jumping is allowed in the 50 m pool.",
            "Are dogs allowed at the lake pool?",
            "No, only guide dogs are allowed.",
            False,
        ),
        ("Jumping is allowed in the 50 m pool.", "Are dogs allowed?", "Yes, they are allowed.", False),
        ("Dogs are welcome.", "Can I bring my dog?", "Yes", True),
        ("The fee is fourteen euros.", "How much is it?", "14", True),
        ("The fee is 15 euros.", "How much is the fee?", "14", True),
        ("The kiosk closes at noon.", "How much is the fee?", "14", False),
        # A paraphrase with most words of the question.
        ("The famous poet passed away in Verrin.", "Did the famous poet leave Verrin?", "Died", True),
        ("Die Hallenbadpreise steigen im Mai.", "Was ändert sich?", "Die Preise", True),
        ("最后一班渡轮八点开。", "渡轮几点开？", "八点", True),
        ("商店九月关门。", "渡轮?", "八点", False),
        ("สระว่ายน้ำเปิดทุกวัน", "เปิดวันไหน", "ทุกวัน", True),
        ("Anything at all.", "", "Yes.", True),
    ],
)
def test_a_text_about_the_topic_of_an_answer(text, question, answer, shares):
    assert shares_topic(text, question, answer) is shares
