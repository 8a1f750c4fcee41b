"""ragstone train as it is typed: labels in, a judge out that --judge knows."""

import json
import re

import pytest

from tests.agreement.test_train import ROWS, make_rows


@pytest.fixture
def store(tmp_path, monkeypatch):
    import numpy as np

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "models"))
    rows, truth = make_rows(np.random.default_rng(0), "one")
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    labels = [f"q{row},{'yes' if truth[row] else 'no'}" for row in range(0, ROWS, 2)]
    (tmp_path / "labels.csv").write_text("sample_id,label\n" + "\n".join(labels))
    return tmp_path / "store"


@pytest.mark.slow
def test_labels_in_a_judge_out(cli, store):
    assert cli("run", "data.jsonl", "-m", "token_f1", "--name", "one", "-o", store, "-q").code == 0
    printed = cli("train", "years", "one", "--human", "labels.csv", "-o", store)
    assert printed.code == 0
    assert "trained/years: trained on 60 labels; reads question and answer, contexts, references" in printed.out
    assert "better than token_f1" in printed.out
    assert "ragstone run DATA --judge trained/years -m trained_grade" in printed.out
    printed = cli(
        "run", "data.jsonl", "--judge", "trained/years", "-m", "trained_grade", "--name", "two", "-o", store, "-q"
    )
    assert printed.code == 0
    printed = cli("agree", "two", "--human", "labels.csv", "--ppi", "-m", "trained_grade", "-o", store, "--json")
    found = json.loads(printed.out)["means"][0]["estimate"]
    assert found["worth_labels"] > 70
    found = json.loads(cli("train", "years", "one", "--human", "labels.csv", "-o", store, "--json").out)
    assert found["judge"] == "trained/years"
    assert found["uses"] == ["contexts", "references"]


def test_a_judge_behind_a_metric_is_told_with_its_place(cli, store, tmp_path, monkeypatch):
    """A metric that knows the labels cannot be beaten; where the judge stands is said even if the table is too long for it."""
    head, *lines = (tmp_path / "labels.csv").read_text().splitlines()
    labels = dict(line.split(",") for line in lines)
    for name in list(labels)[::5]:
        labels[name] = "no" if labels[name] == "yes" else "yes"
    (tmp_path / "labels.csv").write_text("\n".join([head, *(f"{name},{label}" for name, label in labels.items())]))
    rows = [json.loads(line) for line in (tmp_path / "data.jsonl").read_text().splitlines()]
    for row in rows:
        row["metadata"] = {"known": 1.0 if labels.get(row["id"]) == "yes" else 0.0}
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "known.py").write_text(
        "from ragstone.registry import metric\n\n\n"
        "@metric('known', judges='answer', against='metadata')\n"
        "def known(metadata: dict) -> float:\n"
        '    """What people said."""\n'
        "    return metadata['known']\n"
    )
    given = ("-o", store, "--metrics-file", "known.py")
    assert cli("run", "data.jsonl", "-m", "known,token_f1", "--name", "one", "-q", *given).code == 0
    monkeypatch.setattr("ragstone.report.agreement.MOST_METRICS", 2)
    printed = cli("train", "years", "one", "--human", "labels.csv", *given)
    assert printed.code == 0
    # `train` has no --full: the command that has it is named.
    assert "1 more metric" in printed.out
    assert re.search(r"trained/years \(Somers' D 0\.\d{3}, place 2 of 3\)", " ".join(printed.out.split()))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("Years!", "one", "--human", "labels.csv"), "not a valid judge name"),
        (("years", "one"), "--human labels.csv"),
    ],
)
def test_what_it_needs(cli, store, arguments, words):
    printed = cli("train", *arguments, "-o", store)
    assert printed.code == 2
    assert words in printed.err


def test_a_judge_that_is_not_there(cli, store):
    printed = cli("run", "data.jsonl", "--judge", "trained/nobody", "-m", "trained_grade", "-o", store)
    assert printed.code == 2
    assert "unknown trained judge 'trained/nobody'" in printed.err
