"""The whole walk from Python: every kind of data in, a run out, and the same numbers whichever way."""

import asyncio
import gc
import json
import os
import sys
import threading
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ragstone
from ragstone.engine.evaluate import evaluate
from ragstone.engine.progress import Progress
from ragstone.errors import (
    DefinitionError,
    InputError,
    InterruptedRunError,
    RagstoneError,
    UnknownNameError,
    UsageError,
)
from ragstone.registry import evidence, metric

ROWS = [
    {
        "id": "a",
        "question": "When does the last boat leave?",
        "answer": "At 21:40.",
        "contexts": [{"text": "The last boat leaves at 21:40.", "id": "c1"}, {"text": "Dogs travel free.", "id": "c2"}],
        "references": ["21:40"],
        "facts": ["leaves at 21:40"],
        "relevance": {"c1": 1.0},
    },
    {"id": "b", "question": "Do cats pay?", "answer": "No.", "contexts": [], "references": ["Yes", "Half"]},
    {"id": "c", "question": "Who?"},
]
METRICS = "token_recall,fact_recall@1,recall"
EXPECTED = {
    ("a", "token_recall"): (1.0, "ok", None),
    ("b", "token_recall"): (0.0, "ok", None),
    ("c", "token_recall"): (None, "skipped", "no answer"),
    ("a", "fact_recall@1"): (1.0, "ok", None),
    ("b", "fact_recall@1"): (None, "skipped", "no facts"),
    ("c", "fact_recall@1"): (None, "skipped", "no facts"),
    ("a", "recall"): (1.0, "ok", None),
    ("b", "recall"): (None, "skipped", "no relevance and no reference contexts"),
    ("c", "recall"): (None, "skipped", "no contexts"),
}


def cells(run):
    return {
        (row["sample_id"], row["metric"]): (row["value"], row["status"], row["reason"])
        for row in run.scores.to_pylist()
    }


def as_jsonl(folder):
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def as_arrow(_):
    return ragstone.read_dataset(ROWS).table


SOURCES = {
    "a path": as_jsonl,
    "a path as text": lambda folder: str(as_jsonl(folder)),
    "a list of paths": lambda folder: [as_jsonl(folder)],
    "a list of dicts": lambda _: ROWS,
    "a tuple of dicts": lambda _: tuple(ROWS),
    "a pandas frame": lambda _: pd.DataFrame(ROWS),
    "a polars frame": lambda folder: pl.from_arrow(as_arrow(folder)),
    "an Arrow table": as_arrow,
    "an Arrow batch": lambda folder: as_arrow(folder).combine_chunks().to_batches()[0],
    "a Dataset": lambda _: ragstone.read_dataset(ROWS),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_kind_of_data_gives_the_same_cells(kind, tmp_path):
    run = ragstone.evaluate(SOURCES[kind](tmp_path), METRICS)
    assert cells(run) == EXPECTED


def test_metrics_as_text_as_list_and_by_set():
    by_text = ragstone.evaluate(ROWS, "token_f1, token_recall")
    by_list = ragstone.evaluate(ROWS, ["token_f1", "token_recall"])
    assert cells(by_text) == cells(by_list)
    assert {name for _, name in cells(ragstone.evaluate(ROWS, "facts"))} >= {"fact_recall", "fact_precision"}


def test_all_metrics_that_the_data_allows_are_the_default():
    run = ragstone.evaluate([{"question": "q", "answer": "a", "references": ["a"]}])
    metrics = {item["metric"] for item in run.info["metrics"]}
    assert "token_f1" in metrics
    assert "fact_recall" not in metrics
    assert run.info["skipped"]["fact_recall"]


def test_a_metric_asked_for_twice_is_computed_once():
    run = ragstone.evaluate(ROWS, ["token_f1", "TOKEN_F1", "lexical.token_f1"])
    assert [item["metric"] for item in run.info["metrics"]] == ["token_f1"]
    assert run.scores.num_rows == len(ROWS)


def test_summary():
    summary = ragstone.evaluate(ROWS, METRICS).summary()
    assert [row.metric for row in summary] == METRICS.split(",")
    row = summary["token_recall"]
    assert (row.mean, row.n_ok, row.n_skipped, row.n_failed) == (0.5, 2, 1, 0)
    assert row.ci_low < 0.5 < row.ci_high
    assert row.reason.startswith("no answer (1")


def test_to_pandas_has_a_row_a_sample_and_a_column_a_metric():
    frame = ragstone.evaluate(ROWS, METRICS).to_pandas()
    assert list(frame.columns) == ["id", "question", "answer", *METRICS.split(",")]
    assert frame["id"].tolist() == ["a", "b", "c"]
    assert frame["token_recall"].tolist()[:2] == [1.0, 0.0]
    assert frame["token_recall"].isna().tolist() == [False, False, True]


def test_to_pandas_of_a_run_without_metrics():
    frame = ragstone.evaluate([{"question": "q"}], "token_f1").to_pandas()
    assert list(frame.columns) == ["id", "question", "answer"]
    assert len(frame) == 1


@pytest.mark.usefixtures("catalogue")
def test_to_pandas_of_a_metric_that_is_called_like_a_field():
    @metric("answer", bounds=(0, None))
    def answer_metric(answer: str) -> float:
        return len(answer)

    frame = ragstone.evaluate(ROWS, "answer").to_pandas()
    assert len(frame) == len(ROWS)
    assert 9.0 in frame.iloc[0].tolist()


def test_evidence_by_name():
    run = ragstone.evaluate(ROWS, "fact_recall")
    table = run.evidence("fact_matches")
    assert table.column_names == ["sample_id", "value", "status", "reason", "inputs", "signature"]
    first, second, third = table.to_pylist()
    assert [(match["fact"], match["chunk"], match["start"]) for match in first["value"]] == [(0, 0, 14)]
    assert (second["value"], second["status"], second["reason"]) == (None, "skipped", "no facts")
    assert len({first["inputs"], second["inputs"], third["inputs"]}) == 3


def test_unknown_evidence_offers_what_there_is():
    run = ragstone.evaluate(ROWS, "fact_recall")
    with pytest.raises(UnknownNameError, match=r"fact_match'.*fact_matches"):
        run.evidence("fact_match")


def test_limit():
    run = ragstone.evaluate(ROWS, "token_f1", limit=2)
    assert run.info["dataset"]["rows"] == 2
    assert run.samples.table["id"].to_pylist() == ["a", "b"]
    with pytest.raises(UsageError, match="limit must be 1 or more, got 0"):
        ragstone.evaluate(ROWS, "token_f1", limit=0)


def test_columns_with_other_names():
    run = ragstone.evaluate(
        [{"question": "q", "reply": "yes", "references": ["yes"]}], "token_f1", columns={"answer": "reply"}
    )
    assert run.summary()["token_f1"].mean == 1.0


def test_a_run_without_a_home_goes_with_its_object():
    run = ragstone.evaluate(ROWS, "token_f1")
    home = Path(run.path)
    assert (home / "run.json").exists()
    del run
    gc.collect()
    assert not home.exists()
    assert not home.parent.parent.exists()


def test_a_run_without_a_home_leaves_nothing_when_it_fails(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(InputError):
        ragstone.evaluate([{"question": "q", "contexts": 5}], "token_f1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("catalogue")
def test_a_run_without_a_home_promises_no_resumption(tmp_path, monkeypatch):
    @metric("stop")
    def stop(answer: str) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(InterruptedRunError) as caught:
        ragstone.evaluate(ROWS, "stop")
    assert "--resume" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_out_is_a_root_under_which_runs_gather(tmp_path):
    first = ragstone.evaluate(ROWS, "token_f1", tmp_path / "deep" / "root", name="first")
    second = ragstone.evaluate(ROWS, "token_f1", str(tmp_path / "deep" / "root"))
    assert first.name == "first"
    assert second.name == second.id
    assert {first.id, second.id} == {path.name for path in (tmp_path / "deep/root/runs").iterdir()}
    assert cells(ragstone.open_run(first.path)) == cells(first)


@pytest.mark.usefixtures("catalogue")
def test_inside_a_running_loop_with_async_evidence_of_ones_own():
    @evidence
    async def echo(answer: str) -> str:
        await asyncio.sleep(0)
        assert threading.current_thread() is not threading.main_thread()
        return answer

    @metric("echoed", bounds=(0, None))
    def echoed(echo: str) -> float:
        return len(echo)

    async def notebook_cell():
        ticks = asyncio.create_task(asyncio.sleep(0))
        run = ragstone.evaluate(ROWS, "echoed")
        await ticks
        return run

    run = asyncio.run(notebook_cell())
    assert [value for value, _, _ in cells(run).values()] == [9.0, 3.0, None]
    assert run.evidence("echo")["value"].to_pylist() == ["At 21:40.", "No.", None]


@pytest.mark.usefixtures("catalogue")
def test_an_error_inside_a_running_loop_reaches_the_caller():
    @metric("stop")
    def stop(answer: str) -> float:
        raise KeyboardInterrupt

    async def notebook_cell():
        return ragstone.evaluate(ROWS, "stop")

    with pytest.raises(InterruptedRunError):
        asyncio.run(notebook_cell())


@pytest.mark.usefixtures("catalogue")
def test_a_metric_of_ones_own_with_cells_of_every_status(tmp_path):
    @metric("mine", family="mine", judges="answer")
    def mine(answer: str, strict: bool = False) -> float:
        """My own."""
        if answer == "No.":
            raise ZeroDivisionError("oh")
        return 0.5 if strict else 1.0

    run = ragstone.evaluate(ROWS, "mine(strict=true)", tmp_path)
    assert cells(run) == {
        ("a", "mine(strict=true)"): (0.5, "ok", None),
        ("b", "mine(strict=true)"): (None, "failed", "ZeroDivisionError: oh"),
        ("c", "mine(strict=true)"): (None, "skipped", "no answer"),
    }
    row = run.summary()["mine(strict=true)"]
    assert (row.n_ok, row.n_skipped, row.n_failed) == (1, 1, 1)
    assert "ZeroDivisionError: oh (1" in row.reason


@pytest.mark.usefixtures("catalogue")
def test_a_wrong_metric_is_told_before_the_data_is_read(tmp_path):
    @metric("wrong")
    def wrong(question: str, nonsense: str) -> float:
        return 0.0

    with pytest.raises(DefinitionError, match="nonsense"):
        ragstone.evaluate(tmp_path / "no-such-file.jsonl", "wrong", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"metrics": "recal"}, UnknownNameError, "recall"),
        ({"metrics": "recall@0"}, UsageError, "1 or more"),
        ({"metrics": "recall@x"}, UsageError, "whole number"),
        ({"metrics": "recall(k=5"}, UsageError, "cannot read"),
        ({"metrics": "k_precision(aggregate=min)"}, UsageError, "joined, max"),
        ({"matcher": "citatoin"}, UnknownNameError, "citation"),
        ({"format": "ragston"}, UnknownNameError, "ragstone"),
        ({"columns": {"anser": "x"}}, UnknownNameError, "answer"),
        ({"columns": {"documents": "nowhere"}}, UsageError, "nowhere"),
        ({"data": "nowhere.jsonl"}, UsageError, "nowhere.jsonl"),
        ({"data": 5}, UsageError, "int"),
        ({"data": pd.Series([1])}, UsageError, "DataFrame"),
        ({"out": "s3://"}, UsageError, "bucket"),
    ],
)
def test_what_cannot_be_understood_is_told_and_leaves_nothing(arguments, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words) as caught:
        ragstone.evaluate(**{"data": ROWS, "out": "out", **arguments})
    assert caught.value.exit_code == 2
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("data", [[], [{}], [{"nonsense": 1}], [5], [{"id": "a", "question": "q"}] * 2, {}])
def test_data_that_is_no_data(data, tmp_path):
    with pytest.raises(RagstoneError) as caught:
        ragstone.evaluate(data, "token_f1", tmp_path / "out")
    assert caught.value.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_progress_goes_from_reading_to_finishing():
    told = []
    ragstone.evaluate(ROWS, "token_f1", progress=told.append)
    assert told == [
        Progress("reading", 3),
        Progress("evaluating", 0, 3),
        Progress("evaluating", 3, 3),
        Progress("finishing", 3, 3),
    ]


def test_remarks_about_the_data_are_passed_on():
    remarks = []
    ragstone.evaluate([{"question": "q", "answer": "a", "refrences": ["a"]}], "token_f1", note=remarks.append)
    assert any("refrences" in remark for remark in remarks)


def test_two_runs_of_the_same_are_equal_but_for_their_names(tmp_path):
    first, second = (ragstone.evaluate(ROWS, METRICS, tmp_path) for _ in range(2))
    assert first.id != second.id
    assert first.scores.equals(second.scores)
    assert first.info["dataset"] == second.info["dataset"]
    assert first.info["metrics"] == second.info["metrics"]


@pytest.mark.parametrize("rows", [1, 250, 1000])
@pytest.mark.usefixtures("catalogue")
def test_parts_put_together_are_the_whole(rows, tmp_path):
    """Async evidence is computed in parts of 100 rows; none may be lost, doubled or out of order."""

    @evidence
    async def echo(answer: str) -> str:
        return answer

    @metric("echoed", bounds=(0, None))
    def echoed(echo: str) -> float:
        return float(echo)

    data = [{"id": f"s{number}", "question": "q", "answer": str(number)} for number in range(rows)]
    run = ragstone.evaluate(data, "echoed", tmp_path)
    assert run.scores["sample_id"].to_pylist() == [row["id"] for row in data]
    assert run.scores["value"].to_pylist() == [float(row["answer"]) for row in data]
    assert run.evidence("echo")["value"].to_pylist() == [row["answer"] for row in data]
    assert run.summary()["echoed"].n_ok == rows


@pytest.mark.usefixtures("catalogue")
def test_more_rows_than_fit_one_part():
    """Plain metrics are computed a row group at a time."""

    @metric("number", bounds=(0, None))
    def number(answer: str) -> float:
        return float(answer)

    data = [{"id": f"s{row}", "question": "q", "answer": str(row)} for row in range(20_001)]
    told = []
    run = ragstone.evaluate(data, "number", progress=told.append)
    assert [step.done for step in told if step.stage == "evaluating"] == [0, 10_000, 20_000, 20_001]
    assert run.scores["sample_id"].to_pylist() == [row["id"] for row in data]
    assert run.scores["value"].to_pylist() == [float(row["answer"]) for row in data]
    assert run.summary()["number"].mean == 10_000.0


def test_importing_ragstone_loads_nothing_heavy():
    import subprocess

    code = "import sys, ragstone; print(sorted({'numpy', 'pyarrow', 'pandas', 'rich', 'click'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_arrow_table_in_many_chunks():
    table = as_arrow(None)
    chunked = pa.concat_tables([table.slice(row, 1) for row in range(table.num_rows)])
    assert cells(ragstone.evaluate(chunked, METRICS)) == EXPECTED


def test_parameters_of_the_system_are_stored_with_the_run(tmp_path):
    rows = [{"question": "q", "answer": "a", "references": ["a"]}]
    run = ragstone.evaluate(rows, ["exact_match"], tmp_path, params={"chunk_size": 256, "retriever": "bm25"})
    assert ragstone.open_run(run.path).info["params"] == {"chunk_size": 256, "retriever": "bm25"}
    with pytest.raises(ragstone.RagstoneError, match="'chunk_size' must be a name with a text, number"):
        ragstone.evaluate(rows, ["exact_match"], params={"chunk_size": [256]})


def test_claim_evidence_in_the_data_needs_no_judge():
    given = {
        "answer_claims": ["a", "b"],
        "reference_claims": ["c"],
        "reference_entities": ["Ghent", "Bruges"],
        "answer_claims_in_reference": ["entailment", "neutral"],
        "reference_claims_in_answer": ["entailment"],
        "answer_claims_in_contexts": [["entailment"], ["neutral"]],
        "reference_claims_in_contexts": [["neutral"]],
        "answer_claims_in_all_contexts": ["entailment", "neutral"],
        "reference_claims_in_all_contexts": ["entailment"],
        "verdict_agreement": [1.0, 0.5],
        "reference_entities_in_contexts": [True, False],
    }
    row = {"question": "q", "answer": "a", "contexts": ["c"], "references": ["r"], **given}
    expected = {
        "ragas.faithfulness": 0.5,
        "ragas.context_recall": 1.0,
        "ragas.context_entity_recall": 0.5,
        "self_consistency": 0.75,
        "ragchecker.precision": 0.5,
    }
    summary = ragstone.evaluate([row], list(expected)).summary()
    assert {name: summary[name].mean for name in expected} == expected


def test_a_run_with_a_name_is_computed_once(tmp_path):
    rows = [{"id": str(number), "question": "Why?", "answer": f"Because of {number}."} for number in range(3)]
    first = evaluate(rows, "refusal", tmp_path, run_id="2026-11-16-000")
    assert first.id == "2026-11-16-000"
    written = first.folder.manifest.read_bytes()
    assert evaluate(rows, "refusal", tmp_path, run_id="2026-11-16-000").folder.manifest.read_bytes() == written
    # Killed before its end: the parts of other metrics are not used.
    first.folder.manifest.remove()
    first.folder.plan.write_bytes(b'{"fingerprint": "another"}')
    (first.folder.part(0).place / "scores.parquet").write_bytes(b"not a table")
    again = evaluate(rows, "distinct_1", tmp_path, run_id="2026-11-16-000")
    assert [row.metric for row in again.summary()] == ["distinct_1"]


@pytest.mark.usefixtures("catalogue")
def test_the_budget_is_in_the_plan_while_the_run_is_computed(tmp_path):
    seen = []

    @metric("planned_budget", bounds=(0, 1))
    def planned_budget(question: str) -> float:
        """Read the plan."""
        [plan] = tmp_path.glob("runs/*/plan.json")
        seen.append(json.loads(plan.read_text())["budget_usd"])
        return 1.0

    evaluate(ROWS, [planned_budget], tmp_path, budget="0.50usd")
    assert seen == [0.5] * 3
