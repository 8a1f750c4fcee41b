"""The short exam before a run, with a judge that knows it and with judges that guess."""

import json

import pytest

import ragstone
from ragstone.analysis.cause_names import CERTAIN
from ragstone.analysis.diagnosis import diagnose
from ragstone.llm.budget import Budget
from ragstone.views.diagnosis import headline
from tests.e2e.judged import cells, flags, judging, rows, write
from tests.oracle.exam import knows_the_exam
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

SAMPLES = make_samples(40)
ITEMS = 12


@pytest.fixture(autouse=True)
def exam(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    monkeypatch.delenv("RAGSTONE_EXAM")
    knows_the_exam(monkeypatch)


def run(server, tmp_path, samples=SAMPLES, **more):
    notes = []
    options = {**judging(server), "note": notes.append, **more}
    return ragstone.evaluate(rows(samples), metrics="ragchecker", out=tmp_path / "out", **options), notes


def all_supported(prompt, body, reply):
    if prompt == "verdicts":
        return {"verdicts": [{**one, "verdict": "entailment"} for one in reply["verdicts"]]}
    return reply


@pytest.mark.slow
def test_a_judge_that_passes(tmp_path):
    with OracleServer() as server:
        done, notes = run(server, tmp_path)
        check = done.info["judge_check"]
        assert (check["judge"], check["right"], check["asked"]) == ("openai/oracle", ITEMS, ITEMS)
        assert (check["verdict"], check["calls"], check["warnings"]) == ("usable", ITEMS, [])
        assert notes == []
        before = server.requests
        done, _ = run(server, tmp_path)
        assert server.requests == before
        assert (done.info["judge_check"]["calls"], done.info["judge_check"]["right"]) == (0, ITEMS)
    assert server.problems == []


@pytest.mark.slow
def test_by_tokens(tmp_path):
    with OracleServer() as server:
        done, _ = run(server, tmp_path, verdicts="tokens")
    check = done.info["judge_check"]
    assert (check["right"], check["asked"], check["verdict"]) == (ITEMS, ITEMS, "usable")
    assert check["calls"] > ITEMS


@pytest.mark.slow
def test_a_judge_at_chance(tmp_path):
    with OracleServer(alter=all_supported) as server:
        done, notes = run(server, tmp_path)
        certain, _ = run(server, tmp_path, exam=False)
    assert notes[0].startswith("the judge openai/oracle is at chance: it is right in 4 of 12 exam items")
    assert notes[1] == "all 12 verdicts are equal (entailment) in the exam of openai/oracle"
    assert done.info.doubts_judge
    found = diagnose(done)
    assert not found.sure
    assert {reading.state for reading in found.readings} <= {"", "seems good", "seems bad"}
    assert "the judge's verdicts cannot be trusted" in headline(found)
    assert found.by_doubted_judge
    sure = {reason.cause for item in found.advice if item.sure for reason in item.because}
    assert sure <= set(CERTAIN), "only what needs no judge"
    [equal] = certain.info["judge_check"]["warnings"]
    assert equal.startswith("all 207 verdicts of openai/oracle are equal (entailment)")
    assert notes[2] == equal
    assert not certain.info.doubts_judge
    assert diagnose(certain).sure
    assert cells(done.path).keys() == cells(certain.path).keys()


def test_on_the_command_line(tmp_path, cli):
    data = write(SAMPLES, tmp_path / "data.jsonl")
    with OracleServer(alter=all_supported) as server:
        words = ("run", data, "-o", tmp_path / "out", *flags(server))
        printed = cli(*words)
        silent = cli(*words, "--no-exam", "--json")
    assert "note: the judge openai/oracle is at chance" in printed.err
    assert "The judge openai/oracle is at chance" in printed.out
    assert "the judge's verdicts cannot be trusted" in " ".join(printed.out.split())
    assert "at chance" not in silent.err
    assert json.loads(silent.out)["totals"]["calls"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("why", ["few rows", "an object", "no claims", "offline", "off"])
def test_not_examined(tmp_path, monkeypatch, why):
    with OracleServer() as server:
        if why == "few rows":
            done, _ = run(server, tmp_path, SAMPLES[:9])
        elif why == "an object":
            from ragstone.testing import FakeLLM

            done, _ = run(server, tmp_path, judge=FakeLLM(lambda request: request.guess))
        elif why == "no claims":
            done = ragstone.evaluate(rows(SAMPLES), metrics="exact_match", out=tmp_path / "out", **judging(server))
        elif why == "offline":
            run(server, tmp_path, exam=False)
            done, _ = run(server, tmp_path, offline=True)
        else:
            monkeypatch.setenv("RAGSTONE_EXAM", "off")
            done, _ = run(server, tmp_path)
    assert "right" not in (done.info["judge_check"] or {})


@pytest.mark.slow
@pytest.mark.parametrize("verdicts", ["json", "tokens"])
def test_the_quote_counts_the_exam(tmp_path, verdicts):
    with OracleServer() as server:
        both = [
            ragstone.quote(rows(SAMPLES), "ragchecker", **judging(server), verdicts=verdicts, exam=exam).total.calls
            for exam in (True, False)
        ]
        assert server.requests == 0
        run(server, tmp_path, verdicts=verdicts)
        after = ragstone.quote(rows(SAMPLES), "ragchecker", **judging(server), verdicts=verdicts).total.calls
    assert both[0] - both[1] >= ITEMS
    assert after == 0


@pytest.mark.slow
def test_it_is_paid_from_the_budget(tmp_path, monkeypatch):
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"openai/oracle" = [1.0, 1.0]\n')
    monkeypatch.setenv("RAGSTONE_PRICES", str(prices))
    with OracleServer() as server:
        spent = Budget(1.0)
        done, _ = run(server, tmp_path, budget=spent)
        assert spent.spent_usd == pytest.approx(done.info["judge_check"]["cost_usd"] + done.info["totals"]["cost_usd"])
        small = Budget(0.001)
        done, _ = run(server, tmp_path, budget=small, cache=False)
    assert small.spent_usd <= 0.001
    assert done.info["judge_check"] is None
