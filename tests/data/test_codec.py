"""Python annotations to Arrow types, and values to and fro."""

import json
from typing import Any, Literal, Optional

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.codec import (
    GRADES,
    arrow_type,
    canonical_json,
    decoder,
    encoder,
    load_json,
    storable,
    storable_value,
)
from ragstone.data.schema import GIVEN_EVIDENCE
from ragstone.data.types import Chunk, Claim, Fact, FactMatch, Sample
from tests.data.strategies import values_of

ANNOTATIONS = [
    str,
    int,
    float,
    bool,
    Literal["ok", "skipped"],
    str | None,
    Optional[float],  # noqa: UP045  (users write it so too)
    list[str],
    list[int | None],
    list[list[str]],
    list[list[float] | None] | None,
    dict[str, float],
    dict[str, float] | None,
    list[dict[str, float]],
    dict[str, Any],
    Chunk,
    Fact,
    Claim,
    FactMatch,
    Sample,
    list[Chunk] | None,
    list[Claim],
    *GIVEN_EVIDENCE.values(),
]


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
@given(data=st.data())
def test_values_come_back(annotation, data):
    values = data.draw(st.lists(values_of(annotation), max_size=3))
    encode, decode = encoder(annotation), decoder(annotation)
    stored = pa.array([encode(value) if encode else value for value in values], type=arrow_type(annotation))
    assert [decode(value) if decode else value for value in stored.to_pylist()] == values


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (str, pa.string()),
        (int, pa.int64()),
        (float, pa.float64()),
        (bool, pa.bool_()),
        (Literal["a"], pa.string()),
        (float | None, pa.float64()),
        (list[list[int]], pa.list_(pa.list_(pa.int64()))),
        (dict[str, float], GRADES),
        (dict[str, Any], pa.string()),
        (
            Claim,
            pa.struct([("text", pa.string()), ("triplet", pa.list_(pa.string())), ("words", pa.int64())]),
        ),
    ],
    ids=str,
)
def test_arrow_type(annotation, expected):
    assert arrow_type(annotation) == expected


@pytest.mark.parametrize("annotation", [set[str], int | str, complex, list[object], Any, None], ids=str)
def test_what_has_no_arrow_type_is_refused(annotation):
    with pytest.raises(TypeError, match="has no Arrow type"):
        arrow_type(annotation)


@pytest.mark.parametrize("annotation", [Chunk, list[Chunk], dict[str, float], dict[str, Any]], ids=str)
def test_none_stays_none(annotation):
    assert encoder(annotation)(None) is None
    assert decoder(annotation)(None) is None


@pytest.mark.parametrize("annotation", [str, float | None, list[list[str]], Literal["a"]], ids=str)
def test_plain_values_need_no_conversion(annotation):
    assert encoder(annotation) is None
    assert decoder(annotation) is None


def test_grades_are_stored_by_id():
    encode = encoder(dict[str, float])
    assert encode({"b": 1.0, "a": 2.0}) == encode({"a": 2.0, "b": 1.0})


def test_canonical_json_has_one_spelling():
    assert canonical_json({"b": 1, "a": ["ü", None]}) == '{"a":["ü",null],"b":1}'


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_canonical_json_refuses_what_json_cannot_hold(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"a": number})


@given(values_of(dict[str, Any]))
def test_canonical_json_keeps_the_value(value):
    assert json.loads(canonical_json(value)) == value


def test_foreign_json_has_only_texts_that_can_be_stored():
    half = '{"a\\ud83d": ["b\\uDC00", {"c": "\\ud83d\\ude00"}], "n": 1}'
    clean = {"a?": ["b?", {"c": "\U0001f600"}], "n": 1}
    assert load_json(half) == load_json(half.encode()) == clean
    with pytest.raises(ValueError, match="utf-8"):  # a half in the bytes themselves
        load_json(b'"\xed\xa0\xbd"')
    assert load_json(b'\xef\xbb\xbf{"a": "na\xc3\xafve"}') == {"a": "na\u00efve"}


def test_a_lone_surrogate_becomes_a_question_mark():
    assert storable("a\ud800b") == "a?b"
    assert storable("na\u00efve") == "na\u00efve"
    assert storable_value(({"\ud800": None}, 1.5)) == [{"?": None}, 1.5]
