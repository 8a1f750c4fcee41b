"""Without network only the cache answers; nothing is sent, no key is needed."""

import asyncio

import pytest

from ragstone.llm.base import LLMStoppedError, Message, Request
from ragstone.llm.cache import Cache
from ragstone.llm.gateway import Gateway, GatewaySettings

REQUEST = Request((Message("user", "hello"),))


def ask(settings, request=REQUEST):
    async def work():
        gateway = Gateway(settings)
        try:
            return await gateway.open_llm("openai/m").complete(request)
        finally:
            await gateway.close()

    return asyncio.run(work())


def test_what_was_answered_once_is_answered_again(loopback, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    first = ask(GatewaySettings(cache=Cache(str(tmp_path)), base_url=loopback.url))
    assert (first.text, len(loopback.asked)) == ("fine", 1)
    monkeypatch.delenv("OPENAI_API_KEY")
    again = ask(GatewaySettings(cache=Cache(str(tmp_path)), base_url=loopback.url, offline=True))
    assert (again.text, len(loopback.asked)) == ("fine", 1)


@pytest.mark.parametrize("cached", [True, False])
def test_what_is_not_there_is_refused_at_once(loopback, tmp_path, cached):
    cache = Cache(str(tmp_path)) if cached else None
    with pytest.raises(LLMStoppedError, match="not in the cache"):
        ask(GatewaySettings(cache=cache, base_url=loopback.url, offline=True))
    assert loopback.asked == []
