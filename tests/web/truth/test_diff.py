"""The differences between two versions."""

from dataclasses import replace

from tests.web import truths


def test_a_diff_tells_words_facts_and_cases(client):
    found = client.json("/truth/ferry/diff.json")
    assert found["counts"] == {
        "added": 1,
        "removed": 1,
        "changed": 2,
        "facts_gained": 1,
        "facts_lost": 1,
        "facts_changed": 0,
    }
    by_id = {case["id"]: case for case in found["changes"]}
    question = by_id["f1"]["changes"][0]
    assert question["diff"] == [
        {"kind": "same", "text": "When does the last boat leave Orlsay"},
        {"kind": "gone", "text": " in summer"},
        {"kind": "same", "text": "?"},
    ]
    assert [(change["what"], change["kind"]) for change in by_id["f1"]["changes"][1:]] == [("answer", "gained")]
    assert [change["kind"] for change in by_id["f2"]["changes"]] == ["lost", "gained"]
    turned = client.json("/truth/ferry/diff.json?from=2&to=1")["counts"]
    assert (turned["facts_gained"], turned["facts_lost"]) == (1, 1)
    assert client.json("/truth/ferry/diff.json?from=2&to=2")["changes"] == []
    assert "is the first" in client.page("/truth/many/diff", 404).text()


def test_long_texts_are_folded_around_their_changes(serve, tmp_path):
    passage = " ".join(f"Sentence {number} is about ferries." for number in range(80))
    cases = truths.ferry()
    cases[0] = replace(cases[0], references=[f"{passage} It leaves at nine. {passage}"])
    truths.save(tmp_path, "ferry", cases)
    cases = list(cases)
    cases[0] = replace(cases[0], references=[f"{passage} It leaves at ten. {passage}", passage])
    truths.save(tmp_path, "ferry", cases, "Grace", "longer", 1)
    client = serve(tmp_path)
    found = client.json("/truth/ferry/diff.json")
    changed, gained = found["changes"][0]["changes"]
    assert [piece["text"] for piece in changed["diff"] if piece["kind"] != "same"] == ["nine", "ten"]
    assert sum(len(piece["text"]) for piece in changed["diff"]) < 250
    assert "is about ferries. It leaves at " in changed["diff"][0]["text"]
    assert sum(len(piece["text"]) for piece in gained["diff"]) < 600
    assert found["folded"] in client.page("/truth/ferry/diff").links
    full = client.json(found["folded"].replace("?", ".json?"))
    assert full["folded"] == ""
    assert sum(len(piece["text"]) for piece in full["changes"][0]["changes"][1]["diff"]) == len(passage)
