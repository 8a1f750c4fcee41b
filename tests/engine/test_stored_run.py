"""What a run leaves behind, table by table, as FORMATS.md promises it."""

import json
import os
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ragstone
from ragstone.data.schema import FIELDS
from ragstone.registry import evidence, metric

ROWS = [
    {
        "id": f"s{number}",
        "question": f"q{number}",
        "answer": "one two" if number % 2 else "three",
        "references": ["one two"],
        "contexts": [{"text": "one two", "id": "c1"}, {"text": "three", "id": "c2"}],
        "facts": ["one"] if number else [],
        "relevance": {"c1": 1},
        "metadata": {"topic": number % 3},
    }
    for number in range(10)
]
WORD = pa.dictionary(pa.int32(), pa.string())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ragstone.evaluate(ROWS, "token_f1,fact_recall,ndcg@2", tmp_path_factory.mktemp("root"))


@pytest.fixture(scope="module")
def folder(run):
    return Path(run.path)


def test_files(folder):
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert found == {
        "run.json",
        "samples.parquet",
        "scores.parquet",
        "summary.parquet",
        "calls.parquet",
        "evidence/fact_matches.parquet",
        "evidence/fact_ranks.parquet",
    }
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {"evidence"}
    assert folder.parent.name == "runs"


def test_scores_schema(folder):
    schema = pq.read_schema(folder / "scores.parquet")
    assert [(field.name, field.type) for field in schema] == [
        ("sample_id", pa.string()),
        ("metric", WORD),
        ("value", pa.float64()),
        ("status", WORD),
        ("reason", WORD),
        ("signature", WORD),
    ]


def test_scores_hold_every_cell_once(folder):
    table = pq.read_table(folder / "scores.parquet").to_pandas()
    assert len(table) == 3 * len(ROWS)
    assert not table.duplicated(["sample_id", "metric"]).any()
    assert set(table["status"]) == {"ok", "skipped"}


def test_a_cell_has_a_value_or_a_reason_and_never_both(folder):
    for row in pq.read_table(folder / "scores.parquet").to_pylist():
        assert (row["value"] is not None) == (row["status"] == "ok") == (row["reason"] is None)
        assert row["value"] is None or np.isfinite(row["value"])
        assert row["signature"].startswith(row["metric"] + "|v")


def test_summary_schema_and_content(folder):
    table = pq.read_table(folder / "summary.parquet")
    assert [(field.name, field.type) for field in table.schema] == [
        ("metric", pa.string()),
        ("slice", pa.string()),
        ("mean", pa.float64()),
        ("ci_low", pa.float64()),
        ("ci_high", pa.float64()),
        ("n_ok", pa.int64()),
        ("n_skipped", pa.int64()),
        ("n_failed", pa.int64()),
        ("reason", pa.string()),
    ]
    scores = pq.read_table(folder / "scores.parquet").to_pandas()
    for row in table.to_pylist():
        cells = scores[scores["metric"] == row["metric"]]
        assert row["slice"] == "all"
        assert row["mean"] == pytest.approx(cells["value"].mean())
        assert row["n_ok"] + row["n_skipped"] + row["n_failed"] == len(ROWS)
        assert row["n_ok"] == (cells["status"] == "ok").sum()
        assert row["ci_low"] <= row["mean"] <= row["ci_high"]


def test_a_metric_without_cells_stands_in_the_summary(tmp_path):
    run = ragstone.evaluate([{"question": "q"}], "token_f1", tmp_path)
    [row] = run.summary()
    assert (row.mean, row.n_ok, row.n_skipped, row.n_failed) == (None, 0, 1, 0)
    assert row.reason == "needs answer, which no row has"
    assert run.scores.num_rows == 0
    assert run.info["skipped"] == {"token_f1": row.reason}
    assert run.info["metrics"] == []


def test_calls_are_there_though_nothing_was_called(folder):
    table = pq.read_table(folder / "calls.parquet")
    assert table.num_rows == 0
    assert {
        "sample_id",
        "evidence",
        "error",
        "reply",
        "prompt",
        "prompt_hash",
        "model",
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "latency_s",
        "attempts",
        "cached",
    } == set(table.column_names)


def test_samples_are_those_that_were_evaluated(run, folder):
    table = pq.read_table(folder / "samples.parquet")
    assert list(FIELDS) == [name for name in table.column_names if name in FIELDS]
    assert table["id"].to_pylist() == [row["id"] for row in ROWS]
    assert run.samples[3].metadata == {"topic": 0}
    assert run.samples.fingerprint == run.info["dataset"]["fingerprint"]


def test_evidence_is_typed(folder):
    matches = pq.read_schema(folder / "evidence/fact_matches.parquet").field("value").type
    assert pa.types.is_list(matches)
    assert pa.types.is_struct(matches.value_type)
    assert pq.read_schema(folder / "evidence/fact_ranks.parquet").field("value").type == pa.list_(pa.int64())


def test_run_json(folder):
    info = json.loads((folder / "run.json").read_text())
    assert set(info) >= {
        "id",
        "name",
        "created_at",
        "dataset",
        "metrics",
        "judge",
        "prompts",
        "versions",
        "code",
        "totals",
        "status",
    }
    assert info["id"] == folder.name
    assert info["status"] == "finished"
    assert info["dataset"]["rows"] == len(ROWS)
    assert info["dataset"]["present"]["facts"] == len(ROWS) - 1
    assert [item["metric"] for item in info["metrics"]] == ["token_f1", "fact_recall", "ndcg@2"]
    assert datetime.fromisoformat(info["created_at"]) <= datetime.fromisoformat(info["finished_at"])
    assert info["versions"]["ragstone"] == ragstone.__version__
    assert set(info["totals"]) == {"calls", "cached_calls", "input_tokens", "output_tokens", "cost_usd", "seconds"}


def test_run_json_is_written_last(tmp_path, monkeypatch):
    written = []
    real = os.replace

    def replace(source, target):
        written.append(Path(target).name)
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    ragstone.evaluate(ROWS, "fact_recall", tmp_path)
    assert next(name for name in written if name != "owner.json") == "samples.parquet"
    assert written[-1] == "run.json"
    assert written.count("run.json") == 1


def test_signatures_in_run_json_are_those_of_the_cells(folder):
    info = json.loads((folder / "run.json").read_text())
    scores = pq.read_table(folder / "scores.parquet")
    assert set(scores["signature"].to_pylist()) == {item["signature"] for item in info["metrics"]}


@pytest.mark.parametrize("name", ["scores", "summary", "samples", "calls", "evidence/fact_matches"])
def test_pandas_and_polars_read_it(folder, name):
    path = folder / f"{name}.parquet"
    expected = pq.read_table(path)
    for frame in (pd.read_parquet(path), pl.read_parquet(path)):
        assert list(frame.columns) == expected.column_names
        assert len(frame) == expected.num_rows
    if name == "scores":
        mean = pl.read_parquet(path).filter(pl.col("status") == "ok")["value"].mean()
        assert mean == pytest.approx(pd.read_parquet(path)["value"].mean())


def test_inputs_change_with_the_fields_under_the_evidence_and_with_nothing_else():
    def inputs(**changes):
        row = {"question": "q", "facts": ["one"], "contexts": ["one"], **changes}
        return ragstone.evaluate([row], "fact_recall").evidence("fact_matches")["inputs"].to_pylist()

    assert inputs() == inputs(question="another", answer="unrelated")
    assert inputs() != inputs(facts=["two"])
    assert inputs() != inputs(contexts=["two"])


@pytest.mark.usefixtures("catalogue")
def test_evidence_that_needs_no_field_is_stored():
    @evidence
    def constant() -> int:
        return 7

    @metric("same", bounds=(0, None))
    def same(constant: int) -> float:
        return constant

    table = ragstone.evaluate(ROWS, "same").evidence("constant")
    assert table["value"].to_pylist() == [7] * len(ROWS)
    assert len(set(table["inputs"].to_pylist())) == 1


@pytest.mark.usefixtures("catalogue")
def test_failed_and_skipped_evidence_is_stored_with_its_reason():
    @evidence
    def moody(answer: str) -> list[str]:
        if answer == "three":
            raise ragstone.Skip("not a word")
        if answer == "one two":
            raise RuntimeError("model is down")
        return [answer]

    @metric("mood")
    def mood(moody: list[str]) -> float:
        return 1.0

    run = ragstone.evaluate([*ROWS[:2], {**ROWS[2], "answer": "four"}], "mood")
    stored = [(row["value"], row["status"], row["reason"]) for row in run.evidence("moody").to_pylist()]
    assert stored == [
        (None, "skipped", "not a word"),
        (None, "failed", "RuntimeError: model is down"),
        (["four"], "ok", None),
    ]


@pytest.mark.usefixtures("catalogue")
def test_many_different_reasons():
    """Reasons are words of a dictionary; a different one for each row must not break it."""

    @metric("moody")
    def moody(question: str) -> float:
        raise ValueError(question)

    data = [{"id": str(number), "question": f"q{number}"} for number in range(500)]
    run = ragstone.evaluate(data, "moody")
    assert len(set(run.scores["reason"].to_pylist())) == 500
    assert run.summary()["moody"].n_failed == 500
