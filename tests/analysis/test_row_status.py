"""One status per row: the rules that need no judge, the weights of the local judges, and the whole path."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import ragstone
from ragstone.analysis import row_status
from ragstone.analysis.causes import find_causes
from ragstone.analysis.row_status import limits, signs_of, word_of
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Chunk, Claim, Fact, Sample
from ragstone.data.verdict import Verdict
from tests.analysis.making import claim_case

MODELS = json.loads(Path(row_status.__file__).with_name("row_status.json").read_text())["models"]


def sample(answer, **fields):
    return Sample("s", question="Is there a boat?", answer=answer, contexts=[Chunk("Boats leave at nine.")], **fields)


@pytest.mark.parametrize(
    ("fields", "answer", "status"),
    [
        ({}, "", "wrong"),
        ({"references": ["At nine."]}, "I cannot answer that.", "wrong"),
        ({}, "I cannot answer that.", "look"),
        ({"answerable": False}, "I cannot answer that.", "fine"),
        ({"answerable": False}, "Yes, at ten.", "wrong"),
        ({"references": ["The documents do not say whether there is a boat."]}, "Yes, at ten.", "wrong"),
        (
            {"references": ["The documents do not say whether there is a boat."]},
            "The pages list trains and buses, but nothing about a boat.",
            "fine",
        ),
        (
            {"references": ["Die Unterlagen enthalten dazu keine Angaben."], "answerable": False},
            "In den Unterlagen steht nichts über ein Boot.",
            "fine",
        ),
    ],
)
def test_facts_decide_without_a_judge(fields, answer, status):
    assert find_causes(Case(sample(answer, **fields))).status == status


def test_nothing_measured_is_no_judgement():
    found = find_causes(Case(sample("At nine.", references=["At nine."])))
    assert (found.status, found.wrong) == ("no judgement", None)
    assert found.undecided


def test_verdicts_of_language_models_decide_by_their_causes():
    assert find_causes(claim_case("y", "y", "y", "y")).status == "fine"
    assert find_causes(claim_case(".", "..")).status == "wrong"


def judged(said, chunks, match, *, judge="small", references=("At nine.",)):
    """A sample of one claim each, with the probabilities of the local judge."""
    word = {True: "entailment", False: "neutral"}
    verdict = Verdict(word[said >= 0.5], said, 0.0)
    evidence = {
        "answer_claims": [Claim("It leaves at nine.")],
        "answer_claims_in_contexts": [[Verdict(word[chunks >= 0.5], chunks, 0.0)]],
    }
    if references:
        evidence |= {
            "reference_claims": [Claim("At nine.")],
            "reference_claims_in_answer": [verdict],
            "reference_claims_in_contexts": [[Verdict("entailment", 0.9, 0.0)]],
            "answer_claims_in_reference": [verdict],
            "reference_matches": [match],
        }
    found = sample("It leaves in the morning.", references=list(references) or None)
    return Case(found, evidence, judge=judge)


@pytest.mark.parametrize("judge", ["small", "large"])
def test_more_support_never_makes_a_row_more_probably_wrong(judge):
    chances = [find_causes(judged(share, share, share, judge=judge)).wrong for share in (0.05, 0.3, 0.5, 0.7, 0.95)]
    assert chances == sorted(chances, reverse=True)
    assert word_of(chances[0]) == "wrong"
    assert word_of(chances[-1]) == "fine"


def test_a_number_of_no_text_is_not_fine_where_the_large_judge_hardly_supports_its_claim():
    """A fee of 60 pounds in neither reference nor chunk was fine: its claim had a support of 0.14."""
    known = judged(0.95, 0.95, 0.97, judge="large").evidence
    sure, hardly = Verdict("entailment", 0.95, 0.0), Verdict("neutral", 0.14, 0.0)
    two = {"answer_claims_in_contexts": [[sure], [hardly]], "answer_claims_in_reference": [sure, hardly]}
    chances = []
    for fee in ("A fee is due.", "A fee of £60 is due."):
        evidence = {**known, **two, "answer_claims": [Claim("It leaves at nine."), Claim(fee)]}
        case = Case(sample(f"It leaves at nine. {fee}", references=["At nine."]), evidence, judge="large")
        chances.append(find_causes(case).wrong)
    assert chances[0] < 0.64
    assert chances[1] == 0.64


@pytest.mark.parametrize(
    ("claim", "said", "chunk", "status"),
    [
        ("It returns at noon.", 0.18, 0.95, "look"),
        ("It returns at noon.", 0.4, 0.95, "fine"),
        ("It returns at noon.", 0.18, 0.5, "fine"),
        ("The boat leaves in the morning.", 0.18, 0.95, "fine"),  # The answer has its words.
    ],
)
def test_an_answer_that_leaves_out_a_claim_of_the_reference_needs_a_look(claim, said, chunk, status):
    """It said that no mail can be sent, but not that incoming mail is rejected later, and was fine."""
    known = judged(0.95, 0.95, 0.97)
    two = {
        "reference_claims": [Claim("At nine."), Claim(claim)],
        "reference_claims_in_answer": [Verdict("entailment", 0.95, 0.0), Verdict("neutral", said, 0.0)],
        "reference_claims_in_contexts": [[Verdict("entailment", one, 0.0)] for one in (0.9, chunk)],
    }
    assert find_causes(replace(known, evidence={**known.evidence, **two})).status == status


def test_another_technical_name_than_that_of_the_reference_is_not_fine():
    evidence = judged(0.95, 0.95, 0.97).evidence
    chances = []
    for option in ("--dry-dock", "--keel-up"):
        case = Case(sample(f"Start it with {option}.", references=["Add --dry-dock to the call."]), evidence)
        chances.append(find_causes(case).wrong)
    assert chances[0] < 0.2
    assert chances[1] >= 0.64


def test_without_references_an_unsupported_answer_is_never_fine():
    found = find_causes(judged(0.0, 0.05, 0.0, references=()))
    assert found.status in ("wrong", "look")
    assert found.cause.name == "unsupported"
    assert find_causes(judged(0.0, 0.97, 0.0, references=())).status == "fine"


def test_a_fine_row_has_no_main_cause_but_keeps_its_findings():
    case = judged(0.9, 0.95, 0.95)
    doubtful = {**case.evidence, "reference_claims_in_answer": [Verdict("neutral", 0.3, 0.0)]}
    found = find_causes(replace(case, evidence=doubtful))
    assert found.status == "fine"
    assert found.cause is None
    assert found.findings


def test_every_kind_of_evidence_has_signs_for_its_weights():
    signs = signs_of(judged(0.5, 0.5, 0.5))
    for models in MODELS.values():
        for model in models.values():
            assert set(model["weights"]) <= signs.keys()


def test_the_words_are_right_often_enough_in_domains_left_out():
    """The goals of the product, by the figures that the fit left for domains it did not see."""
    for models in MODELS.values():
        figures = models["chunks and references"]["left out"]
        assert figures["wrong is wrong"] >= 0.85
        assert figures["fine is fine"] >= 0.9
        assert figures["look"] <= 0.3


def test_no_sign_counts_against_its_meaning():
    """More support never makes a row worse; a chunk that was missed takes no more from the odds of a wrong answer than doubt does."""
    better = {
        "match",
        "said_mean",
        "extra_mean",
        "words",
        "extra_least",
        "either_least",
        "either_all",
        "chunks_all",
        "chunks_mean",
        "chunks_least",
    }
    for models in MODELS.values():
        for model in models.values():
            weights = model["weights"]
            assert all(weights.get(name, 0) <= 0 for name in better)
            assert all(weights.get(name, 0) >= 0 for name in ("numbers_left_out", "chunks_denied"))
            assert 0 <= weights.get("reference_found", 0) < 1


def test_limits_are_in_order():
    fine, wrong = limits()
    assert 0 < fine < wrong < 1
    assert (word_of(None), word_of(0.0), word_of(fine), word_of(wrong)) == ("no judgement", "fine", "look", "wrong")


SHED = (
    "The tool shed lends drills for 4 euros a day and ladders for 6 euros a day. Members must be at least 18 years old."
)
HOURS = "The tool shed is open on Tuesdays and Fridays from 16:00 to 19:00. Tools can be kept for at most seven days."


def test_the_whole_path_from_rows_to_words(tmp_path):
    """Right answers in other words are not wrong; other numbers, days and inventions are not fine."""
    rows = [
        ("good-1", "What does a drill cost per day?", "A drill is 4 euros a day.", "4 euros per day"),
        ("good-2", "When is the shed open?", "On Tuesdays and Fridays, from 16:00 to 19:00.", "Tuesdays and Fridays, 16:00 to 19:00"),
        ("bad-1", "What does a ladder cost per day?", "A ladder costs 9 euros a day.", "6 euros per day"),
        ("bad-2", "How long can tools be kept?", "You can keep a tool for a whole month.", "At most seven days"),
        ("bad-3", "How old must members be?", "Members must be at least 21 years old.", "At least 18 years"),
    ]  # fmt: skip
    data = [
        {"id": name, "question": question, "answer": answer, "references": [truth], "contexts": [SHED, HOURS]}
        for name, question, answer, truth in rows
    ]
    run = ragstone.evaluate(data, None, tmp_path, judge="local")
    status = {outcome.sample_id: outcome.status for outcome in run.diagnose().outcomes}
    assert "wrong" not in {status["good-1"], status["good-2"]}
    assert "fine" not in {status["bad-1"], status["bad-2"], status["bad-3"]}
    worst = run.worst(3)
    assert {one.id for one in worst} == {"bad-1", "bad-2", "bad-3"}
    assert all(one.wrong is not None for one in worst)


PARKING = ["A space costs 4 euros per day.", "Bicycles are free."]


def parking_case(answer, support, denied=0.0, ranks=(1,), facts=("A space costs 4 euros per day.",)):
    """A row with facts whose claims the local judge read: the support of the answer by its reference and by chunk 1."""
    read, silent = (
        Verdict("entailment" if support > 0.5 else "neutral", support, denied),
        Verdict("neutral", 0.02, 0.01),
    )
    evidence = {
        "reference_claims": [Claim("A space costs 4 euros per day.")],
        "reference_claims_in_answer": [read],
        "reference_claims_in_contexts": [[Verdict("entailment", 0.97, 0.01), silent]],
        "answer_claims": [Claim(answer)],
        "answer_claims_in_reference": [read],
        "answer_claims_in_contexts": [[read, silent]],
        "reference_matches": [support],
        "fact_ranks": list(ranks),
        "fact_matches": [],
    }
    known = {"references": ["4 euros per day"], "facts": [Fact(text) for text in facts]}
    chunks = [Chunk(text) for text in PARKING]
    return Case(Sample("s", "What does a space cost for four days?", answer, chunks, **known), evidence, by_facts=True)


def test_a_number_in_no_chunk_does_not_outweigh_the_judge():
    outcome = find_causes(parking_case("A space costs 4 euros per day, that is 16 euros.", 0.97))
    assert (outcome.status, outcome.cause, outcome.seen_by) == ("fine", None, "claims")


def test_claims_that_the_judge_read_name_the_cause_and_facts_what_was_not_retrieved():
    wrong = find_causes(parking_case("A space costs 9 euros per day.", 0.03, 0.95))
    assert (wrong.status, wrong.seen_by) == ("wrong", "claims")
    assert {one.kind for one in wrong.findings} <= {"answer claim", "reference claim"}
    missed = find_causes(
        parking_case("A space costs 9 euros per day.", 0.03, 0.95, [None], ["Permits are sold at pier 2."])
    )
    assert (missed.cause.name, missed.findings[0].kind) == ("missing chunk", "fact")
