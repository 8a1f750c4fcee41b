"""What changes ground truth through the viewer: who may, what is refused, and that nobody's edit is lost."""

import json
from dataclasses import replace

import pytest

from ragstone.storage.places import open_place
from ragstone.truth.cases import TruthFact
from ragstone.truth.versions import TruthStore
from ragstone.web.truth.checking import check_fact, excuse_absence
from ragstone.web.writing import _MOST_BYTES
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


class Untouched:
    """Ground truth that every attempt must leave as it is."""

    def __init__(self, root, client):
        self.root, self.client = root, client
        self.secret = client.secret("/truth/ferry")

    def post(self, path, fields, **headers):
        answer, body = self.client.post(path, fields, **headers)
        assert read(self.root).info.number == 1
        return answer, body


@pytest.fixture(scope="module")
def untouched(serve, tmp_path_factory):
    root = tmp_path_factory.mktemp("untouched")
    truths.save(root, "ferry", truths.ferry())
    return Untouched(root, serve(root))


def read(root, number=None):
    return TruthStore(open_place(str(root))).read("ferry", number)


def form(secret, edits, v=1, newest=None, **others):
    said = {"token": secret, "v": v, "edits": json.dumps(edits), "author": "Ada", "note": "mended", **others}
    return said if newest is None else {**said, "newest": newest}


QUESTION = {"f1": {"question": "When does it leave?"}}


def test_saving_makes_a_version_with_author_and_note(client, secret, root):
    answer, _ = client.post("/truth/ferry/save", form(secret, QUESTION, mark="m-1"))
    assert (answer.status, answer.headers["location"]) == (303, "/truth/ferry?saved=2&mark=m-1")
    saved = read(root)
    assert (saved.info.number, saved.info.author, saved.info.note, saved.info.parent) == (2, "Ada", "mended", 1)
    assert saved.cases[0] == replace(truths.ferry()[0], question="When does it leave?")
    assert saved.cases[1:] == truths.ferry()[1:]
    assert read(root, 1).cases == truths.ferry()
    assert saved.info.lineage.sources == ["ferry@1"]


def test_all_that_can_be_edited_is(client, secret, root):
    fact = {"text": "Children under 12 pay 4 crowns.", "kind": "statement", "source": "x", "provenance": "manual"}
    edits = {
        "f1": {"references": ["  One ", "", "Two"], "answerable": True, "standing": "proposed", "facts": []},
        "f2": {"facts": [{**fact, "standing": "rejected", "confidence": None, "note": "no"}]},
        "f3": {"removed": True},
        "f9": {"added": True, "question": "New?", "references": ["Yes"]},
    }
    assert client.post("/truth/ferry/save", form(secret, edits))[0].status == 303
    first, second, new = read(root).cases
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
    assert client.post("/truth/odd/save", form(client.secret("/truth/odd"), edits))[0].status == 303
    saved = TruthStore(open_place(str(tmp_path))).read("odd").cases[0]
    assert saved.references == [" as it was\n", "y"]
    assert [found.text for found in saved.facts] == [" odd ", "new"]
    assert saved.facts[0] == fact


def test_the_review_shows_what_would_change(untouched):
    answer, body = untouched.post("/truth/ferry/review.json", form(untouched.secret, QUESTION))
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
    answer, body = client.post("/truth/ferry/save.json", form(secret, QUESTION))
    assert answer.status == 409
    found = json.loads(body)
    assert "Version 2 was saved in the meantime" in found["words"]
    assert [version["author"] for version in found["between"]] == ["Grace"]
    assert [change["what"] for change in found["theirs"][0]["changes"]] == ["answer"]
    assert found["conflicts"] == []
    assert client.post("/truth/ferry/save", form(secret, QUESTION, newest=2))[0].status == 303
    merged = read(root)
    assert (merged.info.number, merged.info.parent) == (3, 2)
    assert (merged.cases[0].question, merged.cases[0].references) == ("When does it leave?", ["At 21:40 sharp."])
    assert merged.info.lineage.sources == ["ferry@1", "ferry@2"]


@pytest.mark.parametrize(("choice", "expected"), [("mine", "When does it leave?"), ("theirs", "Hers?")])
def test_where_both_changed_one_chooses(client, secret, root, choice, expected):
    saved_by_grace(root, question="Hers?")
    answer, body = client.post("/truth/ferry/save.json", form(secret, QUESTION, newest=2))
    assert answer.status == 409
    found = json.loads(body)
    assert [(item["mine"], item["theirs"]) for item in found["conflicts"]] == [("When does it leave?", "Hers?")]
    edits = QUESTION | {"f3": {"answerable": None}}
    assert client.post("/truth/ferry/save", form(secret, edits, newest=2, **{"choice-0": choice}))[0].status == 303
    assert read(root).cases[0].question == expected


def test_facts_collide_one_by_one(client, secret, root):
    cases = truths.ferry()
    facts = cases[1].facts
    hers = [replace(facts[0], note="hers"), *facts[1:2], replace(facts[2], standing="rejected"), facts[3]]
    cases[1] = cases[1].with_facts(hers)
    truths.save(root, "ferry", cases, "Grace", "", 1)
    mine = [vars_of(replace(facts[0], note="mine")), vars_of(replace(facts[1], standing="accepted"))]
    edits = {"f2": {"facts": [*mine, vars_of(facts[3])]}}
    found = json.loads(client.post("/truth/ferry/review.json", form(secret, edits))[1])
    assert [(item["field"], item["mine"] is None) for item in found["conflicts"]] == [
        ("a fact", False),
        ("a fact", True),
    ]
    chosen = {"choice-0": "theirs", "choice-1": "mine"}
    assert client.post("/truth/ferry/save", form(secret, edits, newest=2, **chosen))[0].status == 303
    merged = {fact.text: fact for fact in read(root).cases[1].facts}
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
    assert client.post("/truth/ferry/save", form(secret, edits, newest=2))[0].status == 409
    edits |= {"f3": {"answerable": None}}
    assert client.post("/truth/ferry/save", form(secret, edits, newest=2, **{"choice-0": choice}))[0].status == 303
    assert ("f1" in {case.id for case in read(root).cases}) == kept


def test_choices_about_another_version_do_not_count(client, secret, root):
    saved_by_grace(root, question="Hers?")
    cases = truths.ferry()
    cases[0] = replace(cases[0], question="Hers again?")
    truths.save(root, "ferry", cases, "Grace", "", 2)
    answer, body = client.post("/truth/ferry/save.json", form(secret, QUESTION, newest=2, **{"choice-0": "mine"}))
    assert answer.status == 409
    conflict = json.loads(body)["conflicts"][0]
    assert (conflict["theirs"], conflict["choice"]) == ("Hers again?", "")
    assert read(root).info.number == 3


def test_saving_the_same_twice_says_that_nothing_would_change(client, secret, root):
    assert client.post("/truth/ferry/save", form(secret, QUESTION))[0].status == 303
    answer, body = client.post("/truth/ferry/save.json", form(secret, QUESTION, newest=2))
    assert answer.status == 400
    assert "Nothing would change" in json.loads(body)["words"]
    assert read(root).info.number == 2


def test_an_author_is_needed(untouched):
    answer, body = untouched.post("/truth/ferry/save.json", form(untouched.secret, QUESTION, author="  "))
    assert answer.status == 400
    assert "Say who you are" in json.loads(body)["words"]


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ("{", "not JSON"),
        ("[]", "no object"),
        ("{}", "nothing to save"),
        ('{"f1": {"weight": 3}}', "weight"),
        ('{"f1": {"question": 3}}', "question"),
        ('{"f1": {"facts": [{"text": null}]}}', "facts.0.text"),
        ('{"f1": {"facts": [{"kind": "citation"}]}}', "facts.0.text"),
        ('{"f1": {"facts": [{"text": "x", "confidence": NaN}]}}', "facts.0.confidence"),
        ('{"f1": {"facts": [{"text": "x", "standing": "loved"}]}}', "facts.0.standing"),
        ('{"f1": {"facts": [{"text": "x", "kind": ""}]}}', "facts.0.kind"),
        ('{"f1": {"facts": [{"text": "x", "more": 1}]}}', "facts.0.more"),
        ('{"nobody": {"question": "x"}}', "not in the version"),
        ('{"f1": {"added": true}}', "there already"),
        ('{"f1": {"question": "\\ud800"}}', "lone surrogate"),
        ('{"": {"added": true}}', "no object"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_edit_is_refused_with_its_place(untouched, edits, words):
    answer, body = untouched.post("/truth/ferry/save.json", {**form(untouched.secret, {}), "edits": edits})
    assert answer.status == 400
    assert words in json.loads(body)["words"]


def test_hostile_edits_are_stored_as_they_are_and_shown_as_text(client, secret, root):
    edits = {"f1": {"question": EVIL, "references": [EVIL]}, f"new {EVIL}": {"added": True, "question": EVIL}}
    answer, body = client.post("/truth/ferry/review", form(secret, edits))
    assert answer.status == 200
    assert b"<script>alert" not in body
    assert "\u202e" not in body.decode()
    assert client.post("/truth/ferry/save", form(secret, edits))[0].status == 303
    assert read(root).cases[0].question == EVIL.strip()
    assert read(root).cases[-1].id == f"new {EVIL}"


def test_without_the_secret_nothing_is_changed(untouched):
    for token in ("", "wrong", untouched.secret[:-1]):
        assert untouched.post("/truth/ferry/save", form(token, QUESTION))[0].status == 403
    answer, body = untouched.post("/truth/ferry/save.json", form("", QUESTION))
    assert (answer.status, "reload the page" in json.loads(body)["words"]) == (403, True)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "origin": ""},
        {"host": "evil.example"},
    ],
)
def test_other_sites_change_nothing_even_with_the_secret(untouched, headers):
    assert untouched.post("/truth/ferry/save", form(untouched.secret, QUESTION), **headers)[0].status in (400, 403)


def test_bodies_of_other_kinds_and_sizes_are_refused(untouched):
    said = form(untouched.secret, QUESTION)
    assert untouched.post("/truth/ferry/save", said, content_type="text/plain")[0].status == 415
    assert untouched.post("/truth/ferry/save", said, content_type="multipart/form-data; boundary=x")[0].status == 415
    assert (
        untouched.client.ask(
            "/truth/ferry/save", "POST", b"\xff\xfe", content_type="application/x-www-form-urlencoded"
        )[0].status
        == 400
    )
    large = b"token=" + b"x" * (_MOST_BYTES + 1)
    assert (
        untouched.client.ask("/truth/ferry/save", "POST", large, content_type="application/x-www-form-urlencoded")[
            0
        ].status
        == 413
    )


@pytest.mark.parametrize("path", ["/truth/ferry", "/truth/ferry/case", "/truth/ferry/export", "/truth/ferry/nothing"])
def test_pages_that_only_show_take_no_form(untouched, path):
    assert untouched.post(path, form(untouched.secret, QUESTION))[0].status in (404, 405)


@pytest.mark.parametrize(
    "path", ["/truth/..%2fruns/save", "/truth/%2e%2e/save", "/truth/nothing/save", "/truth/a%00b/save"]
)
def test_nothing_is_written_elsewhere(untouched, path):
    assert untouched.post(path, form(untouched.secret, QUESTION))[0].status == 404


def test_read_only_refuses_every_change(serve, root):
    client = serve(root, read_only=True)
    page = client.page("/truth/ferry/case?id=f2")
    assert [tag for tag in ("textarea", "form") if page.find(tag)] == []
    assert not any("draft.js" in found.get("src", "") for found in page.find("script"))
    for path in ("/truth/ferry/save", "/truth/ferry/review", "/truth/ferry/check.json", "/truth"):
        answer, body = client.post(path, form("", QUESTION))
        assert (answer.status, b"--read-only" in body) == (403, True)
    assert read(root).info.number == 1
    for path in ("/truth", "/truth/ferry", "/truth/ferry/queue", "/truth/ferry/diff?from=1&to=1"):
        assert client.page(path)


def test_citations_are_checked_as_one_types(untouched):
    texts = [
        "Bicycles travel free of charge",
        "bicycles travel  FREE",
        "In winter the last boat leaves at 18:20",
        "Whales",
    ]
    fields = {"token": untouched.secret, "id": "f1", "texts": json.dumps(texts)}
    answer, body = untouched.post("/truth/ferry/check.json", fields)
    assert answer.status == 200
    checks = json.loads(body)["checks"]
    assert [check["verdict"] for check in checks] == ["stands", "repaired", "invalid", "absent"]
    assert checks[1]["text"] == "Bicycles travel free"
    assert untouched.post("/truth/ferry/check.json", {**fields, "texts": "3"})[0].status == 400
    assert untouched.post("/truth/ferry/check.json", {**fields, "texts": "{"})[0].status == 400
    answer, body = untouched.post("/truth/ferry/check.json", {**fields, "id": "brand-new"})
    assert [check["verdict"] for check in json.loads(body)["checks"]] == ["none"] * 4


def test_a_case_without_passages_says_so():
    """Empty passages are none; a run's chunks may show that a citation stands, not that it does not."""
    for passages in ([], ["", " "]):
        found = check_fact("citation", "Whales", passages)
        assert (found["verdict"], found["why"]) == ("none", "there are no passages to look in")
    stands, absent = (check_fact("citation", text, ["Whales sing."]) for text in ("Whales sing", "Trams"))
    assert excuse_absence(stands) == stands
    assert absent["verdict"] == "absent"
    assert excuse_absence(absent)["verdict"] == "none"
    assert "no passages to look in" in excuse_absence(absent)["why"]


def test_ground_truth_is_made_from_a_run(viewer, worse, store):
    page = viewer.page(f"/runs/{worse.id}/truth")
    assert "What the system answered and retrieved is no ground truth" in page.text()
    fields = {"token": viewer.secret(f"/runs/{worse.id}/truth"), "run": worse.id, "name": "harbour", "author": "Ada"}
    for wrong in ("../x", ".x", "a/b", "a b"):
        answer, _ = viewer.post("/truth", {**fields, "name": wrong})
        assert answer.status == 400, wrong
    assert viewer.post("/truth", {**fields, "author": ""})[0].status == 400
    answer, _ = viewer.post("/truth", fields)
    assert (answer.status, answer.headers["location"]) == (303, "/truth/harbour?saved=1")
    version = TruthStore(open_place(str(store))).read("harbour")
    samples = list(worse.samples)
    assert [case.id for case in version.cases] == [sample.id for sample in samples]
    assert [len(case.facts) for case in version.cases] == [len(sample.facts or ()) for sample in samples]
    assert version.info.lineage.sources == [f"run {worse.id}"]
    answer, body = viewer.post("/truth", fields)
    assert (answer.status, b"choose another name" in body) == (409, True)
    assert viewer.json(f"/runs/{worse.id}/truth.json")["already"][0]["name"] == "harbour"
    case = viewer.json(f"/truth/harbour/case.json?id={samples[7].id}&run={worse.id}")
    assert case["run"]["row"] == 8
    assert [text["text"] for text in case["texts"] if text["kind"] == "chunk"] == [
        chunk.text for chunk in samples[7].contexts
    ]
    for page in ("", "/facts"):
        links = viewer.page(f"/runs/{worse.id}/samples/8{page}").find("a")
        assert f"/truth/harbour/case?id={samples[7].id}&run={worse.id}" in [link.get("href") for link in links]
    assert f"/runs/{worse.id}/truth" in [link.get("href") for link in viewer.page(f"/runs/{worse.id}").find("a")]


def test_ground_truth_in_a_bucket(serve, bucket):
    root = f"{bucket.url}/evals"
    truths.save(root, "ferry", truths.ferry())
    client = serve(root)
    assert client.json("/truth.json")["truths"][0]["newest"]["cases"] == 3
    fields = form(client.secret("/truth/ferry"), QUESTION)
    assert client.post("/truth/ferry/save", fields)[0].status == 303
    assert client.post("/truth/ferry/save", form(fields["token"], {"f2": {"question": "Else?"}}))[0].status == 409
    assert client.json("/truth/ferry/diff.json")["counts"]["changed"] == 1
    assert read(root).cases[0].question == "When does it leave?"
