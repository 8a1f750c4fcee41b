"""ragstone judge as it is typed."""

import json

import pytest

from tests.agreement.worlds import half, little, store_run, whole, world_rows
from tests.oracle.server import OracleServer


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind in (little, half, whole):
        store_run(tmp_path / "store", kind.__name__, world_rows(12, kind))
    return tmp_path / "store"


def ask(cli, store, *words, alter=lambda prompt, body, reply: reply):
    with OracleServer(alter=alter) as server:
        url = ("--base-url", server.base_url)
        return cli("judge", *words, "--judge", "openai/oracle", *url, "-o", store, "--no-cache", "-q"), server


def test_two_systems(cli, store):
    printed, _ = ask(cli, store, "little", "whole")
    assert printed.code == 0
    assert "whole is better" in printed.out
    assert "little wins 0" in printed.out
    assert "no clear preference for a position (first " in printed.out
    assert "/pairs/runs/" in printed.out


def test_what_is_stored_does_not_become_the_latest_run(cli, store):
    ask(cli, store, "little", "whole")
    assert "whole" in cli("diagnose", "latest", "-o", store).out


def test_json(cli, store):
    printed, _ = ask(cli, store, "little", "whole", "--json")
    found = json.loads(printed.out)
    assert found["meetings"][0]["winner"] == "whole"
    assert found["judges"][0]["first_seat"]["value"] == 0.5
    assert found["questions"] == 12


def test_a_preference_for_a_seat_is_told(cli, store):
    printed, _ = ask(cli, store, "little", "whole", alter=lambda prompt, body, reply: {**reply, "winner": "B"})
    assert "do not show a difference" in printed.out
    assert "chooses the second answer in" in printed.out
    assert "do not trust this judge" in " ".join(printed.out.split())
    printed, _ = ask(
        cli, store, "little", "whole", "--json", alter=lambda prompt, body, reply: {**reply, "winner": "A"}
    )
    assert json.loads(printed.out)["judges"][0]["only_seat"] == "first"


def test_examples_and_longer_reasons(cli, store):
    printed, server = ask(cli, store, "little", "whole", "--grading", "few-shot,cot", "--json")
    assert (json.loads(printed.out)["meetings"][0]["winner"], server.problems) == ("whole", [])
    body = server.bodies[0]
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", *["user", "assistant"] * 3, "user"]
    assert "in at most six sentences" in body["messages"][0]["content"]
    shown = [json.loads(message["content"]) for message in body["messages"] if message["role"] == "assistant"]
    assert [reply["winner"] for reply in shown] == ["B", "tie", "A"]
    plain, other = ask(cli, store, "little", "whole", "--json")
    assert len(other.bodies[0]["messages"]) == 2
    assert json.loads(plain.out)["meetings"][0]["winner"] == "whole"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray warns of its own doings
def test_ray_gives_the_same(cli, store):
    pytest.importorskip("ray")
    printed = [
        ask(cli, store, "little", "whole", "--json", *words)[0]
        for words in ((), ("--backend", "ray", "--workers", "1"))
    ]
    assert [one.code for one in printed] == [0, 0], printed[1].err
    alone, spread = (json.loads(one.out) for one in printed)
    assert spread["meetings"] == alone["meetings"]
    assert spread["judges"] == alone["judges"]


@pytest.mark.slow
def test_several_systems(cli, store):
    printed, _ = ask(cli, store, "little", "half", "whole")
    lines = [line for line in printed.out.splitlines() if line.strip()[:1] in "123" and line.strip()]
    assert [line.split()[1] for line in lines[:3]] == ["whole", "half", "little"]


def test_a_quote_makes_no_call(cli, store):
    printed, server = ask(cli, store, "little", "whole", "--quote")
    assert server.calls == 0
    assert "calls" in printed.out


def test_nothing_decided_is_exit_code_4(cli, store):
    printed, _ = ask(cli, store, "little", "whole", "-n", "2", alter=lambda prompt, body, reply: {"winner": "?"})
    assert printed.code == 4
    assert "not decided" in printed.out


def test_mistakes(cli, store):
    assert "judge needs two runs or more" in cli("judge", "little", "-o", store).err
    assert "name the judge" in cli("judge", "little", "whole", "-o", store).err
    printed, _ = ask(cli, store, "little", "whole", "--aspect", "beauty")
    assert printed.code == 2
    assert "unknown aspect 'beauty'" in printed.err
    printed, _ = ask(cli, store, "little", "whole", "--order", "none")
    assert "unknown order 'none'" in printed.err


def test_a_quote_for_a_jury_is_one_document(cli, store):
    printed, _ = ask(cli, store, "little", "whole", "--judge", "openai/other", "--quote", "--json")
    found = json.loads(printed.out)
    assert [one["title"] for one in found] == ["openai/other", "openai/oracle"]
    assert found[0]["total"]["calls"] == found[1]["total"]["calls"] > 0


def test_the_judge_on_this_machine_cannot_judge_pairs(cli, store):
    printed = cli("judge", "little", "whole", "--judge", "local", "-o", store)
    assert printed.code == 2
    assert "local cannot compare two answers" in printed.err
