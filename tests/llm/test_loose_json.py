"""The tolerant JSON parser accepts what has one meaning and rejects the rest."""

import pytest

from ragstone.llm.loose_json import (
    DuplicateKeyError,
    JSONError,
    MalformedError,
    UnclosedError,
    between,
    find_pieces,
    stands_alone,
    unique_object,
)
from ragstone.llm.reply_parser import drop_thoughts, strip_marks


def only_value(text):
    [piece] = find_pieces(text)
    if piece.fault:
        raise piece.fault
    return piece.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{'a': True, b: None,}", {"a": True, "b": None}),
        ("{“a”： “x”， “b”: 2}", {"a": "x", "b": 2}),
        ('{"a": "one\ntwo"} // remark', {"a": "one\ntwo"}),
        ('{"a": "say "hi" now"}', {"a": 'say "hi" now'}),
        ('[{"a": 1} {"a": 2}]', [{"a": 1}, {"a": 2}]),
        (r'{"supported\_by": [1]}', {"supported_by": [1]}),
    ],
)
def test_what_has_one_meaning_is_read(text, value):
    assert only_value(text) == value


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"a": [1, 2', UnclosedError),
        ('{"a": 1, "a": 2}', DuplicateKeyError),
        ('{"a": 1,, "b": 2}', MalformedError),
        ('{"a": [1, 2, /* ... */ 9]}', MalformedError),
    ],
)
def test_what_would_need_a_guess_is_rejected(text, error):
    with pytest.raises(error):
        only_value(text)


def test_a_key_may_repeat_with_the_same_value():
    assert unique_object([("a", 1), ("a", 1)]) == {"a": 1}
    with pytest.raises(JSONError, match="'a'"):
        unique_object([("a", 1), ("a", 2)])


def test_pieces_and_the_text_between_them():
    text = 'First {"a": 1} then\n```json\n[2]\n```'
    pieces = find_pieces(text)
    assert [piece.value for piece in pieces] == [{"a": 1}, [2]]
    assert between(text, pieces) == ["First", "then", ""]
    assert [stands_alone(text, piece) for piece in pieces] == [False, True]


def test_reasoning_is_dropped():
    assert drop_thoughts('<think>{"no": 1}</think>{"a": 1}') == ('{"a": 1}', False)
    assert drop_thoughts("<think>still thinking") == ("still thinking", True)
    assert strip_marks('\ufeff{"a": 1}<|im_end|>') == '{"a": 1}'
