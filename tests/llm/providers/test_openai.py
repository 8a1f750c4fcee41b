"""OpenAI's protocol: what is sent, and what is made of replies, against a real server.

What each status means for the request and for the run.
"""

import pytest

from ragstone.http.client import HttpReply
from ragstone.llm.base import LLMAccessError, LLMBusyError, LLMRefusedError, Message, Request, UnsupportedFormatError
from ragstone.llm.endpoints import find_endpoint
from ragstone.llm.providers.openai import explain_status
from tests.http.loopback import completion
from tests.llm.asking import ask, request

SCHEMA = {"title": "Claims Reply", "type": "object", "properties": {"claims": {"type": "array"}}}


def test_what_is_sent(loopback, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    reply = ask(
        loopback, Request((Message("system", "Be brief."), Message("user", "Hello 中")), max_tokens=7, temperature=0.5)
    )
    (asked,) = loopback.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == "Bearer secret-key"
    assert asked.json == {
        "model": "gpt-4o-mini",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello 中"}],
        "temperature": 0.5,
        "max_tokens": 7,
    }
    assert (reply.text, reply.model, reply.input_tokens, reply.output_tokens) == ("fine", "openai/gpt-4o-mini", 10, 2)
    assert (reply.finish_reason, reply.attempts, reply.cached, reply.logprobs) == ("stop", 1, False, None)
    assert 0 < reply.latency_s < 5


def test_the_guess_is_not_sent(loopback):
    ask(loopback, request(guess="four", prompt="sums", prompt_hash="ab"))
    assert loopback.asked[0].json.keys() == {"model", "messages", "temperature"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"reply_format": "json_object"}, {"type": "json_object"}),
        (
            {"reply_format": "json_schema", "schema": SCHEMA},
            {"type": "json_schema", "json_schema": {"name": "Claims_Reply", "schema": SCHEMA, "strict": True}},
        ),
    ],
)
def test_formats(loopback, fields, expected):
    ask(loopback, request(**fields))
    assert loopback.asked[0].json["response_format"] == expected


def test_repeats_differ_by_their_seed(loopback):
    ask(loopback, request(), request(repeat=1), request(repeat=2))
    assert {asked.json.get("seed") for asked in loopback.asked} == {None, 1, 2}


def test_content_in_parts_and_thoughts(loopback):
    message = {"content": [{"type": "text", "text": "fi"}, {"type": "text", "text": "ne"}], "reasoning_content": "hm"}
    loopback.handler = lambda asked: {"choices": [{"message": message, "finish_reason": "length"}]}
    reply = ask(loopback)
    assert (reply.text, reply.finish_reason, reply.input_tokens) == ("fine", "length", None)


def test_no_content(loopback):
    loopback.handler = lambda asked: completion(None)
    assert ask(loopback).text == ""


def test_log_probabilities(loopback):
    tokens = [{"token": "yes", "logprob": -0.25, "top_logprobs": []}, {"token": "!", "logprob": -1}]
    choice = {"message": {"content": "yes!"}, "logprobs": {"content": tokens}}
    loopback.handler = lambda asked: {"choices": [choice]}
    assert ask(loopback, request(logprobs=True)).logprobs == (("yes", -0.25), ("!", -1.0))
    assert loopback.asked[0].json["logprobs"] is True


def test_alternatives_to_each_token(loopback):
    others = [{"token": "yes", "logprob": -0.25}, {"token": "no", "logprob": -1.5}]
    choice = {"message": {"content": "yes"}, "logprobs": {"content": [{**others[0], "top_logprobs": others}]}}
    loopback.handler = lambda asked: {"choices": [choice]}
    assert ask(loopback, request(logprobs=True)).alternatives == ((("yes", -0.25), ("no", -1.5)),)
    assert loopback.asked[0].json["top_logprobs"] == 20


@pytest.mark.parametrize("refused", ["top_logprobs", "logprobs"])
def test_a_server_without_log_probabilities_is_asked_without(loopback, refused):
    def handler(asked):
        if refused in asked.json:
            return 400, {"error": {"message": f"Unsupported parameter: '{refused}'"}}
        return completion("fine")

    loopback.handler = handler
    reply = ask(loopback, request(logprobs=True))
    assert (reply.text, reply.alternatives) == ("fine", None)
    assert "top_logprobs" not in loopback.asked[-1].json
    assert ("logprobs" in loopback.asked[-1].json) == (refused == "top_logprobs")


def test_a_refusal(loopback):
    choice = {"message": {"content": None, "refusal": "I will not."}, "finish_reason": "stop"}
    loopback.handler = lambda asked: {"choices": [choice]}
    error = ask(loopback)
    assert type(error) is LLMRefusedError
    assert str(error) == "openai/gpt-4o-mini refused: I will not."
    assert len(loopback.asked) == 1


def test_a_filtered_reply(loopback):
    loopback.handler = lambda asked: {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}
    assert "blocked the reply" in str(ask(loopback))


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"<html>busy</html>", b"[1]", b"null", b"{}", b'{"choices": []}', b'{"choices": [{}]}', b"[" * 100_000),
        *(b'{"choices": [{"message": {"content": 7}}]}', b'{"choices": {"message": 1}}', b'{"error": "later"}'),
    ],
)
def test_what_is_no_completion_is_asked_for_again(loopback, body):
    loopback.handler = lambda asked: completion() if len(loopback.asked) > 1 else (200, body)
    reply = ask(loopback)
    assert (reply.text, reply.attempts) == ("fine", 2)


def test_what_is_never_a_completion(loopback):
    loopback.handler = lambda asked: (200, b"{}")
    error = ask(loopback)
    assert type(error) is LLMBusyError
    assert str(error) == "openai/gpt-4o-mini sent a reply that is not a chat completion; given up after 6 attempts"
    assert (error.attempts, len(loopback.asked)) == (6, 6)


@pytest.mark.parametrize(
    "usage",
    [
        *(None, [], {"prompt_tokens": "many", "completion_tokens": True}, {"prompt_tokens": -1}),
        {"prompt_tokens": 12345678901234567890123, "completion_tokens": float("nan")},
        {"prompt_tokens": 1e300, "completion_tokens": "12"},
    ],
)
def test_odd_usage_is_no_usage(loopback, usage):
    loopback.handler = lambda asked: completion(usage=usage)
    reply = ask(loopback)
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("fine", None, None)


def test_parameters_that_a_model_refuses_are_left_out_from_then_on(loopback):
    def choosy(asked):
        if "max_tokens" in asked.json:
            return 400, {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'."}}
        if "temperature" in asked.json:
            return 400, {"error": {"message": "'temperature' does not support 0.0", "code": "unsupported_value"}}
        return completion()

    loopback.handler = choosy
    assert ask(loopback, request(max_tokens=5), concurrency=1).text == "fine"
    assert [set(asked.json) - {"model", "messages"} for asked in loopback.asked] == [
        {"temperature", "max_tokens"},
        {"temperature", "max_completion_tokens"},
        {"max_completion_tokens"},
    ]
    loopback.asked.clear()
    replies = ask(loopback, *(request(str(number)) for number in range(3)), concurrency=1)
    assert {reply.text for reply in replies} == {"fine"}
    assert len(loopback.asked) == 4


def test_an_endless_refusal_ends(loopback):
    loopback.handler = lambda asked: (400, {"error": {"message": "temperature is not supported"}})
    error = ask(loopback)
    assert type(error) is LLMRefusedError
    assert len(loopback.asked) == 2


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
        (
            400,
            "too many tokens",
            "the prompt is longer than the model's context window: openai/m answered 400: too many",
        ),
        (429, "billing_hard_limit", "The account behind OPENAI_API_KEY has no credit or quota left."),
    ],
)
def test_advice(status, message, words):
    assert words in str(explain(status, message))


def test_a_redirect_says_where_to():
    error = explain(308, headers={"Location": "https://me:secret@elsewhere/v1?key=1"})
    assert "redirects to https://elsewhere/v1: set OPENAI_BASE_URL to that." in str(error)


def test_slow_down_and_timeouts_are_told_apart():
    assert [explain(status).slow_down for status in (429, 529, 503, 500)] == [True, True, False, False]
    assert explain(503, headers={"Retry-After": "1"}).slow_down
    assert [explain(status).timed_out for status in (408, 504, 429)] == [True, True, False]


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


@pytest.mark.parametrize("value", [float("nan"), 10**400, "-1", True, 7])
def test_absurd_log_probabilities_are_dropped(loopback, value):
    choice = {"message": {"content": "yes"}, "logprobs": {"content": [{"token": "yes", "logprob": value}]}}
    loopback.handler = lambda asked: completion(choices=[choice])
    reply = ask(loopback, request(logprobs=True))
    assert (reply.text, reply.logprobs) == ("yes", None)
