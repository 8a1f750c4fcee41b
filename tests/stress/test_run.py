"""Stress tests are run with failing generators, a judge, and an embedder behind a real server."""

import json

import pytest

from ragstone.errors import InterruptedRunError, UsageError
from ragstone.stress.erag import list_samples, run_erag
from ragstone.stress.results import read_stress
from ragstone.stress.run import Setting, open_embed, prepare, run_stress
from ragstone.tools.model_options import ModelOptions
from tests.llm.prompts.fenced import read_fenced
from tests.oracle.server import OracleServer
from tests.stress.generators import DECLINES, DETECTS, copies, detects, samples


def judge(prompts):
    """Says what is true of the generators' words; it reads what stands between the tags, as a model would."""
    # Before the last turn there are examples.
    return [json.dumps(_reply(read_fenced(prompt.rpartition("User: ")[2]))) for prompt in prompts]


def _reply(data):
    if "references" in data:
        return {"matches": [n for n, one in enumerate(data["references"], start=1) if one in data["answer"]]}
    return {"declines": data["answer"] == DECLINES, "reports_errors": data["answer"].startswith(DETECTS)}


def test_judged_rates_stand_beside_those_by_phrases(tmp_path):
    prepared = prepare(samples(), Setting(passages=4, rates=(0.5, 0.75)))
    run = run_stress(
        prepared, detects, tmp_path, system_options={"cache": False}, judging=ModelOptions(judge=judge, cache=False)
    )
    means = {(curve.bed, curve.metric): [point.mean for point in curve.points] for curve in read_stress(run).curves}
    assert means["noise", "answer_match"] == means["noise", "rgb.accuracy"] == [1, 1]
    assert means["rejection", "rgb.rejection_rate.judged"] == means["rejection", "rgb.rejection_rate"] == [1]
    bed = "counterfactual"
    assert means[bed, "rgb.error_detection_rate.judged"] == means[bed, "rgb.error_detection_rate"] == [1, 1]
    # Of the eight, those with a long name are put right.
    assert means[bed, "rgb.error_correction_rate.judged"] == means[bed, "rgb.error_correction_rate"] == [0.375, 0.375]


def test_negatives_by_meaning_with_a_named_embedder():
    with OracleServer() as server:
        embed = open_embed("openai/oracle", 10, server.base_url)
        prepared = prepare(samples(), Setting(passages=4, rates=(0.5,), beds=("noise",)), embed)
        assert server.replies["embeddings"]
    assert all(row.metadata["passages"].count("-") == 2 for row in prepared.rows)


def test_without_an_embedder_words_alone_decide():
    assert open_embed(None, 10) is None
    assert open_embed(None, 1_000_000) is None


def test_failures_are_rows_with_a_reason(prepared, tmp_path):
    def fails(question, contexts):
        if "Maren" in question:
            raise ValueError("no luck")
        return copies(question, contexts)

    notes = []
    run = run_stress(prepared, fails, tmp_path, system_options={"cache": False}, note=notes.append)
    test = read_stress(run)
    assert [point.questions for point in test.main("noise").points] == [7] * 5
    assert [point.skipped for point in test.main("noise").points] == [1] * 5
    broken = [sample for sample in run.samples if sample.answer is None]
    assert len(broken) == 5 + 1 + 4
    assert all("raised ValueError: no luck" in sample.metadata["system_error"] for sample in broken)
    assert any("10 of 80 questions got no answer" in note for note in notes)
    assert test.main("noise").robustness.questions == 7


def test_a_generator_that_takes_no_passages(prepared):
    with pytest.raises(UsageError, match="takes only a question"):
        run_stress(prepared, lambda question: "x", system_options={"cache": False})


@pytest.mark.parametrize("command", ["stress", "erag"])
def test_an_interrupted_test_is_resumed(prepared, tmp_path, monkeypatch, command):
    def run(**more):
        if command == "stress":
            return run_stress(prepared, copies, tmp_path, **more)
        return run_erag(list_samples(samples(), 2), copies, tmp_path, **more).run

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ragstone.engine.evaluate.finish_tables", stop)
        with pytest.raises(InterruptedRunError):
            run()
    [left] = (tmp_path / "runs").iterdir()
    notes = []
    finished = run(resume=True, note=notes.append)
    assert any(left.name in note for note in notes)
    assert sum(1 for _ in (tmp_path / "runs").iterdir()) == (1 if command == "stress" else 2)
    assert finished.info["metrics"]
