"""Effects on verdicts and grades: planted ones are caught, a fair judge is cleared, and chance is not taken for an effect."""

import numpy as np
import pytest

from ragstone.agreement.audit import audit_judge
from ragstone.agreement.audit_probes import EFFECTS, measure_effects, packaged_probes
from ragstone.report.judges import audit_dict, audit_headline, effect_dict, effect_words
from tests.agreement.worlds import half, store_run, world_rows
from tests.oracle.reading import read_data
from tests.oracle.server import OracleServer

COUNT = 24
TASKS = ("verdicts", "grades")


@pytest.fixture
def run(tmp_path):
    rows = world_rows(COUNT, half)
    for row in rows:
        row["contexts"] = ["Nothing is known.", *row["contexts"]]
    return store_run(tmp_path / "store", "half", rows)


def audit(run, alter=lambda prompt, body, reply: reply, tasks=TASKS):
    with OracleServer(alter=alter) as server:
        options = {"base_url": server.base_url, "cache": False}
        found = audit_judge("openai/oracle", run, options=options, tasks=tasks)
    assert server.problems == []
    return found


def likes_experts(prompt, body, reply):
    """Grades that experts confirm are the highest."""
    answer = read_data(body["messages"][-1]["content"]).get("answer", "")
    return {**reply, "grade": 100} if prompt == "grade" and packaged_probes()["authority"]["en"] in answer else reply


@pytest.mark.slow
def test_a_fair_judge_shows_no_effect(run):
    found = audit(run)
    assert [(effect.task, effect.name) for effect in found.effects] == [
        (task, name) for task in TASKS for name in EFFECTS[task]
    ]
    assert {effect.verdict for effect in found.effects} == {"none seen"}
    assert audit_headline(found) == ("no bias found", "green")
    words = [effect_words(effect) for effect in found.effects]
    assert all("no effect seen in" in line and "is possible)" in line for line in words)
    assert all(effect.possible > 0.05 for effect in found.effects)
    assert len(found.runs) == 2


def test_a_planted_effect_is_caught_alone(run):
    found = audit(run, likes_experts, ("grades",))
    (effect,) = found.affected
    assert (effect.name, effect.counts.lower) == ("authority", 0)
    assert effect.value > 0.2
    assert effect.interval.low > 0
    assert "raises scores" in effect_words(effect)
    assert audit_dict(found)["effects"][2]["verdict"] == "effect"


def test_samples_without_contexts_have_no_verdicts(tmp_path):
    rows = [{key: value for key, value in row.items() if key != "contexts"} for row in world_rows(10, half)]
    found = audit(store_run(tmp_path, "bare", rows), tasks=("verdicts",))
    assert found.effects == ()
    assert not found.tested


@pytest.mark.slow
def test_chance_is_rarely_taken_for_an_effect():
    """Type-I error over all effects of a task together, at most 5 % plus the room of 200 simulations."""
    random, alarms, times = np.random.default_rng(0), 0, 200
    for _ in range(times):
        size = int(random.integers(8, 30))
        # Most items do not change, as with real judges; two items of a run go together in all columns.
        shared = random.normal(size=(size, 1))
        table = np.round((shared + random.normal(size=(size, 5))) * (random.random((size, 5)) < 0.4) / 5, 1)
        effects = measure_effects("verdicts", dict(zip(EFFECTS["verdicts"], table.T, strict=True)))
        alarms += any(effect.verdict == "effect" for effect in effects)
    assert alarms <= 0.05 * times + 2 * (0.05 * 0.95 * times) ** 0.5


@pytest.mark.slow
def test_the_interval_covers_the_true_change():
    random, covered, times = np.random.default_rng(1), 0, 200
    for _ in range(times):
        changes = np.where(random.random(40) < 0.3, 0.5, 0.0)
        (effect,) = measure_effects("grades", {"length": changes})
        covered += effect.interval.low <= 0.15 <= effect.interval.high
    assert covered / times > 0.9


def test_no_change_at_all_leaves_room_for_an_effect():
    (effect,) = measure_effects("grades", {"length": np.zeros(40)})
    assert (effect.verdict, effect.p) == ("none seen", 1.0)
    assert 0.05 < effect.possible < 0.1
    once = np.zeros(40)
    once[3] = 0.1
    assert measure_effects("grades", {"length": once})[0].possible >= effect.possible


def test_few_items_are_not_tested():
    (effect,) = measure_effects("grades", {"length": np.array([0.1, np.nan, 0.2])})
    assert (effect.verdict, effect.n, effect.interval) == ("too few", 2, None)
    assert "only 2 items" in effect_words(effect)
    assert effect_dict(effect)["possible"] is None
