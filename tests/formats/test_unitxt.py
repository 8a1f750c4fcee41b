"""unitxt's RAG task."""

import pytest

from ragstone.data.types import Chunk, Sample
from ragstone.errors import InputError
from ragstone.formats import read_dataset
from tests.formats.fixtures import fixture_unitxt


def test_fields(tmp_path):
    answerable, unanswerable = read_dataset(*fixture_unitxt(tmp_path))
    assert answerable == Sample(
        id="7",
        question="When does the ferry leave?",
        answer="At eight.",
        contexts=[Chunk("It leaves at eight.", "d1"), Chunk("Adults pay ten.", "d3")],
        references=["At eight, in winter at nine."],
        reference_contexts=["It leaves at eight."],
        relevance={"d1": 1.0},
        answerable=True,
        metadata={"metadata_field": "timetable"},
    )
    assert unanswerable.id.startswith("q-")
    assert unanswerable.contexts == [Chunk("Adults pay ten.", "3")]
    assert (unanswerable.references, unanswerable.answerable) == ([], False)
    assert unanswerable.metadata == {"topic": "crew"}


def test_tag_without_a_name():
    (sample,) = read_dataset([{"question": "a", "reference_answers": ["b"], "metadata_tags": "easy"}])
    assert sample.metadata == {"metadata_tags": "easy"}


def test_ids_under_both_names():
    (sample,) = read_dataset([{"question": "a", "contexts": ["b"], "contexts_id": ["d1"], "context_ids": ["d2"]}])
    assert sample.contexts == [Chunk("b", "d1")]
    assert sample.metadata == {"context_ids": ["d2"]}


def test_malformed():
    rows = [
        {"question": "a", "contexts": ["b"], "context_ids": ["d1", "d2"], "is_answerable_label": "maybe"},
        {"question": "c", "contexts": ["b"], "contexts_id": [["d1"]], "reference_context_ids": {"d1": "yes"}},
    ]
    with pytest.raises(InputError) as caught:
        read_dataset(rows)
    assert str(caught.value) == (
        "a list in memory: 4 problems\n"
        "  row 1: contexts: has 1 chunks, context_ids has 2 ids (each chunk needs one id)\n"
        "  row 1: is_answerable_label: must be true or false, got 'maybe'\n"
        "  row 2: contexts: entry 1 (id) must be text or a whole number, got a list\n"
        "  row 2: reference_context_ids: the grade of 'd1' must be a number, got 'yes'"
    )
