"""Reviewing, merging and saving edits."""

import json
from dataclasses import replace

import pytest

from ragstone.errors import UsageError
from ragstone.storage.places import open_place
from ragstone.truth.model import TruthFact
from ragstone.truth.store import TruthStore
from ragstone.web.truth.edit import PassageEdit, correct_passages
from tests.report.runs import EVIL
from tests.web import truths


@pytest.fixture
def root(tmp_path):
    truths.save(tmp_path, "ferry", truths.ferry())
    return tmp_path


@pytest.fixture
def client(serve, root):
    return serve(root)


@pytest.fixture
def secret(client):
    return client.secret("/truth/ferry")


def test_saving_makes_a_version_with_author_and_note(client, secret, root):
    answer, _ = client.post("/truth/ferry/save", truths.form(secret, truths.QUESTION, mark="m-1"))
    assert (answer.status, answer.headers["location"]) == (303, "/truth/ferry?saved=2&mark=m-1")
    saved = truths.read(root)
    assert (saved.info.number, saved.info.author, saved.info.note, saved.info.parent) == (2, "Ada", "mended", 1)
    assert saved.cases[0] == replace(truths.ferry()[0], question="When does it leave?")
    assert saved.cases[1:] == truths.ferry()[1:]
    assert truths.read(root, 1).cases == truths.ferry()
    assert saved.info.lineage.sources == ["ferry@1"]


def test_all_that_can_be_edited_is(client, secret, root):
    fact = {"text": "Children under 12 pay 4 crowns.", "kind": "statement", "source": "x", "provenance": "manual"}
    edits = {
        "f1": {"references": ["  One ", "", "Two"], "answerable": True, "standing": "proposed", "facts": []},
        "f2": {"facts": [{**fact, "standing": "rejected", "confidence": None, "note": "no"}]},
        "f3": {"removed": True},
        "f9": {"added": True, "question": "New?", "references": ["Yes"]},
    }
    assert client.post("/truth/ferry/save", truths.form(secret, edits))[0].status == 303
    first, second, new = truths.read(root).cases
    assert (first.references, first.answerable, first.standing, first.facts) == (["One", "Two"], True, "proposed", [])
    assert second.facts == [TruthFact(fact["text"], "statement", "x", "manual", "rejected", None, "no")]
    assert (new.id, new.question, new.references) == ("f9", "New?", ["Yes"])


def test_what_was_not_touched_stays_to_the_last_blank(serve, tmp_path):
    fact = TruthFact(" odd ", "table row", None, "survey")
    case = replace(truths.ferry()[0], references=[" as it was\n", "x"], facts=[fact])
    truths.save(tmp_path, "odd", [case])
    client = serve(tmp_path)
    facts = [vars_of(fact), vars_of(replace(fact, text="  new ")), vars_of(replace(fact, text=" "))]
    edits = {"f1": {"references": [" as it was\n", " y ", "  "], "facts": facts}}
    assert client.post("/truth/odd/save", truths.form(client.secret("/truth/odd"), edits))[0].status == 303
    saved = TruthStore(open_place(str(tmp_path))).read("odd").cases[0]
    assert saved.references == [" as it was\n", "y"]
    assert [found.text for found in saved.facts] == [" odd ", "new"]
    assert saved.facts[0] == fact


def test_the_review_shows_what_would_change(untouched):
    answer, body = untouched.post("/truth/ferry/review.json", truths.form(untouched.secret, truths.QUESTION))
    assert answer.status == 200
    found = json.loads(body)
    assert found["counts"]["changed"] == 1
    assert [change["what"] for change in found["mine"][0]["changes"]] == ["question"]
    assert found["conflicts"] == found["between"] == []


def saved_by_grace(root, **changes):
    cases = truths.ferry()
    cases[0] = replace(cases[0], **changes)
    return truths.save(root, "ferry", cases, "Grace", "hers", 1)


def test_what_does_not_collide_is_merged_after_a_look(client, secret, root):
    saved_by_grace(root, references=["At 21:40 sharp."])
    answer, body = client.post("/truth/ferry/save.json", truths.form(secret, truths.QUESTION))
    assert answer.status == 409
    found = json.loads(body)
    assert "Version 2 was saved in the meantime" in found["words"]
    assert [version["author"] for version in found["between"]] == ["Grace"]
    assert [change["what"] for change in found["theirs"][0]["changes"]] == ["answer"]
    assert found["conflicts"] == []
    assert client.post("/truth/ferry/save", truths.form(secret, truths.QUESTION, newest=2))[0].status == 303
    merged = truths.read(root)
    assert (merged.info.number, merged.info.parent) == (3, 2)
    assert (merged.cases[0].question, merged.cases[0].references) == ("When does it leave?", ["At 21:40 sharp."])
    assert merged.info.lineage.sources == ["ferry@1", "ferry@2"]


@pytest.mark.parametrize(("choice", "expected"), [("mine", "When does it leave?"), ("theirs", "Hers?")])
def test_where_both_changed_one_chooses(client, secret, root, choice, expected):
    saved_by_grace(root, question="Hers?")
    answer, body = client.post("/truth/ferry/save.json", truths.form(secret, truths.QUESTION, newest=2))
    assert answer.status == 409
    found = json.loads(body)
    assert [(item["mine"], item["theirs"]) for item in found["conflicts"]] == [("When does it leave?", "Hers?")]
    edits = truths.QUESTION | {"f3": {"answerable": None}}
    assert (
        client.post("/truth/ferry/save", truths.form(secret, edits, newest=2, **{"choice-0": choice}))[0].status == 303
    )
    assert truths.read(root).cases[0].question == expected


def test_facts_collide_one_by_one(client, secret, root):
    cases = truths.ferry()
    facts = cases[1].facts
    hers = [replace(facts[0], note="hers"), *facts[1:2], replace(facts[2], standing="rejected"), facts[3]]
    cases[1] = replace(cases[1], facts=hers)
    truths.save(root, "ferry", cases, "Grace", "", 1)
    mine = [vars_of(replace(facts[0], note="mine")), vars_of(replace(facts[1], standing="accepted"))]
    edits = {"f2": {"facts": [*mine, vars_of(facts[3])]}}
    found = json.loads(client.post("/truth/ferry/review.json", truths.form(secret, edits))[1])
    assert [(item["field"], item["mine"] is None) for item in found["conflicts"]] == [
        ("a fact", False),
        ("a fact", True),
    ]
    chosen = {"choice-0": "theirs", "choice-1": "mine"}
    assert client.post("/truth/ferry/save", truths.form(secret, edits, newest=2, **chosen))[0].status == 303
    merged = {fact.text: fact for fact in truths.read(root).cases[1].facts}
    assert list(merged) == [facts[0].text, facts[1].text, facts[3].text]
    assert merged[facts[0].text].note == "hers"
    assert merged[facts[1].text].standing == "accepted"


def vars_of(fact):
    names = ("text", "kind", "source", "provenance", "standing", "confidence", "note")
    return {name: getattr(fact, name) for name in names}


@pytest.mark.parametrize(("choice", "kept"), [("mine", False), ("theirs", True)])
def test_a_case_that_one_removed_and_the_other_changed(client, secret, root, choice, kept):
    saved_by_grace(root, question="Hers?")
    edits = {"f1": {"removed": True}}
    assert client.post("/truth/ferry/save", truths.form(secret, edits, newest=2))[0].status == 409
    edits |= {"f3": {"answerable": None}}
    assert (
        client.post("/truth/ferry/save", truths.form(secret, edits, newest=2, **{"choice-0": choice}))[0].status == 303
    )
    assert ("f1" in {case.id for case in truths.read(root).cases}) == kept


def test_choices_about_another_version_do_not_count(client, secret, root):
    saved_by_grace(root, question="Hers?")
    cases = truths.ferry()
    cases[0] = replace(cases[0], question="Hers again?")
    truths.save(root, "ferry", cases, "Grace", "", 2)
    answer, body = client.post(
        "/truth/ferry/save.json", truths.form(secret, truths.QUESTION, newest=2, **{"choice-0": "mine"})
    )
    assert answer.status == 409
    conflict = json.loads(body)["conflicts"][0]
    assert (conflict["theirs"], conflict["choice"]) == ("Hers again?", "")
    assert truths.read(root).info.number == 3


def test_saving_the_same_twice_says_that_nothing_would_change(client, secret, root):
    assert client.post("/truth/ferry/save", truths.form(secret, truths.QUESTION))[0].status == 303
    answer, body = client.post("/truth/ferry/save.json", truths.form(secret, truths.QUESTION, newest=2))
    assert answer.status == 400
    assert "Nothing would change" in json.loads(body)["words"]
    assert truths.read(root).info.number == 2


def test_an_author_is_needed(untouched):
    answer, body = untouched.post("/truth/ferry/save.json", truths.form(untouched.secret, truths.QUESTION, author="  "))
    assert answer.status == 400
    assert "author" in json.loads(body)["words"]


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ("{", "not JSON"),
        ("[]", "not an object"),
        ("{}", "nothing to save"),
        ('{"f1": {"weight": 3}}', "weight"),
        ('{"f1": {"question": 3}}', "question"),
        ('{"f1": {"facts": [{"text": null}]}}', "facts.0.text"),
        ('{"f1": {"facts": [{"kind": "citation"}]}}', "facts.0.text"),
        ('{"f1": {"facts": [{"text": "x", "confidence": NaN}]}}', "facts.0.confidence"),
        ('{"f1": {"facts": [{"text": "x", "standing": "loved"}]}}', "facts.0.standing"),
        ('{"f1": {"facts": [{"text": "x", "kind": ""}]}}', "facts.0.kind"),
        ('{"f1": {"facts": [{"text": "x", "more": 1}]}}', "facts.0.more"),
        ('{"f1": {"passages": [{"at": -1, "text": "x"}]}}', "passages.0.at"),
        ('{"f1": {"passages": [{"at": 7, "text": "x"}]}}', "no passage 8"),
        ('{"nobody": {"question": "x"}}', "base version"),
        ('{"f1": {"added": true}}', "already exists"),
        ('{"f1": {"question": "\\ud800"}}', "lone surrogate"),
        ('{"": {"added": true}}', "not an object"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_edit_is_refused_with_its_place(untouched, edits, words):
    answer, body = untouched.post("/truth/ferry/save.json", {**truths.form(untouched.secret, {}), "edits": edits})
    assert answer.status == 400
    assert words in json.loads(body)["words"]


def test_hostile_edits_are_stored_as_they_are_and_shown_as_text(client, secret, root):
    edits = {"f1": {"question": EVIL, "references": [EVIL]}, f"new {EVIL}": {"added": True, "question": EVIL}}
    answer, body = client.post("/truth/ferry/review", truths.form(secret, edits))
    assert answer.status == 200
    assert b"<script>alert" not in body
    assert "\u202e" not in body.decode()
    assert client.post("/truth/ferry/save", truths.form(secret, edits))[0].status == 303
    assert truths.read(root).cases[0].question == EVIL.strip()
    assert truths.read(root).cases[-1].id == f"new {EVIL}"


def test_an_accepted_citation_that_is_not_in_its_passage_is_flagged_with_a_link(client, secret, root):
    facts = truths.ferry()[1].facts
    mine = [facts[0], replace(facts[1], standing="accepted"), replace(facts[2], standing="accepted"), facts[3]]
    edits = {"f2": {"facts": [vars_of(fact) for fact in mine]}, "f1": {"question": "When?"}}
    found = json.loads(client.post("/truth/ferry/review.json", truths.form(secret, edits))[1])
    assert [(item["case"], item["fact"], item["verdict"]) for item in found["lost"]] == [("f2", 3, "invalid")]
    assert found["lost"][0]["address"] == "/truth/ferry/case?id=f2&v=1#fact-3"
    body = client.post("/truth/ferry/review", truths.form(secret, edits))[1].decode()
    assert "1 accepted citation is not in the passages" in body
    assert 'href="/truth/ferry/case?id=f2&amp;v=1#fact-3"' in body
    assert client.post("/truth/ferry/save", truths.form(secret, edits))[0].status == 303
    new = {"f9": {"added": True, "facts": [{"text": "Whales"}]}}
    assert json.loads(client.post("/truth/ferry/review.json", truths.form(secret, new, v=2))[1])["lost"] == []


def test_proposed_and_rejected_citations_are_not_flagged(untouched):
    facts = [vars_of(replace(fact, standing="rejected")) for fact in truths.ferry()[1].facts]
    for edits in (truths.QUESTION, {"f2": {"question": "?"}}, {"f2": {"facts": facts}}, {"f2": {"removed": True}}):
        answer, body = untouched.post("/truth/ferry/review.json", truths.form(untouched.secret, edits))
        assert (answer.status, json.loads(body)["lost"]) == (200, [])


def test_a_corrected_passage_makes_a_version_and_its_facts_are_checked_again(client, secret, root):
    text = truths.TIMETABLE.replace("21:40", "21:45")
    edits = {"f1": {"passages": [{"at": 0, "text": f" {text}\n"}]}}
    found = json.loads(client.post("/truth/ferry/review.json", truths.form(secret, edits))[1])
    assert [change["what"] for change in found["mine"][0]["changes"]] == ["passage"]
    assert [(item["case"], item["fact"], item["verdict"]) for item in found["lost"]] == [("f1", 1, "invalid")]
    assert client.post("/truth/ferry/save", truths.form(secret, edits))[0].status == 303
    before, after = truths.ferry()[0], truths.read(root).cases[0]
    assert after == replace(before, passages=[replace(before.passages[0], text=text), before.passages[1]])
    assert truths.read(root).cases[1:] == truths.ferry()[1:]
    changed = client.json("/truth/ferry/diff.json")["changes"][0]["changes"]
    assert [(change["what"], change["kind"]) for change in changed] == [("passage", "changed")]
    assert [part["text"] for part in changed[0]["diff"] if part["kind"] != "same"] == ["40", "45"]


def test_a_passage_that_is_a_reference_context_too_is_one_text():
    first = truths.ferry()[0]
    case = replace(first, reference_contexts=[truths.FARES, "Only here.", ""])
    fixed = correct_passages(case, [PassageEdit(at=1, text="Nine."), PassageEdit(at=2, text="Here.")])
    assert [passage.text for passage in fixed.passages] == [truths.TIMETABLE, "Nine."]
    assert fixed.reference_contexts == ["Nine.", "Here.", ""]
    gone = correct_passages(case, [PassageEdit(at=1, text=" "), PassageEdit(at=2, text="")])
    assert ([passage.text for passage in gone.passages], gone.reference_contexts) == ([truths.TIMETABLE], [""])
    assert correct_passages(case, []) == case
    with pytest.raises(UsageError, match="no passage 5"):
        correct_passages(case, [PassageEdit(at=4, text="x")])
