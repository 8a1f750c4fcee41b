"""The page of one sample."""

import json
from urllib.parse import quote

import pytest

import ragstone
from ragstone.analysis.explain import explain_sample
from ragstone.analysis.sample_evidence import read_case
from ragstone.storage.runs import read_rows, read_table

LONG = "<b onmouseover=alert(3)>" + "word " * 200_000


@pytest.fixture(scope="module")
def long(serve, tmp_path_factory):
    root = tmp_path_factory.mktemp("long")
    chunks = [LONG, "javascript:alert(4)"]
    row = {"id": "javascript:alert(5)", "question": LONG, "answer": LONG, "contexts": chunks, "references": [LONG]}
    row |= {"facts": [LONG, "javascript:alert(4)"], "metadata": {"<i>": LONG}}
    file = root / "long.jsonl"
    file.write_text(json.dumps(row))
    return serve(root), ragstone.evaluate(file, ["exact_match", "fact_recall"], root, name="long")


def test_a_sample_is_what_the_run_has(viewer, worse):
    for row in (1, 8, 25):
        found = viewer.json(f"/runs/{worse.id}/samples/{row}.json")
        case = read_case(worse, row - 1)
        explained = explain_sample(worse, case.sample.id)
        assert found["sample"]["id"] == case.sample.id
        assert found["sample"]["question"] == case.sample.question
        assert "".join(piece["text"] for piece in found["sample"]["answer"]) == case.sample.answer
        assert [chunk["rank"] for chunk in found["chunks"]] == list(range(1, len(case.sample.contexts) + 1))
        for chunk, given in zip(found["chunks"], case.sample.contexts, strict=True):
            assert "".join(piece["text"] for piece in chunk["pieces"]) == given.text
            assert chunk["score"] == given.score
        assert found["sample"]["cause"] == (explained.outcome.cause.name if explained.outcome.cause else "")
        values = {cell.metric: (cell.value, cell.status, cell.reason or "") for cell in explained.cells}
        assert {cell["metric"]: (cell["value"], cell["status"], cell["reason"]) for cell in found["scores"]} == values


def test_a_row_without_a_cause_says_why_it_needs_a_look(viewer, worse, monkeypatch):
    line = "look (wrong: 24 %): the judge is not sure of <b>claim 1</b>"
    monkeypatch.setattr("ragstone.views.sample.cause_line", lambda outcome: line)
    assert viewer.json(f"/runs/{worse.id}/samples/1.json")["sample"]["cause"] == ""
    page = viewer.ask(f"/runs/{worse.id}/samples/1")[1].decode()
    assert "the judge is not sure of &lt;b&gt;claim 1&lt;/b&gt;</span>" in page


def test_claims_show_the_chunks_that_say_so(viewer, hostile):
    found = viewer.json(f"/runs/{hostile.id}/samples/1.json")
    answer, reference = found["claims"]
    assert [(claim["said"]["tone"], claim["says"], claim["denies"]) for claim in answer["rows"]] == [
        ("good", [1], []),
        ("bad", [2], []),
    ]
    assert [(claim["said"]["tone"], claim["says"], claim["denies"]) for claim in reference["rows"]] == [
        ("good", [1], []),
        ("bad", [], [2]),
    ]
    marked = [piece for piece in found["sample"]["answer"] if piece["numbers"]]
    assert [(piece["text"].strip(), piece["tone"], piece["says"]) for piece in marked] == [
        ("The boat is red.", "good", [1]),
        ("It leaves at ten.", "bad", [2]),
    ]
    page = viewer.page(f"/runs/{hostile.id}/samples/1")
    assert {"chunk-1", "chunk-2"} <= set(page.ids)
    keys = [mark["data-keys"] for mark in page.find("mark")]
    assert keys == ["answer-1", "answer-2", "answer-1 reference-1", "answer-2 reference-2"]
    assert "claim 1, supported by chunk 1" in page.text()


def test_one_walks_in_the_order_of_the_table(viewer, worse):
    query = "?sort=token_f1&dir=down"
    rows = [row["row"] for row in viewer.json(f"/runs/{worse.id}.json{query}")["table"]["rows"]]
    place, seen = f"/runs/{worse.id}/samples/{rows[0]}{query.replace('&', '&')}", []
    while place:
        base, _, rest = place.partition("?")
        found = viewer.json(f"{base}.json?{rest}")
        seen.append(found["sample"]["row"])
        place = found["walk"]["next"]
    assert seen == rows
    assert viewer.json(f"/runs/{worse.id}/samples/{rows[0]}.json{query}")["walk"]["previous"] == ""


@pytest.mark.parametrize("row", ["0", "26", "-1", "1e3", "x", "99999999999", "%F0%9F%9A%A2"])
def test_samples_that_are_not_there(viewer, worse, row):
    assert viewer.ask(f"/runs/{worse.id}/samples/{row}")[0].status == 404
    assert viewer.ask(f"/runs/{worse.id}/samples/{row}/facts.json")[0].status == 404


@pytest.mark.slow
def test_a_text_of_a_megabyte_is_cut_until_it_is_asked_for(long):
    client, run = long
    for path in ("", "/facts"):
        _, body = client.ask(f"/runs/{run.id}/samples/1{path}")
        assert len(body) < 400_000
        assert b"1,000,024 characters in all" in body
        assert b"<b onmouse" not in body
    _, body = client.ask(f"/runs/{run.id}/samples/1?full=1")
    assert len(body) > 3_000_000
    for path in ("/runs", f"/runs/{run.id}", f"/compare/{run.id}/{run.id}/samples/1"):
        answer, body = client.ask(path)
        assert answer.status == 200
        assert len(body) < 400_000
    assert [link for link in client.page(f"/runs/{run.id}/samples/1").links if "javascript" in link] == []


def test_rows_are_read_by_their_numbers(worse):
    table = read_table(worse.folder.samples, ["id"])
    rows = [24, 0, 7, 7]
    assert {row: part["id"][0].as_py() for row, part in read_rows(worse.folder.samples, rows, ["id"])} == {
        row: table["id"][row].as_py() for row in rows
    }
    assert list(read_rows(worse.folder.samples, [99])) == []


def test_nuggets_checklists_and_reasons_are_shown(serve, tmp_path):
    facts = [{"text": "The boat is <i>red</i>.", "importance": "vital"}, {"text": "It is old.", "importance": "okay"}]
    row = {
        "id": "1",
        "question": "q",
        "answer": "It is red.",
        "facts": facts,
        "checklist": ["Is it short?", "Is it kind?"],
    }
    row |= {"nugget_support": ["support", "partial_support"]}
    checks = [("yes", "It has <b>one</b> sentence."), ("not_applicable", "")]
    items = [{"item": at, "reason": reason, "verdict": word} for at, (word, reason) in enumerate(checks, start=1)]

    def judge(prompts):
        return [json.dumps({"items": items}) for _ in prompts]

    run = ragstone.evaluate([row], ["nugget", "checklist"], tmp_path, judge=judge, grading=["cot"], cache=False)
    viewer = serve(tmp_path)
    nuggets, listed = viewer.json(f"/runs/{run.id}/samples/1.json")["judged"]
    assert [(item["words"], item["note"]) for item in nuggets["rows"]] == [
        ("in the answer", "vital"),
        ("partly in the answer", "okay"),
    ]
    assert [(item["words"], item["reason"]) for item in listed["rows"]] == [
        ("yes", "It has <b>one</b> sentence."),
        ("not applicable", ""),
    ]
    page = viewer.page(f"/runs/{run.id}/samples/1")
    assert {"nuggets-h", "checklist-own-h"} <= set(page.ids)


@pytest.fixture(scope="module")
def talk(serve, tmp_path_factory):
    root = tmp_path_factory.mktemp("talk")
    row = {
        "question": "And for children?",
        "answer": "Free. Adults pay 12 euros.",
        "contexts": ["Children enter free."],
        "history": [
            {"role": "user", "text": "What does the **museum** cost? " + "Please tell me. " * 60},
            {"role": "assistant", "text": "<b>Adults</b> pay 12 euros."},
        ],
        "rewritten_question": "museum children",
        "answer_claims": ["Children enter free.", "Adults pay 12 euros."],
        "answer_claims_in_contexts": [["entailment"], ["neutral"]],
        "answer_claims_in_history": ["neutral", "entailment"],
        "standalone_question": "What does the museum cost for children?",
    }
    return serve(root), ragstone.evaluate([row], ["ragchecker.faithfulness", "question_rewriting"], root)


def test_a_sample_shows_its_conversation(talk):
    viewer, run = talk
    found = viewer.json(f"/runs/{run.id}/samples/1.json")
    assert [(turn["role"], turn["folded"], turn["claims"]) for turn in found["conversation"]["turns"]] == [
        ("user", True, []),
        ("assistant", False, [2]),
    ]
    marked = [piece for piece in found["sample"]["answer"] if piece["numbers"]]
    assert [(piece["tone"], piece["labels"][0]["text"]) for piece in marked][-1] == ("good", "✓ A2")
    assert marked[-1]["labels"][0]["words"] == "claim 2, supported by earlier turn 2"
    assert found["conversation"]["standalone"] == "What does the museum cost for children?"
    assert [claim["turn"] for claim in found["claims"][0]["rows"]] == [None, 2]
    page = viewer.page(f"/runs/{run.id}/samples/1")
    assert {"turn-1", "turn-2", "conversation-h"} <= set(page.ids)


def test_a_sample_without_a_conversation_shows_none(viewer, worse):
    page = viewer.page(f"/runs/{worse.id}/samples/1")
    assert "conversation-h" not in page.ids


def test_an_id_leads_to_its_row(viewer, worse, hostile):
    for run in (worse, hostile):
        for row, name in enumerate(run.samples.table["id"].to_pylist()[:3], start=1):
            for ending in ("", ".json"):
                answer, _ = viewer.ask(f"/runs/{run.id}/samples/{quote(name, safe='')}{ending}")
                assert (answer.status, answer.headers["location"]) == (303, f"/runs/{run.id}/samples/{row}{ending}")


@pytest.mark.parametrize(
    "name", ["h99", "0", "26", "9" * 5_000, "../h01", "a/b", "", "\"'<script>x", "\x00", "é" * 1_000]
)
def test_a_wrong_id_leads_to_the_samples(viewer, worse, name):
    page = viewer.page(f"/runs/{worse.id}/samples/{quote(name, safe='')}", 404)
    assert "The run has rows 1 to 25, with ids from h01 to h25" in page.text()
    assert f"/runs/{worse.id}#samples" in page.links
    assert len(page.text()) < 1_000
    assert "x" not in page.text("script")
    if name == "h99":
        assert "Did you mean h" in page.text()
