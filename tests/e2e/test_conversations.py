"""Conversations with a judge that is always right: what is asked, and what the history changes."""

from collections import Counter

import pytest

import ragstone
from tests.e2e.judged import calls, cells, judging, rows
from tests.e2e.test_judging import SETS, calls_by_sample, count_calls
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

SAMPLES = [sample for sample in make_samples(40, seed=3) if sample.reference is not None and sample.chunks][:8]
# The oracle completes a question by repeating it, so that the metrics of conversations have nothing to carry.
FOUNDED = ("ragchecker.faithfulness", "ragas.faithfulness")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))


def with_history(samples, said):
    """Each sample after a turn in which the assistant said something."""
    return [
        {**row, "history": [{"role": "assistant", "text": said(row)}], "metadata": {"conversation": "c"}}
        for row in rows(samples)
    ]


def evaluate(data, out, **more):
    with OracleServer() as server:
        run = ragstone.evaluate(data, metrics=SETS, out=out, **judging(server, **more))
    assert server.problems == []
    return run


def test_only_completing_the_question_is_one_call_more(tmp_path):
    run = evaluate(with_history(SAMPLES, lambda row: row["answer"]), tmp_path / "out")
    wanted = {sample.id: +(count_calls(sample) + Counter(standalone_question=1)) for sample in SAMPLES}
    assert calls_by_sample(run, SAMPLES) == wanted


@pytest.mark.slow
def test_what_was_said_before_founds_claims_and_retrieval_ignores_it(tmp_path):
    without, after = tmp_path / "without", tmp_path / "after"
    alone = cells(evaluate(rows(SAMPLES), without).path)
    found = cells(evaluate(with_history(SAMPLES, lambda row: row["answer"]), after).path)
    for (sample, metric), cell in alone.items():
        now = found[sample, metric]
        if metric in FOUNDED and cell["status"] == "ok":
            assert now["value"] == 1.0
        elif metric in ("ragchecker.hallucination", "ragchecker.self_knowledge") and cell["status"] == "ok":
            assert now["value"] == 0.0
        elif metric == "ragas.context_recall" and cell["status"] == "ok":
            # A pair of chunks is not named for a claim that the turns state alone.
            assert now["value"] <= cell["value"]
        else:
            assert (now["value"], now["status"]) == (cell["value"], cell["status"]), (sample, metric)
    assert any(cell["value"] not in (None, 1.0) for (_, metric), cell in alone.items() if metric in FOUNDED)


@pytest.mark.slow
def test_rows_without_history_are_asked_as_ever(tmp_path):
    plain = rows(SAMPLES)
    mixed = [*with_history(SAMPLES[:1], lambda row: row["answer"]), *plain[1:]]
    with OracleServer() as server:
        first = ragstone.evaluate(plain, metrics=SETS, out=tmp_path / "plain", **judging(server))
        second = ragstone.evaluate(mixed, metrics=SETS, out=tmp_path / "mixed", **judging(server))

    def asked(run):
        about = {sample.id for sample in SAMPLES[1:]}
        return Counter((call["sample_id"], call["prompt"]) for call in calls(run.path) if call["sample_id"] in about)

    assert asked(first) == asked(second)
    # All of them come from the cache: their prompts are the same.
    others = [call for call in calls(second.path) if call["sample_id"] != SAMPLES[0].id]
    assert {call["prompt"] for call in others if not call["cached"]} <= {"embedding"}


def test_without_history_no_signature_names_the_step(tmp_path):
    run = evaluate(rows(SAMPLES), tmp_path / "out")
    assert not any("standalone_question" in metric.signature.text for metric in run.info.metrics)
    assert "standalone_question" not in run.info["evidence"]
    assert "answer_claims_in_history" not in run.info["evidence"]
