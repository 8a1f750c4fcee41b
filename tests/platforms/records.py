"""Two traces of a small assistant as Langfuse, Phoenix and LangSmith return them, with every required field."""

import uuid

FERRY = "When does the ferry leave?"
FARE = "What do adults pay?"
AT_EIGHT = "It leaves at eight."
TEN = "Adults pay ten."
TRACES = {"ferry": "a" * 32, "fare": "b" * 32}
PROJECT = "5f7a3c1e-0000-4000-8000-000000000001"


def day(hour, minute=0, second=0):
    return f"2026-11-0{1}T{hour:02d}:{minute:02d}:{second:02d}.000Z"


def langfuse_observation(trace, name, kind, given, output, *, at, parent=None, seconds=1, **more):
    """An observation of GET /api/public/v2/observations; input and output are text there."""
    return {
        "id": f"{trace[:4]}-{name}",
        "traceId": trace,
        "startTime": at,
        "endTime": at.replace(":00.000Z", f":{seconds:02d}.000Z"),
        "projectId": "p1",
        "parentObservationId": parent and f"{trace[:4]}-{parent}",
        "type": kind,
        "isRootObservation": parent is None,
        "name": name,
        "level": "DEFAULT",
        "input": given,
        "output": output,
        "metadata": {},
        "userId": "u1",
        "sessionId": "s1",
        "modelId": None,
        "inputPrice": None,
        "outputPrice": None,
        "totalPrice": None,
        **more,
    }


def langfuse_observations():
    ferry, fare = TRACES["ferry"], TRACES["fare"]
    documents = (
        '[{"page_content": "It leaves at eight.", "metadata": {"source": "timetable.md"}, "id": "d1"},'
        ' {"page_content": "Adults pay ten.", "metadata": {"source": "fares.md"}, "id": "d3"}]'
    )
    usage = {"usageDetails": {"input": 100, "output": 7, "total": 107}, "costDetails": {"total": 0.002}}
    call = {**usage, "providedModelName": "gpt-4o-mini", "completionStartTime": day(10).replace(":00.000Z", ":02.000Z")}
    return [
        langfuse_observation(ferry, "answer", "SPAN", f'{{"question": "{FERRY}"}}', "At eight.", at=day(10), seconds=4),
        langfuse_observation(ferry, "search", "RETRIEVER", FERRY, documents, at=day(10), parent="answer"),
        langfuse_observation(
            ferry, "llm", "GENERATION", f'[{{"role": "user", "content": "{FERRY}"}}]', "At eight.", at=day(10),
            seconds=3, parent="answer", **call,
        ),
        langfuse_observation(fare, "answer", "SPAN", FARE, '{"answer": "Ten."}', at=day(11), seconds=2),
        langfuse_observation(
            fare, "search", "RETRIEVER", FARE, '["Adults pay ten."]', at=day(11), parent="answer"
        ),
    ]  # fmt: skip


def langfuse_score(trace, name, value, kind="NUMERIC", **more):
    """A score of GET /api/public/v3/scores with details and subject."""
    return {
        "id": f"score-{trace[:4]}-{name}",
        "projectId": "p1",
        "name": name,
        "value": value,
        "dataType": kind,
        "source": "API",
        "timestamp": day(12),
        "environment": "default",
        "createdAt": day(12),
        "updatedAt": day(12),
        "comment": None,
        "configId": None,
        "metadata": {},
        "subject": {"kind": "trace", "id": trace},
        **more,
    }


def langfuse_scores():
    ferry, fare = TRACES["ferry"], TRACES["fare"]
    return [
        langfuse_score(ferry, "user-feedback", 1, comment="thanks"),
        langfuse_score(fare, "user-feedback", False, "BOOLEAN"),
        langfuse_score(fare, "topic", "fares", "CATEGORICAL"),
        langfuse_score(fare, "token_f1", 0.5, metadata={"ragstone": {"run": "x"}}),
    ]


def langfuse_traces():
    """The traces of GET /api/public/traces of servers before version 4."""
    shared = {
        "release": None,
        "version": None,
        "userId": "u1",
        "public": False,
        "environment": "default",
        "tags": ["web"],
    }
    return [
        {
            **shared, "id": TRACES["ferry"], "timestamp": day(10), "name": "chat", "sessionId": "s1",
            "input": {"question": FERRY}, "output": "At eight.", "metadata": {"tenant": "x"},
            "htmlPath": "/t", "latency": 4.0, "totalCost": 0.002, "observations": ["o1"], "scores": [],
        },
        {
            **shared, "id": TRACES["fare"], "timestamp": day(11), "name": "chat", "sessionId": "s1",
            "input": FARE, "output": {"answer": "Ten."}, "metadata": None,
            "htmlPath": "/t", "latency": 2.0, "totalCost": 0.0, "observations": [], "scores": [],
        },
    ]  # fmt: skip


def phoenix_span(trace, number, kind, name, *, at, parent=None, **attributes):
    """A span of GET /v1/projects/{project}/spans."""
    return {
        "id": f"U3Bhbjo{number}",
        "name": name,
        "context": {"trace_id": trace, "span_id": f"{number:016x}"},
        "span_kind": kind,
        "parent_id": None if parent is None else f"{parent:016x}",
        "start_time": at.replace(".000Z", "+00:00"),
        "end_time": at.replace(":00.000Z", ":04+00:00"),
        "status_code": "OK",
        "status_message": "",
        "attributes": {"openinference.span.kind": kind, **attributes},
        "events": [],
    }


def phoenix_spans():
    ferry, fare = TRACES["ferry"], TRACES["fare"]
    found = {
        "retrieval.documents": [
            {"document.content": AT_EIGHT, "document.id": "d1", "document.score": 0.9},
            {"document.content": TEN, "document.id": "d3"},
        ]
    }
    tokens = {"llm.token_count.prompt": 100, "llm.token_count.completion": 7, "llm.model_name": "gpt-4o-mini"}
    said = {"session.id": "s1", "input.value": FERRY, "output.value": "At eight."}
    return [
        phoenix_span(ferry, 1, "CHAIN", "answer", at=day(10), **said),
        phoenix_span(ferry, 2, "RETRIEVER", "search", at=day(10), parent=1, **{"input.value": FERRY}, **found),
        phoenix_span(ferry, 3, "LLM", "llm", at=day(10), parent=1, **{"output.value": "At eight."}, **tokens),
        phoenix_span(
            fare, 4, "CHAIN", "answer", at=day(11), **{"session.id": "s1", "input.value": FARE, "output.value": "Ten."}
        ),
        phoenix_span(
            fare, 5, "RETRIEVER", "search", at=day(11), parent=4, **{"retrieval.documents": [{"document.content": TEN}]}
        ),
    ]


def phoenix_annotation(span, name, score=None, label=None, **more):
    return {
        "id": f"note-{span}-{name}",
        "created_at": day(12),
        "updated_at": day(12),
        "source": "API",
        "user_id": None,
        "name": name,
        "annotator_kind": "HUMAN",
        "result": {"score": score, "label": label, "explanation": None},
        "metadata": {},
        "identifier": "",
        "span_id": f"{span:016x}",
        **more,
    }


def phoenix_annotations():
    return [
        phoenix_annotation(1, "user_feedback", 1.0),
        phoenix_annotation(4, "user_feedback", 0.0),
        phoenix_annotation(4, "token_f1", 0.5, identifier="ragstone"),
    ]


def run_id(name):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def langsmith_run(name, kind, inputs, outputs, *, at, trace, parent=None, seconds=1, **more):
    """A run of POST /runs/query."""
    own = run_id(f"{trace}/{name}") if parent else run_id(trace)
    return {
        "id": own,
        "name": name,
        "run_type": kind,
        "start_time": at.replace(".000Z", "+00:00"),
        "end_time": at.replace(":00.000Z", f":{seconds:02d}+00:00"),
        "extra": {"metadata": {"thread_id": "s1", **more.pop("metadata", {})}},
        "error": None,
        "inputs": inputs,
        "outputs": outputs,
        "parent_run_id": run_id(trace) if parent else None,
        "parent_run_ids": [run_id(trace)] if parent else [],
        "trace_id": run_id(trace),
        "dotted_order": f"{at}{own}",
        "session_id": PROJECT,
        "status": "success",
        "app_path": "/o/1",
        "tags": [],
        **more,
    }


def langsmith_runs():
    documents = [
        {"page_content": AT_EIGHT, "metadata": {"source": "timetable.md", "id": "d1"}, "type": "Document"},
        {"page_content": TEN, "metadata": {"source": "fares.md", "id": "d3"}, "type": "Document"},
    ]
    tokens = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107, "total_cost": "0.002"}
    liked, disliked = ({"user_score": {"n": 1, "avg": score, "values": {}, "comments": []}} for score in (1.0, 0.0))
    call = {
        "messages": [[{"id": ["langchain", "HumanMessage"], "kwargs": {"content": FERRY, "type": "human"}, "lc": 1}]]
    }
    said = {"generations": [[{"text": "At eight.", "message": {"kwargs": {"content": "At eight.", "type": "ai"}}}]]}
    earlier = [{"type": "human", "content": FERRY}, {"type": "ai", "content": "At eight."}]
    chain = {"at": day(10), "trace": "ferry"}
    return [
        langsmith_run("chain", "chain", {"question": FERRY}, {"answer": "At eight."}, **chain, seconds=4, **tokens,
                      feedback_stats=liked),
        langsmith_run("search", "retriever", {"query": FERRY}, {"documents": documents}, **chain, parent=True),
        langsmith_run("llm", "llm", call, said, **chain, parent=True, seconds=3, metadata={"ls_model_name": "gpt-4o-mini"},
                      first_token_time="2026-11-01T10:00:02+00:00", **tokens),
        langsmith_run("chain", "chain", {"input": FARE, "chat_history": earlier},
                      {"answer": "Ten.", "context": documents[1:]}, at=day(11), trace="fare", seconds=2,
                      feedback_stats=disliked),
    ]  # fmt: skip
