"""Answers to the same question, compared with each other: hand-computed values with the oracle's judge."""

import pytest

import ragstone
from ragstone.data.verdict import Verdict
from ragstone.errors import Skip
from ragstone.metrics.consistency import consistency_claims
from tests.oracle.expected import expected
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

ANSWERS = ["At nine.", "at NINE", "At ten."]


def rows(*answers, name="z"):
    return [
        {"id": f"{name}{number}", "question": "When?", "answer": text, "repeat_of": name}
        for number, text in enumerate(answers)
    ]


def test_exact_match_by_hand(tmp_path):
    """Pairs: the first two agree. Each of them agrees with one of two others, the third with none: mean 1/3."""
    run = ragstone.evaluate(rows(*ANSWERS), "consistency.exact_match", tmp_path)
    assert [row["value"] for row in run.scores.to_pylist()] == [0.5, 0.5, 0.0]
    assert run.summary()["consistency.exact_match"].mean == pytest.approx(1 / 3)
    assert run.samples[0].metadata["other_answers"] == ["at NINE", "At ten."]


def test_a_question_that_was_asked_once_is_skipped():
    run = ragstone.evaluate([*rows(*ANSWERS), *rows("At nine.", name="y")], "consistency.exact_match")
    assert run.summary()["consistency.exact_match"].n_skipped == 1
    alone = ragstone.evaluate([{"question": "When?", "answer": "a"}], ["quick"])
    assert not [row.metric for row in alone.summary() if row.metric == "consistency.exact_match"]


def test_claims_by_hand():
    """Two claims: one other answer supports both, one supports the first: (2/2 + 1/2) / 2."""
    assert consistency_claims([["entailment", "entailment"], ["entailment", "contradiction"]]) == 0.75
    assert consistency_claims([[Verdict("unsure", 0.5, 0.1, counted=0.4)]]) == 0.4
    with pytest.raises(Skip):
        consistency_claims([[], []])


@pytest.mark.parametrize("style", ["json", "tokens"])
def test_a_language_model_checks_claims_between_answers(tmp_path, monkeypatch, style):
    """Answer and reference as two answers: agreement is claim precision one way and claim recall the other."""
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    samples = [sample for sample in make_samples(8) if sample.reference]
    data, wanted = [], {}
    for sample in samples:
        row, values = sample.row(), expected(sample)
        for name, text, metric in (
            ("answer", row["answer"], "ragchecker.precision"),
            ("reference", row["references"][0], "ragchecker.recall"),
        ):
            key = f"{sample.id}-{name}"
            data.append({"id": key, "question": row["question"], "answer": text, "repeat_of": sample.id})
            wanted[key] = values[metric]
    with OracleServer() as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "verdicts": style}
        run = ragstone.evaluate(data, "consistency.claims", tmp_path, **options)
    assert server.problems == []
    checked = [row for row in run.scores.to_pylist() if row["status"] == "ok"]
    assert len(checked) >= 8
    for row in checked:
        assert row["value"] == pytest.approx(wanted[row["sample_id"]], abs=1e-3), row["sample_id"]


def test_identical_answers_cost_no_call_beyond_their_claims(tmp_path):
    with OracleServer() as server:
        text = make_samples(1)[0].row()["answer"]
        options = {"judge": "openai/oracle", "base_url": server.base_url, "cache": False}
        run = ragstone.evaluate(
            rows(text, text), ["consistency.claims", "consistency.answer_match"], tmp_path, **options
        )
    assert {call["prompt"] for call in run.calls.to_pylist()} == {"claims"}
    assert run.summary()["consistency.answer_match"].mean == 1.0
