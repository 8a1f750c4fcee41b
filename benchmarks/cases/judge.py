"""Calls to a judge: a stub server that thinks for 50 ms, 16 calls at once, beside a bare aiohttp client.

Efficiency is the time that the calls would take if nothing but the server's thinking took any, over the time measured.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import NamedTuple

import aiohttp

from benchmarks.peers.environment import run_judge
from benchmarks.results import Result
from benchmarks.stub import LATENCY_S, calls_so_far, stub_server
from ragstone.llm.base import LLM, Message, Request
from ragstone.llm.budget import Budget, Price, Prices
from ragstone.llm.cache import Cache
from ragstone.llm.gateway import Gateway, GatewaySettings
from ragstone.llm.wrappers import Call, record_calls

CALLS = 800
AT_ONCE = 16
_ROUNDS = 3
_PEERS = {"ragas": 800, "deepeval": 200}
_MODEL = "openai/stub"
_IDEAL_S = CALLS / AT_ONCE * LATENCY_S
# About as long as a prompt with a few chunks.
_TEXT = "The harbour light stands on the eastern mole and was first lit in the autumn of 1871. " * 16


class Turn(NamedTuple):
    """What one contestant took for all calls."""

    seconds: float
    cpu_seconds: float

    @property
    def efficiency(self) -> float:
        """The share of the time in which only the server was waited for."""
        return _IDEAL_S / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of this process's CPU per call."""
        return self.cpu_seconds * 1000 / CALLS


def run(peers: bool) -> list[Result]:
    """Efficiency and CPU per call of the whole stack: without a cache, filling one, answering from one, with a budget."""
    return [*_ours(), *(_peers() if peers else ())]


def _peers() -> Iterator[Result]:
    """Other tools with a metric that makes one call a row; once each, and fewer rows, because they take long."""
    for tool, rows in _PEERS.items():
        with stub_server() as url:
            took = run_judge(tool, url, rows, AT_ONCE)
            calls = calls_so_far(url)
        efficiency = calls / AT_ONCE * LATENCY_S / took["seconds"]
        yield Result(f"{tool}: efficiency", efficiency, "×", note=f"{calls} calls in {took['seconds']:.1f} s")
        yield Result(f"{tool}: CPU per call", took["cpu_seconds"] * 1000 / calls, "ms")


def _ours() -> list[Result]:
    with stub_server() as url, tempfile.TemporaryDirectory() as folder:
        contestants: dict[str, Callable[[int], Awaitable[None]]] = {
            "bare aiohttp": lambda number: _bare(url, number),
            "no cache": lambda number: _stack(GatewaySettings(AT_ONCE, base_url=url), number),
            "filling the cache": lambda number: _stack(_cached(url, folder), number),
            "budget and limits": lambda number: _stack(_limited(url), number),
        }
        found = _take_turns(contestants)
        again = asyncio.run(_timed(lambda: _stack(_cached(url, folder), 1)))
    bare = found.pop("bare aiohttp")
    results = [
        Result(
            "bare aiohttp: efficiency", bare.efficiency, "×", note=f"ideal {_IDEAL_S:.1f} s, took {bare.seconds:.2f}"
        ),
        Result("bare aiohttp: CPU per call", bare.cpu_ms, "ms"),
    ]
    for name, turn in found.items():
        note = f"{turn.efficiency / bare.efficiency:.2f} of bare aiohttp"
        results.append(Result(f"{name}: efficiency", turn.efficiency, "×", at_least=0.8, note=note))
        results.append(Result(f"{name}: CPU per call", turn.cpu_ms, "ms", at_most=1.0))
    cost = found["no cache"].efficiency / found["filling the cache"].efficiency
    results.append(Result("filling the cache: efficiency without a cache", cost, "×", at_most=1.11))
    return [*results, Result("from the cache: CPU per call", again.cpu_ms, "ms", at_most=1.0, note="no call is made")]


def _take_turns(contestants: dict[str, Callable[[int], Awaitable[None]]]) -> dict[str, Turn]:
    times: dict[str, list[Turn]] = {name: [] for name in contestants}
    # The first round warms up.
    for number in range(_ROUNDS + 1):
        for name, work in contestants.items():
            turn = asyncio.run(_timed(lambda work=work, number=number: work(number)))  # type: ignore[misc]
            if number:
                times[name].append(turn)
    return {
        name: Turn(statistics.median(t.seconds for t in turns), statistics.median(t.cpu_seconds for t in turns))
        for name, turns in times.items()
    }


async def _timed(work: Callable[[], Awaitable[None]]) -> Turn:
    started, cpu = time.perf_counter(), time.process_time()
    await work()
    return Turn(time.perf_counter() - started, time.process_time() - cpu)


def _cached(url: str, folder: str) -> GatewaySettings:
    return GatewaySettings(AT_ONCE, base_url=url, cache=Cache(folder))


def _limited(url: str) -> GatewaySettings:
    return GatewaySettings(
        AT_ONCE,
        base_url=url,
        deadline_s=600,
        requests_per_minute=1e6,
        tokens_per_minute=1e9,
        budget=Budget(1000),
        prices=Prices({_MODEL: Price(0.15, 0.6)}),
    )


async def _stack(settings: GatewaySettings, number: int) -> None:
    gateway = Gateway(settings)
    llm = gateway.open_llm(_MODEL)
    calls: list[Call] = []
    with record_calls(calls, "sample", "evidence"):
        await _all(lambda at: _ask(llm, number, at))
    await gateway.close()
    assert len(calls) == CALLS
    assert not [call for call in calls if call.error]


async def _ask(llm: LLM, number: int, at: int) -> None:
    await llm.complete(Request((Message("system", "Find the claims."), Message("user", f"{number} {at}\n{_TEXT}"))))


async def _bare(url: str, number: int) -> None:
    connector = aiohttp.TCPConnector(limit=AT_ONCE)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(at: int) -> None:
            messages = [
                {"role": "system", "content": "Find the claims."},
                {"role": "user", "content": f"{number} {at}\n{_TEXT}"},
            ]
            body = json.dumps({"model": "stub", "messages": messages, "temperature": 0.0}).encode()
            headers = {"Content-Type": "application/json"}
            async with session.post(f"{url}/chat/completions", data=body, headers=headers) as reply:
                assert json.loads(await reply.read())["choices"][0]["message"]["content"]

        await _all(ask)


async def _all(ask: Callable[[int], Awaitable[None]]) -> None:
    """So many workers, each with its next call as soon as it is free."""
    left = iter(range(CALLS))

    async def work() -> None:
        for at in left:
            await ask(at)

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
