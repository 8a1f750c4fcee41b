"""A sweep from a file to its results, with good settings, bad ones, budgets, an endpoint, and a bucket."""

import json
from collections import Counter
from itertools import pairwise

import pytest

from ragstone.errors import StopRunError, UsageError
from ragstone.storage.places import open_place
from ragstone.storage.runs import finished_runs
from ragstone.sweep.plan import read_plan, with_options
from ragstone.sweep.results import summarise
from ragstone.sweep.run_sweep import run_sweep
from tests.http.loopback import completion
from tests.sweep.conftest import PLAN, QUESTIONS


def write(home, *pairs):
    text = PLAN
    for before, after in pairs:
        assert before in text
        text = text.replace(before, after)
    (home / "sweep.toml").write_text(text)
    return read_plan(str(home / "sweep.toml"))


def sweep(plan, root="store", notes=None, **options):
    return run_sweep(plan, str(root), note=(notes if notes is not None else []).append, **options)


@pytest.mark.slow
def test_the_bad_settings_are_stopped_and_the_good_ones_are_ranked(home, calls):
    notes = []
    finished = sweep(write(home), notes=notes)
    results = summarise(finished)
    states = {one.name: (one.status, one.questions) for one in results.standings}
    assert states["skill=2 style=plain"] == ("finished", QUESTIONS)
    assert {states[f"skill=1 style={style}"][0] for style in ("plain", "long")} == {"stopped"}
    assert results.standings[0].parameters["skill"] == 2
    assert results.standings[0].mean == 1.0
    assert sum("is stopped after" in note for note in notes) == 2
    # No question was asked twice, and none after a setting was stopped.
    assert set(Counter(calls()).values()) == {1}
    assert len(calls()) == results.asked < 4 * QUESTIONS
    # Each setting has a run of its own, with its parameters.
    runs = list(finished_runs(open_place("store")))
    assert {run.name for run in runs} == {f"tickets {name}" for name in states}
    assert {(run.info.params["skill"], run.info.params["style"]) for run in runs} == {
        (skill, style) for skill in (1, 2) for style in ("plain", "long")
    }
    skill = next(one for one in results.effects if one.parameter == "skill")
    assert skill.levels[1].interval.low > 0
    style = next(one for one in results.effects if one.parameter == "style")
    assert style.levels[1].interval.low < 0 < style.levels[1].interval.high


@pytest.mark.slow
def test_the_cheap_and_the_good_are_not_dominated(home):
    results = summarise(sweep(write(home, ("concurrency = 1", "concurrency = 1\ncache = false"))))
    front = {one.name: one.undominated for one in results.standings}
    assert any(front[f"skill=2 style={style}"] for style in ("plain", "long"))
    assert any(front[f"skill=1 style={style}"] for style in ("plain", "long"))  # half the price
    assert {panel.cost for panel in results.panels} == {"system.latency", "system.cost"}


def test_without_halving_every_setting_answers_everything(home, calls):
    results = summarise(sweep(write(home, ('name = "tickets"', 'name = "tickets"\nhalving = false'))))
    assert len(calls()) == 4 * QUESTIONS
    assert {one.status for one in results.standings} == {"finished"}
    assert [one.rank for one in results.standings] == [1, 1, 3, 3]
    assert results.effect_questions == QUESTIONS


LISTED = """
[[setting]]
name = "good"
skill = 2

[[setting]]
name = "raises"
skill = 2
style = "broken"

[[setting]]
name = "misspelled"
skil = 2

[[setting]]
name = "other"
skill = 2
style = "long"
"""


def test_bad_settings_fail_alone_with_their_reason(home, calls):
    notes = []
    plan = write(home, (PLAN[PLAN.index("[settings]") :], LISTED))
    results = summarise(sweep(plan, notes=notes))
    reasons = {one.name: one.reason for one in results.standings}
    assert "no index for this style" in reasons["raises"]
    assert "Did you mean skill" in reasons["misspelled"]
    assert reasons["good"] == reasons["other"] == ""
    assert [one.status for one in results.standings] == ["finished", "finished", "failed", "failed"]
    assert len([note for note in notes if "failed" in note]) == 2
    assert len(calls()) == 2 * QUESTIONS
    # A resumed sweep remembers the failures and asks nothing.
    again = summarise(sweep(plan, resume=True))
    assert {one.name: one.reason for one in again.standings} == reasons
    assert len(calls()) == 2 * QUESTIONS


def test_if_no_setting_can_be_opened_the_sweep_does_not_start(home):
    with pytest.raises(UsageError, match="no setting can be opened"):
        sweep(write(home, ("skill = [1, 2]", "skull = [1, 2]")))
    assert not (home / "store").exists()


def test_some_failed_questions_count_as_the_worst_value(home):
    text = (
        (home / "rag.py")
        .read_text()
        .replace("if style ==", 'if style == "long" and number % 2:\n        raise ValueError("odd")\n    if style ==')
    )
    (home / "rag.py").write_text(text)
    plan = write(home, ("skill = [1, 2]", "skill = 2"), ('name = "tickets"', 'name = "tickets"\nhalving = false'))
    results = summarise(sweep(plan))
    best, other = results.standings
    assert (best.name, best.mean, best.unanswered) == ("style=plain", 1.0, 0)
    assert (other.mean, other.unanswered) == (0.5, QUESTIONS // 2)


def test_one_budget_for_all_settings_survives_the_process(home, calls):
    plan = write(home, ('name = "tickets"', 'name = "tickets"\nhalving = false'))
    small = with_options(plan, {"budget": "0.3usd"})
    with pytest.raises(StopRunError, match=r"budget of 0\.3 usd for all settings is spent(.|\n)*--resume"):
        sweep(small)
    spent = sum(0.01 * int(call[0]) for call in calls())
    assert 0.3 <= spent <= 0.34
    asked = len(calls())
    # The same budget is still spent, a larger one continues.
    with pytest.raises(StopRunError, match="is spent"):
        sweep(small, resume=True)
    assert len(calls()) <= asked + 1
    finished = sweep(with_options(plan, {"budget": "5usd"}), resume=True)
    assert set(Counter(calls()).values()) == {1}
    assert finished.spent_usd == pytest.approx(sum(0.01 * int(call[0]) for call in calls()))


@pytest.mark.slow
def test_a_finished_sweep_is_shown_again_without_a_call(home, calls):
    plan = write(home)
    first = sweep(plan)
    first.folder.results.write_bytes(b"{}")
    first.folder.clean()
    asked = len(calls())
    again = sweep(plan, resume=True)
    assert again.folder.id == first.folder.id
    assert len(calls()) == asked
    assert summarise(again).as_dict() == summarise(first).as_dict()
    # Another question, another version of the code: another sweep.
    (home / "rag.py").write_text((home / "rag.py").read_text() + "\n# edited\n")
    notes = []
    assert sweep(plan, resume=True, notes=notes).folder.id != first.folder.id
    assert "there is no interrupted sweep" in notes[0]


def test_an_endpoint_gets_the_parameters_as_fields(home, loopback):
    def handler(asked):
        if asked.json["k"] == 3:
            return 400, {"error": {"message": "k must be 1 or 2"}}
        number = asked.json["messages"][-1]["content"].split()[-1].rstrip("?")
        return completion(f"{number} crowns" if asked.json["k"] == 2 else "nothing")

    loopback.handler = handler
    plan = write(
        home,
        ("rag.py:answer", f"{loopback.url}#rag"),
        (PLAN[PLAN.index("[settings]") :], "[settings]\nk = [1, 2, 3]\n"),
    )
    results = summarise(sweep(plan))
    assert [(one.name, one.status) for one in results.standings] == [
        ("k=2", "finished"),
        ("k=1", "stopped"),
        ("k=3", "failed"),
    ]
    assert "k must be 1 or 2" in results.standings[2].reason
    refused = [asked for asked in loopback.asked if asked.json["k"] == 3]
    assert len(refused) == 3  # the first questions only


def test_an_endpoint_that_does_not_answer_fails_its_setting_alone(home, loopback, unused_port):
    loopback.handler = lambda asked: completion("nothing")
    url = "http://127.0.0.1:{port}/v1#rag"
    settings = f"[settings]\nport = [{loopback.port}, {unused_port}]\n"
    results = summarise(sweep(write(home, ("rag.py:answer", url), (PLAN[PLAN.index("[settings]") :], settings))))
    assert [one.status for one in results.standings] == ["finished", "failed"]
    assert str(unused_port) in results.standings[1].reason


@pytest.fixture
def unused_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_a_command_gets_words_and_variables(home):
    import sys

    (home / "rag.sh.py").write_text(
        "import os, sys\nprint(sys.argv[2].split()[-1].rstrip('?'), 'crowns' if os.environ['RAGSTONE_PARAM_K'] == '2' else '?')\n"
    )
    target = f"cmd:{sys.executable} rag.sh.py {{k}} {{question}}"
    changes = [("rag.py:answer", target), ("concurrency = 1", "concurrency = 4"), ("[data]", "[data]\nlimit = 6")]
    settings = (PLAN[PLAN.index("[settings]") :], "[settings]\nk = [1, 2]\n")
    results = summarise(sweep(write(home, *changes, settings)))
    assert [(one.name, one.mean) for one in results.standings] == [("k=2", 1.0), ("k=1", 0.0)]


@pytest.mark.slow
def test_a_store_in_a_bucket(home, bucket, calls):
    plan = write(home)
    finished = sweep(plan, bucket.url)
    assert summarise(finished).standings[0].mean == 1.0
    keys = bucket.list()
    assert f"sweeps/{finished.folder.id}/sweep.json" in keys
    assert sum(key.endswith("run.json") for key in keys if key.startswith("runs/")) == 4
    assert sweep(plan, bucket.url, resume=True).folder.id == finished.folder.id
    assert set(Counter(calls()).values()) == {1}


@pytest.mark.slow
def test_the_questions_of_a_ground_truth(home, cli):
    assert cli("truth", "import", "questions.jsonl", "prices", "-o", "store").code == 0
    plan = write(home, ('questions = "questions.jsonl"', 'truth = "prices"'))
    results = summarise(sweep(plan))
    assert results.standings[0].mean == 1.0
    run = next(finished_runs(open_place("store")))
    assert run.info["truth"]["name"] == "prices"


@pytest.mark.slow
def test_conversations_stay_together(home):
    rows = [json.loads(line) for line in (home / "questions.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        row["metadata"] = {"conversation": f"c{number // 4}"}
        row["history"] = [{"role": "user", "text": "Hello"}, {"role": "assistant", "text": "Hello"}]
    (home / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    finished = sweep(write(home, ('name = "tickets"', 'name = "tickets"\nseed = 3')))
    labels = finished.clusters.tolist()
    assert labels != sorted(labels)
    assert len([1 for one, other in pairwise(labels) if one != other]) == 4
    assert summarise(finished).standings[0].mean == 1.0


JUDGE = """
def judge(prompts):
    with open("judged.txt", "a") as calls:
        calls.write("x\\n" * len(prompts))
    return ['{"matches": []}' if "nothing" in prompt[-100:] else '{"matches": [1]}' for prompt in prompts]
"""


@pytest.mark.slow
def test_the_judge_is_asked_once_for_looks_and_runs(home):
    (home / "judge.py").write_text(JUDGE)
    changes = [("exact_match", "answer_match"), ("[data]", "[data]\nlimit = 12")]
    plan = with_options(write(home, *changes), {"judge": "judge.py:judge"})
    finished = sweep(plan)
    results = summarise(finished)
    assert results.standings[0].parameters["skill"] == 2
    # Both styles give the same answers, so that they share the replies; looks and runs do, too.
    judged = len((home / "judged.txt").read_text().splitlines())
    assert judged <= 12 + 12


def test_answers_survive_until_their_block_is_stored(home, calls, monkeypatch):
    """A process that is killed after the last answer of a block and before the block is written loses nothing."""
    from ragstone.errors import InterruptedRunError
    from ragstone.sweep.sweep_folder import SweepFolder

    changes = [("concurrency = 1", "concurrency = 1\ncache = false"), ("[data]", "[data]\nlimit = 4")]
    plan = write(home, *changes, ('name = "tickets"', 'name = "tickets"\nhalving = false'))
    with monkeypatch.context() as patched:
        patched.setattr(SweepFolder, "write_answers", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(InterruptedRunError, match="--resume"):
            sweep(plan)
    assert len(calls()) == 3
    sweep(plan, resume=True)
    assert set(Counter(calls()).values()) == {1}
