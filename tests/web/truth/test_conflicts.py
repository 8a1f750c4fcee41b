"""Conflicts that are resolved by a value that the user writes."""

import json
from dataclasses import replace

import pytest

from ragstone.data.types import Chunk
from ragstone.errors import UsageError
from ragstone.truth.diff import merge
from ragstone.truth.model import Case, TruthFact
from ragstone.web.truth.conflicts import Resolution
from tests.web import truths

BASE = Case("a", "How deep?", ["12 metres"], [TruthFact("It is deep", provenance="judge", confidence=0.5)])


def conflict_of(ours, theirs, base=BASE):
    merged = merge([base], [ours], [theirs])
    assert len(merged.conflicts) == 1
    return merged, Resolution(merged, {}).describe("t")[0]


def write(merged, *texts, choice="written"):
    """The first case after the form was sent as a browser sends it."""
    form = {f"written-0-{at}": text.replace("\n", "\r\n") for at, text in enumerate(texts)}
    return Resolution(merged, {"choice-0": choice, **form}).cases()[0]


def test_a_question_is_written():
    merged, shown = conflict_of(replace(BASE, question="Mine?"), replace(BASE, question="Theirs\nhere?"))
    assert [field["value"] for field in shown["inputs"]] == ["Mine?"]
    assert write(merged, " Both\nof us? ").question == "Both\nof us?"
    assert write(merged, "", choice="theirs").question == "Theirs\nhere?"
    assert Resolution(merged, {}).cases() is None
    assert Resolution(merged, {"choice-0": "nonsense"}).cases() is None


def test_hidden_characters_survive_unless_they_are_edited():
    merged, _ = conflict_of(replace(BASE, question="Mine\x1b?\r\nYes"), replace(BASE, question="Theirs?"))
    assert write(merged, "Mine\\x1b?\nYes").question == "Mine\x1b?\r\nYes"


def test_answers_are_written_one_by_one():
    merged, shown = conflict_of(replace(BASE, references=["12 m", "twelve"]), replace(BASE, references=["13 metres"]))
    assert [field["value"] for field in shown["inputs"]] == ["12 m", "twelve", "13 metres", ""]
    assert write(merged, "12 m", " ", "13 metres", "a dozen").references == ["12 m", "13 metres", "a dozen"]


def test_a_fact_is_written_with_its_status():
    fact = BASE.facts[0]
    ours, theirs = replace(fact, note="mine"), replace(fact, note="theirs", standing="proposed")
    merged, shown = conflict_of(replace(BASE, facts=[ours]), replace(BASE, facts=[theirs]))
    assert [field["value"] for field in shown["inputs"]] == ["It is deep", "accepted"]
    assert write(merged, "It is deep", "rejected").facts == [replace(ours, standing="rejected")]
    assert write(merged, "It is very deep", "accepted").facts == [
        replace(ours, text="It is very deep", provenance="manual", confidence=None)
    ]
    assert write(merged, " ", "accepted").facts == []
    with pytest.raises(UsageError, match="not a status"):
        write(merged, "It is deep", "loved")


def test_a_fact_that_we_removed_starts_from_theirs():
    theirs = replace(BASE.facts[0], standing="proposed")
    merged, shown = conflict_of(replace(BASE, facts=[]), replace(BASE, facts=[theirs]))
    assert [field["value"] for field in shown["inputs"]] == ["It is deep", "proposed"]
    assert write(merged, "It is deep", "accepted").facts == [replace(theirs, standing="accepted")]


def test_passages_are_written_entry_by_entry():
    base = replace(BASE, passages=[Chunk("One", "p1"), Chunk("Two", "p2"), Chunk("Three", "p3")])
    ours = replace(base, passages=[Chunk("One!", "p1"), *base.passages[1:]])
    theirs = replace(base, passages=[*base.passages[:2], Chunk("Three!", "p3")])
    merged, shown = conflict_of(ours, theirs, base)
    assert [field["value"] for field in shown["inputs"]] == ["One!", "Two", "Three!"]
    assert write(merged, "One!", "", "Three?").passages == [Chunk("One!", "p1"), Chunk("Three?", "p3")]


def test_whether_it_can_be_answered_and_the_status_are_chosen():
    merged, shown = conflict_of(replace(BASE, answerable=True), replace(BASE, answerable=False))
    assert [option["value"] for option in shown["inputs"][0]["options"]] == ["", "true", "false"]
    assert write(merged, "").answerable is None
    assert write(merged, "false").answerable is False
    merged, _ = conflict_of(replace(BASE, standing="proposed"), replace(BASE, standing="rejected"))
    assert write(merged, "accepted").standing == "accepted"


def test_a_whole_case_is_only_chosen():
    merged = merge([BASE], [], [replace(BASE, question="Theirs?")])
    assert Resolution(merged, {}).describe("t")[0]["inputs"] == []
    assert Resolution(merged, {"choice-0": "written"}).cases() is None
    assert Resolution(merged, {"choice-0": "mine"}).cases() == []


def test_a_written_value_is_saved(serve, tmp_path):
    truths.save(tmp_path, "ferry", truths.ferry())
    client = serve(tmp_path)
    cases = truths.ferry()
    cases[0] = replace(cases[0], question="Hers?")
    truths.save(tmp_path, "ferry", cases, "Grace", "hers", 1)
    secret = client.secret("/truth/ferry")
    page = client.post("/truth/ferry/review", truths.form(secret, truths.QUESTION))[1].decode()
    assert 'name="written-0-0"' in page
    written = {"choice-0": "written", "written-0-0": "When do both leave?"}
    # A value that waits for another decision is kept.
    answer, body = client.post(
        "/truth/ferry/save.json", truths.form(secret, truths.QUESTION, newest=2, **written, author="")
    )
    shown = json.loads(body)["conflicts"][0]
    assert (answer.status, shown["choice"], shown["inputs"][0]["value"]) == (400, "written", "When do both leave?")
    assert client.post("/truth/ferry/save", truths.form(secret, truths.QUESTION, newest=2, **written))[0].status == 303
    assert truths.read(tmp_path).cases[0].question == "When do both leave?"
