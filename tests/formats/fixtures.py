"""Small valid files of every format, of our own making: `fixture_<format>(folder)` writes them and returns their paths."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.platforms import records


def fixture_of(name: str) -> Callable[[Path], list[str]]:
    """What writes the files of a format, from here or from its own test; every format must have one."""
    called, own = f"fixture_{name}", f"tests.formats.test_{name}"
    if called in globals():
        return globals()[called]
    found = getattr(importlib.import_module(own), called, None) if importlib.util.find_spec(own) else None
    assert found, (
        f"write {called}(tmp_path) in tests/formats/test_{name}.py: it writes small valid files and returns paths"
    )
    return found


def fixture_ragstone(tmp_path: Path) -> list[str]:
    """Our own names, with everything that a sample can have and with next to nothing."""
    rows = [
        {
            "id": "full",
            "question": "When does the ferry leave?",
            "answer": "At eight.",
            "contexts": [{"text": "It leaves at eight.", "id": "d1", "score": 0.5, "source": "timetable.md"}],
            "references": ["At eight, in winter at nine."],
            "reference_contexts": ["It leaves at eight."],
            "relevance": {"d1": 2},
            "facts": [{"text": "It leaves at eight.", "kind": "citation", "source": "timetable.md"}],
            "answerable": True,
            "documents": ["timetable.md"],
            "metadata": {"topic": "timetable"},
            "answer_claims": ["The ferry leaves at eight."],
            "answer_claims_in_contexts": [["entailment"]],
        },
        {"question": "What do adults pay?", "contexts": [{"text": "Adults pay ten."}, {"text": "Children pay five."}]},
    ]
    path = tmp_path / "samples.jsonl"
    _write_jsonl(path, rows)
    return [str(path)]


def fixture_hf(tmp_path: Path) -> list[str]:
    """A dataset folder as the Hub has it: a card, and our columns in a Parquet file."""
    folder = tmp_path / "hub"
    (folder / "data").mkdir(parents=True)
    (folder / "README.md").write_text("---\nconfigs: []\n---\n\n# Harbour\n")
    rows = [
        {"id": "a", "question": "When does the ferry leave?", "answer": "At eight.", "metadata": '{"topic":"time"}'},
        {"id": "b", "question": "What do adults pay?", "answer": "Ten.", "metadata": None},
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "data" / "test-00000-of-00001.parquet")
    return [str(folder)]


def fixture_ragas(tmp_path: Path) -> list[str]:
    """RAGAS 0.2: a row with ids and one without."""
    rows = [
        {
            "user_input": "When does the ferry leave?",
            "response": "At eight.",
            "retrieved_contexts": ["It leaves at eight.", "Adults pay ten."],
            "retrieved_context_ids": ["d1", "d3"],
            "reference": "At eight, in winter at nine.",
            "reference_contexts": ["It leaves at eight."],
            "reference_context_ids": ["d1", "d2"],
            "rubrics": {"score1_description": "wrong", "score5_description": "right"},
        },
        {"user_input": "What do adults pay?", "response": "Ten.", "retrieved_contexts": ["Adults pay ten."]},
    ]
    path = tmp_path / "ragas.jsonl"
    _write_jsonl(path, rows)
    return [str(path)]


def fixture_ragas_legacy(tmp_path: Path) -> list[str]:
    """RAGAS 0.1, with the newer and the older name of the truth."""
    rows = [
        {
            "question": "When does the ferry leave?",
            "contexts": ["It leaves at eight."],
            "answer": "At eight.",
            "ground_truth": "At eight, in winter at nine.",
        },
        {"question": "What do adults pay?", "contexts": [], "answer": "Ten.", "ground_truths": ["Ten.", "10"]},
    ]
    path = tmp_path / "legacy.json"
    path.write_text(json.dumps(rows))
    return [str(path)]


def fixture_unitxt(tmp_path: Path) -> list[str]:
    """unitxt's RAG task with both spellings of the chunks' ids."""
    rows = [
        {
            "question": "When does the ferry leave?",
            "question_id": "7",
            "metadata_field": "timetable",
            "contexts": ["It leaves at eight.", "Adults pay ten."],
            "contexts_id": ["d1", "d3"],
            "answer": "At eight.",
            "reference_answers": ["At eight, in winter at nine."],
            "reference_contexts": ["It leaves at eight."],
            "reference_context_ids": ["d1"],
            "is_answerable_label": True,
        },
        {
            "question": "Who is the captain?",
            "question_id": "",
            "metadata_tags": {"topic": "crew"},
            "contexts": ["Adults pay ten."],
            "context_ids": [3],
            "answer": "I do not know.",
            "reference_answers": [],
            "is_answerable_label": False,
        },
    ]
    path = tmp_path / "unitxt.jsonl"
    _write_jsonl(path, rows)
    return [str(path)]


def fixture_deepeval(tmp_path: Path) -> list[str]:
    """deepeval's test cases: a test case with all that concerns us, and a golden in the spelling of its JSON."""
    rows = [
        {
            "id": "tc-1",
            "name": "departure",
            "input": "When does the ferry leave?",
            "actual_output": "At eight.",
            "expected_output": "At eight, in winter at nine.",
            "retrieval_context": ["It leaves at eight.", "Adults pay ten."],
            "context": ["It leaves at eight."],
            "additional_metadata": {"topic": "timetable"},
            "comments": "asked often",
            "tools_called": None,
        },
        {
            "input": "What do adults pay?",
            "actualOutput": "Ten.",
            "expectedOutput": "Ten.",
            "retrievalContext": [{"context": "Adults pay ten.", "source": "fares.md"}],
            "additionalMetadata": {"topic": "fares"},
        },
    ]
    path = tmp_path / "test_cases.json"
    path.write_text(json.dumps({"test_cases": rows}))
    return [str(path)]


def fixture_langgraph(tmp_path: Path) -> list[str]:
    """Messages with calls of tools: LangChain's, whose tool returns documents, and OpenAI's, whose tool returns text."""
    rows = [
        {
            "thread_id": "g1",
            "messages": [
                {"type": "human", "content": "When does the ferry leave?"},
                {
                    "type": "ai",
                    "content": "",
                    "tool_calls": [{"name": "search", "args": {"query": "ferry departure"}, "id": "c1"}],
                },
                {
                    "type": "tool",
                    "name": "search",
                    "tool_call_id": "c1",
                    "content": "It leaves at eight.",
                    "artifact": [{"id": "d1", "page_content": "It leaves at eight.", "metadata": {"source": "t.md"}}],
                },
                {"type": "ai", "content": "At eight."},
            ],
            "references": ["At eight."],
            "topic": "timetable",
        },
        {
            "messages": [
                {"role": "user", "content": "What do adults pay?"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "c2", "type": "function", "function": {"name": "search", "arguments": '{"q": "fares"}'}}
                    ],
                },
                {"role": "tool", "tool_call_id": "c2", "content": "Adults pay ten."},
                {"role": "assistant", "content": "Ten."},
            ],
        },
    ]
    path = tmp_path / "states.json"
    path.write_text(json.dumps(rows))
    return [str(path)]


def fixture_mlflow(tmp_path: Path) -> list[str]:
    """MLflow's evaluation set: a plain row and one of chat messages."""
    rows = [
        {
            "inputs": {"question": "When does the ferry leave?", "language": "en"},
            "outputs": {
                "response": "At eight.",
                "retrieved_context": [
                    {"doc_uri": "timetable.md", "content": "It leaves at eight."},
                    {"doc_uri": "fares.md", "content": "Adults pay ten."},
                ],
            },
            "expectations": {
                "expected_response": "At eight, in winter at nine.",
                "expected_facts": ["It leaves at eight.", "In winter it leaves at nine."],
                "expected_retrieved_context": [
                    {"doc_uri": "timetable.md", "content": "It leaves at eight."},
                    {"doc_uri": "winter.md"},
                ],
                "guidelines": ["Be short."],
            },
            "tags": {"release": "2"},
        },
        {
            "inputs": {"messages": [{"role": "user", "content": "What do adults pay?"}]},
            "outputs": {"choices": [{"message": {"role": "assistant", "content": "Ten."}}]},
        },
    ]
    path = tmp_path / "mlflow.jsonl"
    _write_jsonl(path, rows)
    return [str(path)]


def fixture_ragchecker(tmp_path: Path) -> list[str]:
    """RAGChecker's output: claims as triplets and as texts, verdicts, metrics of each result and of all."""
    results = [
        {
            "query_id": "0",
            "query": "When does the ferry leave?",
            "gt_answer": "At eight, in winter at nine.",
            "response": "At eight from pier two.",
            "retrieved_context": [
                {"doc_id": "d1", "text": "It leaves at eight."},
                {"doc_id": "d3", "text": "Adults pay ten."},
                {"doc_id": None, "text": "Children pay five."},
            ],
            "response_claims": [["ferry", "leaves at", "eight"], ["ferry", "leaves from", "pier two"]],
            "gt_answer_claims": ["The ferry leaves at eight.", "In winter it leaves at nine."],
            "answer2response": ["Entailment", "Neutral"],
            "response2answer": ["Entailment", "Contradiction"],
            "retrieved2response": [["Entailment", "Neutral", "Neutral"], ["Neutral", "Neutral", "Neutral"]],
            "retrieved2answer": [["Entailment", "Neutral", "Neutral"], ["Neutral", "Neutral", "Contradiction"]],
            "metrics": {"precision": 0.5, "recall": 0.5},
        },
        {
            "query_id": "1",
            "query": "What do adults pay?",
            "gt_answer": "[10] euros",
            "response": "",
            "retrieved_context": [],
            "response_claims": [],
            "answer2response": [],
            "retrieved2response": [],
        },
    ]
    path = tmp_path / "checking_outputs.json"
    path.write_text(json.dumps({"results": results, "metrics": {"overall": {"precision": 50.0}}}, indent=2))
    return [str(path)]


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


def fixture_dial_logs(tmp_path: Path) -> list[str]:
    """A folder with a day of each of DIAL's two layouts: plain columns, and those of the newer parser."""
    old = {
        "documents": ["timetable.md"],
        "question": "When does the ferry leave?",
        "answer": "At eight.",
        "attachments": [retrieval_attachment("It leaves at eight.", "Adults pay ten.")],
    }
    folder = tmp_path / "logs"
    write_part(folder / "ferry-guide" / "parsed_logs" / "2024" / "05" / "01" / "0001.parquet", [old])
    new = dial_row("r-2", "What do adults pay?", "Ten.", ["Adults pay ten."], time="2024-05-02T10:00:00")
    write_part(folder / "fares" / "2024-05-02" / "part-0.parquet", [new])
    return [str(folder)]


def retrieval_attachment(*texts: str) -> dict[str, Any]:
    """Retrieved chunks as DIAL RAG attaches them."""
    chunks = [
        {"attachment_url": "guide.md", "source": {"url": f"guide.md#{n}"}, "text": t} for n, t in enumerate(texts)
    ]
    kind = "application/x.aidial-rag.retrieval-response+json"
    return {"type": kind, "title": "retrieved", "data": json.dumps({"chunks": chunks, "images": []})}


def dial_row(
    response: str | None,
    question: str,
    answer: str | None,
    chunks: list[str] | None = None,
    *,
    time: str = "2024-05-01T10:00:00",
    chat: str = "chat-1",
    user: str = "user-1",
) -> dict[str, Any]:
    """A row of the newer parser: request, response and the assembled reply as JSON text."""
    attached = [] if chunks is None else [retrieval_attachment(*chunks)]
    message = {"role": "assistant", "content": answer, "custom_content": {"attachments": attached}}
    body = {"messages": [{"role": "user", "content": question}]}
    return {
        "chat": {"id": chat},
        "user": {"id": user, "title": "Clerk"},
        "trace": {"trace_id": f"trace-{response}", "core_span_id": "s1"},
        "request": {"uri": "/openai/deployments/app/chat/completions", "time": time, "body": json.dumps(body)},
        "response": {"status": "200", "body": "data: …"},
        "assembled_response": json.dumps({"id": response, "choices": [{"index": 0, "message": message}]}),
        "question": question,
        "answer": answer,
    }


def rating_row(response: str, rate: bool, *, time: str = "2024-05-01T10:05:00", user: str = "user-1") -> dict[str, Any]:
    """A rating as it stands among the completions."""
    body = {"rate": rate, "responseId": response}
    return {
        "chat": {"id": "chat-1"},
        "user": {"id": user, "title": "Clerk"},
        "trace": None,
        "request": {"uri": "/v1/app/rate", "time": time, "body": json.dumps(body)},
        "response": {"status": "200", "body": ""},
        "assembled_response": None,
        "question": None,
        "answer": None,
    }


def write_part(path: Path, rows: list[dict[str, Any]]) -> str:
    """A Parquet part, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


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


def fixture_rgb(tmp_path: Path) -> list[str]:
    """RGB: an answer with two spellings, one of two parts with groups of passages, one with false passages."""
    rows = [
        {
            "id": 0,
            "query": "When does the ferry leave?",
            "answer": [["At eight", "8:00"]],
            "positive": ["It leaves at 8:00."],
            "negative": ["Adults pay ten.", "The pier is long."],
        },
        {
            "id": 1,
            "query": "What do adults and children pay?",
            "answer": ["ten", ["five", "5"]],
            "positive": [["Adults pay ten."], ["Children pay five.", "It is 5 for a child."]],
            "negative": ["The pier is long."],
        },
        {
            "id": 2,
            "query": "Wie lang ist die Mole?",
            "answer": "300 m",
            "fakeanswer": "800 m",
            "positive": ["Die Mole ist 300 m lang."],
            "positive_wrong": ["Die Mole ist 800 m lang."],
            "negative": ["Adults pay ten."],
        },
    ]
    path = tmp_path / "en_rgb.json"
    _write_jsonl(path, rows)
    return [str(path)]


def fixture_chat(tmp_path: Path) -> list[str]:
    """Chat messages: a conversation of two questions and one of a single question."""
    rows = [
        {
            "id": "c1",
            "messages": [
                {"role": "system", "content": "You answer from documents."},
                {"role": "user", "content": "What do adults pay?"},
                {"role": "assistant", "content": "Ten.", "contexts": ["Adults pay ten."]},
                {"role": "user", "content": [{"type": "text", "text": "And children?"}]},
                {"role": "assistant", "content": "Five."},
            ],
            "contexts": [{"document_id": "d1", "text": "Children pay five."}],
            "reference": "Children pay five.",
        },
        {"messages": [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At eight."}]},
    ]
    path = tmp_path / "chat.jsonl"
    _write_jsonl(path, rows)
    return [str(path)]


def fixture_mtrag(tmp_path: Path) -> list[str]:
    """MTRAG: a task with an answer and one without."""
    rows = [
        {
            "conversation_id": "m1",
            "task_id": "m1<::>2",
            "turn": "2",
            "contexts": [{"document_id": "d1", "text": "Children pay five.", "score": 3.5, "title": "Fares"}],
            "input": [
                {"speaker": "user", "text": "What do adults pay?", "metadata": {"author_type": "human"}},
                {"speaker": "agent", "text": "Ten."},
                {"speaker": "user", "text": "And children?"},
            ],
            "targets": [{"speaker": "agent", "text": "Children pay five."}],
            "predictions": [{"text": "Five."}],
            "Answerability": ["ANSWERABLE"],
        },
        {
            "conversation_id": "m2",
            "task_id": "m2<::>1",
            "input": [{"speaker": "user", "text": "When?"}],
            "targets": [{"speaker": "agent", "text": "It is not known."}],
            "Answerability": ["UNANSWERABLE"],
        },
    ]
    path = tmp_path / "mtrag.jsonl"
    _write_jsonl(path, rows)
    return [str(path)]


def fixture_langfuse(tmp_path: Path) -> list[str]:
    """Observations and scores of two traces."""
    path = tmp_path / "langfuse.jsonl"
    _write_jsonl(path, [*records.langfuse_observations(), *records.langfuse_scores()])
    return [str(path)]


def fixture_phoenix(tmp_path: Path) -> list[str]:
    """Spans of two traces."""
    path = tmp_path / "phoenix.jsonl"
    _write_jsonl(path, records.phoenix_spans())
    return [str(path)]


def fixture_langsmith(tmp_path: Path) -> list[str]:
    """Runs of two traces."""
    path = tmp_path / "langsmith.jsonl"
    _write_jsonl(path, records.langsmith_runs())
    return [str(path)]


def fixture_hallucination_sets(tmp_path: Path) -> list[str]:
    """LLM-AggreFact's names."""
    rows = [
        {"dataset": "RAGTruth", "doc": "It leaves at eight.", "claim": f"It leaves at {hour}.", "label": label}
        for hour, label in (("eight", 1), ("nine", 0))
    ]
    path = tmp_path / "aggrefact.jsonl"
    _write_jsonl(path, rows)
    return [str(path)]


def fixture_atif(tmp_path: Path) -> list[str]:
    """Two trajectories as JSON lines; Harbor writes one per file."""
    path = tmp_path / "trajectories.jsonl"
    _write_jsonl(path, trajectories())
    return [str(path)]


def trajectories() -> list[dict[str, Any]]:
    """A conversation with a search, and a task with an image."""
    call = {"tool_call_id": "c1", "function_name": "search", "arguments": {"query": "ferry timetable"}}
    observation = {"results": [{"source_call_id": "c1", "content": "The ferry leaves at eight."}]}
    metrics = [
        {"prompt_tokens": 100, "completion_tokens": 10, "cost_usd": 0.001},
        {"prompt_tokens": 200, "completion_tokens": 20, "cost_usd": 0.002},
    ]
    steps = [
        {"source": "system", "message": "You know the harbour."},
        {"source": "user", "message": "When does the ferry leave?", "timestamp": "2025-10-16T14:30:00Z"},
        {
            "source": "agent",
            "message": "Let me look.",
            "tool_calls": [call],
            "observation": observation,
            "metrics": metrics[0],
        },
        {"source": "agent", "message": "At eight.", "timestamp": "2025-10-16T14:30:04Z", "metrics": metrics[1]},
        {"source": "user", "message": "And back?"},
        {"source": "agent", "message": "At nine."},
    ]
    picture = [{"type": "text", "text": "Which ship is this?"}, {"type": "image", "source": {"path": "ship.png"}}]
    short = [{"source": "user", "message": picture}, {"source": "agent", "message": "The Maren."}]
    agent = {"name": "harbour-agent", "version": "1.0", "model_name": "m-1"}
    return [
        {
            "schema_version": "ATIF-v1.6",
            "session_id": f"run-{number}",
            "agent": agent,
            "steps": [{"step_id": at, **step} for at, step in enumerate(some, start=1)],
            "final_metrics": {"total_prompt_tokens": 5, "total_completion_tokens": 7},
        }
        for number, some in enumerate((steps, short), start=1)
    ]
