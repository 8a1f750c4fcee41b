"""Columns in flight behave like the plain lists that they stand for."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.columns import FAILED, OK, SKIPPED, Cells, Column, Ragged, Rows
from ragstone.data.types import Score

numbers = st.floats(-1e6, 1e6)
lists = st.lists(st.lists(numbers, max_size=4), max_size=6)


@st.composite
def lists_and_rows(draw):
    rows = draw(lists)
    chosen = draw(st.lists(st.integers(0, len(rows) - 1), max_size=8)) if rows else []
    return rows, chosen


def as_lists(ragged):
    return [row.tolist() for row in ragged]


@given(lists)
def test_ragged_is_the_lists(rows):
    ragged = Ragged.from_lists(rows)
    assert len(ragged) == len(rows)
    assert as_lists(ragged) == rows
    assert ragged.lengths.tolist() == [len(row) for row in rows]
    assert ragged.values.tolist() == [value for row in rows for value in row]
    assert ragged.row_of.tolist() == [number for number, row in enumerate(rows) for _ in row]
    assert ragged.position.tolist() == [position for row in rows for position in range(len(row))]


@given(lists)
def test_ragged_sums_each_row(rows):
    ragged = Ragged.from_lists(rows)
    assert ragged.sum() == pytest.approx([sum(row) for row in rows], abs=1e-6)
    assert ragged.sum().dtype == np.float64
    assert ragged.sum(np.ones(len(ragged.values), dtype=bool)).tolist() == ragged.lengths.tolist()


@given(lists_and_rows())
def test_ragged_take(case):
    rows, chosen = case
    taken = Ragged.from_lists(rows).take(np.array(chosen, dtype=np.int64))
    assert as_lists(taken) == [rows[row] for row in chosen]


@given(lists_and_rows(), st.data())
def test_ragged_take_of_take(case, data):
    rows, chosen = case
    again = data.draw(st.lists(st.integers(0, len(chosen) - 1), max_size=8)) if chosen else []
    first, second = np.array(chosen, dtype=np.int64), np.array(again, dtype=np.int64)
    ragged = Ragged.from_lists(rows)
    assert as_lists(ragged.take(first).take(second)) == as_lists(ragged.take(first[second]))


def test_ragged_from_the_end_and_beyond():
    ragged = Ragged.from_lists([[1], [2, 3]])
    assert ragged[-1].tolist() == [2, 3]
    for row in (2, -3):
        with pytest.raises(IndexError):
            ragged[row]


def test_ragged_of_whole_numbers():
    assert Ragged.from_lists([[1], [2]], dtype=np.int64).values.dtype == np.int64


@given(st.lists(st.text(max_size=2), min_size=1), st.data())
def test_rows_are_the_list(values, data):
    chosen = data.draw(st.lists(st.integers(0, len(values) - 1)))
    rows = Rows(values)
    assert (len(rows), list(rows), rows[0]) == (len(values), values, values[0])
    assert list(rows.take(np.array(chosen, dtype=np.int64))) == [values[row] for row in chosen]


@pytest.mark.parametrize("column", [Rows([1]), Ragged.from_lists([[1]]), pa.array([1]), np.array([1])], ids=type)
def test_columns(column):
    assert isinstance(column, Column)


def test_cells_all_ok():
    cells = Cells.all_ok(np.array([True, False]))
    assert [cells[0], cells[1]] == [Score(1.0), Score(0.0)]


def test_cells_unless():
    cells = Cells.unless(np.array([False, True]), "why", np.array([0.5, np.nan]))
    assert [cells[0], cells[1]] == [Score(0.5), Score(None, "skipped", "why")]
    assert np.isfinite(cells.values).all()


def test_cells_fail():
    cells = Cells.all_ok(np.array([0.5, 0.7]))
    cells.fail(0, "broken")
    cells.fail(1, "nothing to say", SKIPPED)
    assert [cells[0], cells[1]] == [Score(None, "failed", "broken"), Score(None, "skipped", "nothing to say")]


scores = st.one_of(
    st.floats(0, 1).map(Score),
    st.builds(Score, st.none(), st.sampled_from(["skipped", "failed"]), st.sampled_from(["a", "b"])),
)


def cells_of(rows):
    cells = Cells.all_ok(np.array([row.value or 0.0 for row in rows]))
    for number, row in enumerate(rows):
        if row.status != "ok":
            cells.fail(number, row.reason, {"skipped": SKIPPED, "failed": FAILED}[row.status])
    return cells


@given(st.lists(scores, max_size=6), st.data())
def test_cells_put(before, data):
    places = data.draw(st.lists(st.sampled_from(range(len(before))), unique=True)) if before else []
    after = data.draw(st.lists(scores, min_size=len(places), max_size=len(places)))
    cells = cells_of(before)
    cells.put(np.array(places, dtype=np.int64), cells_of(after))
    expected = list(before)
    for place, score in zip(places, after, strict=True):
        expected[place] = score
    assert [cells[row] for row in range(len(cells))] == expected
    assert cells.reasons.keys() == {row for row in range(len(cells)) if cells.status[row] != OK}
