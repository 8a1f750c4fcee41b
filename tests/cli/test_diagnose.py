"""What limits quality."""

import json
import re
from importlib import resources
from pathlib import Path

import pytest

import ragstone

HARBOUR = resources.files("ragstone.examples") / "harbour"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two runs of the example."""
    folder = tmp_path_factory.mktemp("store")
    for name in ("better", "worse"):
        ragstone.evaluate(str(HARBOUR / f"{name}.jsonl"), "quick", folder, name=f"harbour-{name}")
    return folder


@pytest.fixture
def there(store, monkeypatch):
    monkeypatch.setenv("RAGSTONE_ROOT", str(store))
    return store


HOSTILE = "\x1b[2J\x1b]0;gone\x07[bold red]x[/bold red] \x9b1m \u202eabc"


def test_diagnose_in_full(cli, there):
    printed = cli("diagnose", "harbour-worse")
    assert "why samples fail (15 of 25 samples are wrong)" in printed.out
    assert "next:\n  ragstone explain harbour-worse h" in printed.out
    assert printed.err == ""


def test_diagnose_for_programs(cli, there):
    found = json.loads(cli("diagnose", "harbour-better", "--json").out)
    assert (found["limits"], found["failing"]) == ("neither", 5)
    assert {outcome["id"] for outcome in found["outcomes"] if outcome["status"] == "wrong"} == {
        "h02",
        "h11",
        "h12",
        "h14",
        "h18",
    }


def test_diagnose_with_all_chunks(cli, there):
    options = ["--chunks", HARBOUR / "chunks.jsonl", "--documents", HARBOUR / "documents", "--json"]
    found = json.loads(cli("diagnose", "harbour-better", *options).out)
    [finding] = next(outcome["findings"] for outcome in found["outcomes"] if outcome["id"] == "h14")
    assert finding["why"] == "it begins in chunk 'refunds#2' and ends in chunk 'refunds#3'"


def test_documents_alone_tell_nothing(cli, there):
    printed = cli("diagnose", "last", "--documents", HARBOUR / "documents")
    assert printed.code == 2
    assert "--documents needs --chunks" in printed.err


def test_data_cannot_command_the_terminal(cli, tmp_path):
    row = {
        "id": HOSTILE,
        "question": HOSTILE,
        "answer": HOSTILE,
        "references": [HOSTILE],
        "contexts": [{"text": HOSTILE, "id": HOSTILE}],
        "facts": [HOSTILE, "not there at all"],
    }
    run = ragstone.evaluate([row], "fact_recall", tmp_path, name=HOSTILE)
    unsafe = {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160), 0x202E)}
    for command in (["diagnose", run.path], ["explain", run.path, "1"], ["explain", run.path, "1", "fact_recall"]):
        for options in ([], ["--json"]):
            printed = cli(*command, *options)
            assert printed.code == 0
            assert not set(printed.out) & unsafe
            assert "[bold red]x[/bold red]" in printed.out


@pytest.mark.parametrize("command", ["ragstone diagnose latest", "ragstone explain latest h11 fact_recall"])
def test_the_page_shows_what_is_printed(cli, there, command):
    """Up to where the page cuts it short."""
    page = (Path(__file__).parents[2] / "docs" / "diagnosis.md").read_text()
    [shown] = re.findall(rf"^\$ {command}\n(.*?)^(?:…\n)?```$", page, flags=re.DOTALL | re.MULTILINE)
    printed = "\n".join(line.rstrip() for line in cli(*command.split()[1:]).out.splitlines())
    place = 0
    for piece in shown.rstrip().split("…\n"):  # the page leaves out lines
        assert piece in printed[place:]
        place = printed.index(piece, place) + len(piece)


def test_facts_that_no_metric_reads(cli, tmp_path):
    """The data has facts, and the output does not deny it."""
    cli("run", HARBOUR / "worse.jsonl", "-m", "token_f1", "-o", tmp_path)
    printed = cli("diagnose", "latest", "-o", tmp_path)
    assert "no facts" not in printed.out
    assert "-m fact_recall" in printed.out


@pytest.mark.slow
def test_facts_decide_over_the_local_judge(cli, tmp_path):
    cli("run", HARBOUR / "worse.jsonl", "-m", "fact_recall,ragchecker.claim_recall", "--judge", "local", "-o", tmp_path)
    printed = cli("diagnose", "latest", "-o", tmp_path)
    assert "local judge" in printed.out
    assert "claim_recall" not in printed.out
