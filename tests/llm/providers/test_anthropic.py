"""Anthropic's messages and message batches. tests/e2e/test_batches.py has whole batches."""

import asyncio
import json
from datetime import UTC, datetime

import pytest

from ragstone.errors import UsageError
from ragstone.http.client import HttpClient
from ragstone.llm.base import LLMBusyError, LLMRefusedError, Message, Request, UnsupportedFormatError
from ragstone.llm.batches import BatchRecord, BatchResult, BatchState
from ragstone.llm.gateway import open_batches

SCHEMA = {
    "title": "Verdicts",
    "type": "object",
    "properties": {
        "verdicts": {"type": "array", "items": {"type": "string", "enum": ["a", "b"], "maxLength": 9}, "maxItems": 4},
        "maxItems": {"type": "integer", "minimum": 1},
    },
    "required": ["verdicts", "maxItems"],
    "additionalProperties": False,
}
MESSAGES = (Message("system", "Judge."), Message("user", "q"), Message("assistant", "a"), Message("user", "again"))
ASKED = Request(MESSAGES, reply_format="json_schema", schema=SCHEMA, max_tokens=50, repeat=2, logprobs=True)
RECORD = BatchRecord("r", "anthropic", "anthropic/m", "", "", ("k1", "k2"), 1_000_000.0, batch="msgbatch_1")


def message(text="fine", **more):
    usage = {"input_tokens": 10, "output_tokens": 2}
    return {
        "type": "message",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": usage,
    } | more


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret-1")


def call(server, method, *arguments):
    async def run():
        client = HttpClient()
        opened = open_batches("anthropic/m", server.url, None, client, 5)
        try:
            return await getattr(opened.llm if method == "complete" else opened.batches, method)(*arguments)
        finally:
            await client.close()

    return asyncio.run(run())


def test_a_request(loopback):
    loopback.handler = lambda asked: message()
    reply = call(loopback, "complete", ASKED)
    assert (reply.text, reply.input_tokens, reply.output_tokens, reply.finish_reason) == ("fine", 10, 2, "stop")
    [asked] = loopback.asked
    assert asked.path == "/v1/messages"
    assert asked.headers["x-api-key"] == "sk-ant-secret-1"
    assert asked.headers["anthropic-version"] == "2023-06-01"
    properties = {
        "verdicts": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "maxItems": {"type": "integer"},
    }
    assert asked.json == {
        "model": "m",
        "max_tokens": 50,
        "system": "Judge.",
        "messages": [{"role": m.role, "content": m.content} for m in MESSAGES[1:]],
        "temperature": 0.0,
        "output_config": {"format": {"type": "json_schema", "schema": {**SCHEMA, "properties": properties}}},
    }


def test_a_line_has_the_same_body(loopback):
    api = open_batches("anthropic/m", loopback.url, None, HttpClient(), 5).batches
    line = json.loads(api.line("k1", Request((Message("user", "q"),))))
    assert line["custom_id"] == "k1"
    assert line["params"] == {
        "model": "m",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": "q"}],
        "temperature": 0.0,
    }


def test_a_model_without_temperature(loopback):
    refusal = (
        400,
        {"type": "error", "error": {"type": "invalid_request_error", "message": "`temperature` is deprecated"}},
    )
    loopback.handler = lambda asked: refusal if "temperature" in asked.json else message()
    assert call(loopback, "complete", ASKED).text == "fine"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (message("no", stop_reason="refusal"), LLMRefusedError),
        ({"type": "message"}, LLMBusyError),
        ((529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}), LLMBusyError),
        ((400, {"error": {"message": "output_config: Extra inputs are not permitted"}}), UnsupportedFormatError),
    ],
)
def test_errors(loopback, answer, error):
    loopback.handler = lambda asked: answer
    with pytest.raises(error):
        call(loopback, "complete", ASKED)


def test_finish_reasons(loopback):
    loopback.handler = lambda asked: message(stop_reason="max_tokens")
    assert call(loopback, "complete", ASKED).finish_reason == "length"


def test_thoughts_are_not_part_of_the_reply(loopback):
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    loopback.handler = lambda asked: message(content=blocks)
    assert call(loopback, "complete", ASKED).text == "ab"


def test_results(loopback):
    errored = {"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}
    lines = [
        {"custom_id": "k2", "result": {"type": "succeeded", "message": message("two")}},
        {"custom_id": "k1", "result": {"type": "errored", "error": errored}},
        {"custom_id": "k3", "result": {"type": "expired"}},
        {"custom_id": "k4", "result": {"type": "canceled"}},
        {"custom_id": "k5"},
    ]
    body = b"\n".join(json.dumps(line).encode() for line in lines) + b"\n{"
    loopback.handler = lambda asked: body
    found = call(loopback, "results", RECORD, BatchState("ended", is_ended=True))
    assert [(result.key, result.status) for result in found] == [("k2", 200), ("k1", 400), ("k3", 500), ("k4", 500)]
    assert loopback.asked[0].path == "/v1/messages/batches/msgbatch_1/results"


@pytest.mark.parametrize(("status", "is_ended"), [("in_progress", False), ("canceling", False), ("ended", True)])
def test_states(loopback, status, is_ended):
    counts = {"processing": 5, "succeeded": 2, "errored": 1, "canceled": 0, "expired": 0}
    loopback.handler = lambda asked: {"id": "b", "processing_status": status, "request_counts": counts}
    assert call(loopback, "look", RECORD) == BatchState(status, is_ended, 3)


def test_find_takes_the_nearest_batch_of_the_same_size(loopback):
    def batch(name, seconds, count):
        created = datetime.fromtimestamp(RECORD.created + seconds, UTC).isoformat().replace("+00:00", "Z")
        return {"id": name, "created_at": created, "request_counts": {"processing": count, "succeeded": 0}}

    first = [batch("late", 900, 2), batch("other", 3, 7), batch("taken", 4, 2)]
    second = [batch("ours", 5, 2), batch("old", -3000, 2)]
    pages = {
        "/v1/messages/batches?limit=100": {"data": first, "has_more": True, "last_id": "taken"},
        "/v1/messages/batches?limit=100&after_id=taken": {"data": second, "has_more": True, "last_id": "old"},
    }
    loopback.handler = lambda asked: pages[asked.path]
    assert call(loopback, "find", RECORD, frozenset(["taken"])) == "ours"
    assert call(loopback, "find", RECORD, frozenset(["taken", "ours", "late"])) is None


def test_a_missing_key(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    opened = open_batches("anthropic/m", None, None, HttpClient(), 5)
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        opened.check()


def test_errors_in_results(loopback):
    api = open_batches("anthropic/m", loopback.url, None, HttpClient(), 5).batches
    with pytest.raises(UnsupportedFormatError):
        api.read(BatchResult("k", 400, {"error": {"message": "output_config.format: not supported"}}), ASKED)
