"""What each status means for the request and for the run."""

import time
from email.utils import formatdate

import pytest

from ragstone.http.client import HttpReply
from ragstone.llm.endpoints import find_endpoint
from ragstone.llm.failures import LLMAccessError, LLMBusyError, LLMRefusedError, UnsupportedFormatError
from ragstone.llm.providers.statuses import explain_status, retry_after_s
from tests.llm.asking import ask, request

JSON = request(reply_format="json_schema", schema={"type": "object"})


def explain(status, message="", code="", asked=None, headers=None):
    import json

    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    reply = HttpReply(status, headers or {}, body)
    return explain_status(reply, find_endpoint("openai", "m", "http://localhost:1/v1"), asked or request())


@pytest.mark.parametrize(
    ("status", "message", "code", "kind"),
    [
        (401, "bad key", "invalid_api_key", LLMAccessError),
        (403, "no right", "", LLMAccessError),
        (404, "The model `m` does not exist", "model_not_found", LLMAccessError),
        (405, "", "", LLMAccessError),
        (307, "", "", LLMAccessError),
        (402, "pay first", "", LLMAccessError),
        (429, "You exceeded your current quota", "insufficient_quota", LLMAccessError),
        (429, "Rate limit reached", "rate_limit_exceeded", LLMBusyError),
        (408, "", "", LLMBusyError),
        (409, "", "", LLMBusyError),
        (500, "", "", LLMBusyError),
        (502, "", "", LLMBusyError),
        (503, "loading model", "", LLMBusyError),
        (529, "overloaded", "", LLMBusyError),
        (400, "This model's maximum context length is 8192 tokens", "context_length_exceeded", LLMRefusedError),
        (400, "the request exceeds the available context size", "", LLMRefusedError),
        (413, "", "", LLMRefusedError),
        (400, "The response was filtered", "content_filter", LLMRefusedError),
        (403, "your input was flagged by moderation", "", LLMRefusedError),
        (400, "messages must not be empty", "", LLMRefusedError),
        (422, "response_format is ignored here", "", LLMRefusedError),
    ],
)
def test_kinds(status, message, code, kind):
    error = explain(status, message, code)
    assert type(error) is kind
    assert message in str(error)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."),
        (400, "failed to parse grammar"),
        (422, "Structured output is not available"),
        (500, "json_schema conversion failed"),
    ],
)
def test_formats_that_are_not_offered(status, message):
    assert type(explain(status, message, asked=JSON)) is UnsupportedFormatError
    assert type(explain(status, message)) is not UnsupportedFormatError


@pytest.mark.parametrize(
    ("status", "message", "words"),
    [
        (401, "bad key", "Check OPENAI_API_KEY and the address http://localhost:1/v1 (OPENAI_BASE_URL)."),
        (404, "no model", "Check the model's name, and that http://localhost:1/v1 (OPENAI_BASE_URL or --base-url) is"),
        (400, "too many tokens", "the prompt is longer than the model's context: openai/m answered 400: too many"),
        (429, "billing_hard_limit", "The account behind OPENAI_API_KEY has no money or quota left."),
    ],
)
def test_advice(status, message, words):
    assert words in str(explain(status, message))


def test_a_redirect_says_where_to():
    error = explain(308, headers={"Location": "https://me:secret@elsewhere/v1?key=1"})
    assert "sends on to https://elsewhere/v1: set OPENAI_BASE_URL to that." in str(error)


def test_slow_down_and_timeouts_are_told_apart():
    assert [explain(status).slow_down for status in (429, 529, 503, 500)] == [True, True, False, False]
    assert explain(503, headers={"Retry-After": "1"}).slow_down
    assert [explain(status).timed_out for status in (408, 504, 429)] == [True, True, False]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "2"}, 2.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25),
        ({"retry-after-ms": "x", "Retry-After": "7"}, 7.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_how_long_to_wait(headers, seconds):
    assert retry_after_s(headers) == seconds


def test_a_date_to_wait_for():
    assert retry_after_s({"Retry-After": formatdate(time.time() + 30, usegmt=True)}) == pytest.approx(30, abs=2)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": {"message": "no\\n  way"}}', "answered 400: no way"),
        (b'{"error": "plain"}', "answered 400: plain"),
        (b'{"detail": "missing"}', "answered 400: missing"),
        (b'{"message": "kong"}', "answered 400: kong"),
        (b'[{"error": {"message": "x"}}]', "answered 400"),
        (b"not JSON", "answered 400: not JSON"),
        (b"", "answered 400"),
        (b"\xff\xfe", "answered 400: \ufffd\ufffd"),
        (b'{"error": {"message": "' + b"a" * 500 + b'"}}', "a" * 200 + "…"),
    ],
)
def test_servers_words_in_many_shapes(loopback, body, words):
    loopback.handler = lambda asked: (400, body)
    error = ask(loopback)
    assert type(error) is LLMRefusedError
    assert str(error).endswith(words) or words in str(error)


def test_a_page_of_html_is_not_quoted(loopback):
    loopback.handler = lambda asked: (401, b"<html><h1>Sign in</h1></html>", {"Content-Type": "text/html"})
    error = ask(loopback)
    assert type(error) is LLMAccessError
    assert "html" not in str(error)
