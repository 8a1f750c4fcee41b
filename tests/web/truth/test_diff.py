"""The differences between two versions."""


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
