"""RAGChecker's files: claims and verdicts are evidence, and nothing is lost on the way back."""

import json

import pytest

from ragstone.data.dataset import view_column
from ragstone.data.types import Chunk, Claim, Sample
from ragstone.errors import InputError
from ragstone.formats import open_reader, read_dataset, write_dataset
from tests.formats.fixtures import fixture_ragchecker
from tests.shared_data import shared_data


def evidence(data, name):
    return view_column(name, data.table[name])


def rewrite(source, target):
    """What comes out when a file is read and written as the command line does it."""
    reader = open_reader(str(source))
    write_dataset(reader.batches(), str(target), "ragchecker", reader.report.info)
    return json.loads(target.read_text())


def test_fields(tmp_path):
    data = read_dataset(*fixture_ragchecker(tmp_path))
    full, bare = data
    assert full == Sample(
        id="0",
        question="When does the ferry leave?",
        answer="At eight from pier two.",
        contexts=[Chunk("It leaves at eight.", "d1"), Chunk("Adults pay ten.", "d3"), Chunk("Children pay five.")],
        references=["At eight, in winter at nine."],
        metadata={"metrics": {"precision": 0.5, "recall": 0.5}},
    )
    assert bare == Sample(id="1", question="What do adults pay?", answer="", contexts=[], references=["[10] euros"])
    assert data.info == {"metrics": {"overall": {"precision": 50.0}}}


def test_evidence(tmp_path):
    data = read_dataset(*fixture_ragchecker(tmp_path))
    claims = [Claim("ferry leaves at eight", ["ferry", "leaves at", "eight"])]
    claims += [Claim("ferry leaves from pier two", ["ferry", "leaves from", "pier two"])]
    assert evidence(data, "answer_claims") == [claims, []]
    texts = [Claim("The ferry leaves at eight."), Claim("In winter it leaves at nine.")]
    assert evidence(data, "reference_claims") == [texts, None]
    assert evidence(data, "answer_claims_in_reference") == [["entailment", "neutral"], []]
    assert evidence(data, "reference_claims_in_answer") == [["entailment", "contradiction"], None]
    first, second = [["entailment", "neutral", "neutral"], ["neutral"] * 3], [["entailment", "neutral", "neutral"]]
    assert evidence(data, "answer_claims_in_contexts") == [first, []]
    assert evidence(data, "reference_claims_in_contexts") == [[*second, ["neutral", "neutral", "contradiction"]], None]


def test_round_trip(tmp_path):
    (path,) = fixture_ragchecker(tmp_path)
    target = tmp_path / "copy.json"
    assert rewrite(path, target) == json.loads((tmp_path / "checking_outputs.json").read_text())
    assert read_dataset(str(target)).fingerprint == read_dataset(path).fingerprint


@pytest.mark.parametrize("name", ["checking_inputs.json", "checking_outputs.json"])
def test_round_trip_of_the_tool_s_own_example(tmp_path, name):
    source = shared_data("ragchecker_example") / name
    assert rewrite(source, tmp_path / name) == json.loads(source.read_text())


def test_orientation_of_the_tool_s_own_example():
    data = read_dataset(str(shared_data("ragchecker_example/checking_outputs.json")))
    lengths = {name: [len(row) for row in data.table[name].to_pylist()] for name in data.table.column_names[-6:]}
    assert (
        lengths["answer_claims"]
        == lengths["answer_claims_in_reference"]
        == lengths["answer_claims_in_contexts"]
        == [11, 5]
    )
    assert (
        lengths["reference_claims"]
        == lengths["reference_claims_in_answer"]
        == lengths["reference_claims_in_contexts"]
        == [22, 8]
    )


def test_group_keys_and_other_keys_stay_as_they_are(tmp_path):
    document = {
        "results": [
            {
                "query_id": "a",
                "query": "b",
                "gt_answer": "c",
                "response": "d",
                "retrieved_context": [],
                "metadata": {"x": 1},
            }
        ],
        "overall_metrics": {"f1": 68.3},
        "retriever_metrics": {},
        "note": "ours",
    }
    source = tmp_path / "in.json"
    source.write_text(json.dumps(document))
    assert open_reader(str(source)).format.name == "ragchecker"
    assert rewrite(source, tmp_path / "out.json") == document


def test_what_the_tool_has_no_place_for_is_written_all_the_same(tmp_path):
    row = {
        "id": "a",
        "contexts": [{"text": "b", "score": 0.5, "source": "c"}],
        "references": ["d", "e"],
        "facts": ["f"],
        "relevance": {"g": 2},
        "answerable": False,
        "metadata": {"query": "clash", "topic": "x"},
    }
    before = read_dataset([row])
    write_dataset(before.table.to_batches(), str(tmp_path / "out.json"), "ragchecker")
    after = read_dataset(str(tmp_path / "out.json"))
    assert after.fingerprint == before.fingerprint
    (result,) = json.loads((tmp_path / "out.json").read_text())["results"]
    assert list(result)[:5] == ["query_id", "query", "gt_answer", "response", "retrieved_context"]
    assert (result["query"], result["gt_answer"], result["topic"]) == (None, "d", "x")


def test_malformed(tmp_path):
    document = json.loads((tmp_path / fixture_ragchecker(tmp_path)[0]).read_text())
    first, second = document["results"]
    first["answer2response"].pop()
    first["retrieved2response"][1] = ["Neutral"]
    first["retrieved2answer"].append([])
    first["response2answer"][0] = "Entails"
    second["retrieved_context"] = [{"doc_id": "d1", "content": "no text"}]
    second["response_claims"] = "none"
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError) as caught:
        read_dataset(str(path))
    assert str(caught.value) == (
        f"{path}: 7 problems\n"
        "  item 1: response2answer: entry 1 must be one of entailment, neutral, contradiction, got 'Entails'\n"
        "  item 1: answer2response: has 1 entries for the 2 of response_claims (write one per claim)\n"
        "  item 1: retrieved2response: entry 2 has 1 verdicts for the 3 of retrieved_context (write one per chunk)\n"
        "  item 1: retrieved2answer: has 3 entries for the 2 of gt_answer_claims (write one per claim)\n"
        "  item 1: retrieved2answer: entry 3 has 0 verdicts for the 3 of retrieved_context (write one per chunk)\n"
        "  item 2: retrieved_context: entry 1 has no text; its keys are id, content (name the part that is the text: --map contexts.text=PART)\n"
        "  item 2: response_claims: must be a list, got text"
    )
