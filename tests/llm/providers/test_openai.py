"""OpenAI's protocol: what is sent, and what is made of replies, against a real server."""

import pytest

from ragstone.llm.base import Message, Request
from ragstone.llm.failures import LLMBusyError, LLMRefusedError
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
    assert "held the reply back" in str(ask(loopback))


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
    assert str(error) == "openai/gpt-4o-mini sent a reply that is no chat completion; given up after 6 attempts"
    assert (error.attempts, len(loopback.asked)) == (6, 6)


@pytest.mark.parametrize(
    "usage", [None, [], {"prompt_tokens": "many", "completion_tokens": True}, {"prompt_tokens": -1}]
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
