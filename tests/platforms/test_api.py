"""Messages of calls that go wrong; tests/platforms/test_pull.py has the faults that are waited out."""

import asyncio
from dataclasses import replace

import pytest

from ragstone.errors import ServiceError, UsageError
from ragstone.platforms.api import PATIENCE, Api, Connection, need_variable, read_url
from tests.http.loopback import loopback

__all__ = ["loopback"]


def call(loopback, reply, **options):
    loopback.handler = lambda asked: reply
    connection = Connection(
        "Tool", f"http://127.0.0.1:{loopback.port}", {"Authorization": "Bearer very-secret"}, ("TOOL_KEY",), "TOOL_URL"
    )

    async def use():
        api = Api(connection, patience=replace(PATIENCE, first_wait_s=0.01))
        try:
            return await api.call("GET", "/x", {"a": None, "b": [1, 2]}, **options)
        finally:
            await api.close()

    return asyncio.run(use())


def test_parameters_without_a_value_are_left_out(loopback):
    assert call(loopback, {"ok": True}).data == {"ok": True}
    assert loopback.asked[-1].path == "/x?b=1&b=2"


@pytest.mark.parametrize(
    ("reply", "error", "message"),
    [
        ((302, b"", {"Location": "http://other.example"}), ServiceError, "Set TOOL_URL to the final address"),
        ((200, b"<html>"), ServiceError, "sent no JSON.*TOOL_URL"),
        ((418, {"detail": "a teapot"}), ServiceError, "replied 418 to GET /x: .*a teapot"),
        ((403, b"no access"), UsageError, "rejects the key .*403.*TOOL_KEY"),
    ],
)
def test_other_replies_are_explained(loopback, reply, error, message):
    with pytest.raises(error, match=message):
        call(loopback, reply)


def test_keys_are_not_in_messages(loopback):
    with pytest.raises(ServiceError) as raised:
        call(loopback, (400, {"message": "Bearer very-secret is not allowed\x1b[31m"}))
    assert "very-secret" not in str(raised.value)
    assert "\x1b" not in str(raised.value)
    connection = Connection("Tool", "http://x", {"Authorization": "Bearer very-secret"}, (), "")
    assert "very-secret" not in repr(connection)


def test_expected_statuses_are_returned(loopback):
    assert call(loopback, (404, {"detail": "none"}), expects=(404,)).status == 404


def test_variables(monkeypatch):
    monkeypatch.setenv("TOOL_URL", "https://tool.example/api/")
    assert read_url("TOOL_URL", default="") == "https://tool.example/api"
    monkeypatch.setenv("TOOL_URL", "tool.example")
    with pytest.raises(UsageError, match="TOOL_URL is not a web address"):
        read_url("TOOL_URL", default="")
    with pytest.raises(UsageError, match="set A_KEY or B_KEY"):
        need_variable("Tool", "A_KEY", "B_KEY")
