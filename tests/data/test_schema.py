"""The schemas agree with the types."""

import dataclasses

import pyarrow as pa
import pytest

from ragstone.data.columns import STATUSES
from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE, SAMPLES, SCORES, evidence_schema, present, samples_schema
from ragstone.data.types import Sample


def test_every_field_of_a_sample_is_a_column_in_the_same_order():
    assert list(FIELDS) == [field.name for field in dataclasses.fields(Sample)] == SAMPLES.names


def test_every_field_has_a_meaning_and_its_type():
    for name, field in FIELDS.items():
        assert field.meaning
        assert SAMPLES.field(name).type == field.type


def test_only_the_id_must_be_there():
    assert [field.name for field in SAMPLES if not field.nullable] == ["id"]


def test_given_evidence_stands_after_the_fields():
    names = ["answer_claims", "reference_claims_in_contexts"]
    assert samples_schema(names).names == [*SAMPLES.names, *names]
    assert samples_schema() == SAMPLES


def test_given_evidence_never_has_the_name_of_a_field():
    assert not FIELDS.keys() & GIVEN_EVIDENCE.keys()


def test_scores_hold_every_status():
    words = pa.array(STATUSES).dictionary_encode()
    assert SCORES.field("status").type == words.type


def test_evidence_says_what_it_was_made_from():
    schema = evidence_schema(pa.list_(pa.int64()))
    assert schema.names == ["sample_id", "value", "status", "reason", "inputs", "signature"]
    assert schema.field("value").type == pa.list_(pa.int64())


@pytest.mark.parametrize("name", ["references", "reference_contexts", "facts", "relevance", "documents"])
def test_an_empty_truth_is_no_truth(name):
    column = pa.array([None, [], [None]], type=FIELDS[name].type)
    assert present(name, column).to_pylist() == [False, False, True]


def test_an_empty_retrieval_is_a_retrieval():
    assert present("contexts", pa.array([None, []], type=FIELDS["contexts"].type)).to_pylist() == [False, True]


def test_an_empty_answer_is_an_answer():
    assert present("answer", pa.chunked_array([["", None], ["x"]])).to_pylist() == [True, False, True]


def test_other_columns_are_present_where_they_are_not_null():
    assert present("answer_claims", pa.array([[], None], pa.list_(pa.string()))).to_pylist() == [True, False]
