"""The options of models as one value."""

from dataclasses import FrozenInstanceError, fields

import pytest

from ragstone.errors import UsageError
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.model_options import OPTIONS, ModelOptions


def test_the_keyword_arguments_of_evaluate_are_its_fields():
    assert set(JudgingOptions.__annotations__) == {field.name for field in fields(ModelOptions)}


def test_keywords_are_what_differs_from_the_defaults():
    assert ModelOptions().keywords() == {}
    options = ModelOptions(judge="openai/x", cache=False, repeats=3)
    assert options.keywords() == {"judge": "openai/x", "cache": False, "repeats": 3}
    assert ModelOptions.from_keywords(options.keywords()) == options


def test_none_is_the_default_of_a_number():
    assert ModelOptions.from_keywords({"repeats": None, "judge": None}) == ModelOptions()


def test_an_unknown_keyword_is_a_type_error():
    with pytest.raises(TypeError, match="judg"):
        ModelOptions.from_keywords({"judg": "openai/x"})


@pytest.mark.parametrize("name", ["repeats", "claims_per_call", "chunks_per_call"])
def test_counts_start_at_one(name):
    with pytest.raises(UsageError, match=name):
        ModelOptions(**{name: 0})


def test_it_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        ModelOptions().judge = "openai/x"


def test_every_field_is_described():
    for field in fields(ModelOptions):
        assert f"        {field.name}: " in ModelOptions.__doc__


def test_the_defaults_of_the_command_line_are_the_defaults():
    assert ModelOptions.from_command_line({name: option.default for name, option in OPTIONS.items()}) == ModelOptions()


def test_values_of_the_command_line():
    values = {"no_cache": True, "rpm": 2.0, "timeout": 5.0, "grading": "cot, rubric", "corpus": ["a", "b"]}
    assert ModelOptions.from_command_line(values) == ModelOptions(
        cache=False, requests_per_minute=2.0, timeout_s=5.0, grading=("cot", "rubric"), corpus=["a", "b"]
    )
    with pytest.raises(UsageError, match="--timeout"):
        ModelOptions.from_command_line({"timeout": 0.0})
