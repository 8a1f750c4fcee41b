"""BEIR folders: what is written, and what comes back with the run."""

import json

import pytest

from ragstone.data.dataset import samples_table
from ragstone.data.types import Chunk, Sample
from ragstone.errors import UsageError
from ragstone.formats import read_dataset, write_dataset


def write(folder, *samples):
    write_dataset(samples_table(samples).to_batches(), str(folder), "beir")
    return folder


def test_a_folder_comes_back(tmp_path):
    sample = Sample(
        "q1",
        "When?",
        contexts=[Chunk("At ten.", "d2", 0.9), Chunk("At eight.", "d1", 0.5)],
        reference_contexts=["At eight."],
        relevance={"d1": 2.0, "d3": 0.0},
        metadata={"topic": "time"},
    )
    folder = write(tmp_path / "copy", sample)
    assert (folder / "qrels" / "test.tsv").read_text() == "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td3\t0\n"
    assert (folder / "run.trec").read_text() == "q1 Q0 d2 1 0.9 ragstone\nq1 Q0 d1 2 0.5 ragstone\n"
    assert list(read_dataset(str(folder))) == [sample]


def test_texts_without_ids_get_some(tmp_path):
    folder = write(
        tmp_path / "copy", Sample("q1", "When?", contexts=[Chunk("At eight.")], reference_contexts=["At eight."])
    )
    [document] = map(json.loads, (folder / "corpus.jsonl").read_text().splitlines())
    [sample] = read_dataset(str(folder))
    assert sample.relevance == {document["_id"]: 1.0}
    assert sample.contexts == [Chunk("At eight.", document["_id"], 1.0)]


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (Sample("q1"), "has no question"),
        (Sample("q 1", "Q?", contexts=[Chunk("x", "d")]), "white space"),
        (Sample("q\t1", "Q?", relevance={"d": 1.0}), "tab"),
    ],
)
def test_what_cannot_be_written(tmp_path, sample, words):
    with pytest.raises(UsageError, match=words):
        write(tmp_path / "copy", sample)


def test_a_file_is_not_a_folder(tmp_path):
    with pytest.raises(UsageError, match="must be a folder"):
        write(tmp_path / "copy.jsonl", Sample("q1", "Q?"))
