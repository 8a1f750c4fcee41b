"""Scores as a function over Arrow batches, in another engine."""

import pyarrow as pa
import pytest

import ragstone
from ragstone.engine.backends.arrow import SCORES_PLAIN, score_batches
from tests.engine.backends.rows import METRICS, rows


def cells(table):
    return {(row["sample_id"], row["metric"]): (row["value"], row["status"]) for row in table.to_pylist()}


@pytest.fixture(scope="module")
def expected():
    return cells(ragstone.evaluate(rows(60), METRICS).scores)


def test_batches_of_scores_are_those_of_a_run(expected):
    table = ragstone.read_dataset(rows(60)).table
    batches = list(score_batches(METRICS)(table.to_batches(max_chunksize=25)))
    assert batches[0].schema == SCORES_PLAIN
    assert cells(pa.Table.from_batches(batches)) == expected


def test_a_metric_that_a_batch_cannot_have_is_skipped_there():
    bare = pa.table({"id": ["1"], "question": ["Which?"], "answer": ["This."]})
    (found,) = (row for batch in score_batches(["token_f1"])(bare.to_batches()) for row in batch.to_pylist())
    assert (found["status"], found["reason"]) == ("skipped", "needs references, which no row has")


def test_over_dask(expected):
    dask = pytest.importorskip("dask")
    table = ragstone.read_dataset(rows(60)).table
    score = score_batches(METRICS)
    parts = [dask.delayed(lambda batch: list(score([batch])))(batch) for batch in table.to_batches(max_chunksize=20)]
    found = [batch for part in dask.compute(*parts, scheduler="threads") for batch in part]
    assert cells(pa.Table.from_batches(found)) == expected
