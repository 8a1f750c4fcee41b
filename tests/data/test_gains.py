"""Gains behave like the plain lists that they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.columns import Column
from ragstone.data.gains import Gains

lists = st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), max_size=5), max_size=6)


def as_lists(gains):
    return [gains[row].tolist() for row in range(len(gains))]


@given(lists)
def test_a_row_reads_as_its_list(rows):
    gains = Gains.from_lists(rows)
    assert isinstance(gains, Column)
    assert as_lists(gains) == rows
    assert list(map(list, gains)) == rows
    assert gains.lengths.tolist() == [len(row) for row in rows]


def test_there_is_no_row_behind_the_last():
    with pytest.raises(IndexError):
        Gains.from_lists([[1.0]])[1]


def test_what_is_below_0_is_worth_nothing():
    assert as_lists(Gains.from_lists([[-1.0, 2.0]])) == [[0, 2]]


@given(lists, st.data())
def test_take(rows, data):
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8)) if rows else []
    taken = Gains.from_lists(rows).take(np.array(chosen, dtype=np.int64))
    assert as_lists(taken) == [rows[row] for row in chosen]


@given(st.lists(lists, min_size=1, max_size=3))
def test_concat(parts):
    assert as_lists(Gains.concat([Gains.from_lists(part) for part in parts])) == [row for part in parts for row in part]


@given(lists)
def test_sums(rows):
    gains = Gains.from_lists(rows)
    assert gains.sum().tolist() == [sum(value > 0 for value in row) for row in rows]
    assert gains.sum(gains.grades).tolist() == [sum(row) for row in rows]
    assert gains.sum().dtype == gains.sum(gains.grades).dtype == np.float64
    running = gains.running(gains.grades).tolist()
    assert running == [sum(row[: at + 1]) for row in rows for at, value in enumerate(row) if value]


def test_two_grades_at_one_place():
    """A chunk that holds two of the texts that were wanted."""
    gains = Gains(np.array([0, 0, 0, 1]), np.array([2, 2, 3, 2]), np.ones(4), np.array([3, 2]))
    assert as_lists(gains) == [[0, 2, 1], [0, 1]]
    assert gains.is_new.tolist() == [True, False, True, True]


def test_where():
    gains = Gains.from_lists([[1.0, 2.0], [0.0, 3.0]])
    assert as_lists(gains.where(gains.grades > 1)) == [[0, 2], [0, 3]]
    assert gains.where(gains.grades > 0) is gains
