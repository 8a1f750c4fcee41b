"""RGB's own files."""

import json

import pytest

from ragstone.errors import InputError
from ragstone.formats import open_reader, read_dataset
from ragstone.formats.rgb import PARTS
from tests.formats.fixtures import fixture_rgb


def test_rows_keep_all_their_parts(tmp_path):
    one, two, three = read_dataset(fixture_rgb(tmp_path)[0])
    assert (one.id, one.question, one.references) == ("0", "When does the ferry leave?", ["At eight", "8:00"])
    assert one.reference_contexts == ["It leaves at 8:00."]
    assert one.metadata[PARTS]["answer"] == [["At eight", "8:00"]]
    assert two.references == ["ten, five"]
    assert two.metadata[PARTS]["answer"] == [["ten"], ["five", "5"]]
    assert two.reference_contexts == ["Adults pay ten.", "Children pay five.", "It is 5 for a child."]
    assert three.metadata[PARTS]["fakeanswer"] == "800 m"
    assert three.metadata[PARTS]["positive_wrong"] == ["Die Mole ist 800 m lang."]
    assert three.answer is None


def test_it_is_recognised(tmp_path):
    assert open_reader(fixture_rgb(tmp_path)[0]).format.name == "rgb"


def test_an_answer_that_is_none(tmp_path):
    path = tmp_path / "bad.json"
    row = {"id": 1, "query": "When?", "answer": {"a": 1}, "positive": ["x"], "negative": ["y"]}
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError, match="answer: must be a text, a list of texts"):
        read_dataset(str(path))
