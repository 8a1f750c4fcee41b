"""An OpenAI-compatible server on loopback that judges by the world, and misbehaves on command.

    with OracleServer(trouble=every(3, "429")) as server:
        ragstone.evaluate(..., judge="openai/oracle", base_url=server.base_url)
    server.replies["verdicts"]      how many true replies to a prompt left the server
    server.most_in_flight           how many requests it had at once, at most

`python -m tests.oracle.server` runs it as a process of its own: it prints its port, and `/stats` gives the counts.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import re
import struct
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from aiohttp import web

from ragstone.tools.judge_exam import load_items
from tests.oracle import scales
from tests.oracle import trouble as troubles
from tests.oracle.embedding import embed
from tests.oracle.judge import judge
from tests.oracle.reading import recognise

# What is replied in place of the truth to a prompt and the whole body of a request.
Alter = Callable[[str, dict[str, Any], dict[str, Any]], dict[str, Any]]
# The claim of the question that a run asks before its first verdict.
TRIAL = next(item.data["claim"] for item in load_items() if item.kind == "verdict")
_TOKEN = re.compile(r"[\u4e00-\u9fff]|[^\W\d\u4e00-\u9fff]{1,9}|\d{1,3}|[^\w\s]{1,3}")


def count_tokens(text: str) -> int:
    """Tokens as a usual tokeniser would count them, about: pieces of words, signs, Chinese characters one by one."""
    return len(_TOKEN.findall(text))


class OracleServer:
    """The server in a thread of its own, from `with` to the end of it."""

    def __init__(
        self,
        trouble: troubles.Schedule = troubles.never,
        latency_s: float = 0.0,
        formats: Sequence[str] = ("json_schema", "json_object"),
        key: str | None = None,
        logprobs: bool = True,
        alter: Alter = lambda prompt, body, reply: reply,
        spoil_choice: Callable[[str, dict[str, Any]], str | None] = lambda prompt, body: None,
        port: int = 0,
    ) -> None:
        self.alter = alter
        # The trouble of `IN_CHOICE` that meets a prompt and the body of its request, whatever its number.
        self.spoil_choice = spoil_choice
        self.trouble, self.latency_s, self.formats, self.key, self.logprobs = trouble, latency_s, formats, key, logprobs
        self.port = port
        self.replies: Counter[str] = Counter()
        self.met: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.input_tokens = self.output_tokens = self.embedded_tokens = 0
        self.in_flight = self.most_in_flight = self.requests = 0
        self._loop = asyncio.new_event_loop()
        self._runner: web.AppRunner | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def calls(self) -> int:
        """How many chat completions were answered truly; embeddings are not counted."""
        return sum(count for name, count in self.replies.items() if name != "embeddings")

    def __enter__(self) -> OracleServer:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def start(self) -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._serve)
        app.router.add_post("/v1/embeddings", self._serve)
        app.router.add_get("/stats", self._stats)
        self.add_routes(app)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=1024)
        await site.start()
        self.port = self._runner.addresses[0][1]

    def add_routes(self, app: web.Application) -> None:
        """Further routes of a subclass."""

    async def stop(self) -> None:
        if self._runner:
            await self._runner.cleanup()

    def stats(self) -> dict[str, Any]:
        """The counts, as `/stats` gives them."""
        return {
            "replies": dict(self.replies),
            "met": dict(self.met),
            "requests": self.requests,
            "most_in_flight": self.most_in_flight,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "embedded_tokens": self.embedded_tokens,
            "problems": self.problems,
        }

    async def _stats(self, request: web.Request) -> web.Response:
        return web.json_response(self.stats())

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        number, self.requests = self.requests, self.requests + 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._reply(request, number)
        finally:
            self.in_flight -= 1

    async def _reply(self, request: web.Request, number: int) -> web.StreamResponse:
        body = await request.json()
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        given = request.headers.get("Authorization", "")
        if self.key and given != f"Bearer {self.key}":
            # Some servers really do quote the key that they refuse.
            return troubles.error(401, f"Incorrect API key provided: {given.removeprefix('Bearer ')}")
        wanted = body.get("response_format", {}).get("type", "text")
        if wanted not in ("text", *self.formats):
            self.met[f"no {wanted}"] += 1
            return troubles.error(400, f"response_format type {wanted!r} is not supported by this model")
        trouble = self.trouble(number)
        if trouble:
            self.met[trouble] += 1
        embeds = request.path.endswith("/embeddings")
        reply = _embeddings(body) if embeds else self._completion(body, trouble)
        if isinstance(reply, web.Response):
            return reply
        if trouble and trouble not in troubles.IN_TEXT and trouble not in troubles.IN_CHOICE:
            return await troubles.meet(trouble, request, reply)
        self._count(body, reply, "embeddings" if embeds else reply["prompt"])
        return web.json_response({name: value for name, value in reply.items() if name != "prompt"})

    def _count(self, body: dict[str, Any], reply: dict[str, Any], name: str) -> None:
        self.replies[name] += 1
        self.bodies.append(body)
        if name == "embeddings":
            self.embedded_tokens += reply["usage"]["prompt_tokens"]
        else:
            self.input_tokens += reply["usage"]["prompt_tokens"]
            self.output_tokens += reply["usage"]["completion_tokens"]

    def _completion(self, body: dict[str, Any], trouble: str | None) -> dict[str, Any] | web.Response:
        """The true reply; what cannot be understood is refused and kept among the problems, for a test to see."""
        try:
            prompt, data = recognise(body)
            if data.get("claim") == TRIAL:
                prompt, reply = "token_trial", "yes"
            else:
                reply = judge(prompt, data)
            if prompt == "grade":
                reply = scales.on_scale(body, reply["grade"])
            reply = self.alter(prompt, body, reply)
            text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        except (AssertionError, KeyError, ValueError) as problem:
            self.problems.append(f"{type(problem).__name__}: {problem}")
            return troubles.error(400, f"the oracle does not understand: {problem}")
        spoilt = troubles.IN_TEXT.get(trouble or "", lambda text: text)(text)
        choice: dict[str, Any] = {
            "index": 0,
            "message": {"role": "assistant", "content": spoilt},
            "finish_reason": "length" if trouble == "truncated" else "stop",
        }
        if body.get("logprobs") and self.logprobs:
            one = body.get("max_tokens") == 1 and spoilt in scales.WORDS
            choice["logprobs"] = {"content": (scales.one_token if one else scales.with_alternatives)(spoilt)}
            bend = troubles.IN_CHOICE.get(self.spoil_choice(prompt, body) or trouble or "", lambda choice: choice)
            choice = bend(choice)
        shown = sum(count_tokens(message["content"]) + 4 for message in body["messages"])
        usage = {"prompt_tokens": shown, "completion_tokens": count_tokens(spoilt)}
        usage["total_tokens"] = sum(usage.values())
        return {
            "id": "oracle",
            "object": "chat.completion",
            "model": body["model"],
            "choices": [choice] if choice else [],
            "usage": usage,
            "prompt": prompt,
        }


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    tokens = sum(map(count_tokens, texts))
    return {
        "object": "list",
        "model": body["model"],
        "data": [
            {"object": "embedding", "index": place, "embedding": _encoded(embed(text), body.get("encoding_format"))}
            for place, text in enumerate(texts)
        ],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _encoded(vector: list[float], encoding: str | None) -> list[float] | str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode() if encoding == "base64" else vector


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.server", description=main.__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--trouble", help="429, hang, reset, … (tests/oracle/trouble.py)")
    parser.add_argument("--share", type=float, default=1.0, help="the part of the requests that meet the trouble")
    options = parser.parse_args()
    schedule = troubles.share(options.share, options.trouble) if options.trouble else troubles.never
    server = OracleServer(schedule, latency_s=options.latency, port=options.port)

    async def serve() -> None:
        await server.start()
        print(server.port, flush=True)
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
