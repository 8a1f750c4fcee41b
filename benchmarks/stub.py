"""An OpenAI-like server that thinks for a fixed time: `python -m benchmarks.stub` prints its port and serves until killed."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

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
                "message": {"role": "assistant", "content": '{"claims": ["The light was lit in 1871."]}'},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 400, "completion_tokens": 12, "total_tokens": 412},
    }
).encode()


async def _answer(request: web.Request) -> web.Response:
    await request.read()
    await asyncio.sleep(LATENCY_S)
    return web.Response(body=_REPLY, content_type="application/json")


async def _serve() -> None:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", _answer)
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


if __name__ == "__main__":
    asyncio.run(_serve())
