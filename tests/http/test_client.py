"""The pooled client against a real server that misbehaves."""

import asyncio
import gzip
import json
import socket
import time

import pytest

from ragstone.http.client import HttpClient, HttpError
from tests.http.loopback import DRIP, FLOOD, GARBAGE, HANG, RESET


def post(url, body=None, timeout_s=5.0, headers=None, **options):
    async def once():
        client = HttpClient(**options)
        try:
            return await client.post_json(url, body or {"a": 1}, headers or {}, timeout_s)
        finally:
            await client.close()

    return asyncio.run(once())


def failure(url, **options):
    with pytest.raises(HttpError) as raised:
        post(url, **options)
    return raised.value


def test_a_reply_of_any_status(loopback):
    loopback.handler = lambda asked: (418, {"said": asked.json}, {"X-Tea": "green"})
    reply = post(loopback.url, {"ü": "中"}, headers={"Api-Key": "k"})
    assert (reply.status, json.loads(reply.body), reply.headers["x-tea"]) == (418, {"said": {"ü": "中"}}, "green")
    assert loopback.asked[0].headers["content-type"] == "application/json"
    assert loopback.asked[0].headers["api-key"] == "k"


def test_get(loopback):
    loopback.handler = lambda asked: (404, {"said": "no"})

    async def once():
        client = HttpClient()
        try:
            return await client.send("GET", f"{loopback.url}/files/1/content?a=b", None, {"Api-Key": "k"}, 5)
        finally:
            await client.close()

    reply = asyncio.run(once())
    assert (reply.status, json.loads(reply.body)) == (404, {"said": "no"})
    [asked] = loopback.asked
    assert (asked.path, asked.headers["api-key"], asked.body) == ("/v1/files/1/content?a=b", "k", b"")


def test_half_a_surrogate_pair_is_sent_as_a_question_mark(loopback):
    post(loopback.url, {"text": "a\ud800b"})
    assert loopback.asked[0].json == {"text": "a?b"}


def test_connections_are_kept_and_no_more_than_allowed(loopback):
    loopback.delay_s = 0.01

    async def many():
        client = HttpClient(concurrency=4)
        await asyncio.gather(*(client.post_json(loopback.url, {}, {}, 5) for _ in range(40)))
        await client.close()

    asyncio.run(many())
    assert len(loopback.asked) == 40
    assert loopback.connections == loopback.most_in_flight == 4


def test_a_client_serves_one_loop_after_the_other(loopback):
    client = HttpClient()

    async def once():
        reply = await client.post_json(loopback.url, {}, {}, 5)
        await client.close()
        return reply.status

    assert [asyncio.run(once()), asyncio.run(once())] == [200, 200]


@pytest.mark.parametrize("trouble", [HANG, DRIP])
def test_the_deadline_holds(loopback, trouble):
    loopback.handler = lambda asked: trouble
    started = time.perf_counter()
    error = failure(loopback.url, timeout_s=0.3)
    assert 0.25 < time.perf_counter() - started < 20
    assert (error.kind, str(error)) == ("timeout", f"{loopback.url} sent no complete reply within 0.3 s")


@pytest.mark.parametrize("trouble", [RESET, GARBAGE])
def test_broken_connections(loopback, trouble):
    loopback.handler = lambda asked: trouble
    error = failure(loopback.url)
    assert error.kind == "broken"
    assert str(error).startswith(f"{loopback.url} closed the connection or sent an invalid reply (")


def test_a_reply_that_ends_too_soon(loopback):
    loopback.handler = lambda asked: (200, b"{}", {"Content-Length": "2"})
    assert post(loopback.url).body == b"{}"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        import threading

        def cut():
            connection = listening.accept()[0]
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
            connection.close()

        threading.Thread(target=cut, daemon=True).start()
        assert failure(f"http://127.0.0.1:{listening.getsockname()[1]}/").kind == "broken"


@pytest.mark.parametrize(
    "answer", [FLOOD, (200, b" " * 3_000_000), (200, gzip.compress(b" " * 3_000_000), {"Content-Encoding": "gzip"})]
)
def test_a_reply_without_end_does_not_fill_the_memory(loopback, answer):
    loopback.handler = lambda asked: answer
    error = failure(loopback.url, most_bytes=2 * 2**20)
    assert (error.kind, str(error)) == ("size", f"{loopback.url} sent a reply of more than 2 MB")


def test_nothing_listens():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    error = failure(f"http://me:secret@127.0.0.1:{port}/v1")
    assert (error.kind, str(error)) == (
        "connect",
        f"no server answers at http://127.0.0.1:{port}/v1: is it running?",
    )


def test_no_such_host():
    error = failure("http://nowhere.invalid/v1")
    assert error.kind == "connect"
    assert "http://nowhere.invalid/v1" in str(error)


def test_https_to_a_server_without_tls(loopback):
    error = failure(loopback.url.replace("http", "https", 1))
    assert error.kind == "connect"
    assert "http instead of https" in str(error)


def test_a_certificate_that_nobody_signed(tmp_path):
    import ssl
    import subprocess

    subject = ["-subj", "/CN=localhost", "-days", "1", "-keyout", tmp_path / "key", "-out", tmp_path / "cert"]
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject], capture_output=True)
    if made.returncode:
        pytest.skip("openssl is not installed")

    async def once():
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
        server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        client = HttpClient()
        try:
            with pytest.raises(HttpError) as raised:
                await client.post_json(f"https://localhost:{port}/", {}, {}, 5)
        finally:
            await client.close()
            server.close()
        return raised.value

    error = asyncio.run(once())
    assert error.kind == "certificate"
    assert "Set SSL_CERT_FILE" in str(error)


def test_redirects_are_not_followed(loopback):
    loopback.handler = lambda asked: (307, b"", {"Location": "http://127.0.0.1:1/"})
    assert post(loopback.url).status == 307
    assert len(loopback.asked) == 1


def test_a_proxy_of_the_environment_is_used(loopback, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{loopback.port}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert post("http://model.invalid/v1/chat").status == 200
    assert loopback.asked[0].path == "http://model.invalid/v1/chat"
    monkeypatch.setenv("no_proxy", "model.invalid")
    assert failure("http://model.invalid/v1/chat").kind == "connect"


def test_a_cancelled_request_leaves_the_client_usable(loopback):
    async def both():
        client = HttpClient(concurrency=1)
        loopback.handler = lambda asked: HANG
        task = asyncio.create_task(client.post_json(loopback.url, {}, {}, 60))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        loopback.handler = lambda asked: {"ok": True}
        reply = await client.post_json(loopback.url, {}, {}, 5)
        await client.close()
        return reply.status

    assert asyncio.run(both()) == 200
