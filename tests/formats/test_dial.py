import json
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.data.dataset import Dataset
from ragstone.data.types import Chunk, Fact, Sample
from ragstone.errors import InputError, UsageError
from ragstone.formats import open_reader, read_dataset, write_dataset
from tests.formats.fixtures import fixture_dial
from tests.shared_data import shared_data


def save(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


def truth(question, documents, facts=("fact",), answer="right", **more):
    return {"question": question, "documents": documents, "facts": list(facts), "answer": answer, **more}


def answer(question, documents, context=("chunk",), text="said", **more):
    return {"question": question, "documents": documents, "context": list(context), "answer": text, **more}


def pair(tmp_path, truths, answers):
    return [save(tmp_path / "truth.parquet", truths), save(tmp_path / "said.parquet", answers)]


def notes_of(data):
    reader = open_reader(data)
    list(reader.batches())
    return reader.report.notes


def again(tmp_path, dataset):
    """The data set after a trip through the format."""
    write_dataset(dataset.table.to_batches(), str(tmp_path / "out"), "dial", dataset.info)
    return read_dataset([str(tmp_path / "out" / "answers.parquet"), str(tmp_path / "out" / "ground_truth.parquet")])


def test_tables_are_joined(tmp_path):
    first, second = read_dataset(fixture_dial(tmp_path))
    assert first.question == "When does the ferry leave?"
    assert first.facts == [Fact("It leaves at eight."), Fact("In winter at nine.")]
    assert first.references == ["At eight, in winter at nine."]
    assert first.contexts == [Chunk("It leaves at eight."), Chunk("Adults pay ten.")]
    assert first.answer == "At eight."
    assert sorted(first.documents) == ["timetable.md", "winter.md"]
    assert second.answer == ""
    assert second.references is None


def test_order_of_files_does_not_matter(tmp_path):
    truths, answers = fixture_dial(tmp_path)
    assert read_dataset([truths, answers]).fingerprint == read_dataset([answers, truths]).fingerprint


def test_same_question_about_other_documents_is_another_sample(tmp_path):
    files = pair(
        tmp_path,
        [truth("q", ["a"], ["fa"]), truth("q", ["b"], ["fb"])],
        [answer("q", ["b"], text="b"), answer("q", ["a"], text="a")],
    )
    assert [(sample.answer, sample.facts[0].text) for sample in read_dataset(files)] == [("b", "fb"), ("a", "fa")]
    assert notes_of(files) == []


def test_rows_without_partner_are_kept_and_noted(tmp_path):
    files = pair(
        tmp_path, [truth("known", ["a"]), truth("both", ["a"])], [answer("both", ["a"]), answer("said", ["a"])]
    )
    samples = {sample.question: sample for sample in read_dataset(files)}
    assert list(samples) == ["both", "said", "known"]
    assert (samples["known"].answer, samples["known"].contexts) == (None, None)
    assert (samples["said"].facts, samples["said"].references) == (None, None)
    assert notes_of(files) == [
        "answers without ground truth for the same documents and question: 1, for example 'said'; they are kept, though DIAL's tool drops them",
        "ground truth without an answer for the same documents and question: 1, for example 'known'; they are kept, though DIAL's tool drops them",
    ]


def test_every_pair_of_equal_keys_is_a_sample(tmp_path):
    files = pair(
        tmp_path,
        [truth("q", ["a"], ["f1"]), truth("q", ["a"], ["f2"])],
        [answer("q", ["a"], text="x"), answer("q", ["a"], text="y")],
    )
    dataset = read_dataset(files)
    assert [(sample.answer, sample.facts[0].text) for sample in dataset] == [
        ("x", "f1"),
        ("x", "f2"),
        ("y", "f1"),
        ("y", "f2"),
    ]
    assert notes_of(files) == [
        "questions with several ground truths or answers: 1, for example 'q'; every pair is a sample, as in DIAL"
    ]
    assert again(tmp_path, dataset).fingerprint == dataset.fingerprint


def test_ids_of_several_pairs_stay_unique(tmp_path):
    files = pair(tmp_path, [truth("q", ["a"], id="t")], [answer("q", ["a"]), answer("q", ["a"])])
    assert [sample.id for sample in read_dataset(files)] == ["t", "t-2"]


def test_merged_table(tmp_path):
    row = {**answer("q", ["a"]), "facts": ["f"], "ground_truth_answer": "right", "recall": 0.5}
    (sample,) = read_dataset(save(tmp_path / "metrics.parquet", [row]))
    assert (sample.answer, sample.references, sample.facts) == ("said", ["right"], [Fact("f")])
    assert sample.metadata == {"recall": 0.5}


def test_one_table_alone(tmp_path):
    truths, answers = fixture_dial(tmp_path)
    assert read_dataset(truths)[0].references == ["At eight, in winter at nine."]
    assert read_dataset(truths)[0].answer is None
    assert read_dataset(answers)[0].answer == "At eight."
    assert notes_of(truths) == notes_of(answers) == []


def test_further_columns_become_metadata(tmp_path):
    files = pair(tmp_path, [truth("q", ["a"], topic="ships", seconds=1)], [answer("q", ["a"], seconds=2)])
    dataset = read_dataset(files)
    assert dataset[0].metadata == {"topic": "ships", "seconds": 2, "ground_truth_seconds": 1}
    assert again(tmp_path, dataset).fingerprint == dataset.fingerprint


def test_csv_tables(tmp_path):
    truths, answers = tmp_path / "truth.csv", tmp_path / "answers.csv"
    truths.write_text('question,documents,facts,answer\nq,"[""a"", ""b""]","[""f""]",[1] is right\n')
    answers.write_text('question,documents,context,answer\nq,"[""b"", ""a""]","[""c""]",said\n')
    (sample,) = read_dataset([str(truths), str(answers)])
    assert (sample.answer, sample.references, sample.facts) == ("said", ["[1] is right"], [Fact("f")])


def test_round_trip(tmp_path):
    dataset = read_dataset(fixture_dial(tmp_path))
    assert again(tmp_path, dataset).fingerprint == dataset.fingerprint
    assert read_dataset(str(tmp_path / "out")).fingerprint == dataset.fingerprint


def test_round_trip_of_rows_without_partner(tmp_path):
    dataset = read_dataset(pair(tmp_path, [truth("known", ["a"]), truth("bare", [], [], "")], [answer("said", ["a"])]))
    assert again(tmp_path, dataset).fingerprint == dataset.fingerprint


def test_ids_and_metadata_of_other_formats_survive(tmp_path):
    samples = [
        Sample("s1", "same", "a", [Chunk("c")], ["r"], facts=[Fact("f")], metadata={"topic": "x"}),
        Sample("s2", "same", "b", [], ["r2"], facts=[Fact("g")]),
    ]
    dataset = Dataset.from_samples(samples)
    assert [(s.id, s.answer, s.references, s.metadata) for s in again(tmp_path, dataset)] == [
        ("s1", "a", ["r"], {"topic": "x"}),
        ("s2", "b", ["r2"], {}),
    ]


def test_written_tables_are_typed(tmp_path):
    write_dataset(read_dataset(fixture_dial(tmp_path)).table.to_batches(), str(tmp_path / "out"), "dial")
    for name, column in (("ground_truth", "facts"), ("answers", "context")):
        schema = pq.read_schema(tmp_path / "out" / f"{name}.parquet")
        assert schema.names[:4] == ["question", "documents", column, "answer"]
        assert schema.field(column).type.value_type == schema.field("documents").type.value_type == pa.string()


def test_sidecars_name_their_origin(tmp_path):
    truths, answers = fixture_dial(tmp_path)
    said = {"created_at": "2024-05-14T16:17:37", "sources": [], "tools": {"x": "1"}}
    (tmp_path / "ground_truth.parquet.metadata.json").write_text(json.dumps(said))
    again(tmp_path, read_dataset([truths, answers]))
    sidecar = json.loads((tmp_path / "out" / "ground_truth.parquet.metadata.json").read_text())
    assert set(sidecar) == {"created_at", "sources", "tools", "file_info", "metrics", "statistics"}
    assert sidecar["sources"] == [{"metadata_path": f"{truths}.metadata.json", "data_path": truths, "metadata": said}]
    assert set(sidecar["tools"]) == {"ragstone"}
    assert sidecar["file_info"]["size"] == (tmp_path / "out" / "ground_truth.parquet").stat().st_size
    assert sidecar["statistics"] == {"Ground truth size": 2}


def test_broken_sidecar_is_noted(tmp_path):
    files = fixture_dial(tmp_path)
    (tmp_path / "answers.parquet.metadata.json").write_text("{")
    assert any("answers.parquet.metadata.json: it is not JSON" in note for note in notes_of(files))


def test_malformed_rows_are_reported_with_their_table(tmp_path):
    truths = [truth("q", ["a"]), truth(None, ["a"]), truth("q", ["a"], answer={"is": "right"})]
    answers = [answer("q", {"a": 1}), {**answer("q", ["a"]), "context": "one text"}]
    files = [str(tmp_path / "truth.jsonl"), str(tmp_path / "answers.jsonl")]
    for path, rows in zip(files, (truths, answers), strict=True):
        Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError) as caught:
        read_dataset(files)
    *problems, last = [str(problem) for problem in caught.value.problems]
    assert problems == [
        f"{files[0]}, line 2: question: is missing (tables are joined on it)",
        f"{files[0]}, line 3: answer: must be a list, got a mapping",
        f"{files[1]}, line 1: documents: must be a list, got a mapping",
    ]
    assert re.fullmatch(rf"{files[1]}, line 2: contexts?: must be a list, got text", last)


def test_two_tables_of_a_kind_are_refused(tmp_path):
    truths, _ = fixture_dial(tmp_path)
    other = shutil.copy(truths, tmp_path / "other.parquet")
    with pytest.raises(UsageError, match="are both tables of ground_truth; pass one of each"):
        read_dataset([truths, str(other)], format="dial")


def test_other_table_is_refused(tmp_path):
    path = save(tmp_path / "x.parquet", [{"prompt": "q"}])
    with pytest.raises(UsageError, match="ground truth has facts, answers have context; its columns are: prompt"):
        read_dataset(path, format="dial")


def test_target_must_be_a_folder(tmp_path):
    batches = read_dataset(fixture_dial(tmp_path)).table.to_batches()
    with pytest.raises(UsageError, match="must be a folder"):
        write_dataset(batches, str(tmp_path / "out.parquet"), "dial")


def test_sample_without_question_is_refused(tmp_path):
    batches = Dataset.from_samples([Sample("s1", answer="a")]).table.to_batches()
    with pytest.raises(UsageError, match="sample 's1' has no question"):
        write_dataset(batches, str(tmp_path / "out"), "dial")
    assert not (tmp_path / "out" / "answers.parquet").exists()


@pytest.mark.parametrize(
    ("folder", "names", "rows"),
    [("dial", ("ground_truth", "answers"), 5), ("dial/example_parquets", ("ground_truth", "answer"), 3)],
)
def test_tables_of_dial_itself(tmp_path, folder, names, rows):
    found = shared_data(folder)
    files = [str(found / f"{name}.parquet") for name in names]
    dataset = read_dataset(files)
    assert len(dataset) == rows
    assert notes_of(files) == []
    assert all(sample.facts and sample.contexts for sample in dataset)
    assert again(tmp_path, dataset).fingerprint == dataset.fingerprint


def test_metrics_table_of_dial_itself():
    folder = shared_data("dial/example_parquets")
    merged = read_dataset(str(folder / "metrics.parquet"))
    joined = read_dataset([str(folder / "answer.parquet"), str(folder / "ground_truth.parquet")])
    for name in ("question", "answer", "contexts", "references", "facts", "documents"):
        assert merged.table[name].equals(joined.table[name])
    assert merged[0].metadata["facts_ranks"] == [0]
    assert merged.info["dial"]["merged"]["metadata"]["metrics"]["recall"] == 0.5
