"""Conversions that formats share."""

import pytest

from ragstone.formats.common_fields import answer_cell, join_ids, one_text, parse_cell, rename_parts
from ragstone.formats.values import Unfit


@pytest.mark.parametrize("answer", ["At eight.", "", None, "\\N", "\\\\N", "[1]"])
def test_answers_read_back_from_cells(answer):
    assert parse_cell("answer", answer_cell(answer)) == answer


def test_cells():
    assert parse_cell("contexts", '["a", "b"]') == ["a", "b"]
    assert parse_cell("question", "[really?]") == "[really?]"
    assert parse_cell("references", "one text") == "one text"
    assert parse_cell("references", " ") is None
    for cell in ("[broken", "no list"):
        with pytest.raises(Unfit):
            parse_cell("contexts", cell)


def test_a_single_reference_is_a_list():
    assert one_text("[1] is the answer") == ["[1] is the answer"]
    assert one_text("") is None
    assert one_text(["a"]) == ["a"]


def test_parts_of_chunks_are_renamed():
    assert rename_parts('[{"doc_id": "d", "text": "t"}, "bare"]', {"doc_id": "id"}) == [
        {"id": "d", "text": "t"},
        "bare",
    ]


def test_ids_join_their_chunks():
    row = {"contexts": ["a", {"text": "b"}], "ids": ["1", "2"]}
    assert join_ids(row, "contexts", ("ids",)) == {"contexts": [{"text": "a", "id": "1"}, {"text": "b", "id": "2"}]}
    assert join_ids({"ids": "1"}, "contexts", ("ids",)) == {"contexts": [{"text": "", "id": "1"}]}
    assert isinstance(join_ids({"contexts": ["a"], "ids": ["1", "2"]}, "contexts", ("ids",))["contexts"], Unfit)
