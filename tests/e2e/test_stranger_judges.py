"""Judges whose replies are odd in their bytes: a row is right, or failed with a reason; never wrong, and no key leaves."""

import copy
import gzip
import json
import time
from email.utils import formatdate

import pytest

import ragstone
from ragstone.errors import RagstoneError
from tests.e2e.judged import calls, cells, rows
from tests.e2e.odd_server import OddServer, fine, http
from tests.oracle.expected import SKIPPED, expected
from tests.oracle.world import make_samples

FEW = make_samples(2, seed=2)
METRICS = ["ragchecker"]
KEY = "sk-canary-1f2e3d4c5b6a79880011"


def dumped(reply):
    return json.dumps(reply).encode()


def changed(change):
    """The true reply after a change of its JSON."""

    def sends(number, reply):
        reply = copy.deepcopy(reply)
        change(reply)
        return [http(dumped(reply))]

    return sends


def said(**message):
    return changed(lambda reply: reply["choices"][0].update(message={"role": "assistant", "content": None, **message}))


def raw(*steps):
    return lambda number, reply: steps


def with_body(make):
    return lambda number, reply: make(dumped(reply))


def slow(body):
    return [http(body)[:80], *[piece for _ in range(60) for piece in (0.1, b" ")]]


def parts(reply):
    message = reply["choices"][0]["message"]
    half = len(message["content"]) // 2
    message["content"] = [
        {"type": "text", "text": message["content"][:half]},
        {"type": "text", "text": message["content"][half:]},
    ]


def usage(value):
    return changed(lambda reply: reply.update(usage=value))


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
# Replies that a tolerant client understands: the scores are right at the first attempt.
UNDERSTOOD = {
    "gzip": with_body(lambda body: [http(gzip.compress(body), "Content-Encoding: gzip")]),
    "a charset that lies": with_body(lambda body: [http(body, kind="application/json; charset=iso-8859-1")]),
    "an unknown charset": with_body(lambda body: [http(body, kind="application/json; charset=klingon")]),
    "text/plain": with_body(lambda body: [http(body, kind="text/plain")]),
    "no type": with_body(lambda body: [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body]),
    "byte-order mark": with_body(lambda body: [http(b"\xef\xbb\xbf" + body)]),
    "spaces around": with_body(lambda body: [http(b"\n\n  " + body + b"\n\n")]),
    "one byte at a time": with_body(lambda body: [http(body)[n : n + 1] for n in range(len(http(body)))]),
    "HTTP/1.0 until the end": with_body(
        lambda body: [b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + body, b""]
    ),
    "100 first": with_body(lambda body: [b"HTTP/1.1 100 Continue\r\n\r\n" + http(body)]),
    "chunks": with_body(
        lambda body: [HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)]
    ),
    "content in parts": changed(parts),
    "no usage": changed(lambda reply: reply.pop("usage")),
    "usage null": usage(None),
    "usage in words": usage({"prompt_tokens": "many", "completion_tokens": "few"}),
    "usage below zero": usage({"prompt_tokens": -5, "completion_tokens": -7}),
    "usage without end": changed(lambda reply: reply.update(usage={"prompt_tokens": 10**30, "completion_tokens": 1.5})),
    "usage as a list": usage([1, 2]),
    "two choices": changed(
        lambda reply: reply["choices"].append({"index": 1, "message": {"role": "assistant", "content": "{}"}})
    ),
    "no role": changed(lambda reply: reply["choices"][0]["message"].pop("role")),
    "finish reason null": changed(lambda reply: reply["choices"][0].update(finish_reason=None)),
    "unknown finish reason": changed(lambda reply: reply["choices"][0].update(finish_reason="tired")),
    "much more than asked": changed(lambda reply: reply.update(debug="x" * 3_000_000)),
    "NaN beside it": with_body(lambda body: [http(body[:-1] + b', "score": NaN}')]),
    "reasoning beside it": changed(
        lambda reply: reply["choices"][0]["message"].update(reasoning_content="hm", refusal=None, tool_calls=[])
    ),
}
# Replies that say nothing: asked again, or a failed cell.
NOTHING = {
    "too slow a body": with_body(slow),
    "too slow a head": raw(
        *[piece for letter in "HTTP/1.1 200 OK\r\nX: " + "y" * 50 for piece in (letter.encode(), 0.1)]
    ),
    "longer by its length": with_body(
        lambda body: [http(body).replace(b"Content-Length: ", b"Content-Length: 9"), b""]
    ),
    "shorter by its length": with_body(lambda body: [http(body[:30]) + body[30:], b""]),
    "length below zero": with_body(lambda body: [HEAD + b"Content-Length: -5\r\n\r\n" + body, b""]),
    "length in words": with_body(lambda body: [HEAD + b"Content-Length: long\r\n\r\n" + body, b""]),
    "two lengths": with_body(
        lambda body: [HEAD + b"Content-Length: 5\r\nContent-Length: %d\r\n\r\n" % len(body) + body, b""]
    ),
    "chunks of no size": with_body(lambda body: [HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n" + body, b""]),
    "chunks without an end": with_body(
        lambda body: [HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(body), body), b""]
    ),
    "empty": raw(http(b"")),
    "204": raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "closed after the head": raw(HEAD + b"Content-Length: 100\r\n\r\n", None),
    "closed at once": raw(None),
    "no HTTP": raw(b"SSH-2.0-OpenSSH_9.6\r\n", b""),
    "no known version": raw(b"HTTP/9.9 200 Fine\r\n\r\n", b""),
    "a head of a megabyte": raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n{}", b""),
    "broken gzip": with_body(lambda body: [http(b"\x1f\x8b" + body, "Content-Encoding: gzip")]),
    "cut gzip": with_body(lambda body: [http(gzip.compress(body)[:-20], "Content-Encoding: gzip")]),
    "gzip by name": with_body(lambda body: [http(body, "Content-Encoding: gzip")]),
    "no text": with_body(lambda body: [http(body.replace(b"assistant", b"\xff\xfe\xc3"))]),
    "stream of events": with_body(
        lambda body: [http(b"data: " + body + b"\n\ndata: [DONE]\n\n", kind="text/event-stream")]
    ),
    "a list": with_body(lambda body: [http(b"[" + body + b"]")]),
    "a text": raw(http(b'"busy"')),
    "null": raw(http(b"null")),
    "deep": raw(http(b"[" * 100_000)),
    "no choices": changed(lambda reply: reply.update(choices=[])),
    "choices null": changed(lambda reply: reply.update(choices=None)),
    "choices of null": changed(lambda reply: reply.update(choices=[None])),
    "choices in words": changed(lambda reply: reply.update(choices="none")),
    "message null": changed(lambda reply: reply["choices"][0].update(message=None)),
    "message in words": changed(lambda reply: reply["choices"][0].update(message="hello")),
    "content null": said(),
    "content a number": said(content=5),
    "content a mapping": said(content={"text": "{}"}),
    "content parts of nothing": said(content=[None, 5, {"type": "image_url"}]),
    "refusal": said(refusal="I cannot judge this."),
    "tool calls": said(tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]),
    "filtered": changed(
        lambda reply: reply["choices"][0].update(
            message={"role": "assistant", "content": ""}, finish_reason="content_filter"
        )
    ),
    "an error with 200": raw(http(b'{"error": {"message": "overloaded", "code": 503}}')),
    "cut, but whole": changed(lambda reply: reply["choices"][0].update(finish_reason="length")),
    "status 201": with_body(lambda body: [http(body, status="201 Created")]),
    "413": raw(http(b"<html>too large</html>", status="413 Payload Too Large", kind="text/html")),
    "422": raw(http(b'{"detail": [{"loc": ["body"], "msg": "no", "type": "x"}]}', status="422 Unprocessable")),
    "451": raw(http(b"", status="451 Unavailable For Legal Reasons")),
    "520": raw(http(b"error code: 520", status="520 Unknown", kind="text/plain")),
    "redirect without an address": raw(http(b"", status="302 Found")),
    "error body that is no text": raw(http(b"\xff\xfe\x00", status="500 Error")),
    "error of a megabyte": raw(http(b"x" * 1_000_000, status="500 Error", kind="text/plain")),
    "error null": raw(http(b'{"error": null}', status="400 Bad Request")),
    "error a list": raw(http(b'{"error": [1]}', status="400 Bad Request")),
    "retry at a date": lambda number, reply: [
        http(b"", f"Retry-After: {formatdate(time.time() + 1, usegmt=True)}", status="429 Too Many")
    ],
    "retry at a date gone by": raw(http(b"", "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT", status="429 Too Many")),
    "retry before now": raw(http(b"", "Retry-After: -30", status="429 Too Many")),
    "retry in words": raw(http(b"", "Retry-After: soon", status="503 Busy")),
    "retry nan": raw(http(b"", "Retry-After: nan", status="429 Too Many")),
}
# These end the run or fail at once, so that a second attempt is not made.
FINAL = {"status 201", "204", "413", "422", "451", "error null", "error a list", "redirect without an address"}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def evaluate(server, out, **options):
    options = {"judge": "openai/oracle", "base_url": server.base_url, "timeout_s": 2.0, "concurrency": 2, **options}
    return ragstone.evaluate(rows(FEW), metrics=METRICS, out=out, **options)


def attempt(server, out, **options):
    """The run, and the message if there is none."""
    try:
        return evaluate(server, out, **options), ""
    except RagstoneError as problem:
        assert KEY not in str(problem)  # noqa: PT017  (every message is looked at)
        return None, str(problem)


def check(folder, all_right=False):
    """Every cell is what the world says, or failed with a reason of one line; the number of wrong and failed ones."""
    found, failed = cells(folder), 0
    for sample in FEW:
        for name, value in expected(sample).items():
            if not name.startswith("ragchecker"):
                continue
            cell = found[sample.id, name]
            if cell["status"] == "failed":
                failed += 1
                assert cell["reason"]
                assert "Traceback" not in cell["reason"]
                assert "NoneType" not in cell["reason"]
                assert len(cell["reason"]) < 600
                continue
            wanted = None if value == SKIPPED else pytest.approx(value, abs=1e-9)
            if cell["status"] == "skipped" and value != SKIPPED:
                failed += 1
                continue
            assert cell["value"] == wanted, (sample.id, name, cell)
    assert not (all_right and failed), [cell for cell in found.values() if cell["status"] == "failed"][:2]
    spent = [
        call
        for call in calls(folder)
        if (call["input_tokens"] or 0) < 0 or (call["output_tokens"] or 0) < 0 or (call["cost_usd"] or 0) < 0
    ]
    assert not spent
    return failed


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_replies_that_are_odd_but_right(tmp_path, name):
    with OddServer(UNDERSTOOD[name]) as server:
        run = evaluate(server, tmp_path / "out")
    check(run.path, all_right=True)
    bodies = [json.dumps(body) for _, body in server.requests]
    assert len(bodies) == len(set(bodies)), "a good reply was asked for again"


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTHING)
def test_replies_of_nothing_at_first(tmp_path, name):
    """The first two replies are useless, all others right."""
    bad = NOTHING[name]
    with OddServer(lambda number, reply: (bad if number < 2 else fine)(number, reply)) as server:
        run, problem = attempt(server, tmp_path / "out")
    assert run or name in FINAL, problem
    if run:
        check(run.path, all_right=name not in FINAL | {"refusal", "filtered", "tool calls"})


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTHING)
def test_replies_of_nothing_for_ever(tmp_path, name):
    """The deadline keeps the test short; a fault of an address that never answered may end the run before."""
    with OddServer(NOTHING[name]) as server:
        started = time.monotonic()
        run, problem = attempt(server, tmp_path / "out", deadline_s=2.0)
        assert "NoneType" not in problem
        assert len(problem) < 1500
        if run:
            assert check(run.path) > 0
            assert not any(cell["status"] == "ok" for cell in cells(run.path).values())
        assert time.monotonic() - started < 30


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_a_redirect_to_another_host_gets_no_key(tmp_path, status):
    with OddServer(host="127.0.0.2") as other:
        away = f"Location: http://127.0.0.2:{other.port}/v1/chat/completions"
        with OddServer(raw(http(b"", away, status=status))) as server:
            attempt(server, tmp_path / "out", deadline_s=2.0)
        assert not any(KEY in head for head, _ in other.requests)
        assert not any("messages" in body for _, body in other.requests), "the data went to a host that was not named"


def test_a_redirect_to_itself_ends(tmp_path):
    with OddServer() as server:
        server.sends = raw(http(b"", f"Location: {server.base_url}/chat/completions", status="307 Again"))
        run, problem = attempt(server, tmp_path / "out", deadline_s=5.0)
        assert run or "redirect" in problem or "307" in problem
        assert run is None or check(run.path) > 0
        assert len(server.requests) < 200


def test_ipv6(tmp_path):
    try:
        server = OddServer(host="::1")
    except OSError:
        pytest.skip("no IPv6 here")
    with server:
        check(evaluate(server, tmp_path / "out").path, all_right=True)


def test_a_server_that_dies_midway(tmp_path):
    """What was answered is kept; with the server back, only the rest is asked."""
    with OddServer() as server:
        server.sends = lambda number, reply: (server.die(), [None])[1] if number == 3 else fine(number, reply)
        run, problem = attempt(server, tmp_path / "out", deadline_s=4.0)
    assert run or str(server.port) in problem
    assert run is None or check(run.path) > 0
    with OddServer() as again:
        run = evaluate(again, tmp_path / "again")
    check(run.path, all_right=True)


@pytest.mark.parametrize("damage", ["empty", "cut", "binary", "zeros", "other"])
def test_damaged_cached_replies(tmp_path, damage):
    """A cache is a convenience: what cannot be read is asked for again."""
    with OddServer() as server:
        evaluate(server, tmp_path / "out")
        asked = len(server.requests)
        files = [path for path in (tmp_path / "replies").rglob("*") if path.is_file()]
        assert files
        for path in files:
            content = path.read_bytes()
            path.write_bytes(
                {
                    "empty": b"",
                    "cut": content[: len(content) // 2],
                    "binary": b"\xff\xfe" * 500,
                    "zeros": bytes(len(content)),
                    "other": b'{"a": 1}\n',
                }[damage]
            )
        run = evaluate(server, tmp_path / "again")
        assert asked <= len(server.requests) <= 2 * asked
    check(run.path, all_right=True)


@pytest.mark.parametrize("kind", ["a file", "below a file"])
def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch, kind):
    (tmp_path / "taken").write_text("x")
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "taken" / ("below" if kind == "below a file" else "")))
    with OddServer() as server:
        run, problem = attempt(server, tmp_path / "out")
    assert run or "taken" in problem
    if run:
        check(run.path, all_right=True)
