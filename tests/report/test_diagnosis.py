"""The diagnosis as it is shown."""

from collections import Counter
from dataclasses import replace

import pytest
from rich.console import Console

from ragstone.analysis.cause_names import MISREAD, MISSING, Finding, Outcome
from ragstone.analysis.causes import NOTHING_TO_GO_BY, find_causes
from ragstone.analysis.diagnosis import Diagnosis, count_causes, find_limits, give_advice, judge_parts
from ragstone.analysis.part_metrics import Reading, list_signs
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Sample
from ragstone.report.diagnosis import diagnosis_dict, full_report, short_report
from ragstone.stats.judge_error import JudgeError, Level
from ragstone.views.diagnosis import DiagnosisView, headline, reason_line
from tests.analysis.making import claim_case

BY_NAME = {sign.metric: sign for sign in list_signs()}
ERROR = JudgeError(Level(0.9, 0.01, 0.03, 40), Level(0.2, 0.01, 0.03, 40))
SAID, LIKED = ERROR.people(0.4, 0.38, 0.42), ERROR.people(0.89, 0.88, 0.9)
GOOD, BAD, WIDE = (0.95, 0.92, 0.98), (0.5, 0.4, 0.6), (0.7, 0.5, 0.9)


def make(retriever=None, generator=None, cases=(), samples=None, undecided=(), rows=50):
    readings = [
        Reading(BY_NAME[name], *values, rows=rows)
        for name, values in (
            ("ragchecker.claim_recall", retriever),
            ("ragchecker.noise_sensitivity_in_irrelevant", generator and tuple(1 - value for value in generator)),
        )
        if values
    ]
    outcomes = tuple(find_causes(case) for case in cases)
    parts = judge_parts(readings)
    limits, sure = find_limits(parts)
    causes = count_causes(outcomes)
    return Diagnosis(
        limits,
        sure,
        parts,
        tuple(readings),
        tuple(causes),
        tuple(give_advice(readings, causes)),
        outcomes,
        samples or len(outcomes),
        len(outcomes),
        Counter(undecided),
        Counter(),
    )


def draw(report, width=120):
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(report)
    return captured.get()


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (make(BAD, GOOD), "The retriever limits quality. The generator does well."),
        (make(GOOD, BAD), "The generator limits quality. The retriever does well."),
        (make(BAD, (0.85, 0.8, 1.0)), "The retriever limits quality. The generator may limit it too."),
        (make(BAD), "The retriever limits quality. No metric measures the generator."),
        (make(BAD, BAD), "Retriever and generator both limit quality."),
        (make((0.95, 0.91, 0.99), (0.95, 0.91, 0.99)), "Neither part limits quality."),
    ],
)
def test_the_headline(found, words):
    assert headline(found) == words


def test_the_headline_without_a_verdict():
    assert "50 rows are too few; about 410" in headline(make(WIDE, (0.95, 0.91, 0.99)))
    assert "the retriever does well" in headline(make(GOOD))
    assert "no metric of this run decides about" in headline(make())
    few = headline(make(BAD, rows=9))
    assert "not known yet" in few
    assert "at least 10 rows" in few


CASES = [claim_case("..", ".. ..")] * 3 + [claim_case(".", "y", ".", ".")] + [claim_case("y", "y", "y", "y")]


def test_the_short_report():
    text = " ".join(draw(short_report(make(BAD, GOOD, CASES))).split())
    assert text.startswith("diagnosis The retriever limits quality. The generator does well.")
    assert "4 of 5 samples are wrong: 3 missing chunk, 1 hallucinated" in text
    assert "→ Retrieve more chunks" in text
    assert "claim_recall 0.500" in text


def test_only_a_part_was_looked_at():
    assert "4 of the first 5 of 1,000 samples are wrong" in draw(short_report(make(BAD, GOOD, CASES, samples=1000)))


def test_without_chunks_and_references_no_row_can_be_judged():
    outcomes = tuple(find_causes(Case(Sample(name, answer="At nine."))) for name in "ab")
    reasons = Counter(outcome.undecided for outcome in outcomes)
    found = replace(make(), outcomes=outcomes, samples=2, looked_at=2, undecided=reasons)
    text = "No row could be judged right or wrong: the rows have no chunks and no references."
    assert DiagnosisView.of(found).statuses_text == text


def test_samples_that_could_not_be_examined_are_counted():
    found = replace(make(cases=CASES[:1]), samples=30, looked_at=30, undecided=Counter(why=29))
    assert "1 of 30 samples is wrong (29 not examined)" in draw(short_report(found))


@pytest.mark.parametrize("width", [80, 120])
def test_the_full_report_fits(width):
    text = draw(full_report(make(BAD, BAD, CASES, undecided={"it has nothing": 2}), "a [bold]name[/]\x1b[2J"), width)
    assert all(len(line) <= width for line in text.splitlines())
    assert text.startswith("diagnosis of a [bold]name[/]\\x1b[2J")
    assert "  noise_sensitivity_in_irrelevant ↓ " in text
    lines = {line.split("  ")[1]: line for line in text.splitlines() if line.startswith("  ")}
    assert lines["missing chunk"].split()[2:4] == ["3", "3"]
    assert lines["ignored"].split()[1:3] == ["0", "1"]
    assert "Not examined: 2 samples, because it has nothing." in text


def test_rows_to_look_at_are_not_counted_as_wrong():
    found = make(BAD, GOOD, [claim_case(".", "y", ".", ".")] * 4)
    doubted = [replace(one, status="look") for one in found.outcomes[:3]]
    causes = count_causes((*doubted, found.outcomes[3]))
    found = replace(found, outcomes=(*doubted, found.outcomes[3]), causes=tuple(causes))
    text = draw(full_report(found, "x"))
    assert "cause         wrong  look  all" in text
    assert "hallucinated      1     3    4" in text
    cause = diagnosis_dict(found)["causes"][0]
    assert (cause["main_of"], cause["look"]) == (4, 3)
    assert found.blamed("generator") == 1
    assert reason_line(causes[0]) == "hallucinated: 1 wrong, 3 to look at"


def test_weak_advice_names_the_judge_of_its_own_reasons():
    few = replace(make(WIDE), by_local_judge=True)
    advice = replace(few.advice[0], because=few.readings, sure=False)
    [shown] = DiagnosisView.of(replace(few, advice=(advice,))).advice
    assert shown.doubt == "weak evidence: too few rows", "no judge made this number"


def test_nothing_fails():
    text = draw(full_report(make(GOOD, GOOD, CASES[-1:]), "fine"))
    assert "no sample is wrong (1 sample examined)" in text
    assert "why samples fail" not in text


def test_a_diagnosis_without_content():
    assert not make().has_content
    assert make(BAD).has_content
    assert make(cases=CASES).has_content


def test_for_programs():
    found = diagnosis_dict(make(BAD, GOOD, CASES))
    assert (found["limits"], found["sure"], found["failing"], found["samples"]) == ("retriever", True, 4, 5)
    assert found["numbers"][0]["state"] == "bad"
    assert [(cause["cause"], cause["main_of"], cause["items"]) for cause in found["causes"]] == [
        ("missing chunk", 3, 6),
        ("hallucinated", 1, 1),
        ("ignored", 0, 1),
    ]
    assert [outcome["status"] for outcome in found["outcomes"]] == ["wrong"] * 4 + ["fine"]
    assert found["outcomes"][0]["findings"][0]["about"] == "reference claim"


def test_the_local_judge_alone_says_seems():
    found = make(BAD, GOOD, [claim_case(".", ".")] * 3)
    local = replace(
        found,
        sure=False,
        readings=tuple(replace(reading, local=True, people=SAID) for reading in found.readings),
        by_local_judge=True,
    )
    assert headline(local).startswith("The retriever seems to limit quality")
    assert "from the local judge alone" in headline(local)
    assert "seem wrong" in draw(short_report(local))
    assert "why samples seem to fail" in draw(full_report(local, "x"))
    assert diagnosis_dict(local)["by_local_judge"] is True


def test_a_judge_that_disagrees_with_the_facts_is_shown():
    found = make(BAD, GOOD)
    other = replace(found.readings[0], mean=0.95, low=0.9, high=1.0, local=True, people=LIKED)
    text = " ".join(draw(full_report(replace(found, by_facts=True, disagreeing=(other,)), "x")).split())
    assert "The local judge disagrees with the facts: " in text
    assert "0.950 (retriever seems good, by the facts bad)" in text


def test_an_unclear_part_is_named_with_what_people_would_say():
    found = make(WIDE, GOOD)
    vague = JudgeError(Level(0.65, 0.01, 0.05, 40), Level(0.35, 0.01, 0.05, 40)).people(0.6, 0.58, 0.62)
    first = replace(found.readings[0], local=True, people=vague)
    unclear = replace(found, limits="unknown", sure=False, parts=judge_parts([first]), readings=(first,))
    said = "It is not known yet which part limits quality: the local judge alone cannot decide it."
    assert headline(unclear) == said
    low, high = vague.interval()
    text = " ".join(draw(full_report(unclear, "x")).split())
    assert f"≈ {vague.mean:.2f} {low:.2f} – {high:.2f} ≥ 0.8 50 unclear" in text


def test_a_metric_without_a_measured_error_says_so():
    found = make(BAD, GOOD)
    text = draw(full_report(replace(found, readings=(replace(found.readings[0], local=True),)), "x"))
    assert "not checked against labels" in " ".join(text.split())


def test_where_most_wrong_rows_point_comes_first():
    """The local judge alone is never sure of the part, but the rows are seen."""
    found = make(WIDE, GOOD)
    vague = JudgeError(Level(0.65, 0.01, 0.05, 40), Level(0.35, 0.01, 0.05, 40)).people(0.6, 0.58, 0.62)
    first = replace(found.readings[0], local=True, people=vague)
    wrong = (*[Outcome("s", (Finding(MISREAD, "answer claim", 1, "a"),), status="wrong")] * 3,)
    missed = (*[Outcome("s", (Finding(MISSING, "reference claim", 1, "a"),), status="wrong")] * 3,)
    known = replace(found, limits="unknown", sure=False, parts=judge_parts([first]), readings=(first,))
    most = headline(replace(known, outcomes=(*wrong, missed[0])))
    assert most == "Most wrong rows seem to point to the generator (3 of 4). The local judge alone cannot be sure."
    assert headline(replace(known, outcomes=(*wrong, *missed))).startswith("As many wrong rows seem to point")
    assert headline(replace(known, outcomes=wrong[:2])).startswith("It is not known yet")
    # Facts that seem good do not hide the wrong rows.
    good = replace(known, limits="neither")
    assert headline(replace(good, outcomes=(*wrong, missed[0]))) == most
    assert headline(replace(good, outcomes=wrong[:2])).startswith("Neither part seems to limit quality")


def test_a_run_without_a_metric_that_judges_rows_says_so():
    found = replace(make(samples=4, undecided=[NOTHING_TO_GO_BY] * 3), looked_at=4, has_verdicts=False)
    open_rows = (Outcome("s", undecided=NOTHING_TO_GO_BY, status="no judgement"),) * 3
    none = DiagnosisView.of(replace(found, outcomes=open_rows, looked_at=3)).statuses_text
    assert none == "3 rows have no status: no metric of this run judges rows (add -m ragchecker)."
    refused = replace(found, outcomes=(*open_rows, Outcome("s", status="wrong")))
    some = "1 of 4 rows is wrong, 3 have no status: no metric of this run judges rows (add -m ragchecker)."
    assert DiagnosisView.of(refused).statuses_text == some
    labelled = replace(found, outcomes=(Outcome("s", status="wrong", labelled_by=("Ana",)),))
    assert DiagnosisView.of(labelled).statuses_text.startswith("1 of 4 rows is wrong")
