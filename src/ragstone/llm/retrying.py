"""Another try after a while: exponential backoff with full jitter, and never sooner than the server asks for."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from ragstone.llm.base import LLM, Reply, Request
from ragstone.llm.failures import LLMAccessError, LLMBusyError, LLMError, LLMUnreachableError

T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """How often and how long a request is repeated."""

    attempts: int = 6
    # An address that has never answered is given up sooner, for the whole run.
    attempts_unreachable: int = 3
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    # Counted from the first failure: waiting for a place under the limits is no failure.
    longest_s: float = 900.0

    def wait_s(self, failures: int, error: LLMBusyError) -> float:
        """How long to wait after so many failures."""
        jitter = random.uniform(0, min(self.longest_wait_s, self.first_wait_s * 2 ** min(failures - 1, 30)))  # noqa: S311
        if error.retry_after_s is None:
            return jitter
        return error.retry_after_s + min(jitter, 1.0)

    def is_over(self, failures: int, error: LLMBusyError) -> bool:
        """Whether the number of tries is used up; a server that asks for slower requests is asked until time is up."""
        if isinstance(error, LLMUnreachableError):
            return failures >= self.attempts_unreachable
        return not error.slow_down and failures >= self.attempts


async def retry(call: Callable[[], Awaitable[T]], patience: Patience) -> tuple[T, int]:
    """What a call gives at last, and how many attempts it took."""
    failures = 0
    first_failure = 0.0
    while True:
        try:
            return await call(), failures + 1
        except LLMBusyError as error:
            failures += 1
            now = time.monotonic()
            first_failure = first_failure or now
            wait_s = patience.wait_s(failures, error)
            if patience.is_over(failures, error) or now + wait_s - first_failure > patience.longest_s:
                raise _give_up(error, failures, wait_s) from None
        except (LLMError, LLMAccessError) as error:
            error.attempts += failures
            raise
        await asyncio.sleep(wait_s)


def _give_up(error: LLMBusyError, failures: int, wait_s: float) -> LLMError | LLMAccessError:
    if isinstance(error, LLMUnreachableError):
        final: LLMError | LLMAccessError = LLMAccessError(str(error))
    else:
        longer = f" (the server asks to wait {error.retry_after_s:.0f} s)" if (error.retry_after_s or 0) > 60 else ""
        tries = f"{failures} attempt{'s' if failures != 1 else ''}"
        words = f"{error}{longer}; given up after {tries}"
        final = LLMBusyError(words, wait_s, slow_down=error.slow_down, timed_out=error.timed_out)
    final.attempts = failures
    return final


class Retrying:
    """A model that is asked again when it was busy."""

    def __init__(self, llm: LLM, patience: Patience = Patience()) -> None:  # noqa: B008  (frozen)
        self._llm = llm
        self._patience = patience

    @property
    def name(self) -> str:
        """The model's name."""
        return self._llm.name

    @property
    def signature(self) -> str:
        """The model's signature."""
        return self._llm.signature

    async def complete(self, request: Request) -> Reply:
        """The reply with the number of attempts that it took."""
        reply, attempts = await retry(lambda: self._llm.complete(request), self._patience)
        return reply if attempts == 1 else replace(reply, attempts=attempts)

    async def close(self) -> None:
        """Close the model."""
        await self._llm.close()
