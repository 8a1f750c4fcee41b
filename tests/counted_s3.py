"""A server that speaks S3 and counts the requests by kind. Import both fixtures into a test module, and use `bucket` with them."""

from __future__ import annotations

import logging
from collections import Counter

import pytest


class Requests:
    """The requests since the last `reset`, by kind: LIST, GET, PUT, HEAD, DELETE, POST."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str, str]] = []

    def reset(self) -> None:
        self.log = []

    def count(self, path: str = "") -> Counter[str]:
        """The number of requests of each kind whose path or query contains a text."""
        return Counter(kind for kind, where, query in list(self.log) if path in where or path in query)

    def add(self, environ) -> None:
        kind, where, query = (environ.get(name, "") for name in ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING"))
        is_list = kind == "GET" and where.strip("/").count("/") == 0
        self.log.append(("LIST" if is_list else kind, where, query.replace("%2F", "/")))


@pytest.fixture(scope="module")
def counted_server():
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server, requests = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False), Requests()
    server.start()
    server.get_host_and_port()  # waits until it listens
    inner = server._server.app

    def counting(environ, start_response):
        requests.add(environ)
        return inner(environ, start_response)

    server._server.app = counting
    yield server, requests
    server.stop()


@pytest.fixture(scope="module")
def s3_server(counted_server):
    return "http://{}:{}".format(*counted_server[0].get_host_and_port())


@pytest.fixture
def requests(bucket, counted_server):
    counted_server[1].reset()
    return counted_server[1]
