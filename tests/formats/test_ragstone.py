"""Our own format: everything that a sample has, there and back."""

import csv
import json

import pyarrow.parquet as pq
import pytest

from ragstone.data.dataset import view_column
from ragstone.data.types import Chunk, Claim, Fact, Sample
from ragstone.errors import UsageError
from ragstone.formats import open_reader, read_dataset, write_dataset
from tests.formats.fixtures import fixture_ragstone

FULL = Sample(
    id="full",
    question="When does the ferry leave?",
    answer="At eight.",
    contexts=[Chunk("It leaves at eight.", "d1", 0.5, "timetable.md")],
    references=["At eight, in winter at nine."],
    reference_contexts=["It leaves at eight."],
    relevance={"d1": 2.0},
    facts=[Fact("It leaves at eight.", "citation", "timetable.md")],
    answerable=True,
    documents=["timetable.md"],
    metadata={"topic": "timetable"},
)


def test_everything(tmp_path):
    data = read_dataset(*fixture_ragstone(tmp_path))
    full, sparse = data
    assert full == FULL
    assert sparse.contexts == [Chunk("Adults pay ten."), Chunk("Children pay five.")]
    assert (sparse.answer, sparse.metadata) == (None, {})
    assert view_column("answer_claims", data.table["answer_claims"]) == [[Claim("The ferry leaves at eight.")], None]
    assert data.table["answer_claims_in_contexts"].to_pylist() == [[["entailment"]], None]


def test_short_forms():
    row = {"id": 7, "question": "a", "references": "b", "relevance": ["d1", "d1"], "contexts": ["f"], "topic": "g"}
    (sample,) = read_dataset([row | {"facts": "c", "documents": "d", "reference_contexts": "e"}])
    assert (sample.id, sample.references) == ("7", ["b"])
    assert (sample.contexts, sample.metadata) == ([Chunk("f")], {"topic": "g"})
    assert sample.relevance == {"d1": 1.0}
    assert sample.facts == [Fact("c", "citation")]
    assert (sample.documents, sample.reference_contexts) == (["d"], ["e"])


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_round_trip(tmp_path, ending):
    reader = open_reader(*fixture_ragstone(tmp_path))
    target = str(tmp_path / f"copy.{ending}")
    assert write_dataset(reader.batches(), target) == 2
    first, second = read_dataset(*fixture_ragstone(tmp_path)), read_dataset(target)
    assert second.table == first.table
    assert second.fingerprint == first.fingerprint


def test_csv_tells_an_absent_answer_from_an_empty_one(tmp_path):
    rows = [
        {"id": str(i), "question": "q", "answer": answer}
        for i, answer in enumerate([None, "", "\\N", "\\\\N", '""', "null"])
    ]
    write_dataset(open_reader(rows).batches(), str(tmp_path / "copy.csv"))
    assert [sample.answer for sample in read_dataset(str(tmp_path / "copy.csv"))] == [row["answer"] for row in rows]


def test_formulas_in_csv_are_guarded_and_read_back(tmp_path):
    texts = ["=1+1", "'=1+1", "''@x", "-5", "-5 degrees", "+1", "\t=x", "'tis", "@x"]
    rows = [{"id": f"={text}", "question": text, "answer": text} for text in texts]
    write_dataset(open_reader(rows).batches(), str(tmp_path / "copy.csv"))
    with (tmp_path / "copy.csv").open(newline="") as file:
        cells = [row["question"] for row in csv.DictReader(file)]
    assert cells == ["'=1+1", "''=1+1", "'''@x", "-5", "'-5 degrees", "+1", "'\t=x", "'tis", "'@x"]
    copy = list(read_dataset(str(tmp_path / "copy.csv")))
    assert [(s.id, s.question, s.answer) for s in copy] == [tuple(row.values()) for row in rows]


def test_empty_answer_in_the_csv_of_others_is_an_answer(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("question,answer,references\na,,\n")
    (sample,) = read_dataset(str(path))
    assert (sample.answer, sample.references) == ("", None)


def test_jsonl_leaves_out_what_is_absent(tmp_path):
    write_dataset(open_reader([{"id": 1, "contexts": ["a"]}]).batches(), str(tmp_path / "copy.jsonl"))
    assert json.loads((tmp_path / "copy.jsonl").read_text()) == {"id": "1", "contexts": [{"text": "a"}]}


def test_name_of_the_target_tells_what_to_write(tmp_path):
    with pytest.raises(UsageError, match=r"copy.txt': the name must end in .jsonl, .parquet or .csv"):
        write_dataset(open_reader([{"question": "a"}]).batches(), str(tmp_path / "copy.txt"))


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_nothing_is_left_behind_when_the_data_has_problems(tmp_path, ending):
    reader = open_reader([{"question": "a"}, {"question": []}])
    with pytest.raises(Exception, match="must be text, got a list"):
        write_dataset(reader.batches(), str(tmp_path / f"copy.{ending}"))
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_rows_is_a_parquet_file(tmp_path):
    write_dataset([], str(tmp_path / "copy.parquet"))
    assert pq.read_table(tmp_path / "copy.parquet").num_rows == 0


def test_format_that_is_only_read(tmp_path):
    with pytest.raises(
        UsageError, match=r"the format trec can be read but not written. Choose from: .*ragchecker.*ragstone"
    ):
        write_dataset([], str(tmp_path / "copy.jsonl"), "trec")


def test_an_empty_cell_of_contexts_is_nothing_retrieved_where_other_rows_have_chunks(tmp_path):
    """Both layouts of a table say the same: a list in one cell, and one column per chunk."""
    listed, numbered, without = (tmp_path / f"{name}.csv" for name in ("listed", "numbered", "without"))
    listed.write_text('question,answer,contexts\nq1,a1,\nq2,a2,"[""c1"", ""c2""]"\nq3,a3,\\N\n', encoding="utf-8")
    numbered.write_text("question,answer,chunk_1,chunk_2\nq1,a1,,\nq2,a2,c1,c2\n", encoding="utf-8")
    without.write_text("question,answer,contexts\nq1,a1,\nq2,a2,\n", encoding="utf-8")

    def chunks(path, **options):
        return [
            sample.contexts and [chunk.text for chunk in sample.contexts]
            for sample in read_dataset(str(path), **options)
        ]

    assert chunks(listed) == [[], ["c1", "c2"], None]
    assert chunks(numbered, columns={"contexts": "chunk_*"}) == [[], ["c1", "c2"]]
    assert chunks(without) == [None, None]


def test_a_row_with_steps_and_an_empty_cell_has_the_chunks_of_its_steps(tmp_path):
    path = tmp_path / "data.csv"
    steps = '"[{""tool"": ""search"", ""query"": ""q"", ""contexts"": [{""text"": ""c""}]}]"'
    path.write_text(f'question,answer,contexts,steps\nq1,a1,,{steps}\nq2,a2,"[""c2""]",\n', encoding="utf-8")
    assert [[chunk.text for chunk in sample.contexts] for sample in read_dataset(str(path))] == [["c"], ["c2"]]


def test_csv_tells_absent_contexts_from_empty_ones(tmp_path):
    rows = [{"question": "q", "contexts": contexts} for contexts in (None, [], ["c"])]
    write_dataset(open_reader(rows).batches(), str(tmp_path / "copy.csv"))
    copy = read_dataset(str(tmp_path / "copy.csv"))
    assert [sample.contexts and [chunk.text for chunk in sample.contexts] for sample in copy] == [None, [], ["c"]]
