"""Chunks known by id only, and images: metrics of texts skip them with a reason, metrics of ids are computed."""

import json

import pytest
from click.testing import CliRunner

import ragstone
from ragstone.cli.app import app
from ragstone.errors import InputError
from ragstone.formats import read_dataset
from ragstone.registry import metric

ASKED = {"question": "When does the last boat leave?", "answer": "The last boat leaves at 21:40."}
METRICS = ["recall@5", "k_precision", "fact_recall", "ragas.faithfulness"]
SPAN = {
    "traceId": "1" * 32,
    "spanId": "2" * 16,
    "name": "search",
    "startTimeUnixNano": 1,
    "endTimeUnixNano": 2,
    "attributes": {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": ASKED["question"],
        "gen_ai.retrieval.documents": json.dumps([{"id": "d1", "score": 0.9}, {"id": "d2", "score": 0.1}]),
    },
}
ROWS = {
    "ours": {**ASKED, "contexts": [{"id": "d1"}, {"id": "d2", "text": None}], "relevance": ["d2"], "facts": ["21:40"]},
    "ragas": {
        "user_input": ASKED["question"],
        "response": ASKED["answer"],
        "retrieved_contexts": [],
        "retrieved_context_ids": ["d1", "d2"],
        "reference_context_ids": ["d2"],
    },
    "steps": {**ASKED, "steps": [{"tool": "search", "contexts": [{"id": "d1"}, {"id": "d2"}]}], "relevance": ["d2"]},
}


def cells(run):
    return {(cell["metric"]): (cell["value"], cell["reason"]) for cell in run.scores.to_pylist()}


@pytest.mark.parametrize("kind", ROWS)
def test_no_text_is_known(kind):
    run = ragstone.evaluate([ROWS[kind]], METRICS)
    assert cells(run) == {"recall@5": (1.0, None)}
    assert "needs the texts of chunks" in run.info["skipped"]["ragas.faithfulness"]


def test_spans_with_ids_only():
    sample = read_dataset([SPAN], "openinference")[0]
    assert [(chunk.id, chunk.unknown) for chunk in sample.contexts] == [("d1", "text unknown (id only)")] * 1 + [
        ("d2", "text unknown (id only)")
    ]
    assert not cells(ragstone.evaluate([SPAN], ["k_precision"], format="openinference"))


def test_some_texts_are_unknown():
    known = {**ROWS["ours"], "id": "known", "contexts": [{"id": "d2", "text": "The last boat leaves at 21:40."}]}
    mixed = {**ROWS["ours"], "id": "mixed", "contexts": [*known["contexts"], {"id": "d1"}, {"id": "d3"}]}
    run = ragstone.evaluate([known, mixed], ["recall@5", "k_precision", "fact_recall"])
    rows = [cell for cell in run.scores.to_pylist() if cell["sample_id"] == "mixed"]
    reason = "the text of 2 of 3 retrieved chunks is unknown (known by id or as an image only)"
    assert {cell["metric"]: (cell["value"], cell["status"], cell["reason"]) for cell in rows} == {
        "recall@5": (1.0, "ok", None),
        "k_precision": (None, "skipped", reason),
        "fact_recall": (None, "skipped", reason),
    }


def test_given_verdicts_need_no_texts():
    row = {
        **ASKED,
        "contexts": [{"id": "d1"}],
        "answer_claims": ["It leaves."],
        "answer_claims_in_contexts": [["entailment"]],
    }
    assert cells(ragstone.evaluate([row], ["ragchecker.faithfulness"])) == {"ragchecker.faithfulness": (1.0, None)}


def test_own_metrics_get_ids_if_they_ask_for_them(catalogue):
    @metric("names", by_id=True, bounds=(0, None))
    def names(contexts):
        return len(contexts)

    @metric("letters", bounds=(0, None))
    def letters(contexts):
        return sum(len(chunk.text) for chunk in contexts)

    run = ragstone.evaluate([ROWS["ours"], {**ASKED, "contexts": ["four"]}], ["names", "letters"])
    assert [cell["value"] for cell in run.scores.to_pylist()] == [2, 1, None, 4]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("page_3.PNG", True),
        ("/data/my scans/page 3.jpeg", True),
        ("https://example.org/a.webp?width=200", True),
        ("data:image/png;base64," + "iVBORw0KGgo" * 1000, True),
        ("See the plan in page_3.png", False),
        ("The file is called page_3.png. It shows the harbour.", False),
        ("example.org/a.html", False),
    ],
)
def test_images_have_no_text(text, is_one):
    [chunk] = read_dataset([{"user_input": "?", "retrieved_contexts": [text]}])[0].contexts
    assert chunk.unknown == ("text unknown (image)" if is_one else "")
    assert chunk.text == ("" if is_one else text)


def test_steps_get_the_text_of_the_context_with_their_id():
    row = {**ASKED, "contexts": [{"id": "d1", "text": "Known."}], "steps": [{"tool": "s", "contexts": [{"id": "d1"}]}]}
    assert read_dataset([row])[0].steps[0].contexts[0].text == "Known."


def test_text_under_another_name_is_not_unknown():
    with pytest.raises(InputError, match="has no text; its keys are id, wording"):
        read_dataset([{"question": "?", "contexts": [{"id": "d1", "wording": "The last boat leaves at nine."}]}])


def test_shown_and_converted(tmp_path):
    data, out = tmp_path / "ids.jsonl", str(tmp_path / "runs")
    data.write_text(json.dumps({"id": "a", **ROWS["ours"]}))
    assert CliRunner().invoke(app, ["run", str(data), "-m", "recall@5", "--out", out, "-q"]).exit_code == 0
    shown = CliRunner().invoke(app, ["explain", "latest", "a", "--out", out]).output
    assert "text unknown (id only)" in shown
    assert "not relevant" not in shown
    for name, to in (
        ("one.jsonl", "ragstone"),
        ("two.csv", "ragstone"),
        ("three.json", "ragas"),
        ("four.json", "unitxt"),
    ):
        written = tmp_path / name
        assert CliRunner().invoke(app, ["convert", str(data), "--to", to, "-o", str(written)]).exit_code == 0
        assert [chunk.unknown for chunk in read_dataset(str(written))[0].contexts] == ["text unknown (id only)"] * 2
