"""The toy system of the example: deterministic, and worse where it should be."""

import json
from pathlib import Path

import pytest

from ragstone.examples.harbour import toy_rag

TRUTH = Path(toy_rag.__file__).with_name("truth.jsonl")


def found(**setting):
    """The share of questions whose chunks contain a sentence of their facts."""
    rows = [json.loads(line) for line in TRUTH.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row.get("facts")]
    hits = 0
    for row in rows:
        texts = " ".join(chunk["text"] for chunk in toy_rag.answer(row["question"], **setting)["contexts"])
        hits += any(fact["text"] in texts for fact in row["facts"])
    return hits / len(rows)


def test_more_chunks_find_more_and_titles_find_little():
    assert found(chunk_words=120, top_k=3) > found(chunk_words=120, top_k=1) > found(index="titles", top_k=1)


def test_an_answer_has_chunks_and_a_price():
    reply = toy_rag.answer("When does the last boat leave Orlsay in summer?", top_k=2)
    assert len(reply["contexts"]) == 2
    assert reply["cost_usd"] > 0
    with pytest.raises(ValueError, match="text or titles"):
        toy_rag.answer("When?", index="pictures")
    assert toy_rag.answer("zzz")["answer"] == "I do not know."
