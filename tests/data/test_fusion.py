"""Rank fusion, computed by hand."""

import time

import pytest

from ragstone.data.fusion import fuse

FIRST = [("a", 9.0), ("b", 5.0), ("c", 1.0)]
SECOND = [("b", 0.9), ("d", 0.1)]


def values(found):
    return {name: pytest.approx(score) for name, score in found}


def test_reciprocal_rank_fusion():
    found = fuse([FIRST, SECOND])
    assert [name for name, _ in found] == ["b", "a", "d", "c"]
    assert dict(found) == values([("a", 1 / 61), ("b", 1 / 62 + 1 / 61), ("c", 1 / 63), ("d", 1 / 62)])
    assert dict(fuse([FIRST, SECOND], k=0))["b"] == pytest.approx(1 / 2 + 1)


def test_sums_of_scaled_scores():
    # Scaled: a 1, b 1/2, c 0; b 1, d 0.
    assert dict(fuse([FIRST, SECOND], "combsum")) == values([("a", 1), ("b", 1.5), ("c", 0), ("d", 0)])
    assert dict(fuse([FIRST, SECOND], "combmnz")) == values([("a", 1), ("b", 3), ("c", 0), ("d", 0)])


def test_equal_scores_are_sorted_as_in_trec_eval():
    assert [name for name, _ in fuse([FIRST, SECOND], "combsum")] == ["b", "a", "d", "c"]
    assert [name for name, _ in fuse([[("a", 1.0)], [("b", 1.0)]])] == ["b", "a"]


def test_a_list_of_equal_scores_counts_in_full():
    assert dict(fuse([[("a", 3.0), ("b", 3.0)], [("c", 0.0)]], "combsum")) == {"a": 1.0, "b": 1.0, "c": 1.0}


def test_an_id_counts_once_per_list_and_does_not_shift_others():
    assert fuse([[("a", 2.0), ("a", 1.5), ("b", 1.0)]]) == fuse([[("a", 2.0), ("b", 1.0)]])


def test_one_list_keeps_its_order_and_none_is_empty():
    assert [name for name, _ in fuse([FIRST])] == ["a", "b", "c"]
    assert fuse([]) == fuse([[], []]) == []


def test_long_lists_are_quick():
    lists = [[(f"d{(number * step) % 20011}", float(-number)) for number in range(20_000)] for step in (1, 7, 11)]
    started = time.process_time()
    assert len(fuse(lists, "combmnz")) > 20_000 - 1
    assert time.process_time() - started < 5
