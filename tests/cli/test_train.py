"""ragstone train as it is typed: labels in, a judge out that --judge knows."""

import json

import pytest

from tests.agreement.test_training import ROWS, make_rows


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


def test_labels_in_a_judge_out(cli, store):
    assert cli("run", "data.jsonl", "-m", "token_f1", "--name", "one", "-o", store, "-q").code == 0
    printed = cli("train", "years", "one", "--human", "labels.csv", "-o", store)
    assert printed.code == 0
    assert "trained/years: trained on 60 labels; reads question and answer, contexts, references" in printed.out
    assert "trained/years agrees with people at least as well as every metric of these runs." in printed.out
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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("Years!", "one", "--human", "labels.csv"), "no good name for a judge"),
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
