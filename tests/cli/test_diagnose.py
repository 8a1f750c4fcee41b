"""ragstone diagnose and explain, as a user types them."""

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


def test_the_end_of_a_run(cli, tmp_path):
    printed = cli("demo", "worse", "-o", tmp_path)
    assert "Both parts seem to limit quality, but that is not sure" in printed.out
    assert "15 of 25 samples fail: 8 missing chunk" in printed.out
    [command] = [line.strip() for line in printed.out.splitlines() if "ragstone diagnose" in line]
    assert cli(*command.split()[2:]).code == 0


def test_a_run_about_which_there_is_nothing_to_say(cli, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"question": "q", "answer": "a", "references": ["a"]}\n')
    assert "diagnosis" not in cli("run", tmp_path / "a.jsonl", "-o", tmp_path).out


def test_json_of_a_run_has_no_diagnosis_beside_it(cli, tmp_path):
    assert json.loads(cli("demo", "--json", "-o", tmp_path).out).keys() == {"run", "id", "summary"}


@pytest.mark.parametrize("how", ["path", "id", "name", "last"])
def test_ways_to_name_a_run(cli, there, how):
    newest = ragstone.open_run(sorted((there / "runs").iterdir())[-1])
    wanted = {"path": newest.path, "id": newest.id, "name": "harbour-worse", "last": "last"}[how]
    printed = cli("diagnose", wanted)
    assert printed.code == 0
    assert printed.out.startswith("diagnosis of harbour-worse\n")


def test_a_run_that_there_is_not(cli, there, tmp_path):
    printed = cli("diagnose", "harbor-worse")
    assert (printed.code, printed.out) == (2, "")
    assert "unknown run 'harbor-worse'. Did you mean harbour-worse" in printed.err
    printed = cli("diagnose", "last", "-o", tmp_path)
    assert printed.code == 1
    assert "there is no run 'last', and none under" in printed.err


def test_an_unfinished_run(cli, there, tmp_path):
    (tmp_path / "plan.json").write_text("{}")
    assert "is unfinished" in cli("diagnose", tmp_path).err


def test_diagnose_in_full(cli, there):
    printed = cli("diagnose", "harbour-worse")
    assert "why samples fail (15 of 25 samples)" in printed.out
    assert "one sample in full: ragstone explain" in printed.out
    assert printed.err == ""


def test_diagnose_for_programs(cli, there):
    found = json.loads(cli("diagnose", "harbour-better", "--json").out)
    assert (found["limits"], found["failing"]) == ("neither", 5)
    assert {outcome["id"] for outcome in found["outcomes"]} == {"h02", "h11", "h12", "h14", "h18"}


def test_diagnose_with_all_chunks(cli, there):
    options = ["--chunks", HARBOUR / "chunks.jsonl", "--documents", HARBOUR / "documents", "--json"]
    found = json.loads(cli("diagnose", "harbour-better", *options).out)
    [finding] = next(outcome["findings"] for outcome in found["outcomes"] if outcome["id"] == "h14")
    assert finding["why"] == "it begins in chunk 'refunds#2' and ends in chunk 'refunds#3'"


def test_documents_alone_tell_nothing(cli, there):
    printed = cli("diagnose", "last", "--documents", HARBOUR / "documents")
    assert printed.code == 2
    assert "--documents needs --chunks" in printed.err


def test_explain_a_sample(cli, there):
    printed = cli("explain", "harbour-worse", "h14")
    assert "h14  row 14 of 25 in harbour-worse" in printed.out
    assert "why it fails: split fact, retriever" in printed.out
    assert "refunds#3  a part of fact 1" in printed.out
    assert "fact_recall" in printed.out


def test_explain_by_row_number(cli, there):
    assert cli("explain", "harbour-worse", "14").out == cli("explain", "harbour-worse", "h14").out


def test_explain_a_metric(cli, there):
    printed = cli("explain", "harbour-worse", "h11", "fact_recall")
    assert "fact_recall = 0.333" in printed.out
    assert "1 of 3 facts = 0.333" in printed.out
    assert "✓ fact 1: A pallet of more than 500 kg" in printed.out
    assert "· fact 2: Freight may stay" in printed.out
    assert "rouge_l" not in printed.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["h1"], "unknown sample 'h1'. Did you mean"),
        (["26"], "unknown sample '26'."),
        (["0"], "unknown sample '0'."),
        (["h14", "fact_recal"], "unknown metric of this run 'fact_recal'. Did you mean fact_recall"),
        (["h14", "fact_recall@3"], "unknown metric of this run 'fact_recall@3'"),
        (["h14", "\x1b[2J"], "unknown metric of this run"),
    ],
)
def test_explain_what_there_is_not(cli, there, arguments, words):
    printed = cli("explain", "harbour-worse", *arguments)
    assert (printed.code, printed.out) == (2, "")
    assert words in printed.err


def test_explain_for_programs(cli, there):
    found = json.loads(cli("explain", "harbour-worse", "h11", "fact_recall", "--json").out)
    assert found["cause"] == "missing chunk"
    assert found["working"]["counts"] == [{"kind": "fact", "above": [1], "below": [1, 2, 3]}]
    assert found["scores"] == [{"metric": "fact_recall", "value": 1 / 3, "status": "ok", "reason": None}]
    assert found["evidence"]["fact_ranks"] == [1, None, None]


HOSTILE = "\x1b[2J\x1b]0;gone\x07[bold red]x[/bold red] \x9b1m \u202eabc"


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
    assert printed.startswith(shown.rstrip())
