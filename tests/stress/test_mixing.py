"""Mixing as METRICS.md section 7 has it."""

import pytest

from ragstone.data.types import Chunk
from ragstone.stress.mixing import count_negatives, mix, mix_groups, shuffle

GOOD = [Chunk(f"good {number}") for number in range(10)]
BAD = [Chunk(f"bad {number}") for number in range(10)]


def kinds(passages):
    return "".join(passage.kind for passage in passages)


@pytest.mark.parametrize(
    ("passages", "rate", "negatives"),
    [
        (5, 0.0, 0),
        (5, 0.2, 1),
        (5, 0.3, 2),
        (5, 0.6, 3),
        (5, 1.0, 5),
        (10, 0.3, 3),
        (10, 0.1 * 3, 3),
        (3, 0.5, 2),
        (1, 0.01, 1),
    ],
)
def test_negatives_are_rounded_up(passages, rate, negatives):
    assert count_negatives(passages, rate) == negatives
    assert kinds(mix(GOOD, BAD, passages, rate)) == "+" * (passages - negatives) + "-" * negatives


def test_the_first_of_each_kind_are_taken():
    found = mix(GOOD, BAD, 5, 0.4)
    assert [passage.chunk.text for passage in found] == ["good 0", "good 1", "good 2", "bad 0", "bad 1"]


@pytest.mark.parametrize(
    ("good", "bad", "rate", "expected"),
    [
        (2, 10, 0.2, "++---"),  # too few positives
        (10, 1, 0.8, "++++-"),  # too few negatives
        (10, 0, 1.0, "+++++"),
        (0, 10, 0.0, "-----"),
        (2, 1, 0.5, "++-"),  # too few of both
        (0, 0, 0.5, ""),
    ],
)
def test_too_few_of_one_kind_are_filled_with_the_other(good, bad, rate, expected):
    assert kinds(mix(GOOD[:good], BAD[:bad], 5, rate)) == expected


def test_one_of_each_group_whatever_the_rate():
    groups = [GOOD[0:3], GOOD[3:5], GOOD[5:6]]
    ordered = [GOOD[0], GOOD[3], GOOD[5], GOOD[1], GOOD[4], GOOD[2]]

    def texts(rate):
        return [passage.chunk.text for passage in mix_groups(groups, ordered, BAD, 5, rate) if passage.kind == "+"]

    assert texts(1.0) == ["good 0", "good 3", "good 5"]
    assert texts(0.4) == ["good 0", "good 3", "good 5"]
    assert texts(0.2) == ["good 0", "good 3", "good 5", "good 1"]
    assert texts(0.0) == ["good 0", "good 3", "good 5", "good 1", "good 4"]
    assert kinds(mix_groups(groups, ordered, BAD[:1], 5, 1.0)) == "++++-"


def test_the_seed_decides_the_order():
    passages = mix(GOOD, BAD, 10, 0.5)
    assert shuffle(passages, 1, "a") == shuffle(passages, 1, "a")
    assert shuffle(passages, 1, "a") != shuffle(passages, 2, "a")
    assert set(shuffle(passages, 1, "a")) == set(passages)
