"""Dataset folders of the Hub: the card, and the rows as `datasets` loads them."""

import pytest

from ragstone.data.dataset import samples_table
from ragstone.data.types import Chunk, Sample
from ragstone.errors import UsageError
from ragstone.formats import read_dataset, write_dataset

SAMPLES = [
    Sample(
        "a", "When?", "At eight.", [Chunk("It leaves at eight.", "d1", 0.5)], ["Eight."], metadata={"topic": "time"}
    ),
    Sample("b", "Why?", relevance={"d1": 2.0}),
]


def test_a_folder_comes_back_and_has_a_card(tmp_path):
    write_dataset(samples_table(SAMPLES).to_batches(), str(tmp_path / "harbour"), "hf")
    assert list(read_dataset(str(tmp_path / "harbour"))) == SAMPLES
    card = (tmp_path / "harbour" / "README.md").read_text()
    assert card.startswith("---\npretty_name: harbour\n")
    assert "path: data/test-*" in card
    assert "| `contexts` | the retrieved chunks in rank order |" in card
    assert "`facts`" not in card


def test_datasets_loads_it(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    write_dataset(samples_table(SAMPLES).to_batches(), str(tmp_path / "harbour"), "hf")
    loaded = datasets.load_dataset(str(tmp_path / "harbour"), split="test", cache_dir=str(tmp_path / "cache"))
    assert loaded["question"] == ["When?", "Why?"]
    assert loaded[0]["contexts"][0]["text"] == "It leaves at eight."
    assert [sample.question for sample in read_dataset(loaded)] == ["When?", "Why?"]


def test_a_file_is_not_a_folder(tmp_path):
    with pytest.raises(UsageError, match="must be a folder"):
        write_dataset(samples_table(SAMPLES).to_batches(), str(tmp_path / "x.parquet"), "hf")
