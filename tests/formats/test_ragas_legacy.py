"""RAGAS 0.1."""

import pytest

from ragstone.data.types import Chunk, Sample
from ragstone.errors import InputError
from ragstone.formats import open_reader, read_dataset
from tests.formats.fixtures import fixture_ragas_legacy


def test_fields(tmp_path):
    newer, older = read_dataset(*fixture_ragas_legacy(tmp_path))
    assert newer == Sample(
        id=newer.id,
        question="When does the ferry leave?",
        answer="At eight.",
        contexts=[Chunk("It leaves at eight.")],
        references=["At eight, in winter at nine."],
    )
    assert older.contexts == []
    assert older.references == ["Ten.", "10"]


def test_our_own_names_are_not_taken_for_it():
    row = {"question": "a", "answer": "b", "contexts": ["c"]}
    assert open_reader([row | {"references": ["d"]}]).format.name == "ragstone"
    assert open_reader([row | {"ground_truth": "d"}]).format.name == "ragas_legacy"


def test_both_names_of_the_truth():
    (same,) = read_dataset([{"question": "a", "ground_truth": "b", "ground_truths": ["b"]}])
    assert (same.references, same.metadata) == (["b"], {})
    (other,) = read_dataset([{"question": "a", "ground_truth": "b", "ground_truths": ["b", "c"]}])
    assert (other.references, other.metadata) == (["b"], {"ground_truths": ["b", "c"]})


def test_generated_test_set_has_the_contexts_of_its_questions():
    row = {
        "question": "a",
        "contexts": ["b"],
        "ground_truth": "c",
        "evolution_type": "simple",
        "metadata": [{"page": 1}],
    }
    (sample,) = read_dataset([row])
    assert (sample.contexts, sample.reference_contexts) == (None, ["b"])
    assert sample.metadata == {"evolution_type": "simple", "metadata": [{"page": 1}]}
    (answered,) = read_dataset([row | {"answer": "d"}])
    assert (answered.contexts, answered.reference_contexts) == ([Chunk("b")], None)


def test_malformed():
    with pytest.raises(InputError) as caught:
        read_dataset([{"question": "a", "contexts": 7, "ground_truth": {"text": "c"}}])
    assert str(caught.value) == (
        "a list in memory: 2 problems\n"
        "  row 1: contexts: must be a list, got a number\n"
        "  row 1: ground_truth: must be a list, got a mapping"
    )
