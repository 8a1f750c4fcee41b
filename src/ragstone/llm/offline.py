"""No network: what is in the cache is answered, everything else is refused at once. For tests that must cost nothing."""

from __future__ import annotations

from typing import NoReturn

from ragstone.llm.base import LLM, Request
from ragstone.llm.failures import LLMStoppedError


class Offline:
    """A model that makes no call."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    @property
    def name(self) -> str:
        """The name of the model that would be asked."""
        return self._llm.name

    @property
    def signature(self) -> str:
        """The signature of the model that would be asked."""
        return self._llm.signature

    async def complete(self, request: Request) -> NoReturn:  # noqa: ARG002  (the form of all models)
        """Refuse."""
        raise LLMStoppedError(
            "offline, and this reply is not in the cache. Run once without offline to fill it; RAGSTONE_CACHE says where it lies."
        )

    async def close(self) -> None:
        """Close what was never used."""
        await self._llm.close()
