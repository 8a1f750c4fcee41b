"""Samples are counted, fingerprinted and stored in one pass."""

import pyarrow.parquet as pq
import pytest

from ragstone.engine.ingest import ingest
from ragstone.errors import RagstoneError
from ragstone.formats import open_reader
from ragstone.storage.places import open_place

ROWS = [{"id": "1", "question": "a", "answer": "x"}, {"id": "2", "question": "b"}]


def store(rows, folder):
    progress = []
    profile = ingest(open_reader(rows, None, None, None), open_place(str(folder)) / "samples.parquet", progress.append)
    return profile, progress


def test_the_profile_counts_rows_and_fields(tmp_path):
    profile, progress = store(ROWS, tmp_path)
    assert (profile.rows, profile.present["question"], profile.present["answer"]) == (2, 2, 1)
    assert "references" not in profile.present
    assert profile.partial == ["answer"]
    assert progress[-1].done == 2
    assert pq.read_table(tmp_path / "samples.parquet")["id"].to_pylist() == ["1", "2"]


def test_the_fingerprint_depends_on_the_content(tmp_path):
    first, second = store(ROWS, tmp_path / "a")[0], store(ROWS, tmp_path / "b")[0]
    other = store([ROWS[0], {**ROWS[1], "question": "c"}], tmp_path / "c")[0]
    assert first.fingerprint == second.fingerprint != other.fingerprint


def test_bad_data_leaves_no_file(tmp_path):
    with pytest.raises(RagstoneError):
        store([*ROWS, {"id": "1", "question": "again"}], tmp_path)
    assert not (tmp_path / "samples.parquet").exists()


@pytest.mark.parametrize(
    ("answers", "cites"),
    [
        (["At nine [1]."], True),
        (["At nine [doc-2]."], False),
        (["At nine [7]."], False),
        (["At nine [1]."] + ["At nine."] * 9, True),
        # A mark that only looks like one.
        (["At nine [1]."] + ["At nine."] * 39, False),
        ([None], False),
    ],
)
def test_whether_answers_cite_chunks(tmp_path, answers, cites):
    rows = [
        {"id": str(at), "question": "When?", "answer": answer, "contexts": ["x"]} for at, answer in enumerate(answers)
    ]
    profile, _ = store(rows, tmp_path)
    assert profile.cites == cites
    # An empty list says nothing: some tools always write it.
    assert store([{**row, "citations": []} for row in rows], tmp_path)[0].cites == cites
    assert store([{**row, "citations": [{"chunk": 1}]} for row in rows], tmp_path)[0].cites
