import pytest

from ragstone.errors import UnknownNameError
from ragstone.report.json_parts import cut_lists, pick_fields, shorten_texts

VALUE = {"name": "a", "rows": [{"metric": "x", "mean": 1.0, "low": 0.0}, {"metric": "y", "mean": None, "low": None}]}


def test_fields_of_all_items_of_a_list_are_chosen():
    assert pick_fields(VALUE, ["rows.metric", "name"]) == {"rows": [{"metric": "x"}, {"metric": "y"}], "name": "a"}
    assert pick_fields(VALUE["rows"], ["mean"]) == [{"mean": 1.0}, {"mean": None}]
    assert pick_fields(VALUE, ["rows"]) == {"rows": VALUE["rows"]}
    assert pick_fields(VALUE, []) == VALUE


@pytest.mark.parametrize("paths", [["rows", "rows.mean"], ["rows.mean", "rows"]])
def test_a_whole_field_wins_over_its_parts(paths):
    assert pick_fields(VALUE, paths) == {"rows": VALUE["rows"]}


def test_a_last_part_that_one_field_has_names_it():
    value = {"run": "r", "rows": [{"id": "a", "status": "wrong", "x": {"y": 1}}], "failing": {"fixed": ["q1"], "y": 2}}
    assert pick_fields(value, ["status", "fixed"]) == {"rows": [{"status": "wrong"}], "failing": {"fixed": ["q1"]}}
    with pytest.raises(UnknownNameError, match="unknown field 'y'"):
        pick_fields(value, ["y"])


def test_names_with_dots():
    scores = {"scores": {"ragas.faithfulness": {"mean": 1}, "ragas": {"x": 2}}}
    assert pick_fields(scores, ["scores.ragas.faithfulness.mean"]) == {"scores": {"ragas.faithfulness": {"mean": 1}}}
    assert pick_fields(scores, ["scores.ragas.x"]) == {"scores": {"ragas": {"x": 2}}}


def test_an_unknown_field_is_an_error_unless_fields_may_be_absent():
    with pytest.raises(UnknownNameError, match=r"unknown field 'rows.maen'. Did you mean rows.mean"):
        pick_fields(VALUE, ["rows.maen"])
    assert pick_fields(VALUE, ["rows.maen", "name"], strict=False) == {"name": "a"}
    # What is empty has no fields: nothing can be misspelled.
    assert pick_fields([], ["name"]) == []
    assert pick_fields({"causes": [], "cost": None}, ["causes.name", "cost.usd"]) == {"causes": [], "cost": None}


def test_lists_are_cut_and_intervals_stay_whole():
    value = {"rows": [{"interval": (0.1, 0.9), "ids": ["a", "b", "c"]}] * 3, "bounds": [0, None]}
    cut, lengths = cut_lists(value, 1)
    assert cut == {"rows": [{"interval": [0.1, 0.9], "ids": ["a"]}], "bounds": [0, None]}
    assert lengths == {"rows": 3, "rows.ids": 3}


def test_items_of_a_list_share_a_path_with_the_longest_length():
    value = [{"ids": ("a", "b")}, {"ids": ["a", "b", "c", "d"]}, {"ids": ["a"] * 9}]
    assert cut_lists(value, 2) == ([{"ids": ["a", "b"]}, {"ids": ["a", "b"]}], {"the list": 3, "ids": 4})


def test_texts_are_shortened():
    assert shorten_texts({"k" * 12: ["y" * 12, 3]}, 10) == {
        "k" * 10 + "… (2 more characters)": ["y" * 10 + "… (2 more characters)", 3]
    }
