"""deepeval's test cases and goldens."""

import pytest

from ragstone.data.types import Chunk, Sample
from ragstone.errors import InputError
from ragstone.formats import read_dataset
from tests.formats.fixtures import fixture_deepeval


def test_fields(tmp_path):
    case, golden = read_dataset(*fixture_deepeval(tmp_path))
    assert case == Sample(
        id="tc-1",
        question="When does the ferry leave?",
        answer="At eight.",
        contexts=[Chunk("It leaves at eight."), Chunk("Adults pay ten.")],
        references=["At eight, in winter at nine."],
        reference_contexts=["It leaves at eight."],
        metadata={"name": "departure", "comments": "asked often", "topic": "timetable"},
    )
    assert golden == Sample(
        id=golden.id,
        question="What do adults pay?",
        answer="Ten.",
        contexts=[Chunk("Adults pay ten.", source="fares.md")],
        references=["Ten."],
        metadata={"topic": "fares"},
    )


def test_names_need_not_be_unique():
    row = {"name": "fares", "input": "a", "actual_output": "b"}
    first, second = read_dataset([row, row | {"input": "c"}])
    assert first.id != second.id
    assert first.metadata == second.metadata == {"name": "fares"}


def test_older_and_newer_metadata_are_both_kept():
    row = {"input": "a", "actual_output": "b", "additional_metadata": {"x": 1}, "metadata": {"y": 2}}
    (sample,) = read_dataset([row])
    assert sample.metadata == {"x": 1, "metadata": {"y": 2}}


def test_malformed():
    rows = [
        {"input": "a", "actual_output": ["b"], "retrieval_context": "c"},
        {"input": {"role": "user"}, "expected_output": "d"},
    ]
    with pytest.raises(InputError) as caught:
        read_dataset(rows)
    assert str(caught.value) == (
        "a list in memory: 3 problems\n"
        "  row 1: actual_output: must be text, got a list\n"
        "  row 1: retrieval_context: must be a list, got text\n"
        "  row 2: input: must be text, got a mapping"
    )
