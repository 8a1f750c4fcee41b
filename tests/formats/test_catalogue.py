"""Formats by name and by content."""

import pytest

from ragstone.errors import UnknownNameError, UsageError
from ragstone.formats import find_format, formats
from ragstone.formats.catalogue import recognise
from ragstone.formats.sources import Source


def test_each_module_with_a_format_is_listed_under_its_name():
    assert set(formats()) == {
        *("beir", "deepeval", "dial", "dial_logs", "hf", "mlflow", "openinference", "ragas", "ragas_legacy"),
        *(
            "ragchecker",
            "ragstone",
            "rgb",
            "trec",
            "unitxt",
            "chat",
            "mtrag",
            "langgraph",
            "langfuse",
            "langsmith",
            "phoenix",
            "hallucination_sets",
            "atif",
        ),
    }
    assert all(find_format(name).name == name for name in formats())


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
