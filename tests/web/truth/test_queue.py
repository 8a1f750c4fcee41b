"""The review queue."""

from dataclasses import replace

from ragstone.formats.documents import Document, Section, make_passages
from ragstone.truth.llm_tasks import Work
from ragstone.truth.synthesis.pipeline import synthesise
from ragstone.truth.synthesis.writer import Order
from tests.web import truths


def test_the_queue_holds_what_is_proposed(client):
    found = client.json("/truth/ferry/queue.json")
    assert [(item["case"], item["fact"]) for item in found["items"]] == [("f2", 0), ("f2", 1), ("f2", 2)]
    assert found["items"][0]["around"]["here"] == "Children under 12 pay 4 crowns"
    assert found["items"][1]["around"] is None
    assert client.json("/truth/many/queue.json?page=2")["items"][0]["case"] == "c200"
    assert found["total"] == 3


def test_an_empty_queue_says_where_facts_come_from(serve, tmp_path):
    truths.save(tmp_path, "decided", truths.ferry()[:1])
    assert "Nothing to review" in serve(tmp_path).page("/truth/decided/queue").text()


def test_proposed_answers_wait_too(serve, tmp_path):
    about = {"probability": 0.0474, "why": ["the user disliked it"]}
    cases = [replace(truths.ferry()[0], standing="proposed", provenance="harvested", metadata=about)]
    truths.save(tmp_path, "logs", cases)
    client = serve(tmp_path)
    found = client.json("/truth/logs/queue.json")
    assert [(item["kind"], item["answers"]) for item in found["items"]] == [("answer", ["At 21:40."])]
    assert client.page("/truth/logs/queue").text("h1") == "0 proposed facts and 1 answer"
    assert "harvested, 5 % likely correct the user disliked it" in client.page("/truth/logs/queue").text()
    # Both lists lead there.
    assert "Review 1 proposed" in client.page("/truth/logs").text()
    assert "review logs" in client.page("/truth").text()
    assert client.json("/truth/logs.json?problem=to+review")["cases"][0]["id"] == "f1"


def test_proposed_unanswerable_questions_wait_too(serve, tmp_path):
    case = replace(truths.ferry()[2], standing="proposed", provenance="synthetic", documents=["fares.md"])
    truths.save(tmp_path, "made", [*truths.ferry()[:1], case])
    client = serve(tmp_path)
    found = client.json("/truth/made/queue.json")
    assert [(item["case"], item["fact"], item["kind"]) for item in found["items"]] == [("f3", -1, "unanswerable")]
    page = client.page("/truth/made/queue")
    assert page.text("h1") == "0 proposed facts and 1 unanswerable question"
    assert "The documents do not contain the answer" in page.text()
    assert "Review 1 proposed" in client.page("/truth/made").text()
    fields = truths.form(client.secret("/truth/made"), {"f3": {"standing": "accepted"}})
    assert client.post("/truth/made/save", fields)[0].status == 303
    assert client.json("/truth/made/queue.json")["items"] == []


def test_synthetic_cases_say_how_they_were_made_and_are_accepted(serve, tmp_path):
    hostile = "A <script>pass</script> costs £40 per year."
    passages = make_passages(Document("prices.md", [Section(f"{hostile} The pool was built in 1962.", "Prices")]))
    cases = synthesise(passages, Order(2, styles=("plain",)), Work("local")).cases
    truths.save(tmp_path, "made", cases)
    client = serve(tmp_path)
    page = client.page("/truth/made/queue")
    assert "written by rule question; single, plain, " in page.text()
    assert "checked by words: no other sentence" in page.text()
    fields = truths.form(client.secret("/truth/made"), {case.id: {"standing": "accepted"} for case in cases})
    assert client.post("/truth/made/save", fields)[0].status == 303
    assert all(item["fact"] >= 0 for item in client.json("/truth/made/queue.json")["items"])
