"""The exam of a judge in all ways of asking: which is best, what it costs, and what cannot be examined."""

import json

import pytest

from ragstone.agreement.judge_check import check_dict, check_judge, quote_check
from ragstone.errors import StopRunError, UsageError
from ragstone.tools.judge_exam import load_items
from tests.agreement.planted_judge import PlantedJudge
from tests.oracle.exam import knows_the_exam
from tests.oracle.server import OracleServer


@pytest.fixture(autouse=True)
def candidate(monkeypatch, tmp_path):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    knows_the_exam(monkeypatch)


def ask(name="openai/oracle", server=None, **options):
    notes = []
    with server or OracleServer() as oracle:
        check = check_judge(name, {"base_url": oracle.base_url, **options}, 4, notes.append)
    return check, oracle, notes


def test_both_ways_are_asked_and_the_default_wins_a_tie():
    check, _, notes = ask()
    assert [one.way for one in check.ways] == ["json", "tokens"]
    assert (check.best.way, check.verdict, check.best.right) == ("json", "usable", 1.0)
    assert notes == ["asking openai/oracle, json", "asking openai/oracle, tokens"]
    small, _, _ = ask("openai/oracle-3b")
    assert small.best.way == "tokens", "a small model is asked by tokens"
    assert small.signature.startswith("openai/oracle-3b")
    assert ";verdicts=tokens/2" in small.signature


def test_the_cost_is_measured_only_without_the_cache():
    first, oracle, _ = ask(server=(server := OracleServer()))
    assert first.ways[0].row_cost.seconds > 0
    assert first.ways[0].total.calls == sum(count for name, count in oracle.replies.items() if "token" not in name)
    assert server is oracle
    with OracleServer() as other:
        options = {"base_url": other.base_url}
        check_judge("openai/oracle", options, 4)
        asked = other.requests
        again = check_judge("openai/oracle", options, 4)
        assert other.requests == asked
    assert again.ways[0].row_cost.seconds is None
    assert again.ways[0].row_cost.cost_usd is None
    assert again.ways[0].marks == first.ways[0].marks


def test_a_quote_asks_nothing_and_counts_about_as_many_calls():
    with OracleServer() as server:
        line = quote_check("openai/oracle", {"base_url": server.base_url})
        assert server.requests == 0
        check_judge("openai/oracle", {"base_url": server.base_url})
        assert line.calls == pytest.approx(server.requests, rel=0.25)


def test_a_budget_holds_for_all_ways_together(monkeypatch, tmp_path):
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"openai/oracle" = [1000.0, 1000.0]\n')
    monkeypatch.setenv("RAGSTONE_PRICES", str(prices))
    with pytest.raises(StopRunError, match="the exam is not finished"):
        ask(budget="0.5usd")


def test_a_judge_without_probabilities_and_one_without_json():
    check, _, _ = ask(server=OracleServer(logprobs=False))
    assert check.best.way == "json"
    assert "log-probabilities" in check.ways[1].why_not
    planted = check_judge(PlantedJudge(kindness=0.0))
    assert (planted.ways[0].usable, planted.best.way) == (0, "tokens")


@pytest.mark.parametrize("judge", ["local>openai/x", "llama/a>openai/b", "trained/ours"])
def test_one_judge_at_a_time(judge):
    with pytest.raises(UsageError, match="cannot be examined"):
        check_judge(judge)


def test_as_json():
    found = json.loads(json.dumps(check_dict(ask(server=OracleServer(logprobs=False))[0])))
    assert (found["judge"], found["verdict"], found["is_usable"], found["use"]) == (
        "openai/oracle",
        "usable",
        True,
        "json",
    )
    as_json, tokens = found["ways"]
    assert set(tokens) == {"way", "why_not"}
    verdicts = next(row for row in as_json["marks"] if row["task"] == "verdicts")
    assert verdicts["asked"] == sum(item.kind == "verdict" for item in load_items())
    assert verdicts["chance"] == pytest.approx(1 / 3)
    assert as_json["per_100_rows"]["calls"] == 100


def test_one_of_the_fields_checkers_is_examined_in_its_own_form(tmp_path, monkeypatch):
    from tests.models.tiny_checkers import encoder_folder, installed

    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "models"))
    encoder_folder(tmp_path / "made", 3)
    installed(tmp_path / "models", tmp_path / "made", "nli-deberta-v3-base")
    check = check_judge("cross-encoder/nli-deberta-v3-base")
    assert [one.way for one in check.ways] == ["own form"]
    assert {mark.task.strip() for mark in check.best.marks} >= {"verdicts", "claims by chunks"}
    assert "answer match" not in {mark.task for mark in check.best.marks}
    assert check.signature.startswith("checker/nli-deberta-v3-base#")
