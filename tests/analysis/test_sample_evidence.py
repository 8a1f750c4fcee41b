"""Evidence is found wherever it lies: in the samples that brought it along, or in the run's own tables."""

import json

import pytest

import ragstone
from ragstone.analysis.causes import find_causes
from ragstone.analysis.indexed_corpus import read_chunks, read_documents
from ragstone.analysis.sample_evidence import read_case, read_cases
from ragstone.data.types import Chunk, Claim, FactMatch
from ragstone.errors import InputError, StorageError
from ragstone.storage import runs

RESULT = {
    "query_id": "q1",
    "query": "When?",
    "gt_answer": "At ten.",
    "response": "At nine.",
    "retrieved_context": [{"doc_id": "d1", "text": "It leaves at ten."}],
    "response_claims": [["it", "leaves at", "nine"]],
    "gt_answer_claims": [["it", "leaves at", "ten"]],
    "answer2response": ["Contradiction"],
    "response2answer": ["Contradiction"],
    "retrieved2response": [["Contradiction"]],
    "retrieved2answer": [["Entailment"]],
}


@pytest.fixture
def given(tmp_path):
    (tmp_path / "results.json").write_text(json.dumps({"results": [RESULT, {**RESULT, "query_id": "q2"}]}))
    return ragstone.evaluate(tmp_path / "results.json", ["ragchecker"], tmp_path / "store")


def test_given_evidence(given):
    cases = list(read_cases(given))
    assert [case.sample.id for case in cases] == ["q1", "q2"]
    assert cases[0].claims("answer")[0].triplet == ["it", "leaves at", "nine"]
    assert cases[0].matrix("reference_claims_in_contexts") == [["entailment"]]
    assert [find_causes(case).cause.name for case in cases] == ["misread", "misread"]
    assert read_case(given, 1).evidence == cases[1].evidence


def test_found_evidence(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "_ROWS_AT_A_TIME", 2)
    rows = [{"question": "q", "contexts": [f"x {n} y"], "facts": [f"{n}"], "answer": "a"} for n in range(5)]
    run = ragstone.evaluate(rows, ["fact_recall", "refusal"], tmp_path)
    cases = list(read_cases(run))
    assert [case.evidence["fact_ranks"] for case in cases] == [[1]] * 5
    assert cases[3].evidence["declining_words"] == []
    assert [case.sample.facts[0].text for case in read_cases(run, end=3)] == ["0", "1", "2"]
    assert [case.sample.facts[0].text for case in read_cases(run, first=3)] == ["3", "4"]
    # Causes do not need the places of the facts: they are read for one sample alone.
    assert read_case(run, 3).evidence["fact_matches"] == [FactMatch(0, 0, 2, 3, 1.0, "citation")]


def test_claims_that_are_texts(given):
    assert isinstance(read_case(given, 0).claims("reference")[0], Claim)


def test_chunks_from_a_file(tmp_path):
    path = tmp_path / "chunks.jsonl"
    path.write_text('{"text": "a", "id": 7, "source": "d"}\n\n{"text": "b"}\n')
    assert read_chunks(str(path)) == [Chunk("a", "7", source="d"), Chunk("b")]
    path.write_text('{"text": "a"}\n[1]\nno json\n{"id": "x"}\n')
    with pytest.raises(InputError, match="3 problems") as caught:
        read_chunks(str(path))
    assert [problem.where for problem in caught.value.problems] == ["line 2", "line 3", "line 4"]


def test_documents_from_a_folder(tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "a.md").write_text("one")
    (tmp_path / "more" / "b.txt").write_bytes(b"two \xff")
    assert read_documents(str(tmp_path)) == [("a.md", "one"), ("b.txt", "two �")]
    with pytest.raises(StorageError, match="no documents"):
        read_documents(str(tmp_path / "nothing"))
