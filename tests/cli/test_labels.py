"""ragstone labels, and agree with the labels of the store."""

import json

import pytest

import ragstone
from ragstone.agreement.estimates import estimate_means
from ragstone.agreement.labels import NOT_DRAWN, join, read_human
from ragstone.agreement.stored_labels import drawn_rows, read_stored
from ragstone.storage.human_labels import HumanLabel, answer_key, write_label
from ragstone.storage.label_rounds import LabelRound, random_order, write_round
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
    by_hand = drawn_rows(store).by_hand
    assert any(f"{by_hand} of 12 labelled rows were not chosen" in remark for remark in found["remarks"])
    shown = cli("agree", "one", "-o", "out").out
    assert shown.startswith("12 labels are too few: 30 are needed")
    assert "agrees with people" not in shown
    assert found["headline"].startswith("12 labels are too few")


def test_agree_without_any_label_says_what_to_do(cli, store, tmp_path):
    ragstone.evaluate(ROWS, ["token_f1"], "empty", name="two")
    printed = cli("agree", "two", "-o", "empty")
    assert printed.code == 2
    assert "ragstone view" in printed.err
    assert "--human labels.csv" in printed.err


def test_the_file_of_labels_reads_back_equal(cli, store):
    write_round(store, 1, LabelRound((*range(12), 25), (*(0.05 * (at + 1) for at in range(12)), 0.5)))
    printed = cli("labels", "-o", "out", "--csv", "labels.csv")
    assert printed.code == 0, printed.err
    assert "Ana: 13; =Bo, jr: 6" in printed.out
    stored, read = read_stored([store]), read_human("labels.csv")
    order = lambda labels: sorted(  # noqa: E731
        (one.sample_id, one.annotator, one.value, one.round, one.chance) for one in labels.labels
    )
    assert order(read) == order(stored)
    # Twelve of the thirteen rows of the round are labelled.
    assert {one.chance for one in read.labels if one.sample_id == "r1"} == {0.1 * 12 / 13}
    assert len(read.labels) == 18
    first, second = (join([store], labels) for labels in (stored, read))
    assert first.labels.tolist() == second.labels.tolist()
    assert first.chances.tolist() == second.chances.tolist()


def test_labels_outside_of_the_draw_are_left_out_of_estimates(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    more = [
        {**row, "id": f"{row['id']}-{part}", "question": f"{row['question']} {part}"} for part in "ab" for row in ROWS
    ]
    run = open_run(ragstone.evaluate(more, ["token_f1"], "out", name="one").path)
    order = random_order(run)
    for row in [*order[:31], order[-1]]:
        key = answer_key(more[row]["question"], more[row]["answer"])
        write_label(open_place("out"), HumanLabel(key, "answer", "Ana", "right", run=run.id, sample_id=more[row]["id"]))
    cli("labels", "-o", "out", "--csv", "labels.csv")
    for labels in (read_stored([run]), read_human("labels.csv")):
        rounds = {one.sample_id: one.round for one in labels.labels}
        assert rounds.pop(more[order[-1]]["id"]) == NOT_DRAWN
        assert list(rounds.values()) == [0] * 31
        assert estimate_means(join([run], labels), "token_f1").runs[0].labels == 31
    assert "estimated means leave them out" in cli("agree", "one", "-o", "out", "-m", "token_f1", "--ppi").out


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


def test_a_label_overrules_the_gate_and_can_be_committed(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragstone.toml").write_text('label-folder = "kept"\nout = "here"\n')
    for store in ("here", "ci"):  # the job in CI has a store of its own
        ragstone.evaluate(ROWS, ["token_f1"], store, name="old")
        ragstone.evaluate([{**ROWS[0], "answer": "1 + 1 words"}, *ROWS[1:]], ["token_f1"], store, name="new")
    by_ana = ("--author", "Ana", "--json")
    assert cli("labels", "--run", "old", "--set", "r0=right", *by_ana).code == 0
    assert cli("labels", "--run", "new", "--set", "r0=wrong", *by_ana).code == 0
    check = ("gate", "new", "--against", "old", "--max-new-failures", "0")
    failed = cli(*check)
    assert failed.code == 3, failed.err
    assert "labels --run new --set r0=right" in failed.out
    assert json.loads(cli(*check, "--json").out)["checks"][0]["failing"] == ["r0"]
    assert cli(*check, "-o", "ci").code == 3
    found = json.loads(cli("labels", "--run", "new", "--set", "1=right", *by_ana).out)["labels"]
    assert [(one["author"], one["value"], one["sample_id"], one["answer"]) for one in found] == [
        ("Ana", "right", "r0", "1 + 1 words")
    ]
    assert not (tmp_path / "here/labels").exists()
    assert len(list((tmp_path / "kept").glob("ana-*/*.json"))) == 2
    assert cli(*check).code == 0
    assert cli(*check, "-o", "ci").code == 0


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--set", "r0=right"), "--run RUN --set ROW=right"),
        (("--run", "one", "--set", "r0=good"), "'good' is not a label"),
        (("--run", "one", "--set", "r99=right"), "unknown sample 'r99'"),
    ],
)
def test_what_cannot_be_labelled(cli, store, words, error):
    printed = cli("labels", *words, "-o", "out")
    assert printed.code == 2
    assert error in printed.err


def test_labels_are_checked_together_and_none_removes_one(cli, store):
    label = ("labels", "--run", "one", "-o", "out", "--author", "Eve", "--json")
    refused = cli(*label, "--set", "r13=right", "--set", "r14=rihgt")
    assert refused.code == 2
    assert "'rihgt' is not a label" in refused.err
    assert "Eve" not in cli("labels", "-o", "out").out
    by_eve = lambda *words: [  # noqa: E731
        one["sample_id"] for one in json.loads(cli(*label, *words).out)["labels"] if one["author"] == "Eve"
    ]
    assert by_eve("--set", "r13=right", "--set", "r14=wrong") == ["r13", "r14"]
    assert by_eve("--set", "r13=none") == ["r14"]
