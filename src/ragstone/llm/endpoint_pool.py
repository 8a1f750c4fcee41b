"""Several servers of one model: each call goes to the server that should answer first, and to another one if that fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from ragstone.llm.base import LLM, LLMAccessError, LLMBusyError, LLMGoneError, LLMRefusedError, Reply, Request

# How long a failed server gets no calls while others work: doubled with each failure in a row.
_FIRST_REST_S, _LONGEST_REST_S = 1.0, 60.0
# Weight of the newest call in the mean time of a server's calls.
_NEWEST = 0.2
# Of many calls in flight the oldest is two or three times as old as the mean; see benchmarks/judge_servers.py.
_MUCH_LONGER = 4


class _Server:
    """One server: its calls in flight, how long its calls take, and when it failed."""

    def __init__(self, address: str, llm: LLM) -> None:
        self.address, self.llm = address, llm
        # When each call in flight began, oldest first.
        self.flying: dict[object, float] = {}
        self.mean_s: float | None = None
        self.answered = self.lost = self.failures = 0
        self.failed_at = self.rests_until = 0.0

    def rests(self, now: float) -> bool:
        """Whether it failed, and its rest is not over or a first call is still trying it."""
        return self.failures > 0 and (now < self.rests_until or bool(self.flying))

    def expected_s(self, now: float, unknown_s: float) -> float:
        """The expected time of one more call: calls in flight times the time of a call (as "peak EWMA" balancers do).

        If the oldest call takes much longer than the mean, it counts instead, so that a server that hangs gets few calls.
        """
        age_s = now - next(iter(self.flying.values()), now)
        return (len(self.flying) + 1) * max(unknown_s if self.mean_s is None else self.mean_s, age_s / _MUCH_LONGER)

    def succeed(self, seconds: float | None = None) -> None:
        """Count a reply with its time, or a refusal, which is quick and says nothing about the others."""
        self.answered, self.failures = self.answered + 1, 0
        if seconds is not None:
            self.mean_s = seconds if self.mean_s is None else self.mean_s + _NEWEST * (seconds - self.mean_s)

    def fail(self, began: float, now: float, error: Exception) -> None:
        """Count a lost call. Calls that began before the last failure say nothing new."""
        self.lost += 1
        if began >= self.failed_at:
            self.failures, self.failed_at = self.failures + 1, now
            asked_s = getattr(error, "retry_after_s", None) or 0.0
            self.rests_until = now + min(max(_FIRST_REST_S * 2 ** min(self.failures - 1, 10), asked_s), _LONGEST_REST_S)


class EndpointPool:
    """A model at several addresses. It never waits: if all servers fail a call, their error is raised for the usual retries."""

    def __init__(self, llms: Sequence[tuple[str, LLM]], clock: Callable[[], float] = time.monotonic) -> None:
        self._servers = [_Server(address, llm) for address, llm in llms]
        self._clock = clock
        self.name, self.signature = llms[0][1].name, llms[0][1].signature

    @property
    def problem(self) -> str | None:
        """The servers that lost calls, for a note at the end of a run."""
        counts = [(one.address, one.lost, one.lost + one.answered) for one in self._servers if one.lost]
        lost = [f"{address} failed {lost:,} of {calls:,} calls" for address, lost, calls in counts]
        return f"other servers answered instead, or the call was repeated: {'; '.join(lost)}" if lost else None

    async def complete(self, request: Request) -> Reply:
        """Return the reply of the first server that answers."""
        left = list(self._servers)
        errors: list[LLMBusyError] = []
        # A request may be slow by itself, so after a timeout only one other server is tried.
        while left and sum(error.timed_out for error in errors) < 2:
            server = self._choose(left)
            left.remove(server)
            try:
                reply = await self._ask(server, request)
                return replace(reply, attempts=len(errors) + 1) if errors else reply
            except LLMBusyError as error:
                errors.append(error)
            except LLMAccessError as error:
                # A server that never answered has a wrong address, key or model name: the user must know.
                if not server.answered:
                    raise
                errors.append(LLMBusyError(str(error)))
        # A server that is there counts most; if one has answered before, the addresses are not wrong.
        raise next((one for kind in (LLMBusyError, LLMGoneError) for one in errors if type(one) is kind), errors[-1])

    async def close(self) -> None:
        """Do nothing: the gateway owns the client."""

    def _choose(self, servers: list[_Server]) -> _Server:
        now = self._clock()
        if working := [server for server in servers if not server.rests(now)]:
            unknown_s = min((one.mean_s for one in working if one.mean_s is not None), default=1.0)
            return min(working, key=lambda server: server.expected_s(now, unknown_s))
        return min(servers, key=lambda server: server.rests_until)

    async def _ask(self, server: _Server, request: Request) -> Reply:
        call, began = object(), self._clock()
        server.flying[call] = began
        try:
            reply = await server.llm.complete(request)
        except (LLMBusyError, LLMAccessError) as error:
            server.fail(began, self._clock(), error)
            raise
        except LLMRefusedError:
            server.succeed()
            raise
        finally:
            del server.flying[call]
        server.succeed(self._clock() - began)
        return reply
