"""ragstone judge-check as it is typed."""

import json

import pytest

from tests.oracle.exam import knows_the_exam
from tests.oracle.server import OracleServer


def ask(cli, *words, **settings):
    with OracleServer(**settings) as server:
        return cli("judge-check", "openai/oracle", "--base-url", server.base_url, "--no-cache", "-q", *words), server


def say_yes(prompt, body, reply):
    """Everything is supported by the chunk of its own number, everything matches, and the first answer wins."""
    if isinstance(reply, str):
        return "yes"
    if prompt == "pair":
        return {**reply, "winner": "A"}
    if prompt == "verdicts":
        return {"verdicts": [{**one, "verdict": "entailment"} for one in reply["verdicts"]]}
    return {"matches": [1]} if prompt == "answer_match" else reply


def marks(way):
    return {row["task"]: row for row in way["marks"]}


@pytest.fixture(autouse=True)
def candidate(monkeypatch):
    knows_the_exam(monkeypatch)


def test_a_judge_that_knows_everything(cli):
    printed, server = ask(cli, "--json")
    assert (printed.code, server.problems) == (0, [])
    found = json.loads(printed.out)
    assert (found["verdict"], found["use"]) == ("usable", "json")
    as_json, tokens = found["ways"]
    for row in as_json["marks"] + tokens["marks"]:
        assert row["right"] == row["asked"], row
    assert {name: row["asked"] for name, row in marks(as_json).items()} == {
        "verdicts": 24,
        "supported": 8,
        "contradicted": 8,
        "not stated": 8,
        "answer match": 8,
        "pairs": 8,
        "claims by chunks": 6,
        "claims of a text": 2,
    }
    assert (as_json["usable_replies"], as_json["repaired"], as_json["patterns"]) == (48, 0, [])
    assert "pairs" not in marks(tokens)
    assert as_json["per_100_rows"]["calls"] == 100
    assert as_json["per_100_rows"]["seconds"] > 0


def test_a_judge_that_always_says_yes_and_a(cli):
    printed, _ = ask(cli, alter=say_yes)
    assert printed.code == 0
    assert "openai/oracle: at chance" in printed.out
    assert "All 24 verdicts are equal (entailment)." in printed.out
    assert "All 8 replies about matching answers are equal (yes)." in printed.out
    assert "In pairs it chooses answer A in 8 of 8 replies, in either order." in printed.out
    assert "Do not trust its verdicts." in printed.out
    assert "(use it)" not in printed.out
    assert "judge-check OTHER_MODEL" in printed.out


def test_a_server_without_probabilities(cli):
    printed, _ = ask(cli, logprobs=False)
    assert "returns no log-probabilities of tokens" in printed.out
    assert "Use --verdicts json." in printed.out


def test_tokens_if_json_fails(cli):
    def garble(prompt, body, reply):
        return reply if isinstance(reply, str) else "I think so."

    printed, _ = ask(cli, "--json", alter=garble)
    found = json.loads(printed.out)
    assert (found["verdict"], found["use"]) == ("usable", "tokens")
    assert found["ways"][0]["usable_replies"] == 0
    assert marks(found["ways"][0])["verdicts"]["unusable"] == 24


def test_a_reply_that_is_usable_at_the_second_request(cli):
    printed, _ = ask(cli, "--json", trouble=lambda number: "wrong_json" if number == 3 else None)
    as_json = json.loads(printed.out)["ways"][0]
    assert (as_json["repaired"], as_json["usable_replies"]) == (1, 48)


def test_a_quote_makes_no_call(cli):
    printed, server = ask(cli, "--quote")
    assert server.requests == 0
    assert "the exam" in printed.out


def test_a_cascade_is_not_one_judge(cli):
    printed = cli("judge-check", "llama/a>openai/b", "-q")
    assert printed.code == 2
    assert "name one judge" in printed.err


def test_calibrate(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    printed, _ = ask(cli, "--calibrate", "--json")
    [found] = json.loads(printed.out)["calibration"]
    assert (found["what"], found["calibrated"]) == ("claims", False)
    assert found["levels"]["accepted"]["mean"] > 0.9 > found["levels"]["refused"]["mean"] + 0.7
    printed, _ = ask(cli, "--calibrate")
    assert "later runs show the estimated human score" in " ".join(printed.out.split())
    assert "calibration" not in json.loads(ask(cli, "--json")[0].out)
