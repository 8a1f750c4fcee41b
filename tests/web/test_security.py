"""Access control: hosts, origins, methods, headers and tokens."""

import pytest

from ragstone.web.security import COOKIE, Guard, is_loopback


def test_a_name_that_was_made_to_lead_here_is_refused(viewer):
    answer, body = viewer.ask("/runs", host="evil.example")
    assert answer.status == 400
    assert b"<" not in body
    for host in (f"localhost:{viewer.viewer.port}", f"127.0.0.1:{viewer.viewer.port}", f"[::1]:{viewer.viewer.port}"):
        assert viewer.ask("/runs", host=host)[0].status == 200


def test_other_sites_are_refused(viewer):
    assert viewer.ask("/runs.json", origin="http://evil.example")[0].status == 403
    assert viewer.ask("/runs.json", origin="null")[0].status == 403
    assert viewer.ask("/runs.json", origin=viewer.origin)[0].status == 200
    assert viewer.ask("/runs.json", sec_fetch_site="cross-site", sec_fetch_mode="no-cors")[0].status == 403
    assert viewer.ask("/runs", sec_fetch_site="cross-site", sec_fetch_mode="navigate")[0].status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_written(viewer, method):
    answer, _ = viewer.ask("/runs", method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/runs", "/runs.json", "/static/viewer.js", "/nothing", "/runs/no-such-run"])
def test_every_answer_has_the_policy(viewer, path):
    answer, _ = viewer.ask(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    [
        "/runs/../secret",
        "/runs/%2e%2e",
        "/runs/..%2fsecret",
        "/runs/%2e%2e%2fsecret.json",
        "/runs/..%5csecret",
        "/runs/.hidden",
        "/runs/a%00b",
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/etc/passwd",
        "//evil.example/runs",
    ],
)
def test_paths_cannot_leave_the_root(viewer, path):
    answer, body = viewer.ask(path)
    assert answer.status == 404, body
    assert b"root:" not in body


def test_a_token_is_asked_for(serve, store, worse):
    client = serve(store, token="a-long-token")
    answer, body = client.ask("/runs.json")
    assert answer.status == 401
    assert worse.id.encode() not in body
    assert client.ask("/runs.json", cookie=f"{COOKIE}=wrong-token")[0].status == 401
    assert client.ask("/runs?token=wrong-token")[0].status == 401
    assert client.ask("/runs.json", authorization="Bearer a-long-token")[0].status == 200
    answer, _ = client.ask("/runs?q=x&token=a-long-token")
    assert (answer.status, answer.headers["location"]) == (303, "/runs?q=x")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert client.ask("/runs.json", cookie=cookie.partition(";")[0])[0].status == 200
    answer, _ = client.ask("//evil.example?token=a-long-token")
    assert answer.headers["location"] == "/evil.example"


def test_names_of_this_machine():
    assert [name for name in ("localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]") if not is_loopback(name)] == []
    assert [name for name in ("0.0.0.0", "::", "10.0.0.1", "localhost.evil.example", "") if is_loopback(name)] == []
    assert not Guard().accepts_host("10.0.0.1:80")
    assert Guard("a-long-token").accepts_host("10.0.0.1:80")
    assert not Guard("a-long-token").accepts_host("evil.example")
    assert Guard(names=frozenset({"viewer.example"})).accepts_host("Viewer.example:80")
