"""Runs judged on this machine: by name, without being named, and as the first rung of a ladder. The judge is a toy."""

import json
import socket

import pytest

import ragstone
from ragstone.analysis.explain import explain_sample
from ragstone.engine import execute as execution
from ragstone.engine import execute as parts
from ragstone.engine import request as evaluation
from ragstone.engine.quote import quote
from ragstone.errors import InterruptedRunError, StopRunError, UsageError
from ragstone.llm.base import Reply
from ragstone.models.local_judge import LocalJudge
from ragstone.testing import FakeLLM
from ragstone.tools.roles import Choice, choose
from ragstone.views.run import verdict_lines
from tests.models.toy_judge import make_toy_judge

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'ragstone[local]'")
pytest.importorskip("onnx", reason="onnx is not installed")

LIGHT, HALF, SALT = "The light stands on the mole.", "The light stands on the red horn.", "Vessels carry much salt."
ROW = {
    "id": "1",
    "question": "Where does the light stand?",
    "answer": f"{LIGHT} {SALT}",
    "contexts": [LIGHT, SALT],
    "references": [LIGHT],
}
UNSURE = {**ROW, "id": "2", "answer": f"{LIGHT} {HALF}"}
PRECISION, FAITHFUL = "ragchecker.precision", "ragas.faithfulness"


@pytest.fixture(autouse=True)
def toy(tmp_path, monkeypatch):
    folder = make_toy_judge(tmp_path / "toy", [LIGHT, HALF, SALT, ROW["question"]])
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", str(folder))
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return folder


@pytest.fixture
def no_network(monkeypatch):
    """Any attempt to leave the machine is kept, and fails."""
    tried, connect = [], socket.socket.connect

    def refuse(self, address):
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            tried.append(address)
            raise OSError("the network is cut")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tried


def by_guess(request):
    """Whatever is asked is supported."""
    return Reply(request.guess, "fake/model", input_tokens=100, output_tokens=10)


def test_names():
    assert choose("local") == choose("local/judge") == Choice(local=True, remote=None)
    assert choose("openai/gpt-4o-mini") == Choice(local=False, remote="openai/gpt-4o-mini")
    assert choose(None) == Choice(local=False, remote=None)
    assert choose("local > openai/gpt-4o-mini") == Choice(local=True, remote="openai/gpt-4o-mini")
    assert choose("llama/a") == Choice(local=False, remote="llama/a")
    assert choose("local>llama/a") == Choice(local=True, remote="llama/a")
    assert choose("local>llama/a.gguf > b/c") == Choice(local=True, remote="llama/a.gguf", above="b/c")
    assert choose("llama/a>b/c") == Choice(local=False, remote="llama/a", above="b/c")
    for wrong in ("openai/a>local", "local>", "local>a/b>c/d", "local>local", ">a/b", "local>llama/a>llama/b>c/d"):
        with pytest.raises(UsageError, match="is not a cascade"):
            choose(wrong)
    with pytest.raises(UsageError, match="'local/minilm' is not a local judge"):
        choose("local/minilm")


def test_it_is_used_without_being_named(toy, no_network):
    run = ragstone.evaluate([ROW])
    means = {row.metric: row.mean for row in run.summary()}
    assert means[PRECISION] == pytest.approx(0.6), "6 of 10 words"
    assert means["ragchecker.recall"] == 1.0
    assert means[FAITHFUL] == 1.0
    assert means["ragchecker.context_precision"] == pytest.approx(0.5, abs=0.02)
    assert means["ragas.context_precision"] == 1.0
    assert means["ragas.context_entity_recall"] is None, "the reference names nobody"
    assert means["answer_match"] == pytest.approx(0.1192, abs=1e-4), "8 of its 12 tokens: 1 / (1 + e^2)"
    assert 0 < means["support_precision"] < means["support_recall"] <= 1
    assert "ragas.answer_relevancy" not in means, "it needs somebody who writes questions"
    signature = next(row["signature"] for row in run.scores.to_pylist() if row["metric"] == PRECISION)
    assert "checker:local-judge/toy#" in signature
    assert "extractor:rules/9" in signature
    assert run.info["judge"]["grader"].startswith("local-judge/toy")
    assert run.info["totals"]["calls"] == 0
    assert "ladder" not in run.info["totals"]
    assert run.info["totals"]["local_verdicts"] == {"entailment": 5, "neutral": 1}
    assert no_network == []


def test_switched_off_it_is_not_there(monkeypatch):
    monkeypatch.setenv("RAGSTONE_LOCAL_JUDGE", "off")
    run = ragstone.evaluate([ROW])
    assert PRECISION not in {row.metric for row in run.summary()}
    [row] = ragstone.evaluate([ROW], "support_f1").summary()
    assert row.reason == "needs an estimator: it comes with the local judge; reinstall ragstone"


def test_by_name_it_says_what_it_cannot_do():
    run = ragstone.evaluate([ROW], ["ragas.answer_relevancy", "ragas.context_relevance", PRECISION], judge="local")
    reasons = {row.metric: row.reason for row in run.summary()}
    assert reasons["ragas.answer_relevancy"] == reasons["ragas.context_relevance"]
    assert reasons["ragas.answer_relevancy"].startswith("needs a judge: ")
    assert "--judge" in reasons["ragas.answer_relevancy"]
    assert reasons[PRECISION] is None
    with pytest.raises(UsageError, match="cannot write triplets"):
        ragstone.evaluate([ROW], PRECISION, judge="local", claims="triplets")
    with pytest.raises(UsageError, match=r"agreement must be from 0.5 to less than 1, got 2"):
        ragstone.evaluate([ROW], PRECISION, judge="local", agreement=2)


def test_a_language_model_that_is_named_is_asked_and_not_it():
    llm = FakeLLM(by_guess)
    run = ragstone.evaluate([ROW], [PRECISION, "answer_match", "support_f1"], judge=llm)
    assert {call["prompt"] for call in run.calls.to_pylist()} == {"claims", "verdicts", "answer_match"}
    assert run.summary()["answer_match"].mean == 1.0
    assert run.summary()["support_f1"].n_ok == 1, "nobody else can say"
    mixed = ragstone.evaluate([ROW], PRECISION, extractor=FakeLLM(by_guess), checker="local")
    assert {call["prompt"] for call in mixed.calls.to_pylist()} == {"claims"}
    assert mixed.summary()[PRECISION].mean == pytest.approx(0.5)


def test_many_rows_do_not_wait_for_a_judge_that_nobody_named(monkeypatch):
    monkeypatch.setattr(evaluation, "MOST_ROWS_JUDGED", 1)
    notes = []
    run = ragstone.evaluate([ROW, UNSURE], note=notes.append)
    assert PRECISION not in {row.metric for row in run.summary()}
    assert notes == ["metrics of the local judge are left out for more than 1 rows; ask for them with --judge local"]
    assert ragstone.evaluate([ROW, UNSURE], judge="local").summary()[PRECISION].n_ok == 2
    assert ragstone.evaluate([ROW, UNSURE], PRECISION).summary()[PRECISION].n_ok == 2


def test_a_second_run_computes_nothing_and_gives_the_same(monkeypatch):
    asked, run = [], LocalJudge.run
    monkeypatch.setattr(LocalJudge, "run", lambda judge, pairs: asked.append(len(pairs)) or run(judge, pairs))
    first, first_asked = ragstone.evaluate([ROW, UNSURE], PRECISION), sum(asked)
    again = ragstone.evaluate([ROW, UNSURE], PRECISION)
    assert sum(asked) == first_asked > 0
    assert [row.mean for row in again.summary()] == [row.mean for row in first.summary()]
    ragstone.evaluate([ROW, UNSURE], PRECISION, judge=ragstone.Judge("local", cache=False))
    assert sum(asked) == 2 * first_asked


def test_a_broken_judge_stops_the_run(toy):
    whole = bytearray((toy / "model.onnx").read_bytes())
    whole[-1] ^= 1
    (toy / "model.onnx").write_bytes(whole)
    with pytest.raises(StopRunError, match=r"model\.onnx.*checksum"):
        ragstone.evaluate([UNSURE], PRECISION)


def test_on_a_ladder_the_sure_ones_are_not_asked():
    llm = FakeLLM(by_guess, "openai/above")
    run = ragstone.evaluate([ROW, UNSURE], PRECISION, judge=("local", llm))
    values = {row["sample_id"]: row["value"] for row in run.scores.to_pylist()}
    assert values == {"1": 0.6, "2": 1.0}, "the second one's doubtful claim was taken for supported"
    assert [call["sample_id"] for call in run.calls.to_pylist()] == ["2"]
    [asked] = llm.requests
    text = json.dumps([message.content for message in asked.messages][-1])
    assert "red horn" in text
    assert "Vessels" not in text
    assert run.info["totals"]["ladder"] == {
        "decided_locally": 3,
        "passed_on": 1,
        "calls_saved": 1,
        "estimated_agreement": pytest.approx(0.98, abs=0.03),
    }


def test_a_ladder_that_was_resumed_counts_what_it_did_before(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "WAITING_PART_ROWS", 1)
    monkeypatch.setattr(execution, "PARTS_IN_FLIGHT", 1)
    rows = [ROW, UNSURE, {**UNSURE, "id": "3", "question": "Where, then, does the light stand?"}]
    at_once = ragstone.evaluate(rows, PRECISION, judge=("local", FakeLLM(by_guess, "openai/above")), cache=False)

    def stop_at_the_third(request):
        if "Where, then" in json.dumps([message.content for message in request.messages]):
            raise KeyboardInterrupt
        return by_guess(request)

    stopped, resumed = FakeLLM(stop_at_the_third, "openai/above"), FakeLLM(by_guess, "openai/above")
    with pytest.raises(InterruptedRunError, match="2 finished parts are kept"):
        ragstone.evaluate(rows, PRECISION, tmp_path, judge=("local", stopped), cache=False)
    run = ragstone.evaluate(rows, PRECISION, tmp_path, judge=("local", resumed), cache=False, resume=True)
    assert len(resumed.requests) == 1, "only the third row was left"
    assert run.info["totals"]["ladder"] == at_once.info["totals"]["ladder"]
    assert run.info["totals"]["ladder"]["decided_locally"] == 4
    assert run.info["totals"]["ladder"]["passed_on"] == 2


def test_on_a_ladder_chunks_and_answers_too():
    llm = FakeLLM(by_guess, "openai/above")
    metrics = [FAITHFUL, "answer_match", "ragas.context_precision"]
    run = ragstone.evaluate([ROW, UNSURE], metrics, judge=("local", llm))
    asked = {(call["sample_id"], call["prompt"]) for call in run.calls.to_pylist()}
    assert ("2", "context_verdicts") in asked
    assert ("1", "context_verdicts") not in asked
    assert not {prompt for _, prompt in asked} & {"claims", "usefulness"}
    assert run.summary()[FAITHFUL].mean == 1.0
    strict = FakeLLM(by_guess, "openai/above")
    ragstone.evaluate([UNSURE], PRECISION, judge=("local", strict), agreement=0.5)
    assert not strict.requests
    ragstone.evaluate([UNSURE], PRECISION, judge=("local", strict), agreement=0.99)
    assert len(strict.requests) == 1, "who wants more agreement asks more"


def test_a_quote_counts_what_a_ladder_might_ask_and_nothing_for_the_local_judge():
    assert quote([ROW], PRECISION, judge="local").total.calls == 0
    assert quote([ROW], PRECISION).total.calls == 0
    assert quote([ROW], PRECISION, judge="local>openai/above", base_url="http://127.0.0.1:1").total.calls == 1


def test_the_word_coverage_of_claims_by_their_chunks_is_stored_for_estimated_human_scores(tmp_path):
    nothing = {**UNSURE, "id": "3", "contexts": []}
    run = ragstone.evaluate([UNSURE, nothing], [FAITHFUL, "ragas.context_recall"], tmp_path, judge="local")
    means = run.info["totals"]["local_means"]
    assert means["answer_claims_in_all_contexts"][2] == (1 + 3 / 5) / 2, "light, stands, on; not red, horn"
    assert means["reference_claims_in_all_contexts"][2] == 1.0


def test_unsure_verdicts_are_counted_and_stored_with_their_probability(tmp_path):
    run = ragstone.evaluate([UNSURE], [PRECISION, FAITHFUL], tmp_path, judge="local")
    assert run.info["totals"]["local_verdicts"] == {"entailment": 3, "unsure": 1}
    [stored] = run.evidence("answer_claims_in_reference")["value"].to_pylist()
    word, supported, contradicted, counted, words = stored[1].split(" ")
    assert (stored[0], word) == ("entailment 1.0000 0.0000 1.0000 6", "unsure")
    assert run.summary()[PRECISION].mean == pytest.approx((6 + int(words) * float(counted)) / (6 + int(words)))
    assert float(supported) + float(contradicted) <= 1
    assert any("unsure of 1 of its 4 verdicts" in line for line in verdict_lines(run.info))
    explained = explain_sample(run, "2", PRECISION)
    assert explained.working.counts[0].value == pytest.approx(run.summary()[PRECISION].mean)
    again = ragstone.open_run(tmp_path / "runs" / run.id)
    assert again.summary()[PRECISION].mean == run.summary()[PRECISION].mean
