"""Which part limits quality: by means, intervals and limits that can be checked in the head."""

from dataclasses import replace

import pytest

from ragstone.analysis.cause_names import CAUSE_ADVICE, CAUSES, MISSING, Finding, Outcome
from ragstone.analysis.causes import find_causes
from ragstone.analysis.diagnosis import (
    RIGHT_WITH_FACTS,
    attainable_precision,
    count_causes,
    find_limits,
    give_advice,
    judge_parts,
)
from ragstone.analysis.part_metrics import LEAST_ROWS, Reading, list_signs, read_signs
from ragstone.data.summary import SummaryRow
from ragstone.stats.judge_error import JudgeError, Level
from tests.analysis.making import claim_case, fact_case

BY_NAME = {sign.metric: sign for sign in list_signs()}
RECALL, USE, MADE_UP = "ragchecker.claim_recall", "ragchecker.context_utilization", "ragchecker.hallucination"


def read(**means):
    """Readings by short name: (mean, low, high)."""
    names = {"recall": RECALL, "use": USE, "made_up": MADE_UP, "precision": "ragchecker.context_precision"}
    return [Reading(BY_NAME[names[name]], *values, rows=50) for name, values in means.items()]


def test_few_rows_give_no_verdict():
    """0 of 1 right answers has the interval 0 to 0.79, all of it below 0.8."""
    one = Reading(RIGHT_WITH_FACTS, 0.0, 0.0, 0.793, 1)
    assert one.state == ""
    assert Reading(RIGHT_WITH_FACTS, 0.0, 0.0, 0.3, LEAST_ROWS).state == "bad"
    assert find_limits(judge_parts([one])) == ("unknown", False)


GOOD, BAD, WIDE = (0.9, 0.85, 0.95), (0.5, 0.4, 0.6), (0.7, 0.5, 0.9)


@pytest.mark.parametrize(
    ("readings", "limits"),
    [
        (read(recall=BAD, use=GOOD), ("retriever", True)),
        (read(recall=GOOD, use=BAD), ("generator", True)),
        (read(recall=BAD, use=BAD), ("both", True)),
        (read(recall=GOOD, use=GOOD), ("neither", True)),
        (read(recall=WIDE, use=GOOD), ("retriever", False)),
        (read(recall=WIDE, use=WIDE), ("both", False)),
        (read(recall=BAD, use=WIDE), ("retriever", True)),  # what is sure goes before what seems so
        (read(recall=GOOD, use=(0.85, 0.7, 0.95)), ("neither", False)),
        (read(recall=GOOD, use=GOOD, made_up=(0.3, 0.2, 0.4)), ("generator", True)),
        (read(recall=BAD), ("retriever", True)),
        (read(recall=GOOD), ("unknown", False)),
        (read(recall=GOOD, use=GOOD, precision=(0.1, 0.05, 0.15)), ("neither", True)),  # noise alone limits nothing
        ([], ("unknown", False)),
    ],
)
def test_which_part_limits(readings, limits):
    assert find_limits(judge_parts(readings)) == limits


def test_advice_says_what_calls_for_it_once():
    readings = [
        *read(recall=WIDE, use=BAD),
        Reading(BY_NAME["ragchecker.faithfulness"], *BAD, rows=50),
        *read(made_up=(0.3, 0.05, 0.5)),
    ]
    advice = give_advice(readings, [])
    assert [(item.sure, [why.sign.metric for why in item.because]) for item in advice] == [
        (True, [USE]),
        (True, ["ragchecker.faithfulness", MADE_UP]),
        (False, [RECALL]),
    ]
    assert give_advice(read(recall=GOOD, use=GOOD), []) == []


def test_causes_are_counted_by_sample_and_by_claim():
    cases = [
        claim_case("..y", ".. .. y."),
        claim_case(".", "y"),
        claim_case("..", ". y"),
        claim_case("y", ".", "y", "."),
        claim_case("y", "y", "y", "y"),
    ]
    outcomes = [find_causes(case) for case in cases]
    counted = {count.cause.name: (count.main, count.samples, count.items) for count in count_causes(outcomes)}
    assert counted == {"missing chunk": (2, 2, 3), "ignored": (1, 2, 2), "right, but not from the chunks": (0, 1, 1)}
    assert list(counted) == ["missing chunk", "ignored", "right, but not from the chunks"]


def test_a_cause_may_call_for_advice():
    [count] = count_causes([find_causes(claim_case(".", "..", together="y"))])
    [advice] = give_advice([], [count])
    assert "larger" in advice.text
    assert advice.because == (count,)


def causes_of(*letters):
    return count_causes([find_causes(claim_case(*one)) for one in letters])


MISSING_CHUNK, NOISY, LEFT_OUT = (".", "."), ("n", "n", "n", "y"), (".", "y")


def test_the_advice_for_the_main_cause_comes_first():
    readings = [*read(recall=BAD, use=WIDE)]
    first, second = give_advice(readings, causes_of(LEFT_OUT, LEFT_OUT, MISSING_CHUNK))
    assert first.text == BY_NAME[USE].advice
    assert second.text == BY_NAME[RECALL].advice
    [only] = give_advice([], causes_of(LEFT_OUT))
    assert only.text == BY_NAME[USE].advice


@pytest.mark.parametrize(
    ("cases", "kept"),
    [((MISSING_CHUNK, MISSING_CHUNK, NOISY), "more"), ((NOISY, NOISY, MISSING_CHUNK), "fewer"), ((), "more")],
)
def test_the_main_cause_decides_between_more_and_fewer_chunks(cases, kept):
    advice = give_advice(read(recall=BAD, precision=(0.1, 0.05, 0.15)), causes_of(*cases))
    texts = [item.text for item in advice if item.text.startswith("Retrieve")]
    assert len(texts) == 1
    assert texts[0].startswith(f"Retrieve {kept}")


def test_what_is_attainable():
    assert attainable_precision(fact_case(["a"], ["a", "b", "c", "d"])) == 0.25
    assert attainable_precision(fact_case(["a", "b"], ["a"])) == 1.0
    assert attainable_precision(claim_case("yy", "y... y...")) == 0.5
    assert attainable_precision(fact_case(["a"], [])) is None


def test_advice_is_for_causes_that_are_faults():
    assert all(CAUSES[name].fails for name in CAUSE_ADVICE)


def test_the_local_judge_alone_is_never_sure():
    rows = {RECALL: SummaryRow(RECALL, "all", 0.4, 0.38, 0.42, 50, 0, 0)}
    error = JudgeError(Level(0.9, 0.01, 0.03, 40), Level(0.2, 0.01, 0.03, 40))
    people = {RECALL: error.people(0.4, 0.38, 0.42)}
    [firm], [local] = read_signs(rows), read_signs(rows, local={RECALL}, people=people)
    assert (firm.state, local.state) == ("bad", "seems bad")
    assert find_limits(judge_parts([local])) == ("retriever", False)
    assert local.as_dict()["local_judge"] is True
    assert local.chance_of_good == pytest.approx(0, abs=0.01)
    good = replace(local, people=error.people(0.89, 0.88, 0.9))
    assert (good.state, good.chance_of_good) == ("seems good", pytest.approx(1, abs=0.02))


def test_advice_for_a_cause_by_the_local_judge_alone_is_not_sure():
    refused = claim_case(".", "y", sample={"answer": "I do not know."})
    causes = count_causes([find_causes(refused)])
    assert [item.sure for item in give_advice([], causes)] == [True]
    assert [item.sure for item in give_advice([], causes, local=True)] == [False]


def test_an_interval_of_people_around_the_limit_gives_no_verdict():
    error = JudgeError(Level(0.65, 0.01, 0.05, 40), Level(0.35, 0.01, 0.05, 40))
    reading = Reading(BY_NAME[RECALL], 0.6, 0.58, 0.62, 50, local=True, people=error.people(0.6, 0.58, 0.62))
    assert reading.state == "unclear"
    assert 0.2 < reading.chance_of_good < 0.8
    assert find_limits(judge_parts([reading])) == ("unknown", False)


def test_an_unmeasured_error_decides_nothing():
    reading = Reading(BY_NAME[RECALL], 0.4, 0.38, 0.42, 50, local=True)
    assert (reading.state, reading.decides) == ("unclear", False)
    assert judge_parts([reading])["retriever"] == ""
    assert reading.as_dict()["people"] is None


def test_causes_have_the_mean_probability_of_their_samples():
    found = [Finding(MISSING, "reference claim", 1, "x", probability=chance) for chance in (0.2, 0.6)]
    [count] = count_causes([Outcome("a", tuple(found)), Outcome("b", (found[0],))])
    assert count.probability == pytest.approx(0.4)
    [count] = count_causes([Outcome("a", tuple(found)).without_texts()])
    assert count.probability == 0.6
    [count] = count_causes([Outcome("a", (replace(found[0], probability=None),))])
    assert count.probability is None
