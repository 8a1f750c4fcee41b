"""ragstone gate as a pipeline runs it: exit codes, files, settings."""

import json
import os
import re
from importlib import resources
from xml.etree import ElementTree as ET

import pytest

from ragstone import gate
from ragstone.engine.evaluate import evaluate
from tests.analysis.scored import copy_runs, declare, make_run, noise
from tests.notify.code_host import github, running_host


def build_store(root):
    base = noise(1, 60, 0.1, 0.7)
    make_run(root, "main", quality=base)
    make_run(root, "branch", quality=base - 0.1)
    # Ids tell seconds apart, not less.
    for run in (root / "store" / "runs").iterdir():
        if json.loads((run / "run.json").read_text())["name"] == "branch":
            run.rename(run.with_name("29991231-235959-00000000"))
    (root / "store").rename(root / "ragstone-store")


@pytest.fixture
def store(catalogue, tmp_path, tmp_path_factory, monkeypatch):
    declare(catalogue)
    monkeypatch.chdir(tmp_path)
    copy_runs(build_store, tmp_path_factory, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["main", "--min", "quality=0.6"], 0, "✓ passes"),
        (["main", "--min", "quality=0.9"], 3, "✗ fails"),
        (["main", "--min", "quality=0.7"], 4, "? cannot tell"),
        (["main", "--max", "quality=0.9", "--min", "quality=0.5"], 0, "✓ passes"),
        (["branch", "--against", "main", "--max-drop", "0.02"], 3, "✗ fails"),
        (["branch", "--against", "main", "--max-drop", "quality=0.2"], 0, "✓ passes"),
        (["latest", "--against", "main", "--max-drop", "0.02"], 3, "✗ fails"),
        (["main", "--min", "quality=0.6", "--sequential"], 0, "decided after"),
        (
            ["branch", "--against", "main", "--max-drop", "quality=0.05", "--sequential"],
            4,
            "valid at every look",
        ),
    ],
)
def test_exit_codes(cli, store, arguments, code, word):
    printed = cli("gate", *arguments)
    assert printed.code == code
    assert word in printed.out
    assert printed.err == ""


def test_files_for_a_pipeline(cli, store):
    printed = cli(
        "gate",
        "branch",
        "--min",
        "quality=0.5",
        "--min",
        "quality=0.6",
        "--against",
        "main",
        "--max-drop",
        "0.02",
        "--markdown",
        "gate.md",
        "--junit",
        "gate.xml",
        "--json",
    )
    found = json.loads(printed.out)
    assert (found["outcome"], found["exit_code"], printed.code) == ("fails", 3, 3)
    assert [check["outcome"] for check in found["checks"]] == ["passes", "cannot tell", "fails"]
    suite = ET.fromstring((store / "gate.xml").read_text())[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [case[0].tag for case in suite] == ["system-out", "error", "failure"]
    text = (store / "gate.md").read_text()
    assert text.startswith("### Gate of branch against main: ❌ fails")
    assert "| quality drop ≤ 0.02 | B − A -0.100 |" in text


def test_a_drop_without_a_name_says_what_it_is_for(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["recall", "mrr", "ndcg", "token_f1", "precision"]
    with resources.as_file(resources.files("ragstone.examples") / "harbour") as folder:
        for name in ("better", "worse"):
            evaluate(folder / f"{name}.jsonl", names, "ragstone-store", name=name)
    given = ("gate", "better", "--against", "worse", "--max-drop", "0.02")
    printed = cli(*given, "--markdown", "gate.md")
    assert printed.code == 0
    assert "recall drop ≤ 0.02" in printed.out
    assert "precision drop" not in printed.out
    words = "1 other metric from 0 to 1 can be named"
    assert words in " ".join(printed.out.split())
    assert words in (tmp_path / "gate.md").read_text()
    assert json.loads(cli(*given, "--json").out)["left_out"] == ["precision"]
    assert "without a metric" not in cli(*given[:-1], "precision=0.02").out


def test_the_settings_file(cli, store):
    (store / "ragstone.toml").write_text('[gate]\nagainst = "main"\nmax-drop = 0.02\n[gate.min]\nquality = 0.1\n')
    assert cli("gate", "branch").code == 3
    passed = cli("gate", "main")
    assert passed.code == 0
    assert "next: ragstone gate NEW --against main --max-new-failures 0" in passed.out
    itself = "compared with itself, so nothing can have become worse"
    assert itself in " ".join(passed.out.split())
    assert itself not in " ".join(cli("gate", "branch").out.split())
    assert itself in gate("main", against="main", max_drop=0.02).note
    assert gate("branch", against="main", max_drop=0.02).note == ""
    assert cli("gate", "branch", "--min", "quality=0.1").code == 0  # a condition on the command line is all there is
    (store / "other.toml").write_text("[gate]\nmax = {quality = 0.9}\n")
    assert cli("gate", "branch", "--config", "other.toml").code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a gate needs a condition"),
        ("[gate", "not a TOML file"),
        ("[gate]\nminn = {}\n", "Did you mean min?"),
        ("[gate.min]\nquality = 'high'\n", "'high' is not a number"),
        ("[gate]\nagainst = 3\n", "against must be the name of a run"),
        ("[gate]\nmax-drop = true\n", "True is not a number"),
    ],
)
def test_settings_that_cannot_be_understood(cli, store, text, words):
    (store / "ragstone.toml").write_text(text)
    printed = cli("gate", "main")
    assert printed.code == 2
    assert words in printed.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["main"], 2, "a gate needs a condition"),
        (["mian", "--min", "quality=0.5"], 2, "Did you mean main?"),
        (["main", "--min", "qualty=0.5"], 2, "Did you mean quality?"),
        (["main", "--min", "quality"], 2, "write it as METRIC=VALUE"),
        (["main", "--max-drop", "0.1"], 2, "--max-drop needs a baseline: --against RUN or --baseline BRANCH"),
        (["main", "--min", "quality=0.5", "--config", "no.toml"], 1, "cannot read no.toml"),
        (["main", "--min", "quality=0.5", "--markdown", "no/folder/gate.md"], 1, "cannot write no/folder/gate.md"),
        (
            ["main", "--min", "quality=0.5", "--sequential", "--cluster", "x"],
            2,
            "--sequential does not support --cluster",
        ),
    ],
)
def test_what_cannot_be_done_is_said(cli, store, arguments, code, words):
    printed = cli("gate", *arguments)
    assert printed.code == code
    assert words in printed.err


def test_quiet_prints_the_decision_without_the_next_step(cli, store):
    printed = cli("gate", "main", "--min", "quality=0.9", "-q")
    assert printed.code == 3
    assert "failed" in printed.out
    assert "next" not in printed.out + printed.err
    assert "next" in cli("gate", "main", "--min", "quality=0.9").out


def test_an_unfinished_run_needs_the_sequential_gate(cli, store):
    from ragstone.cli.output import find_run
    from ragstone.storage.runs import read_table, write_table

    folder = find_run("branch", "ragstone-store").folder
    write_table(folder.part(0).scores, read_table(folder.scores).slice(0, 40))
    folder.plan.write_bytes(b"{}")
    folder.manifest.remove()
    refused = cli("gate", folder.id, "--min", "quality=0.3")
    assert refused.code == 1
    assert "is unfinished" in refused.err
    for name in (folder.id, "latest"):
        printed = cli("gate", name, "--min", "quality=0.3", "--sequential")
        assert printed.code == 0
        assert "the run is not finished" in printed.out


def build_branches(root):
    base = noise(1, 60, 0.1, 0.7)
    for branch, scores in (("main", base), ("same", base), ("worse", base - 0.1)):
        os.environ["GITHUB_REF_NAME"] = branch
        make_run(root, f"of-{branch}", quality=scores)
    (root / "store").rename(root / "ragstone-store")


@pytest.fixture
def branches(catalogue, tmp_path, tmp_path_factory, monkeypatch):
    """Runs of main, of a branch that is as good, and of one that is worse."""
    declare(catalogue)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_SHA", "c0ffee")
    monkeypatch.setenv("GITHUB_REF_NAME", "worse")
    copy_runs(build_branches, tmp_path_factory, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["of-same", "--baseline", "main", "--max-drop", "0.02"], 0, "the newest of branch main, commit"),
        (["of-worse", "--baseline", "main", "--max-drop", "0.02"], 3, "gate of of-worse against of-main"),
        (["latest", "--baseline", "main", "--max-drop", "quality=0.02"], 3, "ragstone compare 2"),
        (["of-worse", "--baseline", "main", "--max-drop", "quality=0.02", "--sequential"], 4, "newest of branch main"),
        (["of-main", "--baseline", "main", "--max-drop", "0.02"], 4, "there is no run of branch main"),
        (["of-worse", "--baseline", "mian", "--max-drop", "0.02"], 4, "the store has runs of: main, same"),
        (
            ["of-main", "--baseline", "mian", "--max-drop", "0.02", "--min", "quality=0.9"],
            3,
            "headline metrics drop ≤ 0.02",
        ),
    ],
)
def test_the_baseline_of_a_branch(cli, branches, arguments, code, words):
    printed = cli("gate", *arguments)
    assert printed.code == code
    assert words in " ".join(printed.out.split())
    assert printed.err == ""


def test_the_first_run_of_a_store(cli, catalogue, tmp_path, monkeypatch):
    declare(catalogue)
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path, "first", quality=noise(1, 60, 0.1, 0.7))
    given = ("gate", "first", "-o", "store", "--baseline", "main", "--max-drop", "0.02")
    printed = cli(*given, "--markdown", "gate.md", "--junit", "gate.xml")
    assert printed.code == 0
    assert "this is the first run in the store" in " ".join(printed.out.split())
    assert "✅ passes" in (tmp_path / "gate.md").read_text()
    assert 'failures="0"' in (tmp_path / "gate.xml").read_text()
    assert cli(*given, "--require-baseline").code == 4
    # Conditions without a baseline are checked all the same.
    assert cli(*given, "--min", "quality=0.9").code == 3
    # A misspelled metric is an error, not a passed gate.
    assert cli(*given[:-1], "qualty=0.02").code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--against", "of-main", "--baseline", "main", "--max-drop", "0.02"], "either --against RUN or --baseline"),
        (["--baseline", "main", "--min", "quality=0.5", "--sequential"], "needs --max-drop METRIC"),
    ],
)
def test_mistakes_with_a_baseline(cli, branches, arguments, words):
    printed = cli("gate", "of-worse", *arguments)
    assert printed.code == 2
    assert words in printed.err


def test_a_baseline_without_a_limit(cli, branches):
    failed = cli("gate", "of-worse", "--baseline", "main")
    assert failed.code == 3
    assert "quality not worse" in failed.out
    assert "only a limit such as max-drop 0.02" in " ".join(failed.out.split())
    assert cli("gate", "of-same", "--baseline", "main", "--min", "quality=0.1").code == 0
    assert cli("gate", "of-same", "--against", "of-main").code == 0
    # A misspelled branch has no runs.
    assert cli("gate", "of-same", "--baseline", "mian").code == 4


def test_the_baseline_of_the_settings_file(cli, branches):
    (branches / "ragstone.toml").write_text('[gate]\nbaseline = "main"\nmax-drop = 0.02\n')
    assert cli("gate", "of-worse").code == 3
    assert cli("gate", "of-same", "--against", "of-worse").code == 0
    (branches / "ragstone.toml").write_text("[gate]\nbaseline = 3\nmax-drop = 0.02\n")
    assert "baseline must be the name of a branch" in cli("gate", "of-worse").err


def test_the_comment(cli, branches, monkeypatch):
    with running_host() as host:
        for name, value in github(host).items():
            monkeypatch.setenv(name, value)
        for run in ("of-same", "of-worse"):
            given = ("gate", run, "--baseline", "main", "--max-drop", "0.02", "--comment", "gate", "--json")
            printed = cli(*given)
    assert printed.code == 3
    assert printed.err == "note: updated the comment on the pull request\n"
    assert "newest of branch main" in json.loads(printed.out)["note"]
    [comment] = host.comments
    assert "### Gate of of-worse against of-main: ❌ fails" in comment["body"]
    assert "<details><summary>all metrics against the baseline</summary>" in comment["body"]
    # Others may read it: no text of a sample.
    assert "question 1" not in comment["body"]
    # A server that does not answer changes nothing.
    printed = cli(*given)
    assert printed.code == 3
    assert "no comment was written" in printed.err


def test_an_undecided_gate_can_be_a_warning(cli, store):
    given = ("gate", "main", "--min", "quality=0.7")
    printed = cli(*given, "--markdown", "gate.md")
    assert printed.code == 4
    # The output says how.
    assert "--inconclusive pass" in " ".join(printed.out.split())
    assert "--inconclusive pass" in (store / "gate.md").read_text()
    printed = cli(*given, "--inconclusive", "pass", "--markdown", "gate.md")
    assert printed.code == 0
    assert "? cannot tell" in printed.out
    assert "counts as a warning" in " ".join(printed.out.split())
    assert (store / "gate.md").read_text().startswith("### Gate of main: ❔ cannot tell")
    found = json.loads(cli(*given, "--inconclusive", "pass", "--json").out)
    assert (found["outcome"], found["inconclusive"], found["exit_code"]) == ("cannot tell", "pass", 0)
    # A failed gate fails all the same.
    assert cli("gate", "main", "--min", "quality=0.9", "--inconclusive", "pass").code == 3
    assert "--inconclusive" not in cli("gate", "main", "--min", "quality=0.6").out


def test_an_undecided_gate_in_the_settings_file(cli, store):
    (store / "ragstone.toml").write_text('[gate]\ninconclusive = "pass"\nmin = { quality = 0.7 }\n')
    assert cli("gate", "main").code == 0
    assert cli("gate", "main", "--inconclusive", "fail").code == 4
    assert cli("gate", "main", "--min", "quality=0.7").code == 0
    (store / "ragstone.toml").write_text('[gate]\ninconclusive = "ignore"\nmin = { quality = 0.7 }\n')
    printed = cli("gate", "main")
    assert printed.code == 2
    assert "must be pass or fail, got 'ignore'" in printed.err


def test_the_output_says_which_run_is_the_baseline_and_when_it_was_made(cli, branches):
    for option in (["--against", "of-main"], ["--baseline", "main"]):
        printed = " ".join(cli("gate", "of-same", *option, "--max-drop", "0.02").out.split())
        assert re.search(r"baseline: run [\d-]+[0-9a-f]+, made \d{4}-\d\d-\d\d \d\d:\d\d UTC", printed)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("main", "main is a branch of stored runs"),
        ("develop", "If it is a branch"),
        ("of-mian", "Did you mean of-main"),
    ],
)
def test_a_branch_is_not_a_run(cli, branches, name, words):
    printed = cli("gate", "of-worse", "--against", name, "--max-drop", "0.02")
    assert printed.code == 2
    assert words in printed.err
    assert f"use --baseline {name}" in printed.err
    (branches / "ragstone.toml").write_text(f'[gate]\nagainst = "{name}"\nmax-drop = 0.02\n')
    printed = cli("gate", "of-worse")
    assert words in printed.err
    assert f'write baseline = "{name}" in [gate] of ragstone.toml' in printed.err


def test_a_branch_in_an_empty_store(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = cli("gate", "latest", "--against", "main", "--max-drop", "0.02")
    assert printed.code == 1
    assert "there is no run 'main'" in printed.err
    assert "use --baseline main" in printed.err
