"""Requests and gateways in a line."""

import asyncio

from ragstone.http.retry import Patience
from ragstone.llm.base import Message, Request
from ragstone.llm.gateway import Gateway, GatewaySettings

QUICK = Patience(first_wait_s=0.01, longest_wait_s=0.05)
MODEL = "openai/gpt-4o-mini"


def request(text="What is 2 + 2?", **fields):
    return Request((Message("user", text),), **fields)


def ask(server, *requests, model=MODEL, quoting=False, **settings):
    """The replies, or the errors, of a gateway to some requests at once; one alone is not in a list."""
    base_url = server if server is None or isinstance(server, str) else server.url
    settings = GatewaySettings(**{"base_url": base_url, "patience": QUICK, "timeout_s": 5.0, **settings})

    async def all_of_them():
        gateway = Gateway(settings, quoting=quoting)
        llm = gateway.open_llm(model)
        found = await asyncio.gather(*(llm.complete(one) for one in requests or [request()]), return_exceptions=True)
        await gateway.close()
        return found

    found = asyncio.run(all_of_them())
    return found if len(found) > 1 else found[0]
