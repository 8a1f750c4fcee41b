"""Shared steps of the ground truth commands."""

from dataclasses import replace

import pytest

from ragstone.cli.truth.diff import has_value
from ragstone.cli.truth.options import author_or_user, describe_calls, describe_counts, one_line
from ragstone.llm.wrappers import Call
from ragstone.truth.model import Case, TruthFact

NONE = dict.fromkeys(("added", "removed", "changed", "facts_gained", "facts_lost", "facts_changed"), 0)


def test_counts():
    assert describe_counts(NONE) == "nothing"
    assert describe_counts({**NONE, "added": 1200, "facts_lost": 2}) == "cases: 1,200 added; facts: 2 lost"


def test_no_calls():
    assert describe_calls([]) == "no calls"


def test_calls_that_a_budget_forbade_were_not_made():
    call = Call("s", "e", "p", "h", "m", cost_usd=0.25)
    calls = [call, replace(call, cached=True, cost_usd=0.0), replace(call, attempts=0, error="spent", cost_usd=None)]
    assert describe_calls(calls) == "1 calls, 1 replies from the cache, 0.2500 usd"


def test_a_named_author_wins(monkeypatch):
    assert author_or_user("Ada") == "Ada"

    def nameless():
        raise KeyError

    monkeypatch.setattr("getpass.getuser", nameless)
    assert author_or_user(None) == "unknown"


@pytest.mark.parametrize(("value", "expected"), [(None, False), ([], False), ({}, False), (0, True), ("", True)])
def test_values(value, expected):
    assert has_value(value) is expected


def test_a_case_a_fact_and_a_list_as_one_line():
    assert one_line(Case("a", "How?", references=["So"])) == "How?  [So]"
    assert "12 m" in one_line(TruthFact("12 m"))
    assert one_line(["a", "b"]) == "a / b"
