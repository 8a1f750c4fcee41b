"""Replies are normalised where they have one meaning, and schemas are strict."""

import pytest
from pydantic import ValidationError

from ragstone.llm.base import LLMReplyError
from ragstone.llm.prompted import strict_schema
from ragstone.llm.prompts import PromptBook
from ragstone.llm.reply_parser import read_reply
from ragstone.llm.reply_types import (
    KINDS,
    ONE_TOKEN,
    ClaimContextVerdict,
    ClaimsReply,
    ClaimVerdict,
    GradeReply,
    NeededSentencesReply,
    PairReply,
    RelevanceGradeReply,
    UsefulnessReply,
)


@pytest.mark.parametrize(("written", "claim"), [(3, 3), ("3", 3), ("[3]", 3), ("claim 3", 3), ("Claim #3.", 3)])
def test_numbers(written, claim):
    assert ClaimVerdict(claim=written, verdict="neutral").claim == claim


@pytest.mark.parametrize(
    ("written", "numbers"), [(None, []), ("none", []), ("1, 2", [1, 2]), (4, [4]), ([1, "[2]"], [1, 2])]
)
def test_lists_of_numbers(written, numbers):
    assert NeededSentencesReply(needed=written).needed == numbers


@pytest.mark.parametrize(
    ("written", "found"),
    [
        (None, []),
        ("none", []),
        ("A, c", ["A", "C"]),
        (["chunk B", "[A]", "b"], ["B", "A"]),
        (["A + D"], ["A+D"]),
        (["AB"], ["AB"]),
    ],
)
def test_lists_of_letters(written, found):
    assert UsefulnessReply(useful=written).useful == found


@pytest.mark.parametrize("written", [[1], ["1"], [True], 2, ["the first"], ["A-B"], {"A": True}])
def test_a_number_is_no_letter(written):
    """It may be that of a claim: models that mix the two up must not be believed."""
    with pytest.raises(ValidationError):
        UsefulnessReply(useful=written)


@pytest.mark.parametrize(
    ("written", "verdict"), [("Supported.", "entailment"), ("not_enough_info", "neutral"), ("REFUTES", "contradiction")]
)
def test_verdicts(written, verdict):
    assert ClaimVerdict(claim=1, verdict=written).verdict == verdict


@pytest.mark.parametrize("word", ["yes", "no", "unsupported"])
def test_ambiguous_verdicts_are_rejected(word):
    with pytest.raises(ValidationError):
        ClaimVerdict(claim=1, verdict=word)


@pytest.mark.parametrize("grade", [True, "8/10", "4 stars"])
def test_grades_of_an_unknown_scale_are_rejected(grade):
    assert GradeReply(grade=" 4.5 ").grade == 4.5
    with pytest.raises(ValidationError):
        GradeReply(grade=grade)


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ('{"match": 3, "trust": "2", "grade": 2.0}', 2),
        ('Steps done. {"Match": 3, "trust": 3, "grade": 3}', 3),
        ("##final score: 0", 0),
        ("M is 3.\n**Final score:** 2\nSo: final score: 2", 2),
        ('{"match": 3, "trust": 2, "grade": 4}', None),
        ('{"match": 3, "trust": 2, "grade": true}', None),
        ('{"match": 3, "trust": 2, "grade": 2.5}', None),
        ("##final score: 2\n##final score: 3", None),
        ("##final score: 2.5", None),
        ("##final score: 30", None),
        ("I would say 2.", None),
    ],
)
def test_grades_of_relevance(text, level):
    if level is None:
        with pytest.raises(LLMReplyError):
            read_reply(text, RelevanceGradeReply)
    else:
        reply = read_reply(text, RelevanceGradeReply)
        assert reply.grade == level
        assert (reply.match is None) == ("{" not in text)


@pytest.mark.parametrize(("written", "winner"), [("Answer A", "A"), ("(b)", "B"), ("draw", "tie"), ("C", "tie")])
def test_winners(written, winner):
    assert PairReply(reasoning="", winner=written).winner == winner


def test_blank_texts_are_dropped():
    assert ClaimsReply(claims=[" one ", "  "]).claims == ["one"]


@pytest.mark.parametrize("kind", KINDS.values())
def test_schemas_require_all_keys_and_have_no_references(kind):
    schema = strict_schema(kind)
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    assert "$ref" not in str(schema)
    assert schema["title"] == kind.__name__


def test_every_packaged_prompt_has_a_type():
    assert set(PromptBook().names) == {*KINDS, *ONE_TOKEN}
    assert set(ClaimContextVerdict.model_fields) == {"claim", "supported_by", "contradicted_by"}
