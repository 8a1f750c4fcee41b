"""The baseline of a branch: which stored run it is, and what happens if there is none."""

import json
import re

import pytest

from ragstone.analysis.alignment import MOST_OF_BRANCH, find_baseline
from ragstone.engine.evaluate import evaluate
from ragstone.storage.places import open_place

ROWS = [{"question": f"question {row}", "answer": "one two", "references": ["one"]} for row in range(8)]


def store(root, branch, rows=ROWS, metrics=("token_f1",), **more):
    return evaluate(rows, list(metrics), root, branch=branch, name=branch, **more)


def look(run, branch, root, metrics=("*",)):
    return find_baseline(run.folder, run.info, branch, open_place(root), metrics)


def test_the_newest_run_of_the_branch(tmp_path):
    store(tmp_path, "main")
    newest = store(tmp_path, "main")
    store(tmp_path, "other")
    run = store(tmp_path, "fix", [{**row, "answer": "one"} for row in ROWS])
    found = look(run, "main", tmp_path)
    assert found.run.id == newest.id
    assert re.match(rf"baseline: run {newest.id}, made [\d-]+ [\d:]+ UTC, the newest of branch main", found.note)
    assert "the same questions" in found.note
    # A run is not its own baseline.
    assert look(newest, "main", tmp_path).run.id < newest.id


def test_the_same_questions_come_first(tmp_path):
    same = store(tmp_path, "main")
    part = store(tmp_path, "main", ROWS[:5])
    store(tmp_path, "main", [{**row, "question": f"another {row['question']}"} for row in ROWS])
    run = store(tmp_path, "fix")
    assert look(run, "main", tmp_path).run.id == same.id
    smaller = store(tmp_path, "fix", ROWS[:7])
    found = look(smaller, "main", tmp_path)
    assert found.run.id == part.id
    assert "5 of 7 questions in common" in found.note


def test_the_metrics_must_be_comparable(tmp_path):
    useful = store(tmp_path, "main", metrics=("token_f1", "contains"))
    store(tmp_path, "main", metrics=("exact_match",))
    run = store(tmp_path, "fix")
    assert look(run, "main", tmp_path).run.id == useful.id
    assert look(run, "main", tmp_path, ["token_f1"]).run.id == useful.id
    found = look(run, "main", tmp_path, ["contains"])
    assert found.run is None
    assert not found.is_first
    assert "no run of branch main is comparable: 2 runs" in found.note


def test_another_judge_is_not_comparable(tmp_path):
    run = store(tmp_path, "main")
    path = tmp_path / "runs" / run.id / "run.json"
    info = json.loads(path.read_text())
    info["metrics"][0]["signature"] += "|judge:another"
    path.write_text(json.dumps(info))
    assert look(store(tmp_path, "fix"), "main", tmp_path).run is None


def test_no_run(tmp_path):
    run = store(tmp_path, "fix")
    found = look(run, "main", tmp_path)
    assert (found.run, found.is_first) == (None, True)
    store(tmp_path, "fix")
    found = look(run, "main", tmp_path)
    assert (found.run, found.is_first) == (None, False)
    assert "there is no run of branch main; the store has runs of: fix" in found.note


def test_runs_without_a_branch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store(tmp_path, "")
    found = look(store(tmp_path, "fix"), "main", tmp_path)
    assert "the stored runs have no branch" in found.note
    assert not found.is_first


def test_the_search_is_bounded(tmp_path, monkeypatch):
    store(tmp_path, "main")
    monkeypatch.setattr("ragstone.analysis.alignment.MOST_OF_BRANCH", 1)
    part = store(tmp_path, "main", ROWS[:5])
    assert look(store(tmp_path, "fix"), "main", tmp_path).run.id == part.id
    assert MOST_OF_BRANCH > 1


def test_on_s3(bucket):
    baseline = store(bucket.url, "main")
    run = store(bucket.url, "fix")
    assert look(run, "main", bucket.url).run.id == baseline.id


@pytest.mark.parametrize("metrics", [["*"], ["token_f1"]])
def test_an_unfinished_run_is_compared_by_its_questions(tmp_path, metrics):
    baseline = store(tmp_path, "main")
    run = store(tmp_path, "fix")
    assert find_baseline(run.folder, None, "main", open_place(tmp_path), metrics).run.id == baseline.id
