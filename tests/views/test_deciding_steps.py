"""What would decide the verdict, as commands."""

from dataclasses import replace

import pytest

from ragstone.analysis.diagnosis import diagnose
from ragstone.engine.evaluate import evaluate
from ragstone.views.deciding_steps import deciding_steps
from tests.cli.test_run import write_rows

ROW = {"answer": "It costs 3 euros per day.", "contexts": ["Parking costs 3 euros per day."], "references": ["3 euros"]}


@pytest.fixture
def run_of(tmp_path):
    def make(count=12, **changes):
        made = [{**ROW, "question": f"What does space {n} cost?", **changes} for n in range(count)]
        kept = [{name: value for name, value in row.items() if value is not None} for row in made]
        path = write_rows(tmp_path / "my rows.jsonl", *kept)
        return evaluate(path, ["ragchecker"], tmp_path / "store")

    return make


def commands(run):
    return [step.command for step in deciding_steps(diagnose(run), run.info)]


def test_the_local_judge_alone_does_not_decide(run_of):
    run = run_of()
    facts, labels, larger = commands(run)
    assert facts == f"ragstone run '{run.info['dataset']['path']}' --facts"
    assert labels == "ragstone view"
    assert larger == "ragstone models pull judge-1.5b"


def test_facts_need_references(run_of):
    assert not any("--facts" in command for command in commands(run_of(references=None)))


def test_more_rows_are_the_only_help_for_a_few(run_of):
    assert commands(run_of(count=3)) == []


def test_a_sure_verdict_needs_nothing(run_of):
    run = run_of()
    assert deciding_steps(replace(diagnose(run), sure=True), run.info) == []
