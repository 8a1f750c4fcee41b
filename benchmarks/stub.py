"""An OpenAI-like server that thinks for a fixed time: `python -m benchmarks.stub` prints its port and serves until killed."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import urlopen

from aiohttp import web

from benchmarks.processes import ROOT

LATENCY_S = 0.05
_REPLY = json.dumps(
    {
        "id": "stub",
        "object": "chat.completion",
        "model": "stub",
        "choices": [
            {
                "index": 0,
                # What ours, ragas' and deepeval's prompts ask for, in one.
                "message": {
                    "role": "assistant",
                    "content": '{"claims": ["The light was lit in 1871."], "reason": "So it says.", "verdict": 1, "score": 8}',
                },
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 400, "completion_tokens": 12, "total_tokens": 412},
    }
).encode()


_CALLS = web.AppKey("calls", list[int])


async def _answer(request: web.Request) -> web.Response:
    await request.read()
    request.app[_CALLS][0] += 1
    await asyncio.sleep(LATENCY_S)
    return web.Response(body=_REPLY, content_type="application/json")


async def _count(request: web.Request) -> web.Response:
    return web.json_response(request.app[_CALLS][0])


async def _serve() -> None:
    app = web.Application()
    app[_CALLS] = [0]
    app.router.add_post("/v1/chat/completions", _answer)
    app.router.add_get("/v1/count", _count)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


@contextmanager
def stub_server() -> Iterator[str]:
    """The address of a stub in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.stub"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


def calls_so_far(url: str) -> int:
    """How many calls a stub has answered."""
    with urlopen(f"{url}/count") as reply:
        return int(reply.read())


if __name__ == "__main__":
    asyncio.run(_serve())
