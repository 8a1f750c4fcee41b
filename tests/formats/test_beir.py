import json

import pytest

from ragstone.errors import InputError, UsageError
from ragstone.formats import open_reader, read_dataset
from tests.formats.fixtures import fixture_beir


def notes_of(data):
    reader = open_reader(data)
    list(reader.batches())
    return reader.report.notes


def test_queries_with_truth(tmp_path):
    folder, _ = fixture_beir(tmp_path)
    first, second = read_dataset(folder)
    assert (first.id, first.question) == ("q1", "When does the ferry leave?")
    assert first.relevance == {"d1": 1.0, "d2": 2.0, "d3": 0.0}
    assert first.reference_contexts == ["Winter In winter it leaves at nine.", "The ferry leaves at eight."]
    assert first.contexts is None
    assert second.metadata == {"split": "easy"}


def test_run_brings_contexts_with_their_texts(tmp_path):
    first, second = read_dataset(fixture_beir(tmp_path))
    assert [(chunk.id, chunk.text, chunk.score) for chunk in first.contexts] == [
        ("d3", "Fares Adults pay ten.", 3.0),
        ("d1", "The ferry leaves at eight.", 2.0),
    ]
    assert [chunk.id for chunk in second.contexts] == ["d3"]


def test_run_may_come_first(tmp_path):
    folder, run = fixture_beir(tmp_path)
    assert read_dataset([run, folder]).fingerprint == read_dataset([folder, run]).fingerprint


def test_left_out_queries_are_noted(tmp_path):
    folder, _ = fixture_beir(tmp_path)
    note = "queries of queries.jsonl without judgement in this split: 1, for example 'q9'; they are left out"
    assert notes_of(folder) == [note]


def test_test_split_is_preferred(tmp_path):
    folder, _ = fixture_beir(tmp_path)
    (tmp_path / "beir" / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq9\td1\t1\n")
    assert [sample.id for sample in read_dataset(folder)] == ["q1", "q2"]
    assert "judgements are those of qrels/test.tsv; dev.tsv not read" in notes_of(folder)


def test_what_is_missing_is_noted(tmp_path):
    folder, run = fixture_beir(tmp_path)
    with (tmp_path / "beir" / "qrels" / "test.tsv").open("a") as qrels:
        qrels.write("q7\td8\t1\n")
    samples = {sample.id: sample for sample in read_dataset([folder, run])}
    assert samples["q7"].question is None
    assert samples["q7"].reference_contexts == []
    notes = notes_of([folder, run])
    assert "judged queries missing from the run: 1, for example 'q7'; they are kept, without contexts" in notes
    assert (
        "judged or retrieved queries missing from queries.jsonl: 1, for example 'q7'; they are kept, without question"
        in notes
    )
    assert (
        "relevant or retrieved documents missing from corpus.jsonl: 1, for example 'd8'; their text is unknown" in notes
    )


def test_malformed_files_are_reported_together(tmp_path):
    folder, _ = fixture_beir(tmp_path)
    (tmp_path / "beir" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1 d1 1\nq1\td1\thigh\n")
    with (tmp_path / "beir" / "corpus.jsonl").open("a") as corpus:
        corpus.write(json.dumps({"id": "d7", "text": "x"}) + "\n{broken\n")
    with pytest.raises(InputError) as caught:
        read_dataset(folder)
    *problems, last = [str(problem) for problem in caught.value.problems]
    assert problems == [
        "qrels/test.tsv, line 2: must be query-id, corpus-id and score separated by tabs, got 'q1 d1 1'",
        "qrels/test.tsv, line 3: score: must be a finite number, got 'high'",
        "corpus.jsonl, line 4: has no _id or no text",
    ]
    assert last.startswith("corpus.jsonl, line 5: is not JSON")


def test_repeated_ids_are_problems_if_they_differ(tmp_path):
    folder, _ = fixture_beir(tmp_path)
    for name in ("qrels/test.tsv", "corpus.jsonl", "queries.jsonl"):
        path = tmp_path / "beir" / name
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines, lines[-1] if "tsv" not in name else lines[1]]) + "\n")
    read_dataset(folder)
    for name, line in {
        "qrels/test.tsv": "q1\td1\t7\nq1\td2\tnan",
        "corpus.jsonl": json.dumps({"_id": "d1", "text": "Another text."}),
        "queries.jsonl": json.dumps({"_id": "q1", "text": "Another question?"}),
    }.items():
        with (tmp_path / "beir" / name).open("a") as file:
            file.write(line + "\n")
    with pytest.raises(InputError) as caught:
        read_dataset(folder)
    problems = [str(problem) for problem in caught.value.problems]
    assert len(problems) == 4
    for problem, word in zip(problems, ("'d1' of query 'q1' again: 7", "'nan'", "'q1'", "'d1'"), strict=True):
        assert word in problem


def test_folder_without_qrels_is_refused(tmp_path):
    folder, _ = fixture_beir(tmp_path)
    (tmp_path / "beir" / "qrels" / "test.tsv").unlink()
    with pytest.raises(UsageError, match=r"has no qrels/\*\.tsv"):
        read_dataset(folder)


def test_other_folder_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"must be a folder with corpus\.jsonl, queries\.jsonl, qrels"):
        read_dataset(str(tmp_path), format="beir")
