"""Batch servers that do not do what their documentation says: each ends soon, with a clear message or with all replies.

A request has either the reply of the batch ("batch …") or that of an ordinary call ("call of …"). A run that stops keeps the
record of its batch, so that the same command continues.
"""

import itertools
import json
import re
from datetime import UTC, datetime

import pytest

from ragstone.http.client import HttpClient
from ragstone.llm import batch_calls
from ragstone.llm.batches import BatchPendingError
from ragstone.llm.gateway import open_batches
from tests.http.loopback import completion
from tests.llm.test_batch_calls import QUICK, World

REQUESTS = 6
HTML = b"<html><body>502 Bad Gateway</body></html>"
RAW = re.compile(
    r"KeyError|TypeError|ValueError|AttributeError|IndexError|Traceback|internal error|NoneType|JSONDecode"
)


class Server:
    """A small batch server of either kind; `odd` replaces its reply to a phase."""

    def __init__(self, kind, odd):
        self.kind, self.odd = kind, odd
        self.requests, self.mark, self.created = {}, None, 0

    def __call__(self, asked):
        phase, reply = self._reply(asked)
        bend = self.odd.get(phase)
        return reply if bend is None else bend(reply)

    def _reply(self, asked):
        path = asked.path.removeprefix("/v1/").partition("?")[0]
        if path == "files":
            lines = [line for line in asked.body.splitlines() if line.startswith(b'{"custom_id"')]
            self.requests = {one["custom_id"]: one["body"]["messages"][-1]["content"] for one in map(json.loads, lines)}
            return "upload", {"id": "file-1"}
        if asked.method == "POST" and path.endswith("batches"):
            self.created += 1
            body = asked.json
            if self.kind == "anthropic":
                found = {one["custom_id"]: one["params"]["messages"][-1]["content"] for one in body["requests"]}
                self.requests = found
            self.mark = body.get("metadata")
            return "create", self._batch("in_progress")
        if path.endswith("batches"):
            return "list", {"data": [self._batch("in_progress")] if self.created else [], "has_more": False}
        if path.endswith(("/content", "/results")):
            return ("errors" if "file-3" in path else "content"), self._lines()
        return "look", self._batch("completed" if self.kind == "openai" else "ended")

    def _batch(self, status):
        if self.kind == "openai":
            counts = {"total": REQUESTS, "completed": REQUESTS, "failed": 0}
            files = {"output_file_id": "file-2", "error_file_id": None}
            return {"id": "b1", "status": status, "request_counts": counts, "metadata": self.mark, **files}
        counts = {"processing": 0, "succeeded": REQUESTS}
        return {
            "id": "b1",
            "processing_status": status,
            "request_counts": counts,
            "created_at": datetime.now(UTC).isoformat(),
        }

    def _lines(self):
        return b"".join(line(self.kind, key, f"batch {text}") for key, text in self.requests.items())


def line(kind, key, text):
    if kind == "openai":
        data = {"custom_id": key, "response": {"status_code": 200, "body": completion(text)}, "error": None}
    else:
        message = {"type": "message", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
        data = {"custom_id": key, "result": {"type": "succeeded", "message": message}}
    return json.dumps(data).encode() + b"\n"


def open_world(kind, loopback, folder):
    """A model in batches of a server; its connections end with it."""
    client = HttpClient()
    world = World(folder, api=open_batches(f"{kind}/m", loopback.url, None, client, 5).batches, settings=QUICK)
    close = world.llm.close

    async def close_both():
        await close()
        await client.close()

    world.llm.close = close_both
    return world


def without(name):
    return lambda reply: {key: value for key, value in reply.items() if key != name}


def having(**changed):
    return lambda reply: {**reply, **changed}


def each_line(change):
    """Change the parsed lines of a file of results."""
    return lambda body: b"".join(
        json.dumps(one).encode() + b"\n" for one in change([json.loads(part) for part in body.splitlines()])
    )


def as_key(keys):
    return each_line(lambda lines: [{**one, "custom_id": key} for one, key in zip(lines, keys, strict=False)])


def junk_after(lines):
    """Each id twice: the reply, then a line of another kind."""
    return [line for one in lines for line in (one, {"custom_id": one["custom_id"], "response": {"status_code": 200}})]


def junk_before(lines):
    return [line for one in lines for line in ({"custom_id": one["custom_id"], "error": {"message": "x"}}, one)]


def empty_after(kind):
    def change(lines):
        return [line_ for one in lines for line_ in (one, json.loads(line(kind, one["custom_id"], "")))]

    return each_line(change)


def other_after(kind):
    def change(lines):
        return [line_ for one in lines for line_ in (one, json.loads(line(kind, one["custom_id"], "something else")))]

    return each_line(change)


BATCH, CALLS, STOPS = "the batch", "calls", "stops"
BOTH = [
    ("no id of the batch", {"create": without("id")}, BATCH),
    ("the id is null and listed so", {"create": lambda _: {}, "list": lambda _: {"data": None}}, STOPS),
    ("HTML for the new batch", {"create": lambda _: HTML}, BATCH),
    ("a list for the new batch", {"create": lambda _: b"[]"}, BATCH),
    ("HTML for the state", {"look": lambda _: HTML}, STOPS),
    ("an empty object for the state", {"look": lambda _: {}}, STOPS),
    ("counts are null", {"look": having(request_counts=None)}, BATCH),
    ("counts are words", {"look": having(request_counts={"completed": "many", "failed": None})}, BATCH),
    ("counts are a list", {"look": having(request_counts=[1])}, BATCH),
    ("HTML for the results", {"content": lambda _: HTML}, STOPS),
    ("no results", {"content": lambda _: b""}, CALLS),
    ("404 for the results", {"content": lambda _: (404, {"error": {"message": "gone"}})}, CALLS),
    ("410 for the results", {"content": lambda _: (410, {"error": {"message": "gone"}})}, CALLS),
    ("lines in another order", {"content": each_line(lambda lines: lines[::-1])}, BATCH),
    ("truncated results", {"content": lambda body: body[: len(body) - 40]}, "one call"),
    ("unknown ids", {"content": as_key(["x1", "x2", "x3", "x4", "x5", "x6"])}, CALLS),
    ("ids are numbers", {"content": as_key(itertools.count())}, CALLS),
    ("ids are null", {"content": as_key([None] * REQUESTS)}, CALLS),
    ("lines of other kinds", {"content": each_line(lambda lines: [1, [], None, "x", *lines])}, BATCH),
    ("empty lines between", {"content": lambda body: body.replace(b"\n", b"\n\n\r\n")}, BATCH),
    ("a junk line after each", {"content": each_line(junk_after)}, BATCH),
    ("a junk line before each", {"content": each_line(junk_before)}, BATCH),
]
OPENAI = [
    ("no id of the upload", {"upload": without("id")}, STOPS),
    ("HTML for the upload", {"upload": lambda _: HTML}, STOPS),
    ("no status", {"look": without("status")}, STOPS),
    ("a status that is unknown", {"look": having(status="brewing")}, STOPS),
    ("a status that is null", {"look": having(status=None)}, STOPS),
    ("a status in capitals", {"look": having(status="COMPLETED")}, BATCH),
    ("American spelling", {"look": having(status="canceled")}, BATCH),
    ("cancelled from outside", {"look": having(status="cancelled", output_file_id=None)}, CALLS),
    ("expired", {"look": having(status="expired", output_file_id=None)}, CALLS),
    ("failed, with odd errors", {"look": having(status="failed", output_file_id=None, errors={"data": ["x"]})}, CALLS),
    ("failed, errors are a text", {"look": having(status="failed", output_file_id=None, errors="no")}, CALLS),
    ("no output file", {"look": having(output_file_id=None)}, CALLS),
    ("the replies are in the error file", {"look": having(output_file_id=None, error_file_id="file-3")}, BATCH),
    ("bodies are texts", {"content": each_line(lambda ls: [{**o, "response": {"status_code": 200, "body": "x"}} for o in ls])}, CALLS),
    ("bodies without choices", {"content": each_line(lambda ls: [{**o, "response": {"status_code": 200, "body": {}}} for o in ls])}, CALLS),
    ("the status is a word", {"content": each_line(lambda ls: [{**o, "response": {"status_code": "OK"}} for o in ls])}, CALLS),
    ("an empty reply after each", {"content": empty_after("openai")}, BATCH),
    ("another reply after each", {"content": other_after("openai")}, BATCH),
]  # fmt: skip
ANTHROPIC = [
    ("no status", {"look": without("processing_status")}, STOPS),
    ("a status that is unknown", {"look": having(processing_status="brewing")}, STOPS),
    ("results without a result", {"content": each_line(lambda ls: [{"custom_id": o["custom_id"]} for o in ls])}, CALLS),
    ("results are texts", {"content": each_line(lambda ls: [{**o, "result": "x"} for o in ls])}, CALLS),
    ("messages without content", {"content": each_line(lambda ls: [{**o, "result": {"type": "succeeded", "message": {}}} for o in ls])}, CALLS),
    ("cancelled from outside", {"content": each_line(lambda ls: [{**o, "result": {"type": "canceled"}} for o in ls])}, CALLS),
    ("expired", {"content": each_line(lambda ls: [{**o, "result": {"type": "expired"}} for o in ls])}, CALLS),
    ("an error that is a text", {"content": each_line(lambda ls: [{**o, "result": {"type": "errored", "error": "x"}} for o in ls])}, CALLS),
    ("an empty reply after each", {"content": empty_after("anthropic")}, BATCH),
    ("another reply after each", {"content": other_after("anthropic")}, BATCH),
]  # fmt: skip
TABLE = [("openai", *row) for row in (*BOTH, *OPENAI)] + [("anthropic", *row) for row in (*BOTH, *ANTHROPIC)]


@pytest.mark.parametrize(("kind", "name", "odd", "end"), TABLE, ids=[f"{row[0]}: {row[1]}" for row in TABLE])
def test_odd_servers(kind, name, odd, end, loopback, tmp_path, monkeypatch):
    monkeypatch.setattr(batch_calls, "_MOST_FAILURES", 4)
    loopback.handler = server = Server(kind, odd)
    world = open_world(kind, loopback, tmp_path)
    found = world.ask(*range(REQUESTS + 1))
    assert found[0] == "call of 0", "one request of each kind is called first"
    said = [f"{one}" for one in (*found, *world.notes)]
    assert not [words for words in said if RAW.search(words)], said
    if end == STOPS:
        assert all(isinstance(one, BatchPendingError) for one in found[1:]), found
        assert "again" in str(found[1])
        assert len(world.records) == 1, "the same command continues"
    else:
        calls = {BATCH: 0, "one call": 1, CALLS: REQUESTS}[end]
        assert sorted(found[1:]) == sorted(
            [f"batch {number}" for number in range(1, REQUESTS + 1 - calls)]
            + [f"call of {number}" for number in range(REQUESTS + 1 - calls, REQUESTS + 1)]
        )
        assert world.records == []
        assert server.created == 1
    assert len(loopback.asked) < 60


def test_a_batch_that_never_ends_is_not_waited_for(loopback, tmp_path, monkeypatch):
    monkeypatch.setattr(batch_calls, "_LONGEST_S", 0.2)
    loopback.handler = Server("openai", {"look": having(status="in_progress")})
    world = open_world("openai", loopback, tmp_path)
    found = world.ask(*range(REQUESTS))
    assert all("is not finished (in_progress" in str(one) for one in found[1:])


VLLM = [
    ("HTML", lambda body: HTML, STOPS),
    ("truncated", lambda body: body[:-40], STOPS),
    (
        "an error as a text",
        each_line(lambda ls: [{**ls[0], "response": None, "error": "no room"}, *ls[1:]]),
        "one fails",
    ),
    ("a junk line after each", each_line(junk_after), BATCH),
    ("a junk line before each", each_line(junk_before), BATCH),
    ("an empty reply after each", empty_after("openai"), BATCH),
    ("unknown ids beside", lambda body: body + line("openai", "other", "x"), BATCH),
    ("another order", each_line(lambda lines: lines[::-1]), BATCH),
]


@pytest.mark.parametrize(("name", "bend", "end"), VLLM, ids=[row[0] for row in VLLM])
def test_odd_output_files(name, bend, end, tmp_path):
    folder = tmp_path / "files"

    def world():
        api = open_batches("vllm/m", "http://127.0.0.1:9/v1", str(folder), HttpClient(), 5).batches
        return World(tmp_path / "cache", api=api, settings=QUICK)

    assert all(isinstance(one, BatchPendingError) for one in world().ask(*range(3)))
    [written] = folder.glob("*.input.jsonl")
    asked = [json.loads(one) for one in written.read_bytes().splitlines()]
    body = b"".join(
        line("openai", one["custom_id"], f"batch {one['body']['messages'][-1]['content']}") for one in asked
    )
    written.with_name(written.name.replace("input", "output")).write_bytes(bend(body))
    again = world()
    found = again.ask(*range(3))
    assert not [one for one in found if RAW.search(str(one))]
    if end == STOPS:
        assert all("is not finished" in str(one) for one in found)
        assert len(again.records) == 1
    else:
        good = [one for one in found if not isinstance(one, Exception)]
        assert good == [f"batch {number}" for number in range(3)][3 - len(good) :]
        assert len(good) == (3 if end == BATCH else 2)
