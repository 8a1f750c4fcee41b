"""A user's system, opened and asked in a line."""

import asyncio

from ragstone.data.types import Chunk
from ragstone.http.retry import Patience
from ragstone.llm.gateway import Gateway, GatewaySettings
from ragstone.llm.systems import open_system

QUICK = Patience(first_wait_s=0.01, longest_wait_s=0.05, attempts=2)
PASSAGES = [Chunk("The last boat leaves at 21:40.", id="a"), Chunk("Dogs travel free.", id="b")]


def using(spec, use, template=None, version=None, quoting=False, parameters=None, **settings):
    """What `use(system)` gives, a coroutine function, with a gateway around it."""

    async def work():
        gateway = Gateway(GatewaySettings(**{"patience": QUICK, "timeout_s": 5.0, **settings}), quoting=quoting)
        try:
            return await use(open_system(spec, gateway, template, version, parameters))
        finally:
            await gateway.close()

    return asyncio.run(work())


def answer(spec, question="When does the last boat leave?", contexts=None, documents=(), **options):
    return using(spec, lambda system: system.answer(question, contexts, documents), **options)
