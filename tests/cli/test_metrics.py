"""The catalogue."""

import json

import pytest


def test_a_metric_says_how_to_compute_it(cli):
    assert "run DATA -m token_f1" in cli("metrics", "token_f1").out


def test_json_has_the_same_metrics_as_the_table(cli):
    cards = json.loads(cli("metrics", "dial", "--json").out)
    table = cli("metrics", "dial").out
    assert cards
    assert all(card["name"] in table for card in cards)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("answer_relevance", "run DATA -m ragas.answer_relevancy --judge MODEL"),
        ("recall@5", "run DATA -m recall@5"),
        ("triad.answer_relevance", "run DATA -m triad.answer_relevance --judge MODEL"),
        ("grade.correctness", "run DATA -m grade.correctness --judge MODEL"),
    ],
)
def test_the_suggested_command_works(cli, home, name, command):
    [line] = [line for line in cli("metrics", name).out.splitlines() if line.startswith("next: ")]
    suggested = line.partition("ragstone ")[2].partition("   (")[0].strip()
    assert suggested.removesuffix(" --embedder MODEL") == command, "an embedder is named where none is installed"
    words = command.replace("DATA", "answers.jsonl").replace("MODEL", "judge.py:ask").split()
    (home / "judge.py").write_text("def ask(prompts):\n    return ['{}' for _ in prompts]\n")
    printed = cli(*words, "--no-cache")
    assert "unknown" not in printed.err
    assert printed.code in (0, 4), printed.err  # the judge or the rows may give no score, but the names are known
