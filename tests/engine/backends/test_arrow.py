"""Scores as a function over Arrow batches, in another engine."""

import pyarrow as pa
import pytest

import ragstone
from ragstone.engine.backends.arrow import SCORES_PLAIN, score_batches
from tests.engine.backends.rows import METRICS, rows
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples


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


def test_a_batch_without_rows_gives_none():
    empty = ragstone.read_dataset(rows(2)).table.slice(0, 0)
    batch = pa.RecordBatch.from_pylist([], schema=empty.schema)
    assert list(score_batches(METRICS)([batch])) == []


def test_a_budget_is_for_all_batches_together(tmp_path, monkeypatch):
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"openai/oracle" = [1.0, 2.0]\n')
    monkeypatch.setenv("RAGSTONE_PRICES", str(prices))
    table = ragstone.read_dataset([sample.row() for sample in make_samples(12, seed=5)]).table
    with OracleServer() as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "cache": False, "concurrency": 1}
        list(score_batches(["answer_match"], **options)(table.to_batches(max_chunksize=3)))
        whole, spent = server.calls, spent_usd(server)
        options["budget"] = spent / 2
        found = list(score_batches(["answer_match"], **options)(table.to_batches(max_chunksize=3)))
        assert 0 < server.calls - whole < whole
        assert spent_usd(server) - spent <= options["budget"]
    assert pa.Table.from_batches(found)["status"].to_pylist().count("failed") > 0


def spent_usd(server):
    """What the server would charge, at 1 and 2 dollars a million tokens."""
    return (server.input_tokens + 2 * server.output_tokens) / 1e6
