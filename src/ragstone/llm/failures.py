"""Why a call gave no reply. An LLMError becomes the reason of a failed cell; a StopRunError ends the run.

LLMError
├── LLMRefusedError        the server will not answer this request (400, content filter): no use to repeat it
├── LLMBusyError           429, 5xx, timeouts, broken connections: worth another try
├── LLMReplyError          the reply is not what was asked for; carries the raw text
└── LLMStoppedError        budget or deadline is used up: no further call is made
LLMAccessError (a StopRunError)  key, model name or address are wrong: every other call would fail too
"""

from __future__ import annotations

from ragstone.errors import StopRunError


class LLMError(Exception):
    """A call gave no usable reply; the text says why."""


class LLMRefusedError(LLMError):
    """The server will not answer this request, however often it is asked."""


class LLMBusyError(LLMError):
    """The server did not answer now; it may later. `slow_down` says that it asked for fewer requests."""

    def __init__(self, message: str, retry_after_s: float | None = None, slow_down: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.slow_down = slow_down


class LLMReplyError(LLMError):
    """The reply is not what was asked for. The raw reply is kept."""

    def __init__(self, message: str, raw: str = "") -> None:
        super().__init__(message)
        self.raw = raw


class LLMStoppedError(LLMError):
    """No call is made any more: the budget is spent or the time is up."""


class LLMAccessError(StopRunError):
    """Key, model name or address are wrong, so that every other call would fail too."""
