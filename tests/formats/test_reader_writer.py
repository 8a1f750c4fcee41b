"""Writing samples."""

import json

import pytest

from ragstone.data.dataset import samples_table
from ragstone.data.types import Sample
from ragstone.errors import UsageError
from ragstone.formats import read_dataset, write_dataset

SAMPLES = [Sample("1", question="When?", answer="At eight."), Sample("2", question="Where?")]


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.parquet"])
def test_samples_read_back_unchanged(tmp_path, name):
    target = str(tmp_path / name)
    assert write_dataset(samples_table(SAMPLES).to_batches(), target) == 2
    assert list(read_dataset(target)) == SAMPLES


def test_the_extension_must_be_known(tmp_path):
    with pytest.raises(UsageError, match=r"\.jsonl"):
        write_dataset(samples_table(SAMPLES).to_batches(), str(tmp_path / "out.xyz"))


def test_a_format_that_cannot_be_written_lists_the_others(tmp_path):
    with pytest.raises(UsageError, match="ragchecker"):
        write_dataset(samples_table(SAMPLES).to_batches(), str(tmp_path / "out"), format="mlflow")


def test_information_about_the_file_is_written(tmp_path):
    target = tmp_path / "out.json"
    write_dataset(samples_table(SAMPLES).to_batches(), str(target), format="ragchecker", info={"metrics": {"f1": 0.5}})
    assert json.loads(target.read_text())["metrics"] == {"f1": 0.5}
