"""Agreement of judge and people, by the labels of a store."""

import numpy as np
import pytest

import ragstone
from ragstone.analysis.diagnosis import diagnose
from ragstone.stats.intervals import Interval
from ragstone.storage.human_labels import HumanLabel, answer_key, answer_labels, write_label
from ragstone.storage.label_rounds import random_order
from ragstone.storage.places import open_place
from ragstone.storage.runs import open_run
from ragstone.storage.scores import read_scores
from ragstone.views.label_agreement import calibration_curve, labels_wanted, measure_labels
from tests.analysis.test_label_use import rows


@pytest.fixture
def run(tmp_path):
    made = list(rows(wrong=range(0, 40, 2), count=40))
    return open_run(ragstone.evaluate(made, "ragchecker", str(tmp_path)).path)


def say(run, row, value, author="Ana"):
    sample = list(run.samples)[row]
    key = answer_key(sample.question, sample.answer)
    root = open_place(run.path.rpartition("/runs/")[0])
    write_label(root, HumanLabel(key, "answer", author, value))


def measure(run):
    chances = [one.wrong for one in diagnose(run).outcomes]
    scores = read_scores(run, [metric.metric for metric in run.info.metrics])
    return measure_labels(run, answer_labels(run), chances, scores)


def test_people_who_agree_with_the_judge_but_for_two_rows(run):
    order = random_order(run)[:36]
    apart = [next(row for row in order if row % 2 == rest) for rest in (0, 1)]
    said = {row: (row % 2 == 1) != (row in apart) for row in order}
    for row, right in said.items():
        say(run, row, "right" if right else "wrong")
    found = measure(run)
    judge, people = np.array([row % 2 for row in order]), np.array(list(said.values()))
    by_chance = judge.mean() * people.mean() + (1 - judge.mean()) * (1 - people.mean())
    status = found.judges[0]
    assert (status.name, status.rows, found.labels, found.drawn) == ("status", 36, 36, 36)
    assert found.is_random
    assert status.kappa == pytest.approx((34 / 36 - by_chance) / (1 - by_chance))
    assert status.somers > 0.8
    assert status.mean_interval.low <= 0.5 <= status.mean_interval.high
    assert status.more > 0
    # Labels decide the status, but the judge is measured without them.
    assert sorted(one.row for one in found.disagreements) == sorted(apart)
    assert sorted(one.row for one in found.points if not one.agrees) == sorted(apart)
    assert len(found.points) == 36
    assert found.curve[0].labelled < 0.5 < found.curve[-1].labelled
    assert len(found.judges) == 1
    assert not any("need at least 30" in note for note in found.notes)
    assert not any("not chosen at random" in note for note in found.notes)


def test_people_among_themselves(run):
    # The last rows of the random order are not a random sample.
    even, odd = ([row for row in random_order(run)[::-1] if row % 2 == rest][:4] for rest in (0, 1))
    for row in [*even, *odd]:
        say(run, row, "wrong" if row in even else "right")
        say(run, row, "wrong" if row in even or row == odd[0] else "right", "Bo")
    found = measure(run)
    [(first, second, shared, kappa)] = found.kappas
    assert (first, second, shared) == ("Ana", "Bo", 8)
    assert kappa == pytest.approx(0.75)
    assert found.divided == (odd[0],)
    assert [(one.author, one.right, one.wrong) for one in found.people] == [("Ana", 4, 4), ("Bo", 3, 5)]
    assert any("8 of 8 labelled rows were not chosen at random" in note for note in found.notes)


def test_one_label_is_too_few_for_all_figures(run):
    say(run, 0, "right")
    found = measure(run)
    assert found.judges[0].kappa is None
    assert found.judges[0].mean is None
    assert (found.judges[0].is_known, found.judges[0].more) == (False, 29)
    assert any("need at least 30" in note for note in found.notes)
    assert any("Kappa and Somers' D need" in note for note in found.notes)


def test_the_curve_has_a_point_per_group_of_similar_rows():
    chances = np.array([0.1] * 10 + [0.9] * 10 + [np.nan])
    bins = list(calibration_curve(chances, np.array([0.0] * 10 + [1.0] * 10 + [1.0])))
    assert sum(one.rows for one in bins) == 20
    assert (bins[0].predicted, bins[0].labelled) == pytest.approx((0.1, 0.0))
    assert (bins[-1].predicted, bins[-1].labelled) == pytest.approx((0.9, 1.0))


def test_how_many_labels_are_missing():
    assert labels_wanted(Interval(0.4, 0.6), 100, 10_000) == 300
    assert labels_wanted(Interval(0.47, 0.53), 100, 10_000) == 0
    assert labels_wanted(Interval(0.0, 1.0), 10, 50) == 40
