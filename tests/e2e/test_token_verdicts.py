"""Token verdicts end to end, with a server that is always right and tells its log-probabilities."""

import os
import signal
import subprocess
import sys
import time

import pytest

import ragstone
from ragstone.errors import StopRunError, UnknownNameError
from ragstone.llm.budget import Budget
from tests.e2e.judged import calls, cells, flags, judging, only_run, rows, write
from tests.oracle.expected import expected
from tests.oracle.server import OracleServer
from tests.oracle.trouble import IN_CHOICE, after, always
from tests.oracle.world import make_samples

SAMPLES = make_samples(40)
FEW = make_samples(8, seed=1)
CLAIMS = ["ragchecker"]
TOKENS = {"token_support", "token_contradiction"}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))


def run(server, samples, tmp_path, **more):
    options = {**judging(server), "verdicts": "tokens", **more}
    return ragstone.evaluate(rows(samples), metrics=CLAIMS, out=tmp_path / "out", **options)


def test_scores_are_those_of_the_world(tmp_path):
    with OracleServer() as server:
        done = run(server, SAMPLES, tmp_path)
    assert server.problems == []
    found = cells(done.path)
    wanted = {(sample.id, name): value for sample in SAMPLES for name, value in expected(sample).items()}
    for place, cell in found.items():
        if cell["status"] == "ok":
            assert cell["value"] == pytest.approx(wanted[place], abs=1e-3), place
    assert sum(cell["status"] == "ok" for cell in found.values()) > 200
    assert {call["prompt"] for call in calls(done.path)} == {"claims", "claims_and_entities", *TOKENS}
    assert set(done.info["prompts"]) >= TOKENS
    assert "verdicts" not in done.info["prompts"]
    assert "verdicts=tokens/2" in done.info["judge"]["checker"]
    one = [body for body in server.bodies if body.get("max_tokens") == 1]
    assert all(body["logprobs"] is True and body["top_logprobs"] == 20 for body in one)


@pytest.mark.slow
def test_a_second_run_asks_nothing_and_json_has_replies_of_its_own(tmp_path):
    with OracleServer() as server:
        run(server, FEW, tmp_path)
        before = server.requests
        run(server, FEW, tmp_path)
        assert server.requests == before
        run(server, FEW, tmp_path, verdicts="json")
        assert server.replies["context_verdicts"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "way"), [("vllm/our-judge", "tokens"), ("openai/oracle", "json"), ("openai/x-7b", "tokens")]
)
def test_the_default(tmp_path, judge, way):
    with OracleServer() as server:
        run(server, FEW, tmp_path, judge=judge, verdicts="auto")
    assert (server.replies["token_support"] > 0) == (way == "tokens")
    assert (server.replies["context_verdicts"] > 0) == (way == "json")


def test_a_server_without_probabilities_is_asked_for_json_with_a_note(tmp_path, capsys):
    with OracleServer(logprobs=False) as server:
        done = run(server, FEW, tmp_path, judge="vllm/our-judge", verdicts="auto")
    assert server.replies["context_verdicts"] > 0
    assert all(cell["status"] != "failed" for cell in cells(done.path).values())
    with OracleServer(logprobs=False) as server, pytest.raises(StopRunError, match="returns no log-probabilities"):
        run(server, FEW, tmp_path, judge="vllm/our-judge", cache=False)


def statuses(done):
    return {cell["status"] for cell in cells(done.path).values()}


ODD = sorted(IN_CHOICE)


@pytest.mark.parametrize("trouble", ODD)
def test_one_odd_reply_changes_nothing(tmp_path, trouble, monkeypatch):
    """It is asked for once more."""
    with OracleServer() as server:
        good = run(server, FEW, tmp_path / "good")
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "other"))
    seen = []

    def once(prompt, body):
        seen.append(prompt)
        return trouble if seen.count("token_support") == 9 and prompt == "token_support" else None

    with OracleServer(spoil_choice=once) as server:
        done = run(server, FEW, tmp_path / "odd")
    assert done.info["judge"] == good.info["judge"]
    found, wanted = cells(done.path), cells(good.path)
    assert {place: (cell["status"], cell["value"]) for place, cell in found.items()} == {
        place: (cell["status"], cell["value"]) for place, cell in wanted.items()
    }


@pytest.mark.parametrize("trouble", ["no_logprobs", "empty_alternatives"])
@pytest.mark.parametrize("verdicts", ["tokens", "auto"])
def test_a_question_that_never_gets_them_fails_its_row_alone(tmp_path, trouble, verdicts):
    notes = []
    text = FEW[2].row()["contexts"][0]
    chunk = text["text"] if isinstance(text, dict) else text

    def always(prompt, body):
        asked = body["messages"][-1]["content"]
        return trouble if prompt == "token_support" and chunk in asked else None

    with OracleServer(spoil_choice=always) as server:
        done = run(server, FEW, tmp_path, judge="vllm/our-judge", verdicts=verdicts, note=notes.append)
    assert server.replies["context_verdicts"] == 0, "never JSON in the middle"
    failed = [cell for cell in cells(done.path).values() if cell["status"] == "failed"]
    assert failed
    assert {cell["sample_id"] for cell in failed} != {sample.id for sample in FEW}
    assert all("no log-probabilities of tokens, asked 2 times" in cell["reason"] for cell in failed)
    assert [note for note in notes if "of the cells failed" not in note] == []


@pytest.mark.parametrize(
    "trouble", ["no_logprobs", "null_logprobs", "null_content", "empty_content", "empty_alternatives"]
)
def test_a_server_that_never_returns_them_is_found_before_the_first_verdict(tmp_path, trouble):
    notes = []
    with OracleServer(always(trouble)) as server:
        done = run(server, FEW, tmp_path, judge="vllm/our-judge", verdicts="auto", note=notes.append)
    assert server.replies["token_trial"] == 3
    assert server.replies["token_support"] == 0
    assert statuses(done) <= {"ok", "skipped"}
    [note] = [note for note in notes if "--verdicts json" in note]
    assert "vllm/our-judge returns no log-probabilities of tokens" in note
    assert "verdicts=" not in done.info["judge"]["checker"]
    with OracleServer(always(trouble)) as server, pytest.raises(StopRunError, match="--verdicts json"):
        run(server, FEW, tmp_path / "named", judge="vllm/our-judge", cache=False)
    assert server.calls == 3
    assert not (tmp_path / "named" / "out" / "runs").exists() or not list(
        (tmp_path / "named" / "out" / "runs").iterdir()
    )


def test_two_ways_of_asking_have_two_signatures(tmp_path):
    with OracleServer() as one, OracleServer(logprobs=False) as other:
        first, second = (run(server, FEW, tmp_path, judge="vllm/our-judge", verdicts="auto") for server in (one, other))
    assert "verdicts=tokens/2" in first.info["judge"]["checker"]
    metric = "ragchecker.precision"
    assert first.info.metric(metric).signature != second.info.metric(metric).signature


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("at_first", [True, False], ids=["tokens first", "JSON first"])
def test_a_resumed_run_keeps_its_way_of_asking(tmp_path, at_first, cache, monkeypatch):
    """Even if the server has changed meanwhile."""
    monkeypatch.setattr("ragstone.engine.execute.WAITING_PART_ROWS", 2)
    monkeypatch.setattr("ragstone.engine.execute.PARTS_IN_FLIGHT", 1)
    options = {"judge": "vllm/our-judge", "verdicts": "auto", "cache": cache, "concurrency": 1}
    with OracleServer(after(100 if at_first else 25, "401"), logprobs=at_first) as server, pytest.raises(StopRunError):
        run(server, FEW, tmp_path, **options)
    assert len(list((only_run(tmp_path / "out") / "parts").iterdir())) > 0
    port = server.port
    notes = []
    with OracleServer(logprobs=not at_first, port=port) as server:
        done = run(server, FEW, tmp_path, resume=True, note=notes.append, **options)
    assert any("resuming" in note for note in notes)
    assert ("verdicts=tokens/2" in done.info["judge"]["checker"]) == at_first
    asked = server.replies["context_verdicts"], server.replies["token_support"]
    assert asked[0] == 0 < asked[1] if at_first else asked[1] == 0 < asked[0]


def test_an_unknown_way():
    with pytest.raises(UnknownNameError, match="auto, tokens, json"):
        ragstone.evaluate(rows(FEW), metrics=CLAIMS, judge="openai/x", verdicts="guess")


@pytest.mark.slow
def test_the_quote_counts_these_calls(tmp_path):
    with OracleServer() as server:
        quoted = ragstone.quote(rows(SAMPLES), CLAIMS, **judging(server), verdicts="tokens")
        assert server.requests == 0
        run(server, SAMPLES, tmp_path)
    assert quoted.total.calls == pytest.approx(server.calls, rel=0.25)
    assert quoted.total.input_tokens == pytest.approx(server.input_tokens, rel=0.25)


def test_a_budget_stops_them(tmp_path, monkeypatch):
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"openai/oracle" = [1.0, 1.0]\n')
    monkeypatch.setenv("RAGSTONE_PRICES", str(prices))
    budget = Budget(0.02)
    with OracleServer() as server:
        done = run(server, SAMPLES, tmp_path, budget=budget)
    assert 0.01 < budget.spent_usd <= 0.02
    assert any("budget" in (cell["reason"] or "") for cell in cells(done.path).values())


@pytest.mark.slow
def test_killed_and_resumed(tmp_path):
    data = write(SAMPLES, tmp_path / "data.jsonl")
    with OracleServer(latency_s=0.02) as server:
        command = [sys.executable, "-m", "ragstone", "run", str(data), "-o", str(tmp_path / "out"), "-q"]
        command += [*flags(server, "--verdicts", "tokens"), "-m", "ragchecker"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while server.calls < 60 and time.monotonic() < until and process.poll() is None:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        before = server.calls
        assert before >= 60
        done = subprocess.run([*command, "--resume"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    made = [call for call in calls(only_run(tmp_path / "out")) if call["prompt"] in TOKENS]
    paid = [call for call in made if not call["cached"]]
    in_flight = 16
    assert server.replies["token_support"] + server.replies["token_contradiction"] <= len(made) + in_flight
    assert len(paid) < len(made)
