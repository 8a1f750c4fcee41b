"""Repeats requests: 408, 425, 429, 5xx, timeouts and broken connections are worth another attempt.

The waits are random and grow with each failure: exponential backoff with full jitter. A server may ask for a longer wait
(Retry-After), up to a limit.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


class BusyError(Exception):
    """A request failed; another attempt may succeed. `slow_down`: the server asked for fewer requests."""

    # The number of requests that were sent.
    attempts = 1
    # How long nothing has answered at an address that answered before.
    gone_s: float | None = None

    def __init__(
        self, message: str, retry_after_s: float | None = None, slow_down: bool = False, timed_out: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after_s, self.slow_down, self.timed_out = retry_after_s, slow_down, timed_out

    def give_up(self, failures: int, wait_s: float) -> Exception:
        """Return the error to raise in place of another attempt."""
        asks = f" (the server asks to wait {self.retry_after_s:.0f} s)" if (self.retry_after_s or 0) > 60 else ""
        tries = f"; given up after {failures} attempt{'s' if failures != 1 else ''}"
        if self.gone_s is not None:  # the same words for all calls
            tries = (
                " It answered before. Start it and run the same command again: replies in the cache are not asked again"
            )
        final = type(self)(f"{self}{asks}{tries}", wait_s, self.slow_down, self.timed_out)
        final.attempts = failures
        return final


class UnreachableError(BusyError):
    """The address has never answered. After a few attempts it is assumed to be wrong."""


@dataclass(frozen=True)
class Patience:
    """How often and for how long a request is repeated."""

    attempts: int = 6
    # For an address that has never answered.
    attempts_unreachable: int = 3
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    # The longest wait that a server may ask for; if it asks for more, the next attempt is made after this.
    longest_asked_s: float = 600.0
    # Measured from the first failure, so that waiting for a rate limit does not count.
    longest_s: float = 900.0
    # For a server that is gone, counted over all calls.
    longest_gone_s: float = 30.0

    def wait_s(self, failures: int, error: BusyError) -> float:
        """Return the wait after this many failures."""
        longest_s = self.longest_wait_s if error.gone_s is None else min(self.longest_wait_s, 4.0)
        jitter = random.uniform(0, min(longest_s, self.first_wait_s * 2 ** min(failures - 1, 30)))  # noqa: S311
        if error.retry_after_s is None:
            return jitter
        return min(error.retry_after_s, self.longest_asked_s) + min(jitter, 1.0)

    def is_over(self, failures: int, error: BusyError) -> bool:
        """Return whether no attempt is left. If the server asks for slower requests, only the time limits them."""
        if isinstance(error, UnreachableError):
            return failures >= self.attempts_unreachable
        if error.gone_s is not None:
            return error.gone_s >= self.longest_gone_s
        return not error.slow_down and failures >= self.attempts


async def retry(
    call: Callable[[], Awaitable[T]],
    patience: Patience,
    retry_late: bool = True,
    wait: Callable[[float, BusyError], Awaitable[None]] = lambda wait_s, _: asyncio.sleep(wait_s),
) -> tuple[T, int]:
    """Return the result of a call and the number of attempts: a BusyError repeats it.

    With `retry_late` false, a timeout is final. Other errors are raised; their `attempts` counts all attempts.
    """
    failures, first_failure = 0, math.inf
    while True:
        try:
            return await call(), failures + 1
        except BusyError as error:
            failures += 1
            now = time.monotonic()
            first_failure = min(first_failure, now)
            busy, wait_s = error, patience.wait_s(failures, error)
            late = error.timed_out and not retry_late
            most_s = now - first_failure + max(wait_s, error.retry_after_s or 0.0)
            if late or patience.is_over(failures, error) or most_s > patience.longest_s:
                raise error.give_up(failures, wait_s) from None
        except Exception as error:
            if hasattr(error, "attempts"):
                error.attempts += failures
            raise
        await wait(wait_s, busy)


def is_busy(status: int) -> bool:
    """Return whether a status is worth another attempt."""
    return status in (408, 425, 429) or status >= 500


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the wait in seconds that the server asks for, given in milliseconds, in seconds or as a date."""
    for name, unit_s in (("retry-after-ms", 0.001), ("Retry-After", 1.0)):
        with suppress(ValueError):
            if math.isfinite(wait := float(headers.get(name, ""))):
                return max(0.0, wait * unit_s)
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  (slow to import)

    with suppress(ValueError, TypeError, OverflowError):
        return max(0.0, parsedate_to_datetime(headers.get("Retry-After", "")).timestamp() - time.time())
    return None
