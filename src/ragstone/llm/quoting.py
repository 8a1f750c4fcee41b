"""What a run would ask and cost, without asking: the same path as a real run, with guesses in place of replies."""

from __future__ import annotations

from ragstone.llm.base import Reply, Request
from ragstone.llm.prices import Price
from ragstone.llm.tokens import estimate_request


class Quoting:
    """A model that makes no call: it replies with the request's own guess and counts what the call would take."""

    def __init__(self, name: str, signature: str, price: Price | None) -> None:
        self._name = name
        self._signature = signature
        self._price = price

    @property
    def name(self) -> str:
        """The name of the model that would be asked."""
        return self._name

    @property
    def signature(self) -> str:
        """The signature of the model that would be asked."""
        return self._signature

    async def complete(self, request: Request) -> Reply:
        """The guess, with estimated tokens and their price."""
        sent, received = estimate_request(request)
        cost = None if self._price is None else self._price.cost_usd(sent, received)
        return Reply(request.guess, self._name, input_tokens=sent, output_tokens=received, cost_usd=cost)

    async def close(self) -> None:
        """Nothing to close."""
