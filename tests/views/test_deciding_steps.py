"""What would decide the verdict, as commands."""

from dataclasses import replace

import pytest

from ragstone.analysis.diagnosis import diagnose
from ragstone.engine.evaluate import evaluate
from ragstone.views import deciding_steps as deciding_steps_module
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


def test_the_local_judge_alone_does_not_decide(run_of, monkeypatch):
    run = run_of()
    # The tests switch the large judge off: it is not proposed.
    assert not any("judge-1.5b" in command for command in commands(run))
    monkeypatch.setenv("RAGSTONE_LARGE_JUDGE", "")
    labels, facts, larger = commands(run)
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


def test_the_command_reads_the_data_as_the_run_did(tmp_path):
    made = [{"Frage": f"Space {n}?", "Antwort": "3 euros.", "Soll": "3 euros", "Text": "a\n---\nb"} for n in range(12)]
    path = write_rows(tmp_path / "rows.jsonl", *made)
    columns = {"question": "Frage", "answer": "Antwort", "references": "Soll", "contexts": "Text"}
    reading = {"columns": columns, "split_contexts": "\n---\n", "encoding": "utf-8", "limit": 11}
    run = evaluate(path, ["ragchecker"], tmp_path / "store", **reading)
    maps = " ".join(f"--map {ours}={theirs}" for ours, theirs in columns.items())
    how = f"{maps} --split-contexts '\\n---\\n' --encoding utf-8 --limit 11"
    assert commands(run)[1] == f"ragstone run {path} {how} --facts"


def test_facts_are_not_proposed_after_a_run_that_looked_for_them(run_of):
    run = run_of()
    run.info["dataset"]["arguments"].append("--facts")
    assert not any("--facts" in command for command in commands(run))


@pytest.mark.parametrize(("labels", "words"), [(29, ["view"]), (30, ["agree", "RUN", "--calibrate"])])
def test_labels_calibrate_the_judge_of_this_run_when_there_are_enough(run_of, labels, words):
    run = run_of(count=40)
    diagnosis = diagnose(run)
    outcomes = [replace(one, labelled_by=("a",) if n < labels else ()) for n, one in enumerate(diagnosis.outcomes)]
    step = deciding_steps(replace(diagnosis, outcomes=outcomes), run.info)[0]
    assert list(step.words) == [run.name if word == "RUN" else word for word in words]


def test_an_installed_judge_is_not_installed_again(run_of, monkeypatch):
    """A note of the run says so if its engine is missing."""
    run = run_of()
    monkeypatch.setenv("RAGSTONE_LARGE_JUDGE", "")
    monkeypatch.setattr(deciding_steps_module.Store, "find", lambda *_: "installed")
    assert list(deciding_steps(diagnose(run), run.info)[-1].words)[:1] == ["run"]
