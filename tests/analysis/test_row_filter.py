"""The language of row filters: its parser, its mistakes, its evaluation against a plain loop, and hostile texts."""

import math
import operator
import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragstone.analysis.row_filter import (
    MAX_LENGTH,
    Both,
    Condition,
    Either,
    FilterError,
    Not,
    RowFilter,
    with_ranges,
    write_name,
    write_text,
)

NAN = float("nan")
NUMBERS = {
    "ragchecker.faithfulness": [0.2, 0.5, NAN, 0.9],
    "unsure": [0, 2, 1, 0],
    "a.recall": [1, 0, 1, 0],
    "b.recall": [0] * 4,
}
TEXTS = {
    "status": ["wrong", "fine", "look", None],
    "cause": ["wrong passage used", None, None, "misread"],
    "slice.top_k": ["5", "10", None, "many"],
}
COLUMNS = {
    **{name: (lambda values=values: np.array(values, float)) for name, values in NUMBERS.items()},
    **{name: (lambda values=values: np.array(values, object)) for name, values in TEXTS.items()},
    "question": lambda: pa.chunked_array([["A refund?", "How long?"], ['REFUNDS \\ "now"', None]]),
}


def rows(text):
    return np.flatnonzero(RowFilter.parse(text).rows(COLUMNS, 4)).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ragchecker.faithfulness < .5", [0]),
        ("faithfulness <= 50%", [0, 1]),
        ("faithfulness != 0.5", [0, 3]),
        ("not faithfulness < .5", [1, 2, 3]),
        ("faithfulness is missing", [2]),
        ("faithfulness is not missing and unsure = 0", [0, 3]),
        ("unsure", [1, 2]),
        ("unsure > 0 and not (status = fine or status = 'wrong')", [2]),
        ("status = wrong OR unsure == 1", [0, 2]),
        ("status != wrong", [1, 2]),
        ("status is missing", [3]),
        ('cause = "contradicted by noise"', [0]),  # the name of earlier versions
        ("question contains refund", [0, 2]),
        (r'question contains "\\ \"NOW\""', [2]),
        ("question = 'How long?'", [1]),
        ("slice.top_k = 5", [0]),
        ("top_k = 5", [0]),
        ("slice.top_k >= 5", [0, 1]),
        ('slice.top_k = "many"', [3]),
        ("`slice.top_k` contains 1", [1]),
        ("unsure > -1e3 and unsure < +1.5", [0, 2, 3]),
        ("  ( ( unsure > 0 ) )  ", [1, 2]),
        ("unsure>0 and status=fine", [1]),
    ],
)
def test_filters_select_rows(text, expected):
    assert rows(text) == expected


def test_and_binds_closer_than_or():
    tree = RowFilter.parse("a or b and not c").tree
    a, b, c = (Condition(name, "true", None, place) for name, place in (("a", 0), ("b", 5), ("c", 15)))
    assert tree == Either((a, Both((b, Not(c)))))


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("faithfullness < .5", 0, "faithfullness is not known; did you mean faithfulness"),
        ("unsure > 0 and recall > 0", 15, "recall is ambiguous: write a.recall or b.recall"),
        ("unsure >", 8, "expected a number or a text in quotes, not the end"),
        ("unsure > 0 unsure", 11, "expected and, or, or the end, not unsure"),
        ("(unsure > 0", 11, "expected and, or, or )"),
        ("unsure > 0)", 10, "expected and, or, or the end"),
        ("", 0, "expected a name"),
        ("and", 0, "expected a name"),
        ('question contains "re', 18, "the closing quote is missing"),
        ("unsure ; 3", 7, "; is not expected here"),
        ("unsure = many", 0, "unsure is a number: compare it with a number, not with many"),
        ("unsure contains 3", 0, "unsure is a number"),
        ("status < wrong", 0, "status is a text: < needs a number"),
        ("unsure > 0 and status", 15, "status is a text"),
        ("unsure is 3", 10, "expected missing"),
        ("unsure > 1e999", 9, "1e999 is too large"),
        ("unsure > 1.2.3", 9, "1.2.3 is not a number"),
        ("__import__('os')", 10, "expected and, or, or the end"),
        ("unsure.__class__ = 1", 0, "unsure.__class__ is not known"),
        ("nothing", 0, "nothing is not known; the names are"),
        ("(" * 30 + "unsure" + ")" * 30, 21, "more than 20 brackets"),
        ("not " * 30 + "unsure", 84, "more than 20 brackets and nots"),
        (" or ".join(["unsure"] * 41), 400, "more than 40 conditions"),
        ("x" * (MAX_LENGTH + 1), MAX_LENGTH, "longer than 1,000"),
    ],
)
def test_mistakes_are_told_with_their_position(text, position, words):
    with pytest.raises(FilterError) as caught:
        rows(text)
    assert words in str(caught.value)
    assert caught.value.position == position
    assert f"(at character {position + 1})" in str(caught.value)


def test_ranges_replace_ranges_of_the_same_column():
    assert with_ranges("", {"f1": (0.25, 0.5)}) == "f1 >= 0.25 and f1 < 0.5"
    assert with_ranges("f1 >= .1 and status = wrong and f1 < .2", {"f1": (None, 0.5)}) == "status = wrong and f1 < 0.5"
    assert with_ranges("a or b", {"f1": (0.5, None)}) == "(a or b) and f1 >= 0.5"
    assert with_ranges("(a and b)", {"f1": (0.5, None)}) == "(a and b) and f1 >= 0.5"
    assert with_ranges("", {"x y": (0.0, 1.0)}, closed=True) == "`x y` >= 0.0 and `x y` <= 1.0"


SIGNS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
VALUES = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0])
CONDITIONS = st.tuples(st.sampled_from("xy"), st.sampled_from([*SIGNS, "missing"]), VALUES)
TREES = st.recursive(
    CONDITIONS,
    lambda parts: st.one_of(
        st.tuples(st.just("not"), parts),
        st.tuples(st.sampled_from(["and", "or"]), st.lists(parts, min_size=2, max_size=3)),
    ),
    max_leaves=8,
)


def written(tree):
    """A tree as text, every part in brackets."""
    if tree[0] == "not":
        return f"not ({written(tree[1])})"
    if tree[0] in ("and", "or"):
        return f" {tree[0]} ".join(f"({written(part)})" for part in tree[1])
    name, sign, value = tree
    return f"{name} is missing" if sign == "missing" else f"{name} {sign} {value}"


def holds(tree, row):
    """The same by a plain loop over one row."""
    if tree[0] == "not":
        return not holds(tree[1], row)
    if tree[0] in ("and", "or"):
        return (all if tree[0] == "and" else any)(holds(part, row) for part in tree[1])
    name, sign, value = tree
    if sign == "missing":
        return math.isnan(row[name])
    return not math.isnan(row[name]) and SIGNS[sign](row[name], value)


@given(TREES, st.lists(st.tuples(VALUES | st.just(NAN), VALUES | st.just(NAN)), min_size=1, max_size=12))
@settings(deadline=None)
def test_evaluation_agrees_with_a_plain_loop(tree, cells):
    x, y = (np.array(column) for column in zip(*cells, strict=True))
    found = RowFilter.parse(written(tree)).rows({"x": lambda: x, "y": lambda: y}, len(cells))
    assert found.tolist() == [holds(tree, {"x": a, "y": b}) for a, b in cells]


PIECES = st.sampled_from(["(", ")", "not", "and", "or", "unsure", "status", "contains", "is", "missing", "<", "=", '"', "'", "`", "\\", "1", "%", ".", " ", "9" * 50, "\x00", "\u202e", "é", "((((", "not not "])  # fmt: skip


@given(
    st.one_of(
        st.text(max_size=300), st.lists(PIECES, max_size=120).map("".join), st.lists(PIECES, max_size=120).map(" ".join)
    )
)
@example("9" * 999 + "x")
@example('"' + "\\" * 998)
@example("(" * 1000)
@example("unsure contains \ud800")
@settings(deadline=None, max_examples=300)
def test_any_text_is_a_filter_or_a_mistake_in_no_time(text):
    start = time.process_time()
    problem = None
    try:
        found = RowFilter.parse(text).rows(COLUMNS, 4)
    except FilterError as error:
        problem = error
    assert time.process_time() - start < 1
    if problem:
        assert 0 <= problem.position <= len(text)
    else:
        assert (found.dtype, found.shape) == (bool, (4,))


@given(st.text(max_size=60))
@settings(deadline=None)
def test_written_texts_and_names_are_read_back(text):
    text = text.encode("utf-8", "replace").decode()
    tree = RowFilter.parse(f"status = {write_text(text)}").tree
    assert tree == Condition("status", "=", text, 0)
    if text and "`" not in text:
        assert RowFilter.parse(f"{write_name(text)} = 1").tree == Condition(text, "=", 1.0, 0)
