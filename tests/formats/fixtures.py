"""Small valid files of every format, of our own making: `fixture_<format>(folder)` writes them and returns their paths."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def fixture_dial(tmp_path: Path) -> list[str]:
    """DIAL's two tables; the documents stand in another order in each."""
    question, other = "When does the ferry leave?", "What does a child pay?"
    truths = [
        {
            "question": question,
            "documents": ["timetable.md", "winter.md"],
            "facts": ["It leaves at eight.", "In winter at nine."],
            "answer": "At eight, in winter at nine.",
        },
        {"question": other, "documents": ["fares.md"], "facts": ["Children pay five."], "answer": ""},
    ]
    answers = [
        {
            "question": question,
            "documents": ["winter.md", "timetable.md"],
            "context": ["It leaves at eight.", "Adults pay ten."],
            "answer": "At eight.",
        },
        {"question": other, "documents": ["fares.md"], "context": ["Children pay five."], "answer": ""},
    ]
    paths = [tmp_path / "ground_truth.parquet", tmp_path / "answers.parquet"]
    for path, rows in zip(paths, (truths, answers), strict=True):
        pq.write_table(pa.Table.from_pylist(rows), path)
    return [str(path) for path in paths]


def fixture_trec(tmp_path: Path) -> list[str]:
    """Qrels with all kinds of grades, and a run whose ranks are not the order of its scores."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 -1\nq2 0 d4 1\n")
    run.write_text("q1 Q0 d3 1 1.0 our-run\nq1 Q0 d1 2 9.5 our-run\nq1 Q0 d9 3 3 our-run\nq2 Q0 d4 1 0.5 our-run\n")
    return [str(qrels), str(run)]


def fixture_beir(tmp_path: Path) -> list[str]:
    """A BEIR folder and a run."""
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": "d1", "title": "", "text": "The ferry leaves at eight."},
        {"_id": "d2", "title": "Winter", "text": "In winter it leaves at nine."},
        {"_id": "d3", "title": "Fares", "text": "Adults pay ten."},
    ]
    queries = [
        {"_id": "q1", "text": "When does the ferry leave?"},
        {"_id": "q2", "text": "What do adults pay?", "metadata": {"split": "easy"}},
        {"_id": "q9", "text": "A question of another split"},
    ]
    _write_jsonl(folder / "corpus.jsonl", corpus)
    _write_jsonl(folder / "queries.jsonl", queries)
    grades = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t2\nq1\td3\t0\nq2\td3\t1\n"
    (folder / "qrels" / "test.tsv").write_text(grades)
    run = tmp_path / "run.trec"
    run.write_text("q1 Q0 d1 1 2.0 ours\nq1 Q0 d3 2 3.0 ours\nq2 Q0 d3 1 1.0 ours\n")
    return [str(folder), str(run)]


def fixture_openinference(tmp_path: Path) -> list[str]:
    """Two traces as JSONL of spans: one with flat attributes, one with nested ones."""
    spans = [
        _span(
            "t1",
            "retrieve",
            "2024-05-01T10:00:01Z",
            "a1",
            {
                "openinference.span.kind": "RETRIEVER",
                "input.value": "ferry departure",
                "retrieval.documents.0.document.content": "It leaves at eight.",
                "retrieval.documents.0.document.id": "d1",
                "retrieval.documents.0.document.score": 0.9,
                "retrieval.documents.0.document.metadata": '{"source": "timetable.md"}',
                "retrieval.documents.1.document.content": "Adults pay ten.",
                "retrieval.documents.1.document.id": "d3",
            },
        ),
        _span(
            "t1",
            "answer",
            "2024-05-01T10:00:00Z",
            None,
            {
                "openinference.span.kind": "CHAIN",
                "input.value": "When does the ferry leave?",
                "output.value": "At eight.",
                "session.id": "s1",
            },
        ),
        _span(
            "t2",
            "agent",
            "2024-05-01T11:00:00Z",
            None,
            {
                "openinference": {"span": {"kind": "AGENT"}},
                "input": {"value": '{"question": "What do adults pay?"}', "mime_type": "application/json"},
                "output": {"value": '{"answer": "Ten.", "sources": []}', "mime_type": "application/json"},
            },
        ),
        _span(
            "t2",
            "search",
            "2024-05-01T11:00:01Z",
            "b1",
            {
                "openinference": {"span": {"kind": "RETRIEVER"}},
                "retrieval": {"documents": [{"document": {"content": "Adults pay ten.", "id": "d3"}}]},
            },
        ),
    ]
    path = tmp_path / "spans.jsonl"
    _write_jsonl(path, spans)
    return [str(path)]


def _span(trace: str, name: str, start: str, parent: str | None, attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "context": {"trace_id": trace, "span_id": f"{trace}-{name}"},
        "parent_id": parent,
        "start_time": start,
        "attributes": attributes,
    }


def _write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
