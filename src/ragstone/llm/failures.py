"""Why a call gave no reply. An LLMError becomes the reason of a failed cell; a StopRunError ends the run.

LLMError
├── LLMRefusedError        the server will not answer this request (400, content filter): no use to repeat it
│   └── UnsupportedFormatError  it cannot hold its reply to a JSON schema, or to JSON: ask for less
├── LLMBusyError           429, 5xx, timeouts, broken connections: worth another try
│   └── LLMUnreachableError     nothing has ever answered at the address
├── LLMReplyError          the reply is not what was asked for; carries the raw text
└── LLMStoppedError        budget or deadline is used up: no further call is made
LLMAccessError (a StopRunError)  key, model name or address are wrong: every other call would fail too
"""

from __future__ import annotations

from ragstone.errors import StopRunError


class LLMError(Exception):
    """A call gave no usable reply; the text says why. `attempts` counts the requests that were sent for it."""

    attempts = 1


class LLMRefusedError(LLMError):
    """The server will not answer this request, however often it is asked."""


class UnsupportedFormatError(LLMRefusedError):
    """The server cannot give replies in the format that was asked for."""


class LLMBusyError(LLMError):
    """The server did not answer now; it may later. `slow_down` says that it asked for fewer requests."""

    def __init__(
        self, message: str, retry_after_s: float | None = None, slow_down: bool = False, timed_out: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.slow_down = slow_down
        self.timed_out = timed_out


class LLMUnreachableError(LLMBusyError):
    """Nothing has ever answered at the address, so that after a few tries the address is taken to be wrong."""


class LLMReplyError(LLMError):
    """The reply is not what was asked for. The raw reply is kept, and whether it came from the cache."""

    def __init__(self, message: str, raw: str = "", cached: bool = False) -> None:
        super().__init__(message)
        self.raw = raw
        self.cached = cached


class LLMStoppedError(LLMError):
    """No call is made any more: the budget is spent or the time is up."""

    attempts = 0


class LLMAccessError(StopRunError):
    """Key, model name or address are wrong, so that every other call would fail too."""

    attempts = 1
