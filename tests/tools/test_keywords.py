"""Misspelled keyword arguments."""

import inspect

import pytest

import ragstone
from ragstone.errors import UnknownColumnsError
from ragstone.tools.keywords import describe_unknown, refuses_unknown_names
from ragstone.truth.join import read_with_truth
from ragstone.truth.model import Case
from ragstone.truth.store import TruthStore


@refuses_unknown_names
def cook(dish: str, *, minutes: int = 5) -> str:
    """Cook a dish."""
    return f"{dish} {minutes}"


def test_known_names_are_passed_on():
    assert cook("soup", minutes=7) == "soup 7"
    assert cook(dish="soup") == "soup 5"


def test_the_signature_and_the_help_stay():
    assert list(inspect.signature(cook).parameters) == ["dish", "minutes"]
    assert cook.__doc__ == "Cook a dish."


def test_another_name_is_refused_with_a_suggestion():
    with pytest.raises(
        TypeError, match=r"^cook\(\) got an unexpected keyword argument 'minuts'\. Did you mean minutes\?$"
    ):
        cook("soup", minuts=7)


def test_nothing_is_suggested_for_a_name_that_resembles_none():
    assert describe_unknown("cook", "xyz", ["dish"]) == "cook() got an unexpected keyword argument 'xyz'"


def test_an_option_of_the_command_line_gets_its_name_in_python():
    assert describe_unknown("evaluate", "map", ["columns", "name"]).endswith("'map'. Did you mean columns?")
    assert "columns" not in describe_unknown("compare", "map", ["metrics"])


def test_columns_with_other_names_are_named_as_in_python():
    @refuses_unknown_names
    def read(data):
        raise UnknownColumnsError("cannot read it", ["--map", "question=customer_text"])

    with pytest.raises(UnknownColumnsError, match=r"columns=\{'question': 'customer_text'\}"):
        read("a.csv")


def test_ground_truth_is_joined_to_the_data(tmp_path, monkeypatch):
    with pytest.raises(TypeError, match=r"read_with_truth\(DATA, \"NAME\"\) as the data"):
        ragstone.evaluate([], truth="harbour")
    TruthStore(str(tmp_path)).save("harbour", [Case("1", "How deep?", ["12 metres"])], author="Ada")
    data = read_with_truth([{"id": "1", "question": "How deep?", "answer": "12 metres"}], "harbour", str(tmp_path))
    run = ragstone.evaluate(data, "exact_match", tmp_path)
    assert run.summary()["exact_match"].mean == 1.0
