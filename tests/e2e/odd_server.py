"""A server of plain sockets that answers truly as the oracle does, and sends the answer in any way that bytes allow."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable

from tests.oracle.server import OracleServer, _embeddings

# From the number of the request and the true reply to what is sent: bytes, seconds to wait, or None to break the connection.
Sends = Callable[[int, dict], Iterable[bytes | float | None]]


def http(body: bytes, *headers: str, status: str = "200 OK", kind: str = "application/json") -> bytes:
    """A whole reply of HTTP."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def fine(number: int, reply: dict) -> list[bytes]:
    return [http(json.dumps(reply).encode())]


class OddServer:
    """Serves from `with` to its end; `requests` has the head and the body of each request."""

    def __init__(self, sends: Sends = fine, host: str = "127.0.0.1"):
        self.sends, self.requests, self.host = sends, [], host
        self._oracle = OracleServer()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.socket(family)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((host, 0))
        self._listener.listen(64)
        self._open = True
        self.port = self._listener.getsockname()[1]

    @property
    def base_url(self) -> str:
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}/v1"

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.die()
        self._oracle._loop.close()

    def die(self) -> None:
        """No connection is accepted any more, and none of the present ones is answered."""
        self._open = False
        self._listener.close()

    def _accept(self) -> None:
        while self._open:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer: socket.socket) -> None:
        peer.settimeout(20)
        try:
            with peer, peer.makefile("rb") as stream:
                while self._open and self._answer(peer, stream):
                    pass
        except OSError:
            pass

    def _answer(self, peer, stream) -> bool:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = stream.readline()
            if not line:
                return False
            head += line
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
        body = json.loads(stream.read(int(fields.get(b"content-length", 0))) or b"{}")
        number = len(self.requests)
        self.requests.append((head.decode(), body))
        keep = True
        for step in self.sends(number, self.truth(body)):
            if isinstance(step, float):
                time.sleep(step)
            elif step is None:
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                return False
            else:
                peer.sendall(step)
                keep = step != b""
        return keep

    def truth(self, body: dict) -> dict:
        """The oracle's reply."""
        if "input" in body:
            return _embeddings(body)
        reply = self._oracle._completion(body, None)
        return {name: value for name, value in reply.items() if name != "prompt"} if isinstance(reply, dict) else {}
