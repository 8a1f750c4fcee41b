"""`llama/NAME` as a judge: token verdicts, claims by the local rules, no price, and its place in a cascade."""

import math

import pytest

import ragstone
from ragstone.errors import StopRunError, UsageError
from ragstone.models import llama_engine
from ragstone.tools import llama
from ragstone.tools.open_tools import ToolFactory
from tests.e2e.judged import calls

ROW = {
    "question": "When does the last boat leave?",
    "answer": "The last boat leaves at 21:40. It is painted blue.",
    "contexts": ["The last boat leaves at 21:40, except on Sundays.", "The museum opens at ten."],
    "references": ["The last boat leaves at 21:40."],
}


class Engine:
    """Supports a claim of which the evidence has all words; 60 % for one with the word in `doubtful`."""

    def __init__(self, doubtful=None):
        self.bodies = []
        self.doubtful = doubtful

    def __call__(self, body):
        self.bodies.append(body)
        message = body["messages"][-1]["content"]
        text, _, rest = message.partition("<claim")
        claim = rest.partition(">\n")[2].partition("\n</claim")[0]
        share = 0.55 if self.doubtful and self.doubtful in claim else 0.99 if claim.rstrip(".") in text else 0.01
        if "false?" in message:
            share = 0.02
        top = [{"token": word, "logprob": math.log(p)} for word, p in (("yes", share), ("no", 1 - share))]
        choice = {"message": {"content": "yes"}, "finish_reason": "length"}
        choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
        return {"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 1}}


@pytest.fixture
def weights(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    monkeypatch.setattr(llama_engine, "find_spec", lambda _: True)
    llama._chat.cache_clear()
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF")
    return path


@pytest.fixture
def engine(monkeypatch):
    made = Engine()
    monkeypatch.setattr("ragstone.models.llama_engine.LlamaChat.ask", lambda self, body: made(body))
    return made


def test_a_run_with_no_server_and_no_key(weights, engine, tmp_path):
    run = ragstone.evaluate([ROW], "ragchecker", judge=f"llama/{weights}", out=tmp_path / "out", budget="1usd")
    means = {row.metric: row.mean for row in run.summary()}
    assert means["ragchecker.precision"] == pytest.approx(0.6, abs=0.01), "6 of 10 words"
    assert means["ragchecker.recall"] == pytest.approx(1.0, abs=0.02)
    assert {call["prompt"] for call in calls(run.path)} == {"token_support", "token_contradiction"}
    assert run.info["totals"]["cost_usd"] == 0
    assert run.info["judge"]["extractor"].startswith("rules/")
    assert run.info["judge"]["checker"].startswith("llama/tiny#")
    assert all(body["max_tokens"] == 1 for body in engine.bodies)
    count = len(engine.bodies)
    ragstone.evaluate([ROW], "ragchecker", judge=f"llama/{weights}", out=tmp_path / "out")
    assert len(engine.bodies) == count, "replies are cached"


def test_the_quote_starts_nothing(weights, engine):
    quoted = ragstone.quote([ROW], "ragchecker", judge=f"llama/{weights}")
    assert engine.bodies == []
    assert quoted.total.calls >= 4
    assert quoted.total.cost_usd == 0


def test_a_cascade_of_three(weights):
    options = {"judge": f"local>llama/{weights}>openai/oracle", "base_url": "http://127.0.0.1:9/v1"}
    judging = ToolFactory(options, 4)
    signature = judging.tools["checker"].signature
    assert signature.count(">") == 2
    assert "verdicts=tokens/2" in signature
    assert judging.tools["extractor"].signature.startswith("rules/")
    assert judging.tools["rater"].signature.startswith("openai/oracle")
    assert judging.has_cascade


def test_a_cascade_that_begins_in_this_process(weights, engine, tmp_path):
    engine.doubtful = "paint"
    judge = f"llama/{weights}>{tmp_path / 'strong.py'}:judge"
    said = {"claim": 1, "supported_by": [], "contradicted_by": ["A"]}
    code = f"import json\ndef judge(prompts):\n    return [json.dumps({{'verdicts': [{said}]}})] * len(prompts)\n"
    (tmp_path / "strong.py").write_text(code)
    run = ragstone.evaluate([ROW], "ragchecker.faithfulness", judge=judge, out=tmp_path / "out")
    assert [row.mean for row in run.summary()] == [pytest.approx(0.6, abs=0.01)]
    assert run.info["totals"]["ladder"]["passed_on"] > 0


def test_a_model_that_cannot_be_loaded_ends_the_run(weights, monkeypatch, tmp_path):
    def broken(*_):
        raise llama_engine.StorageError("the model 'tiny' cannot be used")

    monkeypatch.setattr(llama_engine, "start_engine", broken)
    with pytest.raises(StopRunError, match="cannot be used"):
        ragstone.evaluate([ROW], "ragchecker.precision", judge=f"llama/{weights}", out=tmp_path / "out")


def test_a_prompt_that_is_too_long_fails_its_cell(weights, monkeypatch, tmp_path):
    error = {"error": {"code": 400, "message": "request (9000 tokens) exceeds the available context size"}}
    monkeypatch.setattr("ragstone.models.llama_engine.LlamaChat.ask", lambda self, body: error)
    run = ragstone.evaluate([ROW], "ragchecker.precision", judge=f"llama/{weights}", out=tmp_path / "out")
    [line] = run.summary()
    assert line.n_ok == 0
    assert "exceeds the available context size" in line.reason


def test_no_name():
    with pytest.raises(UsageError, match="name a model"):
        llama.open_llama("llama/")
