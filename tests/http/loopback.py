"""A real server on this machine that answers as a test tells it to, and misbehaves on command."""

import asyncio
import json
import threading
import time
from contextlib import contextmanager

import pytest

# What a handler may return in place of an answer.
HANG = "hang"
RESET = "reset"
GARBAGE = "garbage"
DRIP = "drip"
FLOOD = "flood"


def completion(text="fine", **more):
    """A chat completion as OpenAI sends it."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 2}, **more}


class Asked:
    """One request as the server saw it."""

    def __init__(self, path, headers, body, method="POST"):
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.at = time.monotonic()

    @property
    def json(self):
        return json.loads(self.body)


class Loopback:
    """A server in a thread of its own. `handler(asked)` returns a body, (status, body), (status, body, headers), or trouble."""

    def __init__(self):
        self.handler = lambda asked: completion()
        self.delay_s = 0.0
        self.asked = []
        self.connections = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.port = None
        self._writers = set()
        self._loop = None
        self._server = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    @contextmanager
    def running(self):
        ready = threading.Event()
        thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True)
        thread.start()
        assert ready.wait(5)
        try:
            yield self
        finally:
            self.stop()
            thread.join(5)

    def stop(self):
        """Stop listening and drop all connections, as a server that dies does."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end.set)
            while not self._loop.is_closed():
                time.sleep(0.005)

    async def _serve(self, ready):
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._end.wait()
        server.close()
        # A connection that was just accepted has a writer some turns later.
        for _ in range(8):
            for writer in self._writers:
                writer.transport.abort()
            await asyncio.sleep(0)

    async def _connected(self, reader, writer):
        self.connections += 1
        self._writers.add(writer)
        try:
            while await self._answer_one(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer_one(self, reader, writer):
        start = await reader.readexactly(1)
        if start == b"\x16":  # a greeting in TLS
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            return False
        head = (start + await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        asked = Asked(first.split()[1], headers, body, first.split()[0])
        self.asked.append(asked)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            return await self._send(self.handler(asked), writer)
        finally:
            self.in_flight -= 1

    async def _send(self, answer, writer):
        if isinstance(answer, str):
            return await getattr(self, f"_{answer}")(writer)
        status, body, headers = 200, answer, {}
        if isinstance(answer, tuple):
            status, body, *rest = answer
            headers = rest[0] if rest else {}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **headers, "Content-Length": len(content)}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {status} Told\r\n{lines}\r\n".encode() + content)
        await writer.drain()
        return True

    async def _hang(self, writer):
        await asyncio.sleep(3600)

    async def _reset(self, writer):
        writer.transport.abort()

    async def _garbage(self, writer):
        writer.write(b"\x00\xffthis is not HTTP at all\r\n\r\n")
        await writer.drain()

    async def _drip(self, writer):
        """A byte now and then, for ever: no single wait is long."""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.05)

    async def _flood(self, writer):
        """A reply without end."""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        while True:
            writer.write(piece)
            await writer.drain()


@pytest.fixture
def loopback():
    """A server that says `fine` until it is told otherwise."""
    with Loopback().running() as server:
        yield server
