"""Requests to one endpoint: its headers, its deadline, and what a failure of the connection means."""

from __future__ import annotations

from typing import Any

from ragstone.http.client import HttpClient, HttpError, HttpReply
from ragstone.llm.endpoints import Endpoint
from ragstone.llm.failures import LLMAccessError, LLMBusyError, LLMRefusedError, LLMUnreachableError


class Transport:
    """Posts to an endpoint. A server that has answered once and is gone later is busy; one that never has is absent."""

    def __init__(self, endpoint: Endpoint, client: HttpClient, timeout_s: float) -> None:
        self._endpoint = endpoint
        self._client = client
        self._timeout_s = timeout_s
        self._has_answered = False

    async def post(self, what: str, body: dict[str, Any]) -> HttpReply:
        """The server's reply, whatever its status, or an error that says whether to try again."""
        endpoint = self._endpoint
        try:
            reply = await self._client.post_json(endpoint.url(what), body, endpoint.headers, self._timeout_s)
        except HttpError as error:
            raise self._explain(error) from None
        self._has_answered = True
        return reply

    def _explain(self, error: HttpError) -> Exception:
        words = str(error)
        if error.kind == "certificate":
            return LLMAccessError(words)
        if error.kind == "size":
            return LLMRefusedError(words)
        if error.kind == "connect" and not self._has_answered:
            advice = f" The address comes from {self._endpoint.address_variable} or --base-url."
            return LLMUnreachableError(f"{words}{advice}")
        return LLMBusyError(words, timed_out=error.kind == "timeout")
