"""ragstone audit as it is typed."""

import json

import pytest

from tests.agreement.test_audit import known, longer, prefer  # noqa: F401  (the oracle's knowledge)
from tests.agreement.worlds import half, little, store_run, world_rows
from tests.oracle.server import OracleServer


@pytest.fixture
def store(tmp_path):
    store_run(tmp_path, "harbour", world_rows(10, half))
    return tmp_path


def ask(cli, store, *words, alter=lambda prompt, body, reply: reply):
    with OracleServer(alter=alter) as server:
        more = ("--base-url", server.base_url, "-o", store, "--no-cache", "-q")
        return cli("audit", "openai/oracle", *words, *more), server


@pytest.mark.slow
def test_a_fair_judge(cli, store):
    printed, _ = ask(cli, store, "--on", "harbour")
    assert printed.code == 0
    assert "openai/oracle: no bias found" in printed.out
    assert "✓  injection" in printed.out
    assert "self-enhancement: name a run of another model family" in printed.out


@pytest.mark.slow
def test_a_biased_judge_and_what_to_do(cli, store):
    printed, _ = ask(cli, store, alter=prefer(longer))
    assert "✗  verbosity: padded twins" in printed.out
    assert "verbosity: padded twins: Judge by one aspect" in printed.out


@pytest.mark.slow
def test_json(cli, store):
    printed, _ = ask(cli, store, "--json", "-n", "9", alter=prefer(longer))
    found = json.loads(printed.out)
    assert "verbosity: padded twins" in found["biased"]
    padded = next(row for row in found["findings"] if row["name"] == "verbosity: padded twins")
    assert (padded["value"], padded["n"], padded["verdict"]) == (1.0, 9, "biased")


def test_a_quote_makes_no_call(cli, store):
    printed, server = ask(cli, store, "--quote")
    assert server.calls == 0
    assert printed.out.count("calls") >= 2


def test_a_quote_counts_the_jury_and_is_one_document(cli, store, tmp_path):
    store_run(tmp_path, "other", world_rows(10, little))
    words = ("--on", "harbour", "--against", "other", "--jury", "openai/two", "--quote", "--json")
    found = json.loads(ask(cli, store, *words)[0].out)
    assert [one["title"] for one in found] == [
        "openai/oracle",
        "openai/oracle, guided by its own answers",
        "jury: openai/two",
        "openai/oracle: verdicts",
        "openai/oracle: grades",
    ]
    assert all(one["total"]["calls"] > 0 for one in found)


@pytest.mark.slow
def test_a_judge_that_fails_is_not_cleared(cli, store):
    printed, _ = ask(cli, store, "-n", "8", alter=lambda prompt, body, reply: {"winner": "?"})
    assert printed.code == 4
    assert "no bias could be tested" in printed.out
    assert "no bias found" not in printed.out
    assert "duels were not decided, most often:" in printed.out
