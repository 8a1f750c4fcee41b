"""Files of other tools as they really arrive: half exported, hand-edited, of another version."""

import gzip
import json
from pathlib import Path

import pytest

from tests.e2e.stranger import METRICS, Refused, Scored, check, decent, lines, refused, samples, scored, the_run, write

# Hundreds of odd files through the whole command; the readers have quick tests of their own.
pytestmark = pytest.mark.slow

ONE = {"exact_match": [1.0]}
TWO = {"exact_match": [1.0, 0.0]}


def spans(*found):
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(found)}]}]}


def attribute(key, value):
    return {"key": key, "value": {"stringValue": value}}


def span(**changes):
    """A root span of OpenInference in OTLP."""
    good = {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "eee19b7ec3c1b174",
        "name": "ask",
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000001000000000",
        "attributes": [
            attribute("openinference.span.kind", "CHAIN"),
            attribute("input.value", "When?"),
            attribute("output.value", "21:40"),
        ],
    }
    return {**good, **changes}


CHAT = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "21:40"}]
OTHER = [{"role": "user", "content": "Do dogs pay?"}, {"role": "assistant", "content": "No."}]
SHARE = {"conversations": [{"from": "human", "value": "When?"}, {"from": "gpt", "value": "21:40"}]}
RAGAS = {"user_input": "q", "response": "x", "reference": "x", "retrieved_contexts": ["c"]}
DEEP = {"input": "q", "actual_output": "x", "expected_output": "x", "retrieval_context": ["c"]}
MLFLOW = {"inputs": {"question": "q"}, "outputs": "x", "expectations": {"expected_response": "x"}}
UNITXT = {
    "question": "q",
    "answer": "x",
    "contexts": ["c", "d"],
    "context_ids": ["1", "2"],
    "reference_answers": ["x"],
    "reference_context_ids": ["2"],
}
MTRAG = {
    "task_id": "t",
    "conversation_id": "c",
    "input": [{"speaker": "user", "text": "q"}],
    "contexts": [{"document_id": "d", "text": "c"}],
    "targets": [{"text": "x"}],
    "predictions": [{"text": "x"}],
}
CHECKER = {
    "query_id": "1",
    "query": "q",
    "gt_answer": "x",
    "response": "x",
    "retrieved_context": [{"doc_id": "d", "text": "c"}],
}
SMITH = {
    "id": "11111111-1111-4111-8111-111111111111",
    "trace_id": "11111111-1111-4111-8111-111111111111",
    "name": "chain",
    "run_type": "chain",
    "inputs": {"question": "q"},
    "outputs": {"answer": "x"},
    "start_time": "2026-01-01T00:00:00",
    "end_time": "2026-01-01T00:00:01",
    "parent_run_id": None,
}

FORMATS = {
    "ragas": (lines(RAGAS, {**RAGAS, "user_input": "r", "reference": "y"}), scored(2, **TWO)),
    "ragas null contexts": (lines({**RAGAS, "retrieved_contexts": None}), scored(1, **ONE)),
    "ragas contexts as text": (lines({**RAGAS, "retrieved_contexts": "c"}), scored(1, **ONE)),
    "ragas contexts as numbers": (lines({**RAGAS, "retrieved_contexts": [1]}), refused("line 1", "retrieved_contexts")),
    "ragas message without a type": (
        lines({**RAGAS, "user_input": [{"content": "q"}, {"content": "x", "type": "ai"}]}),
        refused("line 1"),
    ),
    "ragas response as a list": (lines({**RAGAS, "response": ["x"]}), refused("line 1", "response")),
    "ragas reference null": (
        lines({**RAGAS, "reference": None}, {**RAGAS, "user_input": "r"}),
        scored(2, exact_match=[None, 1.0]),
    ),
    "ragas with scores": (lines({**RAGAS, "faithfulness": float("nan"), "answer_relevancy": 0.5}), scored(1, **ONE)),
    "ragas legacy both": (
        lines({"question": "q", "answer": "x", "contexts": ["c"], "ground_truth": "x", "ground_truths": ["y"]}),
        scored(1, **ONE),
    ),
    "ragas legacy text": (
        lines({"question": "q", "answer": "x", "contexts": ["c"], "ground_truths": "x"}),
        scored(1, **ONE),
    ),
    "deepeval": (lines(DEEP, {**DEEP, "input": "r", "expected_output": "y"}), scored(2, **TWO)),
    "deepeval nulls": (lines({**DEEP, "retrieval_context": None, "context": None}), scored(1, **ONE)),
    "deepeval mapping": (lines({**DEEP, "retrieval_context": {"a": "b"}}), refused("line 1", "retrieval_context")),
    "deepeval cases": (json.dumps({"testCases": [DEEP]}), refused("testCases")),
    "deepeval output number": (lines({**DEEP, "actual_output": 5}), scored(1, exact_match=[0.0])),
    "mlflow": (lines(MLFLOW, {**MLFLOW, "inputs": {"question": "r"}, "outputs": "z"}), scored(2, **TWO)),
    "mlflow texts of JSON": (lines({name: json.dumps(value) for name, value in MLFLOW.items()}), scored(1, **ONE)),
    "mlflow null inputs": (lines({**MLFLOW, "inputs": None}), scored(1, **ONE)),
    "mlflow no outputs": (lines({**MLFLOW, "outputs": None}), scored(1, code=4)),
    "mlflow list inputs": (lines({**MLFLOW, "inputs": [1]}), refused("line 1", "inputs")),
    "mlflow outputs of choices": (
        lines({**MLFLOW, "outputs": {"choices": [{"message": {"content": "x"}}]}}),
        scored(1, **ONE),
    ),
    "unitxt": (lines(UNITXT), scored(1, recall=[1.0], **ONE)),
    "unitxt too few ids": (lines({**UNITXT, "context_ids": ["1"]}), refused("line 1", "context_ids")),
    "unitxt numbers as ids": (
        lines({**UNITXT, "context_ids": [1, 2], "reference_context_ids": [2]}),
        scored(1, recall=[1.0]),
    ),
    "unitxt null ids": (lines({**UNITXT, "context_ids": [None, "2"]}), scored(1, recall=[None])),
    "mtrag": (lines(MTRAG), scored(1, **ONE)),
    "mtrag empty input": (lines({**MTRAG, "input": []}), refused("line 1", "input")),
    "mtrag ends with the agent": (
        lines({**MTRAG, "input": [{"speaker": "agent", "text": "hello"}]}),
        refused("line 1"),
    ),
    "mtrag null targets": (lines({**MTRAG, "targets": None}), scored(1, code=4)),
    "mtrag unknown speaker": (
        lines({**MTRAG, "input": [{"speaker": "narrator", "text": "q"}]}),
        refused("line 1", "speaker"),
    ),
    "ragchecker": (json.dumps({"results": [CHECKER]}), scored(1, **ONE)),
    "ragchecker empty": (json.dumps({"results": []}), refused("no samples")),
    "ragchecker mapping": (json.dumps({"results": {"1": CHECKER}}), refused("results")),
    "ragchecker wrong verdict": (
        json.dumps(
            {"results": [{**CHECKER, "response_claims": [["a", "b", "c"]], "retrieved2response": [["Perhaps"]]}]}
        ),
        refused("Perhaps"),
    ),
    "ragchecker uneven verdicts": (
        json.dumps(
            {
                "results": [
                    {
                        **CHECKER,
                        "response_claims": [["a", "b", "c"]],
                        "retrieved2response": [["Entailment", "Neutral", "Neutral"]],
                    }
                ]
            }
        ),
        refused("retrieved2response"),
    ),
    "ragchecker ids twice": (json.dumps({"results": [CHECKER, CHECKER]}), refused("1")),
    "chat": (lines({"messages": CHAT}, {"messages": OTHER}), scored(2, code=4)),
    "same chat twice": (lines({"messages": CHAT}, {"messages": CHAT}), scored(2, code=4)),
    "chat no messages": (lines({"messages": []}), refused("messages")),
    "chat only system": (lines({"messages": [{"role": "system", "content": "x"}]}), refused("line 1", "messages")),
    "chat two questions in a row": (
        lines({"messages": [{"role": "user", "content": "Hello"}, *CHAT]}),
        scored(1, code=4),
    ),
    "chat null content": (lines({"messages": [CHAT[0], {"role": "assistant", "content": None}]}), refused("line 1")),
    "chat unknown role": (
        lines({"messages": [{"role": "wizard", "content": "x"}, *CHAT]}),
        refused("line 1", "wizard"),
    ),
    "chat parts": (
        lines(
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "When?"},
                            {"type": "image_url", "image_url": {"url": "data:x"}},
                        ],
                    },
                    CHAT[1],
                ]
            }
        ),
        scored(1, code=4),
    ),
    "chat text of JSON": (lines({"messages": json.dumps(CHAT)}), scored(1, code=4)),
    "chat message as text": (lines({"messages": ["When?", "21:40"]}), refused("line 1", "messages")),
    "chat mapping": (lines({"messages": {"role": "user", "content": "x"}}), refused("line 1", "messages")),
    "sharegpt": (
        lines({"conversations": [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "So."}]}, SHARE),
        scored(2, code=4),
    ),
    "one chat": (lines({"messages": CHAT}), scored(1, code=4)),
    "one sharegpt": (lines(SHARE), scored(1, code=4)),
    "sharegpt unknown": (
        lines({"conversations": [{"from": "alien", "value": "When?"}]}),
        refused("line 1", "messages"),
    ),
    "sharegpt null": (
        lines({"conversations": [{"from": "human", "value": None}, {"from": "gpt", "value": "21:40"}]}),
        refused("line 1"),
    ),
    "langgraph bad arguments": (
        lines(
            {
                "messages": [
                    CHAT[0],
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{broken"}}
                        ],
                    },
                    {"role": "tool", "tool_call_id": "1", "content": "21:40"},
                    CHAT[1],
                ]
            }
        ),
        scored(1, code=4),
    ),
    "langgraph call without a reply": (
        lines(
            {
                "messages": [
                    CHAT[0],
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
                        ],
                    },
                    CHAT[1],
                ]
            }
        ),
        scored(1, code=4),
    ),
    "langgraph reply without a call": (
        lines({"messages": [CHAT[0], {"role": "tool", "tool_call_id": "9", "content": "21:40"}, CHAT[1]]}),
        scored(1, code=4),
    ),
    "otlp": (json.dumps(spans(span())), scored(1, code=4)),
    "otlp empty": (json.dumps({"resourceSpans": []}), refused("odd.json")),
    "otlp no ids": (json.dumps(spans(span(traceId="", spanId=""))), refused("traceId")),
    "otlp bad time": (json.dumps(spans(span(startTimeUnixNano="soon"))), scored(1, code=4)),
    "otlp own parent": (json.dumps(spans(span(parentSpanId="eee19b7ec3c1b174"))), scored(1, code=4)),
    "otlp lost parent": (json.dumps(spans(span(parentSpanId="0000000000000001"))), scored(1, code=4)),
    "otlp twice": (json.dumps(spans(span(), span())), scored(1, code=4)),
    "otlp attributes null": (json.dumps(spans(span(attributes=None))), refused("odd.json")),
    "otlp attribute without value": (
        json.dumps(spans(span(attributes=[{"key": "x"}, *span()["attributes"]]))),
        scored(1, code=4),
    ),
    "otlp spans null": (
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": None}]}, *spans(span())["resourceSpans"]]}),
        scored(1, code=4),
    ),
    "langsmith": (lines(SMITH), scored(1, code=4)),
    "langsmith null inputs": (lines({**SMITH, "inputs": None}), scored(1, code=4)),
    "langsmith own parent": (lines({**SMITH, "parent_run_id": SMITH["id"]}), scored(1, code=4)),
    "langsmith lost parent": (
        lines({**SMITH, "parent_run_id": "22222222-2222-4222-8222-222222222222"}),
        scored(1, code=4),
    ),
    "langsmith bad time": (lines({**SMITH, "start_time": "yesterday"}), scored(1, code=4)),
    "langfuse bad time": (
        lines(
            {
                "id": "t",
                "timestamp": "yesterday",
                "input": "q",
                "output": "x",
                "observations": [],
                "scores": [],
                "projectId": "p",
            }
        ),
        scored(1, code=4),
    ),
    "langfuse observation alone": (
        lines(
            {
                "id": "o",
                "traceId": "t",
                "type": "GENERATION",
                "startTime": "2026-01-01T00:00:00Z",
                "input": "q",
                "output": "x",
                "parentObservationId": None,
            }
        ),
        scored(1, code=4),
    ),
    "rgb": (lines({"id": 0, "query": "q", "answer": ["x"], "positive": ["x"], "negative": ["y"]}), scored(1, code=4)),
    "rgb without positive": (
        lines({"id": 0, "query": "q", "answer": ["x"], "positive": None, "negative": ["y"]}),
        scored(1, code=4),
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats(cli, home, name):
    """A chat has a second, good conversation, so that what is wrong with the first one shows."""
    content, expected = FORMATS[name]
    if name.startswith(("chat ", "sharegpt ", "langgraph ")):
        content += lines({"messages": OTHER} if b'"messages"' in content else SHARE)
        expected = scored(2, *expected.words, code=4) if isinstance(expected, Scored) else expected
    name = "odd.json" if isinstance(content, str) else "odd.jsonl"
    write({name: content})
    check(cli("run", name, "-o", "out", "-m", METRICS), expected)


def test_a_truncated_spool(cli, home):
    """As a killed receiver, or a full disk, leaves it: the last line has no end."""
    write({"spool.jsonl": lines(spans(span())) + lines(spans(span(traceId="6" * 32)))[:-40]})
    check(cli("run", "spool.jsonl", "-o", "out"), refused("line 2"))


TREC = {
    "good": ("1 0 d1 1\n", "1 Q0 d1 1 0.9 me\n", scored(1, recall=[1.0])),
    "tabs and ends": ("1\t0\td1\t1\r\n\r\n", "1\tQ0\td1\t1\t0.9\tme\r\n", scored(1, recall=[1.0])),
    "bom": ("\ufeff1 0 d1 1\n", "1 Q0 d1 1 0.9 me\n", scored(1, recall=[1.0])),
    "three columns": ("1 0 d1 1\n1 0 d2\n", "1 Q0 d1 1 0.9 me\n", refused("qrels.txt")),
    "five columns": ("1 0 d1 1\n", "1 Q0 d1 1 0.9 me\n1 Q0 d2 2 0.8\n", refused("run.txt")),
    "no number": ("1 0 d1 1\n", "1 Q0 d1 1 0.9 me\n1 Q0 d2 2 high me\n", refused("run.txt")),
    "nan": ("1 0 d1 1\n", "1 Q0 d1 1 0.9 me\n1 Q0 d2 1 nan me\n", refused("run.txt")),
    "infinite": ("1 0 d1 1\n", "1 Q0 d1 1 0.9 me\n1 Q0 d2 1 1e999 me\n", refused("run.txt")),
    "grade in words": ("1 0 d1 1\n1 0 d2 yes\n", "1 Q0 d1 1 0.9 me\n", refused("qrels.txt")),
    "document twice": (
        "1 0 d1 1\n",
        "1 Q0 d1 1 0.9 me\n1 Q0 d1 2 0.8 me\n",
        scored(1, "retrieved twice", recall=[1.0]),
    ),
    "judged twice": ("1 0 d1 1\n1 0 d1 0\n", "1 Q0 d1 1 0.9 me\n", refused("d1")),
    "no common query": (
        "1 0 d1 1\n",
        "2 Q0 d1 1 0.9 me\n",
        scored(2, "missing from the run", "without judgements", recall=[None, None], code=4),
    ),
    "swapped": ("1 Q0 d1 1 0.9 me\n", "1 0 d1 1\n", scored(1, recall=[1.0])),
    "empty run": ("1 0 d1 1\n", "", refused("run.txt")),
    "missing query": (
        "1 0 d1 1\n2 0 d1 1\n",
        "1 Q0 d1 1 0.9 me\n",
        scored(2, "missing from the run", recall=[1.0, None]),
    ),
}


@pytest.mark.parametrize("name", TREC)
def test_trec(cli, home, name):
    qrels, run, expected = TREC[name]
    write({"qrels.txt": qrels, "run.txt": run})
    forced = ["--format", "trec"] if isinstance(expected, Refused) and name != "empty run" else []
    check(cli("run", "qrels.txt", "run.txt", "-o", "out", "-m", "recall", *forced), expected)


BEIR = {
    "corpus/corpus.jsonl": lines({"_id": "d1", "title": "", "text": "one"}, {"_id": "d2", "text": "two"}),
    "corpus/queries.jsonl": lines({"_id": "1", "text": "q"}),
    "corpus/qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\td1\t1\n",
    "corpus/run.trec": "1 Q0 d1 1 0.9 me\n",
}
BEIR_CASES = {
    "good": ({}, scored(1, recall=[1.0])),
    "no qrels": ({"corpus/qrels/test.tsv": None}, refused("qrels")),
    "no header": ({"corpus/qrels/test.tsv": "1\td1\t1\n"}, scored(1, recall=[1.0])),
    "broken grade": (
        {"corpus/qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\td1\tgood\n"},
        refused("test.tsv", "line 2"),
    ),
    "unknown document": ({"corpus/run.trec": "1 Q0 d9 1 0.9 me\n"}, scored(1, "d9", recall=[0.0])),
    "document twice": (
        {"corpus/corpus.jsonl": lines({"_id": "d1", "text": "one"}, {"_id": "d1", "text": "two"})},
        refused("d1"),
    ),
    "document without an id": ({"corpus/corpus.jsonl": lines({"text": "one"})}, refused("line 1", "_id")),
    "query without a text": ({"corpus/queries.jsonl": lines({"_id": "1"})}, refused("line 1", "text")),
    "broken corpus": (
        {"corpus/corpus.jsonl": b'{"_id": "d1", "text": "one"}\n{"_id": '},
        refused("corpus.jsonl", "line 2"),
    ),
    "empty queries": ({"corpus/queries.jsonl": b""}, refused("queries.jsonl")),
    "packed": ({"corpus/corpus.jsonl": gzip.compress(BEIR["corpus/corpus.jsonl"])}, scored(1, recall=[1.0])),
}


@pytest.mark.parametrize("name", BEIR_CASES)
def test_beir(cli, home, name):
    changes, expected = BEIR_CASES[name]
    write({path: content for path, content in {**BEIR, **changes}.items() if content is not None})
    check(cli("run", "corpus", "-o", "out", "-m", "recall"), expected)


@pytest.mark.parametrize(
    "name",
    [
        "ragas",
        "deepeval",
        "mlflow",
        "unitxt",
        "mtrag",
        "ragchecker",
        "chat",
        "openinference",
        "langfuse",
        "phoenix",
        "langsmith",
        "rgb",
        "dial",
        "dial_logs",
        "trec",
        "beir",
        "hf",
        "ragas_legacy",
    ],
)
def test_a_format_that_the_file_does_not_have(cli, home, name):
    """Named by force: a message, never rows without content."""
    write({"odd.jsonl": lines({"prompt": "q", "completion": "a"}, {"prompt": "r", "completion": "b"})})
    check(cli("run", "odd.jsonl", "-o", "out", "--format", name), refused("odd.jsonl"))


@pytest.mark.parametrize("target", ["out.xlsx", "out", "out.JSONL.bak", "answers.jsonl/out.jsonl", "folder"])
def test_converting_to_a_place_that_cannot_be_written(cli, home, target):
    Path("folder").mkdir()
    printed = cli("convert", "answers.jsonl", "-o", target)
    decent(printed)
    assert printed.code in (1, 2)
    assert Path(target).name in printed.err
    assert os_free(target)


def os_free(target):
    return not Path(target).is_file()


def test_converting_there_and_back_keeps_every_value(cli, home):
    """Texts that look like lists, numbers, formulas or nothing in a CSV cell."""
    odd = [
        "=1+1",
        "[1]",
        "null",
        "",
        "007",
        "a\r\nb",
        '"',
        "\t",
        " x ",
        "\\N",
        "nan",
        "{}",
        "1e5",
        "\u2028",
        "TRUE",
        "'",
        "#",
        "a,b;c|d",
    ]
    write(
        {
            "odd.jsonl": lines(
                *[
                    {
                        "id": str(n),
                        "question": f"q{n} {text}",
                        "answer": text,
                        "contexts": [text, "second"],
                        "references": [text or "r", "x"],
                    }
                    for n, text in enumerate(odd)
                ]
            )
        }
    )
    for kind in ("csv", "parquet", "jsonl"):
        printed = cli("convert", "odd.jsonl", "-o", f"copy.{kind}")
        assert printed.code == 0, printed.err
        printed = cli("convert", f"copy.{kind}", "-o", f"back_{kind}.jsonl")
        assert printed.code == 0, printed.err
        first, back = (
            [
                {key: value for key, value in json.loads(line).items() if value}
                for line in Path(name).read_text().split("\n")
                if line
            ]
            for name in ("odd.jsonl", f"back_{kind}.jsonl")
        )
        texts = [[(one["question"], one.get("answer"), one["references"]) for one in rows] for rows in (first, back)]
        assert texts[1] == texts[0], kind


def test_a_row_of_every_reader_is_counted(cli, home):
    """Rows that a reader leaves out are named in a note."""
    write(
        {
            "chat.jsonl": lines(
                {"messages": CHAT}, {"messages": [CHAT[0]]}, {"messages": [{"role": "system", "content": "x"}]}
            )
        }
    )
    printed = cli("run", "chat.jsonl", "-o", "out", "-m", METRICS)
    decent(printed)
    if printed.code != 2:
        assert len(samples(the_run())) == 3 or "note" in printed.err
