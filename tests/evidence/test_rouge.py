"""What answers and references share, of all rows and of chosen ones."""

import numpy as np
import pyarrow as pa
import pytest

from ragstone.data.columns import Column
from ragstone.evidence import rouge
from ragstone.evidence.rouge import LinePairs, line_pairs, word_pairs
from ragstone.evidence.words import answer_words, reference_words

ANSWERS = pa.array(["the cat sat", "runs", "one\ntwo three\nfour"])
REFERENCES = pa.array([["the cat ran", "sat the cat"], ["running"], ["two one three", "one four"]])


def pairs():
    return word_pairs(answer_words(ANSWERS), reference_words(REFERENCES))


def test_pairs_are_columns_that_can_be_read():
    for column in (pairs(), LinePairs(ANSWERS, REFERENCES)):
        assert isinstance(column, Column)
        assert len(column) == 3
    assert pairs()[1] == [(["runs"], ["running"])]
    assert LinePairs(ANSWERS, REFERENCES)[2] == [
        (["one", "two three", "four"], ["two one three"]),
        (["one", "two three", "four"], ["one four"]),
    ]


def test_counts_for_each_reference():
    found = pairs()
    assert found.shared(1).tolist() == [2, 3, 0, 3, 2]
    assert found.shared(2).tolist() == [1, 1, 0, 0, 0]
    assert found.in_order.tolist() == [2, 2, 0, 2, 2]
    assert found.stemmed.shared(1).tolist() == [2, 3, 1, 3, 2]


def test_counted_once():
    found = pairs()
    assert found.shared(2) is found.shared(2)
    assert found.stemmed is found.stemmed
    assert found.in_order is found.in_order


@pytest.mark.parametrize("rows", [[0, 2], [1], [2, 0, 2], []])
def test_chosen_rows(rows):
    per_row, chosen = np.array([0, 0, 1, 2, 2]), np.array(rows, dtype=np.int64)
    expected = [value for row in rows for value in pairs().in_order[per_row == row].tolist()]
    assert pairs().take(chosen).in_order.tolist() == expected
    lines = LinePairs(ANSWERS, REFERENCES).take(chosen)
    assert len(lines.broken) == 2 * rows.count(2)


def test_lines():
    """Of 'two one three' the line 'two three' covers two words and 'one' the third."""
    lines = LinePairs(ANSWERS, REFERENCES)
    assert lines.broken.tolist() == [3, 4]
    assert lines.in_order(stemmed=False).tolist() == [3, 2]
    stems = LinePairs(pa.array(["cats\nflying"]), pa.array([["flied cat"]]))
    assert stems.in_order(stemmed=False).tolist() == [0]
    assert stems.in_order(stemmed=True).tolist() == [2]


def test_too_many_lines(monkeypatch):
    monkeypatch.setattr(rouge, "_MOST_LINE_PAIRS", 3)
    found = line_pairs(ANSWERS, REFERENCES, pairs())
    assert found.reasons == {}
    many = pa.array([["x", "y"], ["running"], ["two", "one\nfour\nfive"]])
    gaps = line_pairs(ANSWERS, many, word_pairs(answer_words(ANSWERS), reference_words(many)))
    assert list(gaps.reasons) == [2]
    assert "9 pairs" in gaps.reasons[2]
