"""ragstone labels, and agree with the labels of the store."""

import json

import pytest

import ragstone
from ragstone.agreement.labels import join, read_human
from ragstone.agreement.stored_labels import read_stored
from ragstone.storage.human_labels import HumanLabel, answer_key, write_label
from ragstone.storage.places import open_place
from ragstone.storage.runs import open_run

ROWS = [
    {"id": f"r{at}", "question": f"q{at}", "answer": "one two" if at % 3 else "other", "references": ["one two"]}
    for at in range(30)
]


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = ragstone.evaluate(ROWS, ["token_f1", "exact_match"], "out", name="one")
    for at, row in enumerate(ROWS[:12]):
        for author in ("Ana", "=Bo, jr") if at % 2 else ("Ana",):
            value = ("right" if at % 3 else "wrong") if at != 4 else "partly"
            key = answer_key(row["question"], row["answer"])
            label = HumanLabel(key, "answer", author, value, note='say "no",\nthen', run=run.id, sample_id=row["id"])
            write_label(open_place("out"), label)
    write_label(open_place("out"), HumanLabel(answer_key("q20", "one two"), "answer", "Ana", "skipped"))
    return open_run(run.path)


def test_agree_uses_the_labels_of_the_store(cli, store):
    printed = cli("agree", "one", "-o", "out", "--json")
    assert printed.code == 0, printed.err
    found = json.loads(printed.out)
    assert found["labelled"] == 12
    assert {metric["metric"] for metric in found["metrics"]} == {"token_f1", "exact_match"}
    assert any("not chosen at random" in remark for remark in found["remarks"])


def test_agree_without_any_label_says_what_to_do(cli, store, tmp_path):
    ragstone.evaluate(ROWS, ["token_f1"], "empty", name="two")
    printed = cli("agree", "two", "-o", "empty")
    assert printed.code == 2
    assert "ragstone view" in printed.err
    assert "--human labels.csv" in printed.err


def test_the_file_of_labels_reads_back_equal(cli, store):
    printed = cli("labels", "-o", "out", "--csv", "labels.csv")
    assert printed.code == 0, printed.err
    assert "Ana: 13; =Bo, jr: 6" in printed.out
    stored, read = read_stored([store]), read_human("labels.csv")
    order = lambda labels: sorted((one.sample_id, one.annotator, one.value) for one in labels.labels)  # noqa: E731
    assert order(read) == order(stored)
    assert len(read.labels) == 18
    first, second = (join([store], labels) for labels in (stored, read))
    assert first.labels.tolist() == second.labels.tolist()


def test_labels_of_a_run_apply_to_the_same_answers(cli, store):
    ragstone.evaluate(ROWS[:3], ["token_f1"], "out", name="later")
    assert cli("labels", "-o", "out", "--run", "later", "--csv", "later.csv").code == 0
    assert {one.sample_id for one in read_human("later.csv").labels} == {"r0", "r1", "r2"}
    assert cli("agree", "later", "--human", "later.csv", "-o", "out").code == 0


def test_json_damaged_files_and_an_empty_store(cli, store, tmp_path):
    (tmp_path / "out" / "labels" / "x").mkdir()
    (tmp_path / "out" / "labels" / "x" / "y.json").write_text("{")
    found = json.loads(cli("labels", "-o", "out", "--json").out)
    assert len(found["labels"]) == 19
    assert len(found["damaged"]) == 1
    assert "cannot read a label" in cli("labels", "-o", "out").err
    empty = cli("labels", "-o", "nothing")
    assert empty.code == 0
    assert "no labels in nothing" in empty.out
