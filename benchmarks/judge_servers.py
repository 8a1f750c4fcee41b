"""`python -m benchmarks.judge_servers`: many judge calls to simulated servers, on a clock that jumps from event to event.

The pool, the limiter and the retries are those of Ragstone; only the servers and the clock are simulated, so the table is the same on
every machine. It prints what docs/servers.md plans 10⁷ judged rows with.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragstone.http.retry import Patience
from ragstone.llm.base import LLMBusyError, LLMError, Message, Reply, Request
from ragstone.llm.endpoint_pool import EndpointPool
from ragstone.llm.limits import Limited, Limiter
from ragstone.llm.wrappers import Retrying

# Assumed: a judge of 8 billion parameters on one GPU answers 16 calls at once, each in 0.8 s alone.
CALL_S, SLOTS = 0.8, 16
# Assumed: eight calls per row, and the price of a server.
ROWS, CALLS_PER_ROW, USD_PER_HOUR = 10_000_000, 8, 2.0
TIMEOUT_S = 30.0
# Enough to keep all servers busy.
CALLS_PER_SLOT = 1.5


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop that does not wait: if nothing is ready, its clock jumps to the next event."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        inside: Any = self
        if not inside._ready and inside._scheduled:  # noqa: SLF001  (asyncio has no other clock)
            self.now = max(self.now, inside._scheduled[0]._when)  # noqa: SLF001
        super()._run_once()  # type: ignore[misc]


@dataclass
class Server:
    """A server whose calls slow down when there are more than it has slots; `down` are times without it."""

    speed: float = 1.0
    down: Sequence[tuple[float, float]] = ()
    hangs: bool = False
    error_share: float = 0.0
    name: str = "vllm/judge"
    signature: str = "vllm/judge"

    def __post_init__(self) -> None:
        self.flying = self.answered = self.asked = 0
        self.random = random.Random(0)

    async def complete(self, request: Request) -> Reply:  # noqa: ARG002  (the LLM protocol)
        self.asked += 1
        self.flying += 1
        try:
            return await self._complete(asyncio.get_running_loop().time())
        finally:
            self.flying -= 1

    async def _complete(self, now: float) -> Reply:
        alone_s = CALL_S / self.speed * self.random.lognormvariate(-0.125, 0.5)
        seconds = alone_s * max(1.0, self.flying / SLOTS)
        fails_at = next((start for start, end in self.down if now < end and start < now + seconds), None)
        if fails_at is not None:
            if self.hangs:
                await asyncio.sleep(TIMEOUT_S)
                raise LLMBusyError("no reply in time", timed_out=True)
            await asyncio.sleep(max(0.0, fails_at - now))
            raise LLMBusyError("the server is gone")
        await asyncio.sleep(seconds)
        if self.random.random() < self.error_share:
            raise LLMBusyError("500")
        self.answered += 1
        return Reply("yes", self.name)

    async def close(self) -> None:
        """Nothing is open."""


class InTurn(EndpointPool):
    """For comparison: one server after the other, whatever their speed; failed ones rest as in the pool."""

    def _choose(self, servers: Any) -> Any:
        now = self._clock()
        working = [server for server in servers if not server.rests(now)] or servers
        everyone = self._servers
        return min(
            working, key=lambda server: (server.answered + server.lost + len(server.flying), everyone.index(server))
        )


class Outcome(NamedTuple):
    """Calls per second and the share of what the servers can do; repeated requests and failed calls per call; the slowest call."""

    rate: float
    used: float
    repeated: float
    failed: int
    slowest_s: float


def simulate(servers: Sequence[Server], calls: int, kind: type[EndpointPool] = EndpointPool) -> Outcome:
    """All calls, with as many at a time as keep the servers busy."""
    loop = JumpingLoop()
    for number, server in enumerate(servers):
        server.random.seed(number)
    random.seed(7)  # the waits between attempts
    concurrency = round(CALLS_PER_SLOT * SLOTS * len(servers))
    pool = kind([(f"server {number}", server) for number, server in enumerate(servers)], loop.time)
    llm = Retrying(Limited(pool, Limiter(concurrency, clock=loop.time)), Patience())
    slowest, failed, full_s = 0.0, 0, 0.0

    async def work(waiting: Any) -> None:
        nonlocal slowest, failed, full_s
        for number in waiting:
            # The end, when there is not enough left for all servers, does not count.
            began = full_s = loop.time()
            try:
                await llm.complete(Request((Message("user", str(number)),)))
            except LLMError:
                failed += 1
            slowest = max(slowest, loop.time() - began)

    async def everything() -> None:
        waiting = iter(range(calls))
        await asyncio.gather(*(work(waiting) for _ in range(concurrency)))

    try:
        loop.run_until_complete(everything())
    finally:
        loop.close()
    rate = (calls - concurrency) / full_s
    able = sum(server.speed * SLOTS / CALL_S * _up(server, full_s) for server in servers)
    asked = sum(server.asked for server in servers)
    return Outcome(rate, rate / able, asked / calls - 1, failed, slowest)


def _up(server: Server, until: float) -> float:
    """The share of the time that a server is there."""
    return 1 - sum(max(0.0, min(end, until) - min(start, until)) for start, end in server.down) / until


def _sometimes_down(number: int, speed: float = 1.0) -> Server:
    """Gone for 30 s about every 5 minutes."""
    chance = random.Random(number)
    starts = [300 * turn + chance.uniform(0, 270) for turn in range(40)]
    return Server(speed, [(start, start + 30) for start in starts])


FOREVER = 1e9
MIXED = (1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25)
FLEETS: dict[str, Callable[[], list[Server]]] = {
    "1 server": lambda: [Server()],
    "8 equal servers": lambda: [Server() for _ in range(8)],
    "8 servers: 4 full, 2 half, 2 quarter speed": lambda: [Server(speed) for speed in MIXED],
    "the same, a full one is lost after 60 s": lambda: [Server(down=[(60, FOREVER)]), *map(Server, MIXED[1:])],
    "the same, a full one hangs after 60 s": lambda: [
        Server(down=[(60, FOREVER)], hangs=True),
        *map(Server, MIXED[1:]),
    ],
    "the same, each gone for 30 s of every 300 s": lambda: [_sometimes_down(*one) for one in enumerate(MIXED)],
    "8 equal servers, one answers 500 to a fifth": lambda: [Server(error_share=0.2), *(Server() for _ in range(7))],
    "40 equal servers": lambda: [Server() for _ in range(40)],
}


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge_servers", description=main.__doc__)
    parser.add_argument("--calls", type=int, default=4_000, help="per server")
    each = parser.parse_args().calls
    print(
        "| servers | calls per second | of what they can do | in turn | sent again | failed | slowest call | 10⁷ rows | cost |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, make in FLEETS.items():
        found = simulate(make(), each * len(make()))
        in_turn = simulate(make(), each * len(make()), InTurn)
        hours = ROWS * CALLS_PER_ROW / found.rate / 3600
        cost = hours * USD_PER_HOUR * len(make())
        print(
            f"| {name} | {found.rate:.0f} | {found.used:.0%} | {in_turn.used:.0%} | {found.repeated:.1%} | {found.failed} "
            f"| {found.slowest_s:.0f} s | {hours / 24:.1f} days | {cost:,.0f} USD |"
        )


if __name__ == "__main__":
    main()
