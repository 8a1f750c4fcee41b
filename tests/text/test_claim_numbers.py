"""Numbers of claims that texts do not contain: both errors of the rule on pairs of twelve domains, and what it leaves open."""

import json
from pathlib import Path

import pytest

from ragstone.text import claim_numbers
from ragstone.text.claim_numbers import check_numbers, stated_numbers

PAIRS = [
    json.loads(line) for line in Path(__file__).with_name("claim_number_pairs.jsonl").read_text("utf-8").splitlines()
]


def test_wrong_numbers_are_refused_and_right_ones_are_not():
    refused = {(pair["text"], pair["claim"]): check_numbers(pair["claim"], [pair["text"]]) for pair in PAIRS}
    right = [pair["claim"] for pair in PAIRS if pair["right"] and refused[pair["text"], pair["claim"]]]
    missed = [pair["claim"] for pair in PAIRS if not pair["right"] and not refused[pair["text"], pair["claim"]]]
    assert len({pair["domain"] for pair in PAIRS}) >= 10
    assert len(right) <= 0.01 * sum(pair["right"] for pair in PAIRS), right
    assert len(missed) <= 0.15 * sum(not pair["right"] for pair in PAIRS), missed


def test_the_reason_says_what_the_text_says():
    refusal = check_numbers("The room costs £190 per night.", ["The room costs £90 per night."])
    assert refusal == ("the text says £90 per night, not £190 per night", True)
    other = check_numbers("The tower has a height of 61 m.", ["The tower is red."])
    assert other == ("the text does not say 61 m", False)


def test_numbers_of_the_question_and_of_another_text_are_known():
    claim = "Two nights for 3 people cost £480."
    assert check_numbers(claim, ["It costs £80 per person and night."], "What do 2 nights cost for 3 people?") is None
    texts = ["Adults pay £12.", "Children pay £8."]
    assert check_numbers("Adults pay £12 and children £8.", texts) is None
    assert check_numbers("Adults pay £12 and children £8.", texts[:1])


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Die Fahrt dauert drei Tage und kostet 90 Euro.", "Die Reise dauert 3 Tage."),
        ("Le trajet dure deux heures et coûte trente euros.", "Le trajet dure 2 heures."),
        ("El curso dura tres semanas y cuesta cien euros.", "El curso dura 3 semanas."),
        ("课程为期三周,费用为一百元。", "课程为期3周。"),
        ("The gate is open from Monday to Friday.", "The gate is open on Wednesday."),
        ("The path is closed between November and March.", "The path is closed in January."),
        ("A guard is needed above 75 cm.", "At 80 cm, a guard is needed."),
        ("It comes in red, green and blue.", "It comes in three colours."),
        ("The hall seats 53 people.", "The hall seats over 50 people."),
        ("The film lasts 1 hour 58 minutes.", "The film lasts about two hours."),
    ],
)
def test_the_rule_leaves_open_what_it_cannot_decide(text, claim):
    assert check_numbers(claim, [text]) is None


def test_a_claim_with_many_numbers_is_checked_with_few_of_them(monkeypatch):
    asked = []
    monkeypatch.setattr(claim_numbers, "_can_make", lambda _, own, *others: asked.append(len(own)) or True)
    claim = " ".join(f"Item {number} costs {1000 + 7 * number} euros." for number in range(200))
    assert claim_numbers.check_numbers(claim, ["Item 3 costs 999 euros."]) is None
    assert 0 < len(asked) <= 60
    assert max(asked) < 60


@pytest.mark.parametrize("claim", [pair["claim"] for pair in PAIRS[::6]])
def test_floats_decide_as_exact_numbers_do(claim, monkeypatch):
    texts = [pair["text"] for pair in PAIRS if pair["claim"] == claim]
    context = " ".join(pair["claim"] for pair in PAIRS[:4])
    rough = check_numbers(claim, texts, "10 % of 200 euros for 3 days", context)
    monkeypatch.setattr(claim_numbers, "_MOST_ROUGH", 0)
    assert check_numbers(claim, texts, "10 % of 200 euros for 3 days", context) == rough


@pytest.mark.parametrize(("claim", "follows"), [("2010 euros", True), ("2011 euros", False)])
def test_exact_numbers_decide_on_the_edge(claim, follows):
    # 2 × 1000 is 1 in 201 off at 2010, which is within one in 200; at 2011 it is not.
    assert (check_numbers(f"For both it costs {claim}.", ["It costs 1000 euros each."]) is None) is follows


@pytest.mark.parametrize("said", ["-5 °C", "\u22125 °C", "-5 degrees", "minus 5 °C", "minus five degrees Celsius"])
def test_a_minus_sign_is_the_word_minus_before_a_temperature(said):
    for text in ("The ice is held at minus 5 degrees Celsius.", "The ice is held at \u22125 °C."):
        assert check_numbers(f"The ice is held at {said}.", [text]) is None
        assert check_numbers("The ice is held at 5 °C.", [text]).contradicted


@pytest.mark.parametrize("text", ["10-15 °C", "1990-95", "A-5", "- 5 apples", "10 minus 5 apples"])
def test_other_dashes_are_not_signs(text):
    assert [str(one.value) for mention in stated_numbers(text) for one in mention.readings if one.value < 0] == []
