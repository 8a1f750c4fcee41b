"""Signs: when a number is good or bad, and the estimated human score behind a judge's mean."""

from dataclasses import replace

import pytest

import ragstone
import ragstone.metrics
from ragstone.analysis.diagnosis import RIGHT_WITH_FACTS, diagnose
from ragstone.analysis.part_metrics import (
    LEAST_ROWS,
    NOT_MEASURED,
    Reading,
    list_signs,
    people_dict,
    people_of,
    read_signs,
)
from ragstone.data.summary import ALL, SummaryRow
from ragstone.registry import CATALOGUE, metric
from ragstone.stats.judge_error import JudgeError, Level
from ragstone.storage.run_info import MetricInfo, RunInfo
from ragstone.storage.runs import open_run

RECALL, USE, MADE_UP = "ragchecker.claim_recall", "ragchecker.context_utilization", "ragchecker.hallucination"
BY_NAME = {sign.metric: sign for sign in list_signs()}


def read(**means):
    """Readings by short name: (mean, low, high)."""
    names = {"recall": RECALL, "use": USE, "made_up": MADE_UP, "precision": "ragchecker.context_precision"}
    return [Reading(BY_NAME[names[name]], *values, rows=50) for name, values in means.items()]


def test_a_metric_of_a_user_is_rated_by_the_same_rule():
    """Sure only if the whole interval is on one side."""
    info = MetricInfo.declare("theirs", judges="answer", good={"limit": 0.8})
    [theirs] = [sign for sign in list_signs([info]) if sign.metric == "theirs"]
    for ends in ((0.9, 0.85, 0.95), (0.7, 0.6, 0.79), (0.7, 0.6, 0.85), (0.9, 0.7, 0.95)):
        [known] = read(recall=ends)
        assert Reading(theirs, *ends, rows=50).state == known.state


@pytest.mark.parametrize(
    ("reading", "state"),
    [
        (read(recall=(0.9, 0.85, 0.95)), "good"),
        (read(recall=(0.9, 0.75, 1.0)), "seems good"),
        (read(recall=(0.7, 0.6, 0.79)), "bad"),
        (read(recall=(0.7, 0.6, 0.8)), "seems bad"),  # the end of the interval touches the limit
        (read(recall=(0.7, None, None)), "seems bad"),  # a single row
        (read(made_up=(0.05, 0.01, 0.1)), "good"),
        (read(made_up=(0.2, 0.11, 0.3)), "bad"),
        (read(made_up=(0.2, 0.05, 0.3)), "seems bad"),
    ],
)
def test_a_number_is_bad_only_if_its_whole_interval_is(reading, state):
    assert reading[0].state == state


def test_self_knowledge_is_neither_good_nor_bad():
    assert Reading(BY_NAME["ragchecker.self_knowledge"], 0.9, 0.8, 1.0, 50).state == ""


def test_how_many_rows_it_takes():
    """The interval shrinks with the root of the rows: half of its width by four times as many; twice that is likely enough."""
    [reading] = read(recall=(0.7, 0.5, 0.9))
    assert reading.rows_to_be_sure == 410
    assert Reading(reading.sign, 0.8, 0.6, 1.0, 50).rows_to_be_sure is None
    assert Reading(reading.sign, 0.5, None, None, 1).rows_to_be_sure is None


def test_rows_that_would_do_are_clearly_more():
    assert Reading(BY_NAME[RECALL], 0.74, 0.68, 0.801, 29).rows_to_be_sure >= 58


@pytest.mark.parametrize("metric", ["fact_precision", "ragchecker.context_precision"])
def test_a_limit_is_attainable(metric):
    """One useful chunk among four: 0.25 is the maximum, and both metrics say the same about it."""
    [reading] = read_signs({metric: row(metric, 0.233)}, attainable=0.25)
    assert reading.sign.limit == 0.125
    assert reading.state.endswith("good")
    [reading] = read_signs({metric: row(metric, 0.233)}, attainable=1.0)
    assert reading.state.endswith("bad")


def row(metric, mean):
    return SummaryRow(metric, ALL, mean, 0.0, 1.0, 10 if mean is not None else 0, 0, 0)


def test_signs_are_read_from_what_the_run_has():
    rows = {
        name: row(name, mean)
        for name, mean in [
            ("fact_recall", 0.5),
            ("ragas.faithfulness", 0.6),
            (RECALL, None),
            ("recall", 0.4),
            ("mrr", 1.0),
        ]
    }
    assert [reading.sign.metric for reading in read_signs(rows)] == ["fact_recall", "ragas.faithfulness"]
    rows[RECALL] = row(RECALL, 0.7)
    assert [reading.sign.metric for reading in read_signs(rows)] == [RECALL, "ragas.faithfulness"]


@pytest.mark.usefixtures("catalogue")
def test_every_sign_is_a_metric_with_that_direction():
    for sign in list_signs():
        assert CATALOGUE.metric(sign.metric).spec.better == sign.better
        assert {name for name in sign.unless if not CATALOGUE.metric(name)} == set()


def test_a_run_keeps_the_limits_of_its_own_metrics(catalogue, tmp_path):
    """The diagnosis is the same without the metrics file."""

    @metric("polite", judges="answer", good=0.9, advice="ask for politeness")
    def polite(answer: str) -> float:
        return float("please" in answer)

    rows = [{"question": f"When {n}?", "answer": "Go away."} for n in range(12)]
    run = ragstone.evaluate(rows, ["polite"], tmp_path)
    before = run.diagnose().as_dict()
    del catalogue._metrics["polite"]
    after = ragstone.open_run(run.path).diagnose()
    assert after.as_dict() == before
    [reading] = after.readings
    assert (reading.sign.limit, reading.sign.advice, reading.state) == (0.9, "ask for politeness", "bad")
    old = MetricInfo.declare("polite", judges="answer")
    broken = MetricInfo.declare("polite", judges="answer", good={"limt": 0.9})
    assert read_signs({"polite": row("polite", 0.1)}, metrics=[old]) == []
    assert read_signs({"polite": row("polite", 0.1)}, metrics=[broken]) == []


ERROR = JudgeError(Level(0.9, 0.01, 0.03, 40), Level(0.4, 0.01, 0.03, 40))


def test_a_measured_error_decides_in_place_of_the_judges_mean():
    """A judge that is too kind: 0.82 is good by its own interval, and bad by the estimated human score."""
    rows = {RECALL: SummaryRow(RECALL, ALL, 0.82, 0.81, 0.83, 500, 0, 0)}
    [plain] = read_signs(rows)
    kind = JudgeError(Level(0.95, 0.005, 0.0, 400), Level(0.6, 0.005, 0.0, 400))
    [corrected] = read_signs(rows, people={RECALL: kind.people(0.82, 0.81, 0.83)})
    assert (plain.state, corrected.state) == ("good", "bad")
    assert corrected.people.interval().high < 0.8
    wide = replace(
        corrected, people=JudgeError(Level(0.95, 0.1, 0.1, 9), Level(0.3, 0.1, 0.1, 9)).people(0.82, 0.8, 0.84)
    )
    assert wide.state in ("seems good", "seems bad"), "few labels give no firm verdict"
    assert replace(corrected, doubted=True).state == "seems bad"
    assert corrected.decides


def test_few_rows_give_no_state():
    assert Reading(BY_NAME[RECALL], 0.1, 0.0, 0.2, LEAST_ROWS - 1).state == ""


def info(errors=(), signature=f"{RECALL}|v1|x/1|checker:local-judge/4#abcd"):
    metric = {"metric": RECALL, "signature": signature, "family": "f", "better": "higher", "bounds": [0.0, 1.0]}
    raw = {
        "layout": 1, "name": "n", "created_at": "", "finished_at": "", "dataset": {"rows": 50}, "metrics": [metric],
        "skipped": {}, "evidence": [], "versions": {}, "totals": {},
        "judge_error": {name: ERROR.as_dict() for name in errors},
    }  # fmt: skip
    return RunInfo.from_json(raw, "test")


def test_people_need_a_measured_error_and_an_interval():
    scored, alone = (SummaryRow(RECALL, ALL, 0.6, low, 0.65, 50, 0, 0) for low in (0.55, None))
    assert people_of(info(), [scored]) == {}
    assert people_of(info([RECALL]), [alone]) == {}
    people = people_of(info([RECALL]), [scored])[RECALL]
    assert people.mean == pytest.approx((0.6 - 0.4) / 0.5, abs=0.05)
    assert people_dict(info([RECALL]), scored)["mean"] == people.mean
    assert people_dict(info([RECALL]), alone)["reason"] == "there are too few scores"
    assert people_dict(info(), scored)["reason"] == NOT_MEASURED
    assert people_dict(info(signature=f"{RECALL}|v1|checker:openai/x,temperature=0"), scored) is None


def test_a_metric_of_the_user_is_read_next_to_the_right_answers(tmp_path, catalogue):
    @metric("polite", family="own", bounds=(0, 1), good=1.0)
    def polite(answer: str) -> float:
        """Whether it says please."""
        return float("please" in answer)

    rows = [
        {
            "question": f"When does boat {number} leave?",
            "answer": "At nine.",
            "references": ["At nine."],
            "contexts": [f"Boat {number} leaves at nine."],
            "facts": [{"text": f"Boat {number} leaves at nine."}],
        }
        for number in range(3)
    ]
    run = ragstone.evaluate(rows, ["polite", "fact_recall", "token_f1"], tmp_path)
    names = [reading.sign.metric for reading in diagnose(open_run(run.path)).readings]
    assert {"polite", RIGHT_WITH_FACTS.metric} <= {*names}
