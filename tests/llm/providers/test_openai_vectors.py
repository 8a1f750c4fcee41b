"""Probabilities of given texts from a server that repeats the prompt, as vLLM does; and from servers that do not."""

import asyncio
import re

import pytest

import ragstone
from ragstone.errors import StopRunError, UsageError
from ragstone.http.retry import Patience
from ragstone.llm.base import LLMAccessError, LLMBusyError
from ragstone.llm.gateway import Gateway, GatewaySettings

BEFORE, TEXT = "Say it:", "the boat leaves"
PIECES = re.compile(r"\n| *\S+| +")


def repeat(asked, offsets=True, most=None):
    """A completion with `echo`: a log-probability a word, by its length, none for the first, and one word more than asked for."""
    prompt = asked.json["prompt"]
    tokens = [*PIECES.findall(prompt), " more"][:most]
    places = [len("".join(tokens[:place])) for place in range(len(tokens))]
    values = [None, *(-len(token.strip()) / 10 for token in tokens[1:])]
    logprobs = {"tokens": tokens, "token_logprobs": values, **({"text_offset": places} if offsets else {})}
    choice = {"index": 0, "text": prompt + " more", "logprobs": logprobs, "finish_reason": "length"}
    return {"choices": [choice], "usage": {"prompt_tokens": len(tokens) - 1, "completion_tokens": 1}}


def score(loopback, pairs, **settings):
    async def run():
        gateway = Gateway(
            GatewaySettings(base_url=loopback.url, patience=Patience(attempts=2, first_wait_s=0.01), **settings)
        )
        try:
            return await gateway.open_scorer("vllm/tiny").log_probabilities(pairs)
        finally:
            await gateway.close()

    return asyncio.run(run())


@pytest.mark.parametrize("offsets", [True, False])
def test_the_tokens_of_the_text_and_no_others(loopback, offsets):
    loopback.handler = lambda asked: repeat(asked, offsets)
    assert score(loopback, [(BEFORE, TEXT)]) == [[-0.3, -0.4, -0.6]]
    [asked] = loopback.asked
    assert asked.path == "/v1/completions"
    assert asked.json == {
        "model": "tiny",
        "prompt": "Say it:\nthe boat leaves",
        "max_tokens": 1,
        "temperature": 0,
        "echo": True,
        "logprobs": 1,
    }


def test_a_text_with_nothing_before_it(loopback):
    """A line break stands there, so that its first token has a probability too."""
    loopback.handler = lambda asked: {
        "choices": [
            {
                "text": "\nthe boat!",
                "logprobs": {"tokens": ["\n", "the", " boat", "!"], "token_logprobs": [None, -1, -2, -9]},
            }
        ]
    }
    assert score(loopback, [("", "the boat")]) == [[-1.0, -2.0]]
    assert score(loopback, [("", "")]) == [[]]
    assert len(loopback.asked) == 1


def test_a_token_across_the_beginning_counts(loopback):
    loopback.handler = lambda asked: {
        "choices": [
            {"text": "a\nbc", "logprobs": {"tokens": ["a", "\nb", "c"], "token_logprobs": [None, -1, -2]}},
        ]
    }
    assert score(loopback, [("a", "bc")]) == [[-1.0, -2.0]]


def test_the_first_token_of_all_has_no_probability(loopback):
    loopback.handler = lambda asked: {
        "choices": [{"text": "\nbc", "logprobs": {"tokens": ["\nb", "c"], "token_logprobs": [None, -2]}}]
    }
    assert score(loopback, [("", "bc")]) == [[-2.0]]


def test_many_at_once_each_its_own(loopback):
    loopback.handler = repeat
    found = score(loopback, [(BEFORE, "x" * length) for length in range(1, 30)])
    assert found == [[-length / 10] for length in range(1, 30)]


@pytest.mark.parametrize(
    "reply",
    [
        {"choices": [{"text": " more", "logprobs": {"tokens": [" more"], "token_logprobs": [-1.0]}}]},
        {"choices": [{"text": "Say it:\nthe boat leaves more", "logprobs": None}]},
    ],
)
def test_a_server_that_does_not_repeat_the_prompt_is_told_of(loopback, reply):
    loopback.handler = lambda asked: reply
    with pytest.raises(LLMAccessError, match=r"does not support `echo`.*--scorer local"):
        score(loopback, [(BEFORE, TEXT)])


@pytest.mark.parametrize(
    "logprobs",
    [
        {"tokens": ["Say it:\n", TEXT], "token_logprobs": [None, None]},
        {"tokens": ["Say it:\n", TEXT], "token_logprobs": [None, "much"]},
        {"tokens": ["Say it:\n", TEXT], "token_logprobs": [None, float("-inf")]},
        {"tokens": ["Say it:\n"], "token_logprobs": [None, -1]},
        {"token_logprobs": [None, -1]},
    ],
)
def test_what_cannot_be_read_is_asked_for_again_and_then_fails(loopback, logprobs):
    loopback.handler = lambda asked: {"choices": [{"text": f"{BEFORE}\n{TEXT}", "logprobs": logprobs}]}
    with pytest.raises(LLMBusyError, match="log-probabilit"):
        score(loopback, [(BEFORE, TEXT)])
    assert len(loopback.asked) == 2


def test_no_completion_at_all(loopback):
    loopback.handler = lambda asked: b"[]"
    with pytest.raises(LLMBusyError, match="not a completion"):
        score(loopback, [(BEFORE, TEXT)])


def test_a_run_keeps_replies_and_counts_calls(loopback):
    loopback.handler = repeat
    row = {"question": "where is it", "contexts": ["on the mole", "elsewhere"], "answer": "over there"}
    names = ["context_relevance.perplexity", "perplexity"]
    for calls in (3, 0):
        run = ragstone.evaluate([row], names, scorer="vllm/tiny", base_url=loopback.url)
        assert run.summary()["perplexity"].mean == pytest.approx(2.718281828 ** ((4 + 5) / 2 / 10))
        assert run.summary()[names[0]].mean == pytest.approx(2.718281828 ** (-(5 + 2 + 2) / 3 / 10))
        assert len(loopback.asked) == calls
        loopback.asked.clear()
        assert run.info["judge"] == {"scorer": "vllm/tiny"}


def test_a_quote_asks_nobody(loopback):
    from ragstone.engine.quote import quote

    found = quote(
        [{"question": "where is it", "contexts": ["on the mole"], "answer": "over there"}],
        ["perplexity", "context_relevance.perplexity"],
        scorer="vllm/tiny",
        base_url=loopback.url,
    )
    assert found.total.calls == 2
    assert found.total.input_tokens > 10
    assert loopback.asked == []


def test_a_server_that_cannot_stops_the_run(loopback):
    loopback.handler = lambda asked: {"choices": [{"text": "more", "logprobs": None}]}
    with pytest.raises(StopRunError, match="--scorer local"):
        ragstone.evaluate([{"question": "q", "answer": "a"}], "perplexity", scorer="vllm/tiny", base_url=loopback.url)


def test_names_that_nobody_serves():
    with pytest.raises(UsageError, match=r"acme/x.*token probabilities.*hf/NAME"):
        ragstone.evaluate([{"question": "q", "answer": "a"}], "perplexity", scorer="acme/x")
