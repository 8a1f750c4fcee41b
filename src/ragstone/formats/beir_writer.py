"""Writes a BEIR folder: corpus.jsonl, queries.jsonl, qrels/test.tsv, and run.trec if something was retrieved."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from ragstone.errors import UsageError
from ragstone.formats.row_writer import relevant_ids
from ragstone.storage.places import Place

_TAG = "ragstone"
RUN = "run.trec"


def write_folder(samples: Iterable[Mapping[str, Any]], folder: Place) -> None:
    """Write the files. A chunk without an id gets one made from its text; unknown texts of relevant documents are empty."""
    if "." in folder.name or (folder.exists() and not folder.is_folder()):
        raise UsageError(
            f"'{folder}' must be a folder: corpus.jsonl, queries.jsonl and qrels/test.tsv are written into it"
        )
    corpus: dict[str, str] = {}
    queries: list[str] = []
    judged: list[str] = ["query-id\tcorpus-id\tscore"]
    run: list[str] = []
    for sample in samples:
        if sample.get("question") is None:
            raise UsageError(f"sample '{sample['id']}' has no question; BEIR needs the text of each query")
        grades = _grades(sample, corpus)
        ranked = _ranking(sample, corpus)
        queries.append(
            _json({"_id": sample["id"], "text": sample["question"], "metadata": sample.get("metadata") or {}})
        )
        judged += [f"{_cell(sample['id'])}\t{_cell(name)}\t{grade:g}" for name, grade in grades.items()]
        run += [
            f"{_word(sample['id'])} Q0 {_word(name)} {rank} {score:.6g} {_TAG}"
            for rank, (name, score) in enumerate(ranked, start=1)
        ]
    documents = [_json({"_id": name, "title": "", "text": text}) for name, text in corpus.items()]
    for path, lines in (("corpus.jsonl", documents), ("queries.jsonl", queries), ("qrels/test.tsv", judged)):
        _write(folder / path, lines)
    if run:
        _write(folder / RUN, run)


def _grades(sample: Mapping[str, Any], corpus: dict[str, str]) -> Mapping[str, float]:
    """The grades; without any, the reference contexts are relevant documents of their own."""
    texts: list[str] = sample.get("reference_contexts") or []
    grades: Mapping[str, float] | None = sample.get("relevance")
    if not grades:
        names = [_made_id(text) for text in texts]
        corpus.update(zip(names, texts, strict=True))
        return dict.fromkeys(names, 1.0)
    best = relevant_ids(grades) or []
    # As read from a BEIR folder: the texts of the relevant documents, best grade first.
    known = dict(zip(best, texts, strict=True)) if len(best) == len(texts) else {}
    for name in grades:
        corpus[name] = corpus.get(name) or known.get(name, "")
    return grades


def _ranking(sample: Mapping[str, Any], corpus: dict[str, str]) -> list[tuple[str, float]]:
    """The retrieved chunks with scores that fall with the rank: their own, or 1 / rank."""
    chunks = sample.get("contexts") or []
    ranked: dict[str, float | None] = {}
    for chunk in chunks:
        name = chunk.get("id") or _made_id(chunk["text"])
        corpus[name] = corpus.get(name) or chunk["text"]
        ranked.setdefault(name, chunk.get("score"))
    scores = [score for score in ranked.values() if score is not None]
    falling = len(scores) == len(ranked) and all(one > other for one, other in itertools.pairwise(scores))
    values = scores if falling else [1 / rank for rank in range(1, len(ranked) + 1)]
    return list(zip(ranked, values, strict=True))


def _made_id(text: str) -> str:
    return f"c-{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"


def _cell(name: str) -> str:
    if any(mark in name for mark in "\t\r\n"):
        raise UsageError(f"the id {name!r} contains a tab or a line break; qrels cannot contain it")
    return name


def _word(name: str) -> str:
    if len(name.split()) != 1:
        raise UsageError(f"the id {name!r} contains white space; a TREC run cannot contain it")
    return name


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write(place: Place, lines: Iterable[str]) -> None:
    with place.writing() as stream:
        for line in lines:
            stream.write(line.encode() + b"\n")
