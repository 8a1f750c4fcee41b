"""Systems, sweeps, stress tests and extraction on Ray give what one process gives, also if a worker is killed."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.data.types import Sample
from ragstone.engine.backends import ray as backend
from ragstone.engine.evaluate import evaluate
from ragstone.errors import UsageError
from ragstone.llm.budget import Budget
from ragstone.stress.erag import list_samples, run_erag
from ragstone.stress.run import Setting, prepare, run_stress
from ragstone.sweep.plan import read_plan
from ragstone.sweep.results import summarise
from ragstone.sweep.run_sweep import run_sweep
from ragstone.tools.model_options import ModelOptions
from ragstone.truth.collect import collect
from ragstone.truth.extract import extract, make_nuggets
from ragstone.truth.llm_tasks import Work
from tests.engine.backends.test_ray import cluster, same
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples
from tests.stress.generators import copies, retrieved
from tests.stress.generators import samples as ships
from tests.sweep.conftest import PLAN, calls, home
from tests.truth.test_extract import CASES

__all__ = ["calls", "cluster", "home"]
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("ray")
RAY = {"backend": "ray", "workers": 2}
QUESTIONS = [Sample(str(number), f"Question {number}?", references=[f"{number} metres"]) for number in range(80)]
# Answers, fails for one question, and kills its first worker at another.
SYSTEM = """
import os, signal
from pathlib import Path

HERE = Path({folder!r})

def answer(question):
    (HERE / f"pid-{{os.getpid()}}").touch()
    if question == "Question 7?":
        raise RuntimeError("the index is gone")
    if question == "Question 40?" and os.environ.get("KILLED") != "never" and not (HERE / "killed").exists():
        (HERE / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {{"answer": question.replace("Question", "It is"), "contexts": ["A chunk."]}}
"""


@pytest.fixture
def system(tmp_path):
    folder = tmp_path / "system"
    folder.mkdir()
    (folder / "rag.py").write_text(SYSTEM.format(folder=str(folder)))
    return f"{folder / 'rag.py'}:answer"


def pids(folder):
    return {path.name for path in Path(folder).glob("pid-*")}


def rows(found):
    """The samples without what takes time."""
    timeless = []
    for sample in found.samples:
        metadata = {name: value for name, value in sample.metadata.items() if name != "latency_s"}
        timeless.append(replace(sample, metadata=metadata))
    return timeless


def test_a_system_is_asked_on_workers_and_a_killed_one_is_replaced(system, tmp_path, monkeypatch):
    reported = []
    journal = tmp_path / "journal"
    found = collect(
        QUESTIONS, system, cache=False, journal=str(journal), progress=lambda step: reported.append(step.done), **RAY
    )
    # Two workers, and the one in place of the killed one; none of them is this process.
    assert len(pids(tmp_path / "system")) == 3
    assert f"pid-{os.getpid()}" not in pids(tmp_path / "system")
    assert found.failed == 1
    assert reported == list(range(81))
    assert len(journal.read_text().splitlines()) >= 79  # it stays, because a question failed
    monkeypatch.setenv("KILLED", "never")
    assert rows(found) == rows(collect(QUESTIONS, system, cache=False))


def test_a_kept_worker_that_is_killed_restarts(system):
    with backend.kept_workers():
        first = collect(QUESTIONS[:1], system, cache=False, **RAY)  # one block: one worker
        found = collect(QUESTIONS, system, cache=False, **RAY)
    assert (first.failed, found.failed) == (0, 1)
    assert len(pids(Path(system).parent)) >= 3


def test_a_killed_worker_leaves_standard_output_alone(system, tmp_path):
    questions = tmp_path / "questions.jsonl"
    questions.write_text("".join(json.dumps({"question": f"Question {number}?"}) + "\n" for number in range(80)))
    arguments = ["truth", "collect", questions, "--system", system, "-o", "answers.jsonl", "--no-cache"]
    done = subprocess.run(
        [sys.executable, "-m", "ragstone", *arguments, "--backend", "ray", "--workers", "2"],
        cwd=tmp_path,
        env={**os.environ, "RAGSTONE_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert (tmp_path / "system" / "killed").exists()
    assert done.stdout.splitlines()[0].startswith("79 of 80 questions answered")
    assert "raylet" not in done.stdout + done.stderr


def test_functions_go_along_and_mistakes_are_told_before_any_call(tmp_path):
    found = collect(QUESTIONS[:5], lambda question: f"So: {question}", cache=False, **RAY)
    assert [sample.answer for sample in found.samples] == [f"So: Question {number}?" for number in range(5)]
    with pytest.raises(UsageError, match=r"no such file|cannot be|does not exist|not found"):
        collect(QUESTIONS, str(tmp_path / "nowhere.py:answer"), **RAY)


def test_the_budget_of_several_commands_is_one(tmp_path, monkeypatch):
    (tmp_path / "prices.toml").write_text('[models]\n"openai/oracle" = [1000.0, 2000.0]\n')
    monkeypatch.setenv("RAGSTONE_PRICES", str(tmp_path / "prices.toml"))
    given = [sample.row() for sample in make_samples(10, seed=5)]
    with OracleServer() as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "cache": False}
        alone = evaluate(given, ["answer_match"], tmp_path, **options)
        cost = alone.info["totals"]["cost_usd"]
        budget = Budget(100 * cost)
        for count in (1, 2):
            same(alone, evaluate(given, ["answer_match"], tmp_path, budget=budget, **options, **RAY))
            assert budget.spent_usd == pytest.approx(count * cost)
        small = Budget(cost / 2)
        evaluate(given, ["answer_match"], tmp_path, budget=small, **options, **RAY)
    assert small.is_spent
    assert small.spent_usd <= cost / 2


def test_several_servers_and_a_file_of_addresses(tmp_path):
    given = [sample.row() for sample in make_samples(12, seed=5)]
    options = {"judge": "openai/oracle", "cache": False}
    with OracleServer() as one, OracleServer() as two, OracleServer(trouble=lambda number: "500") as three:
        alone = evaluate(given, ["answer_match", "ragchecker.precision"], tmp_path, base_url=one.base_url, **options)
        file = tmp_path / "servers.txt"
        file.write_text("\n".join(server.base_url for server in (one, two, three)))
        found = evaluate(
            given, ["answer_match", "ragchecker.precision"], tmp_path, base_url=str(file), **options, **RAY
        )
        assert two.calls > 0
    same(alone, found)


def test_the_local_judge_runs_on_each_worker(tmp_path, monkeypatch):
    monkeypatch.setattr("ragstone.engine.execute.WAITING_PART_ROWS", 1)
    given = [sample.row() for sample in make_samples(10, seed=7)]
    metrics = ["ragchecker.precision", "ragas.faithfulness", "semantic_similarity"]
    alone = evaluate(given, metrics, tmp_path, judge="local", cache=False)
    same(alone, evaluate(given, metrics, tmp_path, judge="local", cache=False, **RAY))
    assert alone.summary()["ragchecker.precision"].n_ok > 2


def test_stress_and_erag_are_the_same(tmp_path):
    prepared = prepare(ships(), Setting(passages=4, rates=(0.0, 0.5)))
    how = {"cache": False}
    one, other = (run_stress(prepared, copies, tmp_path, system_options={**how, **more}) for more in ({}, RAY))
    same(one, other)
    listed = list_samples(retrieved(), None)
    one, other = (run_erag(listed, copies, tmp_path, blame=True, system_options={**how, **more}) for more in ({}, RAY))
    same(one.run, other.run)
    assert one.labels == other.labels


def test_a_sweep_is_the_same_and_keeps_its_workers(home, calls, monkeypatch):
    used, start_workers = [], backend._start_workers

    def start(ray, workers, count, most):
        start_workers(ray, workers, count, most)
        used.append(list(workers))

    monkeypatch.setattr(backend, "_start_workers", start)
    (home / "sweep.toml").write_text(PLAN)
    plan = read_plan(str(home / "sweep.toml"))
    alone = summarise(run_sweep(replace(plan, cache=False), str(home / "alone")))
    found = summarise(run_sweep(replace(plan, cache=False, **RAY), str(home / "ray")))
    for one, other in zip(alone.standings, found.standings, strict=True):
        for name in ("name", "status", "questions", "mean"):
            assert getattr(one, name) == getattr(other, name)
    assert len(used) > 6
    assert len({worker._actor_id for workers in used for worker in workers}) <= 2
    assert len(calls()) == alone.asked + found.asked


@pytest.mark.parametrize("find", [extract, make_nuggets])
def test_facts_are_extracted_on_workers(find):
    cases = [case for case in CASES if find is extract or case.references]
    with OracleServer() as server:
        work = Work("openai/oracle", ModelOptions(base_url=server.base_url, cache=False), 4)
        for chosen in (work, Work(None)):
            alone, found = find(cases, chosen), find(cases, replace(chosen, **RAY))
            assert [(row.case.id, row.facts) for row in found.found] == [
                (row.case.id, row.facts) for row in alone.found
            ]
            assert (found.skipped, found.failed) == (alone.skipped, alone.failed)
            assert (found.counts, found.signature, found.prompts) == (alone.counts, alone.signature, alone.prompts)
            assert len(found.calls) == len(alone.calls)


def test_the_commands_take_the_option(cli, home, system, monkeypatch):
    monkeypatch.setenv("KILLED", "never")
    Path("questions.jsonl").write_text("".join(json.dumps({"question": one.question}) + "\n" for one in QUESTIONS[:6]))
    done = cli("truth", "collect", "questions.jsonl", "--system", system, "--backend", "ray", "--workers", "2", "-q")
    assert done.code == 0, done.err
    assert "6 of 6 questions answered" in done.out
    assert cli("truth", "collect", "questions.jsonl", "--system", system, "--backend", "dusk").code == 2
