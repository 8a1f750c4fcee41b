"""Calibration of a planted judge, by labels and by the exam, from the measurement to the report of a later run."""

import csv
from io import StringIO

import pytest
from rich.console import Console

import ragstone
from ragstone.agreement.judge_check import Calibrated, check_judge
from ragstone.agreement.labels import join, read_human
from ragstone.analysis.part_metrics import people_of
from ragstone.engine.rescore import rescore
from ragstone.errors import UsageError
from ragstone.report.run import run_report
from tests.agreement.planted_judge import PlantedJudge, answered
from tests.oracle.exam import knows_the_exam
from tests.oracle.server import OracleServer

METRICS = ["answer_match"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))


def evaluate(tmp_path, rows, judge=None, **more):
    options = {"judge": judge or PlantedJudge(), "verdicts": "tokens", **more}
    return ragstone.evaluate(rows, METRICS, tmp_path / "out", **options)


def labelled(tmp_path, run, labels):
    path = tmp_path / "labels.csv"
    with open(path, "w", newline="") as stream:
        csv.writer(stream).writerows([["sample_id", "label"], *((name, int(right)) for name, right in labels.items())])
    return join([run], read_human(path), METRICS)


def mean(run):
    return next(row.mean for row in run.summary() if row.metric == "answer_match")


def grader(run):
    return str(run.info.metric("answer_match").signature.tools["grader"])


def text_of(report):
    stream = StringIO()
    Console(file=stream, width=200).print(report)
    return stream.getvalue()


def test_labels_calibrate_later_runs_and_show_what_people_would_say(tmp_path):
    rows, labels = answered(80, 0.6)
    first = evaluate(tmp_path, rows)
    assert first.info.judge_error == {}
    assert mean(first) > 0.75, "far too kind: 0.6 are right"
    assert "Its error is not known" in text_of(run_report(first))
    [found] = Calibrated.by_labels(labelled(tmp_path, first, labels))
    assert found.is_mapped
    assert found.fit.after < found.fit.before
    others, truth = answered(120, 0.4, start=1000)
    later = evaluate(tmp_path, others)
    assert grader(later).startswith(grader(first) + ";calibrated=match/")
    share = sum(truth.values()) / len(truth)
    assert abs(mean(later) - share) < 0.15 < mean(evaluate(tmp_path, others, calibration=False)) - share
    people = people_of(later.info, later.summary())["answer_match"]
    low, high = people.interval()
    assert low <= share <= high
    assert high - low > 0.1, "80 labels do not make it exact"
    assert "Its error, measured by labels" in text_of(run_report(later))
    assert "estimated human score" in text_of(run_report(later))


def test_a_run_without_calibration_keeps_its_signature_and_its_own_levels(tmp_path):
    rows, labels = answered(80, 0.6)
    first = evaluate(tmp_path, rows)
    Calibrated.by_labels(labelled(tmp_path, first, labels))
    assert grader(evaluate(tmp_path, rows, calibration=False)) == grader(first)
    other = evaluate(tmp_path, rows, judge=PlantedJudge(name="other"))
    assert (";calibrated=" in grader(other), other.info.judge_error) == (False, {}), "another judge"


def test_a_calibrated_run_is_not_calibrated_again(tmp_path):
    rows, labels = answered(80, 0.6)
    Calibrated.by_labels(labelled(tmp_path, evaluate(tmp_path, rows), labels))
    second = evaluate(tmp_path, rows)
    [found] = Calibrated.by_labels(labelled(tmp_path, second, labels))
    assert found.fit is None
    assert found.error is not None
    assert grader(evaluate(tmp_path, rows)) == grader(second)


def test_scores_follow_from_the_stored_evidence(tmp_path):
    """What is stored is calibrated, so scores can be computed again without the judge and its calibration."""
    rows, labels = answered(40, 0.6)
    Calibrated.by_labels(labelled(tmp_path, evaluate(tmp_path, rows), labels))
    run = evaluate(tmp_path, rows)
    assert ";calibrated=" in grader(run)
    again = rescore(run)
    assert mean(again) == mean(run)
    assert again.info.metric("answer_match").signature == run.info.metric("answer_match").signature


def test_a_calibrated_judge_is_left_alone(tmp_path):
    """Log-odds of ±2 with noise of 1 are too modest a judge: its slope is raised, but no kindness is taken away."""
    rows, labels = answered(80, 0.5)
    [found] = Calibrated.by_labels(labelled(tmp_path, evaluate(tmp_path, rows, PlantedJudge(0.0)), labels))
    assert found.fit.map.slope > 1
    assert abs(found.fit.map.intercept) < 0.7


def test_a_judge_that_separates_nothing_gets_no_levels(tmp_path):
    rows, labels = answered(60, 0.5)
    run = evaluate(tmp_path, rows)
    swapped = {name: not right for name, right in labels.items()}
    [found] = Calibrated.by_labels(labelled(tmp_path, run, swapped))
    assert found.error is None
    assert "no levels" in found.why_not
    assert evaluate(tmp_path, rows, calibration=False).info.judge_error == {}


def test_labels_must_be_yes_or_no(tmp_path):
    rows, labels = answered(12, 0.5)
    run = evaluate(tmp_path, rows)
    stars = {name: 1 + 2 * right for name, right in labels.items()}
    with pytest.raises(UsageError, match="yes and no"):
        Calibrated.by_labels(labelled(tmp_path, run, stars))


def test_the_exam_calibrates_claims():
    judge = PlantedJudge()
    check = check_judge(judge, calibrate=True)
    found = check.calibrated
    assert check.best.way == "tokens"
    assert found.pairs >= 30
    assert found.is_mapped
    assert found.fit.map.intercept < -1
    again = check_judge(judge, calibrate=False)
    assert again.signature == check.signature, "the exam itself is always asked without calibration"


def test_levels_by_the_exam_are_in_a_run_with_claims(tmp_path, monkeypatch):
    knows_the_exam(monkeypatch)
    rows, _ = answered(12, 0.5)
    with OracleServer() as server:
        options = {"base_url": server.base_url}
        check = check_judge("openai/oracle", options, calibrate=True)
        run = ragstone.evaluate(
            rows, ["ragchecker.precision", "ragchecker.faithfulness"], judge="openai/oracle", **options
        )
    assert check.calibrated.error.accepted.mean > 0.9
    assert check.calibrated.fit is None, "JSON has no probabilities"
    assert set(run.info.judge_error) == {"ragchecker.precision"}
    assert run.info["judge_error"]["ragchecker.precision"]["source"] == "the exam"
