"""Runs and cases that belong together."""


def test_an_edited_question_still_finds_its_chunks(harbour, scored):
    first = next(iter(scored.samples))
    found = harbour.json(f"/truth/harbour/case.json?id={first.id}&run={scored.id}")
    assert found["case"]["question"] == "Otherwise?"
    assert [text["text"] for text in found["texts"]] == [chunk.text for chunk in first.contexts]
    links = harbour.json(f"/runs/{scored.id}/samples/1.json")["truths"]
    assert links == [{"name": "harbour", "address": f"/truth/harbour/case?id={first.id}&run={scored.id}"}]
