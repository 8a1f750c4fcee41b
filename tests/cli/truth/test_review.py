"""Accepting and rejecting proposals from the command line."""

import json

import pytest

from tests.truth.test_review import CASES


@pytest.fixture
def fares(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store.save("fares", CASES, author="Ada")
    return store


def standings(store, case="fare"):
    found = next(one for one in store.read("fares").cases if one.id == case)
    return found.standing, [fact.standing for fact in found.facts]


def test_accept_saves_a_version_and_leaves_lost_citations(cli, fares):
    done = cli("truth", "accept", "fares", "--all", "--author", "Grace")
    assert (done.code, done.err) == (0, "")
    assert "accepted: 1 answer, 1 citation, 1 statement, 1 unanswerable question, in 2 cases" in done.out
    assert "not in their passages, unchanged" in done.out
    assert "A ticket costs 12 crowns." in done.out
    assert "saved as fares@2" in done.out
    info = fares.info("fares")
    assert (info.author, info.parent, info.lineage.sources) == ("Grace", 1, ["fares@1"])
    assert info.lineage.counts == {"accepted": 4}
    assert standings(fares) == ("accepted", ["accepted", "proposed", "accepted", "rejected"])
    assert standings(fares, "captain") == ("accepted", [])
    assert fares.read("fares").cases[1].as_sample().answerable is False
    done = cli("truth", "accept", "fares", "--all")
    assert "nothing to accept in fares@2" in done.out
    assert fares.newest("fares") == 2
    cli("truth", "accept", "fares", "fare", "--not-found")
    assert standings(fares)[1][1] == "accepted"


def test_accept_says_which_items_are_doubtful(cli, fares):
    done = cli("truth", "accept", "fares", "--all", "--not-found", "--dry-run")
    assert "1 of them less certain than 0.8: --min-confidence 0.8" in done.out
    sure = cli("truth", "accept", "fares", "--min-confidence", "0.8", "--dry-run")
    assert "citation  0.90  " in sure.out
    assert "less certain" not in sure.out


def test_reject_with_filters_and_back(cli, fares):
    cli("truth", "reject", "fares", "--only-not-found")
    assert standings(fares) == ("proposed", ["proposed", "rejected", "proposed", "rejected"])
    cli("truth", "reject", "fares", "--kind", "unanswerable", "--kind", "statement", "--note", "no use")
    assert fares.info("fares").note == "no use"
    assert standings(fares)[1] == ["proposed", "rejected", "rejected", "rejected"]
    assert fares.read("fares").cases[1].as_sample().answerable is None
    cli("truth", "accept", "fares", "fare", "--status", "rejected", "--fact", "3")
    assert standings(fares)[1] == ["proposed", "rejected", "accepted", "rejected"]
    cli("truth", "accept", "fares", "--provenance", "judge", "--min-confidence", "0.8")
    assert standings(fares) == ("proposed", ["accepted", "rejected", "accepted", "rejected"])


def test_a_dry_run_saves_nothing_and_json_lists_everything(cli, fares):
    done = cli("truth", "accept", "fares", "fare", "--dry-run")
    assert "nothing was saved" in done.out
    found = json.loads(cli("truth", "accept", "fares", "fare", "--dry-run", "--json").out)
    assert (found["from"], found["saved"]) == ("fares@1", None)
    assert [(item["kind"], item["fact"]) for item in found["accepted"]] == [
        ("answer", None),
        ("citation", 1),
        ("statement", 3),
    ]
    assert [item["fact"] for item in found["not_found"]] == [2]
    assert fares.newest("fares") == 1
    assert json.loads(cli("truth", "reject", "fares", "captain", "--json").out)["saved"] == "fares@2"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name the cases"),
        (["--all", "fare"], "not both"),
        (["--all", "--fact", "1"], "exactly one case"),
        (["--all", "--status", "loved"], "--status loved"),
        (["fair"], "Did you mean fare"),
    ],
)
def test_an_unclear_choice_is_refused(cli, fares, words, message):
    done = cli("truth", "accept", "fares", *words)
    assert done.code != 0
    assert message in done.err
    assert fares.newest("fares") == 1


def test_reject_names_the_cases_whose_accepted_facts_stay(cli, fares):
    cli("truth", "accept", "fares", "fare", "--fact", "1")
    done = cli("truth", "reject", "fares", "fare")
    assert "accepted facts of fare stay; to reject them: ragstone truth reject fares fare --kind citation" in done.err
    assert standings(fares)[1][0] == "accepted"
    assert cli("truth", "reject", "fares", "fare", "--kind", "citation", "--status", "accepted").err == ""
    assert standings(fares)[1][0] == "rejected"
