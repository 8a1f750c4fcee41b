"""OpenAI's batch format: lines, results and states. tests/e2e/test_batches.py has whole batches."""

import asyncio
import json

import pytest

from ragstone.http.client import HttpClient
from ragstone.llm.base import LLMAccessError, LLMBusyError, LLMRefusedError, Message, Request, UnsupportedFormatError
from ragstone.llm.batches import BatchRecord, BatchResult, BatchState, BatchUnknownError
from ragstone.llm.gateway import open_batches
from ragstone.llm.providers.openai_batches import read_lines
from tests.http.loopback import RESET, completion

RECORD = BatchRecord("r1", "openai", "openai/m", "", "", ("k1", "k2"), 0.0, batch="batch_1")
ASKED = Request((Message("system", "s"), Message("user", "q")), reply_format="json_object", max_tokens=9, logprobs=True)


def call(server, method, *arguments, key="sk-secret-123456"):
    async def run():
        client = HttpClient()
        api = open_batches("openai/m", server.url, None, client, 5).batches
        try:
            return await getattr(api, method)(*arguments)
        finally:
            await client.close()

    return asyncio.run(run())


def test_a_line(loopback):
    api = open_batches("openai/m", loopback.url, None, HttpClient(), 5).batches
    line = json.loads(api.line("k1", ASKED))
    assert {name: line[name] for name in ("custom_id", "method", "url")} == {
        "custom_id": "k1",
        "method": "POST",
        "url": "/v1/chat/completions",
    }
    assert line["body"]["model"] == "m"
    assert line["body"]["response_format"] == {"type": "json_object"}
    assert (line["body"]["max_tokens"], line["body"]["top_logprobs"]) == (9, 20)


def test_the_upload_is_a_form(loopback, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123456")
    loopback.handler = lambda asked: {"id": "file-1"}
    assert call(loopback, "prepare", RECORD, [b'{"a":1}', b'{"b":2}']) == "file-1"
    [asked] = loopback.asked
    assert asked.path == "/v1/files"
    assert asked.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert asked.headers["authorization"] == "Bearer sk-secret-123456"
    assert b'{"a":1}\n{"b":2}\n' in asked.body
    assert b'name="purpose"\r\n\r\nbatch\r\n' in asked.body
    assert b'filename="ragstone-r1.jsonl"' in asked.body


@pytest.mark.parametrize(
    ("status", "is_ended"),
    [
        *((name, False) for name in ("validating", "in_progress", "finalizing", "cancelling")),
        *((name, True) for name in ("completed", "failed", "expired", "cancelled")),
    ],
)
def test_states(loopback, status, is_ended):
    counts = {"total": 9, "completed": 3, "failed": 2}
    loopback.handler = lambda asked: {"id": "b", "status": status, "request_counts": counts, "output_file_id": "file-2"}
    assert call(loopback, "look", RECORD) == BatchState(status, is_ended, 5, "", ("file-2",))
    assert loopback.asked[0].path == "/v1/batches/batch_1"


def test_why_a_batch_failed(loopback):
    errors = {"data": [{"code": "x", "message": "sk-abcdefghijkl has no quota"}]}
    loopback.handler = lambda asked: {"id": "b", "status": "failed", "errors": errors, "request_counts": None}
    assert call(loopback, "look", RECORD).problem == "*** has no quota"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((404, {"error": {"message": "no such batch"}}), BatchUnknownError),
        ((401, {"error": {"message": "wrong key"}}), LLMAccessError),
        ((500, {"error": {"message": "oh"}}), LLMBusyError),
        (b"<html>", LLMBusyError),
        (RESET, LLMBusyError),
    ],
)
def test_errors(loopback, answer, error):
    loopback.handler = lambda asked: answer
    with pytest.raises(error):
        call(loopback, "look", RECORD)


def test_find_reads_page_after_page(loopback):
    pages = {
        "/v1/batches?limit=100": {"data": [{"id": "b9", "metadata": None}], "has_more": True},
        "/v1/batches?limit=100&after=b9": {"data": [{"id": "b8", "metadata": {"ragstone": "r1"}}], "has_more": False},
    }
    loopback.handler = lambda asked: pages[asked.path]
    assert call(loopback, "find", RECORD, frozenset()) == "b8"


def test_results():
    good = {"custom_id": "k1", "response": {"status_code": 200, "body": completion("fine")}, "error": None}
    refused = {"custom_id": "k2", "response": {"status_code": 400, "body": {"error": {"message": "m"}}}, "error": None}
    expired = {"custom_id": "k3", "response": None, "error": {"code": "batch_expired", "message": "late"}}
    vllm = {"custom_id": "k4", "response": {"status_code": 400, "body": None}, "error": "the prompt is empty"}
    lines = [json.dumps(line).encode() for line in (good, refused, expired, vllm)]
    broken = [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"custom_id": "k"}',
        b'{"response": {}}',
        b'{"custom_id": "k", "response": 3}',
    ]
    found = list(read_lines([*lines, *broken]))
    assert [(result.key, result.status) for result in found] == [
        ("k1", 200),
        ("k2", 400),
        ("k3", 500),
        ("k4", 400),
        ("k", 500),
    ]
    assert found[3].body == {"message": "the prompt is empty"}


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (BatchResult("k", 500, {"code": "batch_expired", "message": "late"}), LLMBusyError),
        (BatchResult("k", 400, {"error": {"message": "this makes no sense"}}), LLMRefusedError),
        (BatchResult("k", 400, {"error": {"message": "response_format is not supported"}}), UnsupportedFormatError),
        (BatchResult("k", 200, {"choices": []}), LLMBusyError),
    ],
)
def test_replies_that_are_none(loopback, result, error):
    api = open_batches("openai/m", loopback.url, None, HttpClient(), 5).batches
    with pytest.raises(error):
        api.read(result, ASKED)
