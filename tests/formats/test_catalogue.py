"""Formats by name and by content."""

import importlib
import re
from pathlib import Path

import pytest

from ragstone.errors import UnknownNameError, UsageError
from ragstone.formats import find_format, formats
from ragstone.formats.catalogue import recognise
from ragstone.formats.sources import Source


def test_every_format_has_the_name_of_its_module_and_a_line_in_the_docs():
    table = (Path(__file__).parents[2] / "docs/formats.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(formats())
    for name, item in formats().items():
        assert item is importlib.import_module(f"ragstone.formats.{name}").FORMAT
        assert find_format(name) is item


def test_an_unknown_name_lists_the_choices():
    with pytest.raises(UnknownNameError, match="ragchecker"):
        find_format("ragchekcer")


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"question": "q", "answer": "a"}, "ragstone"),
        ({"user_input": "q", "response": "a"}, "ragas"),
        ({"question": "q", "answer": "a", "ground_truth": "t"}, "ragas_legacy"),
        ({"query": "q", "gt_answer": "t", "response": "a"}, "ragchecker"),
        ({"inputs": {"question": "q"}, "outputs": "a"}, "mlflow"),
    ],
)
def test_the_content_determines_the_format(row, name):
    assert recognise([Source([row])]).name == name


def test_unknown_columns_are_named():
    with pytest.raises(UsageError, match="--map"):
        recognise([Source([{"frage": "q"}])])
