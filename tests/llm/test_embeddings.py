"""Single items gathered into batches.

Texts to vectors: batched, cached text by text, priced and recorded.
"""

import asyncio
import time

import numpy as np
import pytest

from ragstone.errors import UsageError
from ragstone.llm.base import LLMAccessError, LLMBusyError, LLMRefusedError, LLMStoppedError
from ragstone.llm.budget import Budget, Price, Prices
from ragstone.llm.cache import Cache
from ragstone.llm.embeddings import Batcher
from ragstone.llm.gateway import Gateway, GatewaySettings
from ragstone.llm.wrappers import record_calls
from tests.llm.asking import QUICK


def run(count, size, parallel, work):
    async def all_of_them():
        batcher = Batcher(work, size, parallel)
        return await asyncio.gather(*map(batcher.submit, range(count)), return_exceptions=True)

    return asyncio.run(all_of_them())


@pytest.mark.parametrize(("size", "parallel"), [(1, 1), (4, 1), (4, 3), (100, 2)])
def test_sizes_and_number_at_once(size, parallel):
    sizes, running, most = [], 0, 0

    async def work(items):
        nonlocal running, most
        running += 1
        most = max(most, running)
        sizes.append(len(items))
        await asyncio.sleep(0.001)
        running -= 1
        return [item * 2 for item in items]

    assert run(30, size, parallel, work) == [number * 2 for number in range(30)]
    assert max(sizes) <= size
    assert most <= parallel
    assert sum(sizes) == 30


def test_a_failure_is_that_of_its_batch():
    async def work(items):
        if 0 in items:
            raise ValueError("zero")
        return items

    found = run(6, 3, 1, work)
    assert [type(one) for one in found] == [ValueError] * 3 + [int] * 3


def test_too_few_results_are_a_failure():
    async def work(items):
        return items[1:]

    assert isinstance(run(3, 3, 1, work)[-1], ValueError)


def test_one_alone_does_not_wait_long():
    async def work(items):
        return items

    started = time.perf_counter()
    assert run(1, 64, 1, work) == [0]
    assert time.perf_counter() - started < 5


def test_who_gave_up_is_left_out():
    seen = []

    async def work(items):
        seen.append(items)
        return items

    async def go():
        batcher = Batcher(work, 10, 1)
        tasks = [asyncio.create_task(batcher.submit(number)) for number in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    found = asyncio.run(go())
    assert (found[0], found[2], seen) == (0, 2, [[0, 2]])
    assert isinstance(found[1], asyncio.CancelledError)


MODEL = "openai/text-embedding-3-small"


def vector(text):
    return [float(len(text)), float(sum(map(ord, text)) % 97), 0.1]


def answer(asked):
    texts = asked.json["input"]
    items = [{"index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
    return {"data": items[::-1], "usage": {"prompt_tokens": 10 * len(texts)}}


@pytest.fixture
def server(loopback):
    loopback.handler = answer
    return loopback


def embed(server, *lists, calls=None, quoting=False, **settings):
    """The arrays, or errors, of some calls at once."""

    async def one(embedder, number, texts):
        with record_calls(calls if calls is not None else [], f"s{number}", "similarities"):
            return await embedder.embed(texts)

    async def work():
        gateway = Gateway(GatewaySettings(**{"base_url": server.url, "patience": QUICK, **settings}), quoting)
        embedder = gateway.open_embedder(MODEL)
        assert (embedder.name, embedder.signature) == (MODEL, MODEL)
        assert embedder.name == embedder.signature == MODEL
        found = await asyncio.gather(
            *(one(embedder, number, texts) for number, texts in enumerate(lists)), return_exceptions=True
        )
        await gateway.close()
        return found

    return asyncio.run(work())


def test_a_row_for_each_text_in_its_order(server):
    texts = ["harbour", "lighthouse", "", "harbour", "Hafen 中"]
    (rows,) = embed(server, texts)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [vector(text or " ") for text in texts], rtol=1e-6)
    (asked,) = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.json == {"model": "text-embedding-3-small", "input": ["harbour", "lighthouse", " ", "Hafen 中"]}


def test_no_texts(server):
    (rows,) = embed(server, [])
    assert rows.shape[0] == 0
    assert server.asked == []


def test_calls_at_once_share_batches(server):
    found = embed(server, *([f"text {number}", "same"] for number in range(40)))
    assert [row.shape for row in found] == [(2, 3)] * 40
    assert len(server.asked) <= 3
    assert max(len(asked.json["input"]) for asked in server.asked) <= 64


def test_each_text_is_asked_for_once(server, tmp_path):
    calls = []
    first = embed(server, ["a", "b"], cache=Cache(tmp_path))
    again = embed(server, ["b", "c", "a"], cache=Cache(tmp_path), calls=calls)
    last = embed(server, ["a"], cache=Cache(tmp_path), calls=calls)
    assert [asked.json["input"] for asked in server.asked] == [["a", "b"], ["c"]]
    np.testing.assert_array_equal(first[0], again[0][[2, 0]])
    np.testing.assert_array_equal(last[0], first[0][:1])
    assert [(call.cached, call.attempts, call.input_tokens, call.cost_usd) for call in calls] == [
        (False, 1, 10, pytest.approx(10 * 0.02 / 1e6)),
        (True, 0, 0, 0.0),
    ]


def test_calls_are_recorded_with_their_share(server):
    calls = []
    embed(server, ["one two three"], ["four"], calls=calls)
    assert len(server.asked) == 1
    assert {call.sample_id: call.input_tokens for call in calls} == {"s0": 15, "s1": 5}
    assert sum(call.cost_usd for call in calls) == pytest.approx(20 * 0.02 / 1e6)
    assert {(call.prompt, call.evidence, call.model) for call in calls} == {("embedding", "similarities", MODEL)}


def test_a_busy_server(server):
    server.handler = lambda asked: answer(asked) if len(server.asked) > 3 else (429, {})
    calls = []
    (rows,) = embed(server, ["a"], calls=calls)
    assert rows.shape == (1, 3)
    assert calls[0].attempts == 4


def test_one_text_that_is_refused_fails_alone(server):
    def choosy(asked):
        return (400, {"error": {"message": "too many tokens"}}) if "long" in asked.json["input"] else answer(asked)

    server.handler = choosy
    calls = []
    good, bad, other = embed(server, ["a"], ["b", "long"], ["c"], calls=calls)
    assert good.shape == other.shape == (1, 3)
    assert type(bad) is LLMRefusedError
    assert sorted(call.error is None for call in calls) == [False, True, True]


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        {},
        {"data": []},
        {"data": [{"embedding": [1.0]}]},
        {"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]},
        {"data": [{"embedding": []}, {"embedding": []}]},
        {"data": [{"embedding": "x"}, {"embedding": "y"}]},
        {"data": [{"embedding": [[1.0]]}, {"embedding": [[1.0]]}]},
        b'{"data": [{"embedding": [NaN]}, {"embedding": [1.0]}]}',
    ],
)
def test_what_holds_no_embeddings(server, body):
    server.handler = lambda asked: (200, body)
    (error,) = embed(server, ["a", "b"])
    assert type(error) is LLMBusyError


def test_a_wrong_key_ends_the_run(server):
    server.handler = lambda asked: (401, {"error": {"message": "no"}})
    (error,) = embed(server, ["a"])
    assert type(error) is LLMAccessError


def test_budget_and_deadline_hold_here_too(server):
    # A text of a token sends 1 + 4 + 3, of which 1.3 times as much is set aside: 10.4. It costs 10.
    prices, budget = Prices({MODEL: Price(1e6, 0)}), Budget(25)
    found = [embed(server, [text], prices=prices, budget=budget)[0] for text in ("a", "b", "c")]
    assert [type(one) for one in found] == [np.ndarray, np.ndarray, LLMStoppedError]
    assert (len(server.asked), budget.spent_usd) == (2, 20)
    server.handler = lambda asked: "hang"
    (error,) = embed(server, ["d"], deadline_s=0.2)
    assert type(error) is LLMStoppedError


def test_a_quote(server, tmp_path):
    embed(server, ["known"], cache=Cache(tmp_path))
    calls = []
    known, new = embed(server, ["known"], ["one two three", "four"], cache=Cache(tmp_path), quoting=True, calls=calls)
    assert len(server.asked) == 1
    assert (known.shape, new.shape) == ((1, 3), (2, 1))
    assert [(call.cached, call.input_tokens) for call in calls] == [(True, 0), (False, 3 + 4 + 1 + 4 + 3)]
    assert calls[1].cost_usd == pytest.approx(15 * 0.02 / 1e6)


def test_providers_without_embeddings():
    with pytest.raises(UsageError, match=r"bedrock/titan.*embeddings.*openai/"):
        Gateway(GatewaySettings()).open_embedder("bedrock/titan")
