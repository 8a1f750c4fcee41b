"""Samples as files of other tools: what they expect, and what comes back."""

import json

import pytest

from ragstone.data.dataset import samples_table
from ragstone.data.types import Chunk, Fact, Sample
from ragstone.errors import UsageError
from ragstone.formats import read_dataset, write_dataset

SAMPLES = [
    Sample(
        "a",
        "When does it leave?",
        "At eight.",
        [Chunk("It leaves at eight.", "d1"), Chunk("Adults pay ten.", "d2")],
        ["At eight."],
        ["It leaves at eight."],
        {"d1": 1.0},
        [Fact("at eight")],
        answerable=True,
        metadata={"topic": "time", "latency_s": 1.5, "cost_usd": 0.01},
    ),
    Sample("b", "What do adults pay?", "Ten.", [Chunk("Adults pay ten.")], ["Ten.", "10"]),
]
KEPT = {
    "ragas": ("id", "question", "answer", "contexts", "reference_contexts", "relevance", "metadata"),
    "unitxt": (
        *("id", "question", "answer", "contexts", "references"),
        *("reference_contexts", "relevance", "answerable", "metadata"),
    ),
    "deepeval": ("id", "question", "answer", "reference_contexts", "metadata"),
}


def write(name, path):
    write_dataset(samples_table(SAMPLES).to_batches(), str(path), name)
    return path


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
@pytest.mark.parametrize("name", KEPT)
def test_what_a_format_has_comes_back(name, ending, tmp_path):
    after = list(read_dataset(str(write(name, tmp_path / f"copy.{ending}")), format=name))
    for before, sample in zip(SAMPLES, after, strict=True):
        assert {field: getattr(sample, field) for field in KEPT[name]} == {
            field: getattr(before, field) for field in KEPT[name]
        }
        assert sample.references[0] == before.references[0]
        assert [chunk.text for chunk in sample.contexts] == [chunk.text for chunk in before.contexts]


def test_rows_of_ragas(tmp_path):
    first, second = map(json.loads, write("ragas", tmp_path / "r.jsonl").read_text().splitlines())
    assert first["user_input"] == "When does it leave?"
    assert first["retrieved_context_ids"] == first["reference_context_ids"] + ["d2"]
    assert first["topic"] == "time"
    assert "retrieved_context_ids" not in second
    ragas = pytest.importorskip("ragas")
    assert len(ragas.EvaluationDataset.from_jsonl(str(tmp_path / "r.jsonl"))) == 2


def test_rows_of_deepeval(tmp_path):
    first, _ = json.loads(write("deepeval", tmp_path / "d.json").read_text())
    assert (first["completion_time"], first["token_cost"]) == (1.5, 0.01)
    assert first["additional_metadata"]["topic"] == "time"
    cases = pytest.importorskip("deepeval.test_case")
    known = {name: value for name, value in first.items() if name != "id"}
    assert cases.LLMTestCase(**known).input == "When does it leave?"


def test_an_unknown_ending(tmp_path):
    with pytest.raises(UsageError, match="must end in"):
        write("ragas", tmp_path / "r.csv")
