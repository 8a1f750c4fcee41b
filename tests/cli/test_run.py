"""Evaluate a file of answers."""

import json

import pytest

from ragstone.cli.run import resume_command
from ragstone.storage.runs import open_run


def stored(printed):
    assert printed.code == 0, printed.err
    return open_run(json.loads(printed.out)["run"])


def test_parameters_that_are_numbers_are_stored_as_numbers(cli, home):
    options = ("--param", "chunk_size=256", "--param", "share=0.5", "--param", "splitter=by page", "--param", "x=inf")
    run = stored(cli("run", "answers.jsonl", "-m", "token_f1", "--json", *options))
    assert run.info["params"] == {"chunk_size": 256, "share": 0.5, "splitter": "by page", "x": "inf"}


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--param", "chunk_size"), "NAME=VALUE"),
        (("--as", "ragcheker"), "ragchecker"),
        (("--backend", "rey"), "ray"),
        (("--budget", "five"), "'five' is not a budget"),
    ],
)
def test_options_that_are_wrong(cli, home, options, word):
    printed = cli("run", "answers.jsonl", "-m", "token_f1", *options)
    assert (printed.code, word in printed.err) == (2, True)


def test_a_quote_stores_nothing(cli, home):
    assert cli("run", "answers.jsonl", "-m", "token_f1", "--quote").code == 0
    assert not (home / "ragstone-store").exists()


def test_a_run_with_a_judge_ends_with_its_calls(cli, home):
    (home / "judge.py").write_text("def ask(prompts):\n    return ['{\"matches\": [1]}' for _ in prompts]\n")
    printed = cli("run", "answers.jsonl", "-m", "answer_match", "--judge", "judge.py:ask", "--no-cache")
    assert "2 model calls, no cost\nstored in" in printed.out
    found = json.loads(cli("run", "answers.jsonl", "-m", "answer_match", "--judge", "judge.py:ask", "--json").out)
    assert found["totals"]["calls"]
    assert found["judge_failure"] is None


def test_a_judge_that_failed_everywhere_comes_first(cli, home):
    (home / "judge.py").write_text("def ask(messages):\n    raise RuntimeError('not loaded')\n")
    printed = cli("run", "answers.jsonl", "-m", "answer_match", "--judge", "judge.py:ask", "--no-cache")
    assert printed.out.lstrip().startswith("The judge failed (")
    assert "not loaded" in printed.out.lstrip().splitlines()[0] + printed.out.lstrip().splitlines()[1]


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["/bin/ragstone", "run", "my answers.jsonl", "--resume"], "ragstone run 'my answers.jsonl' --resume"),
        (["ragstone", "run", "a", "--webhook", "https://h/secret", "-m", "all"], "ragstone run a -m all --resume"),
        (["ragstone", "run", "https://me:secret@h/a", "--webhook=x"], "ragstone run https://h/a --resume"),
        (["pytest", "run", "a"], ""),
    ],
)
def test_the_command_that_resumes_a_run_has_no_secrets(arguments, command):
    assert resume_command(arguments) == command


def write_rows(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_only_a_run_of_the_same_questions_is_offered_for_comparison(cli, home):
    boats = [{"question": f"When does boat {n} leave?", "answer": "At nine.", "references": ["nine"]} for n in range(4)]
    trees = [{"question": f"How old is tree {n}?", "answer": "Ten years.", "references": ["ten"]} for n in range(4)]
    first, second = write_rows(home / "boats.jsonl", *boats), write_rows(home / "trees.jsonl", *trees)
    options = ("-m", "token_f1", "-o", "store")
    assert "compare" not in cli("run", first, *options, "--name", "boats").out
    assert "ragstone compare" not in cli("run", second, *options, "--name", "trees").out
    run = stored(cli("run", first, *options, "--name", "again", "--json"))
    assert run.name == "again"
    printed = cli("run", second, *options, "--name", "trees again").out
    assert "ragstone compare" in printed
    offered = printed.partition("ragstone compare ")[2].split()[0]
    assert open_run(f"store/runs/{offered}").name == "trees"


def test_the_end_says_what_one_more_column_would_add(cli, home):
    rows = [{"question": "When?", "answer": "At nine.", "contexts": ["It leaves at nine."]}]
    printed = cli("run", write_rows(home / "bare.jsonl", *rows), "-m", "k_precision", "-o", "store").out
    assert "more: a column references (right answers) would add" in printed
    whole = [{**rows[0], "references": ["nine"]}]
    printed = cli("run", write_rows(home / "whole.jsonl", *whole), "-m", "k_precision", "-o", "store").out
    assert "more: a column" not in printed


def test_other_column_names_get_the_whole_command(cli, home, monkeypatch):
    rows = [{"x": f"When does boat {n} leave?", "y": f"Boat {n} leaves at nine."} for n in range(3)]
    path = write_rows(home / "x.jsonl", *rows)
    printed = cli("run", path, "-q")
    assert printed.code == 2
    assert "A guess by names and content, to be checked: --map question=x --map answer=y" in printed.err
