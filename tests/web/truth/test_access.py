"""Requests that change ground truth: which are accepted and which are refused."""

import json

import pytest

from ragstone.web.app import MAX_BODY_BYTES
from tests.web import truths


def test_without_the_secret_nothing_is_changed(untouched):
    for token in ("", "wrong", untouched.secret[:-1]):
        assert untouched.post("/truth/ferry/save", truths.form(token, truths.QUESTION))[0].status == 403
    answer, body = untouched.post("/truth/ferry/save.json", truths.form("", truths.QUESTION))
    assert (answer.status, "reload the page" in json.loads(body)["words"]) == (403, True)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "origin": ""},
        {"host": "evil.example"},
    ],
)
def test_other_sites_change_nothing_even_with_the_secret(untouched, headers):
    assert untouched.post("/truth/ferry/save", truths.form(untouched.secret, truths.QUESTION), **headers)[0].status in (
        400,
        403,
    )


def test_bodies_of_other_kinds_and_sizes_are_refused(untouched):
    said = truths.form(untouched.secret, truths.QUESTION)
    assert untouched.post("/truth/ferry/save", said, content_type="text/plain")[0].status == 415
    assert untouched.post("/truth/ferry/save", said, content_type="multipart/form-data; boundary=x")[0].status == 415
    assert (
        untouched.client.ask(
            "/truth/ferry/save", "POST", b"\xff\xfe", content_type="application/x-www-form-urlencoded"
        )[0].status
        == 400
    )
    large = b"token=" + b"x" * (MAX_BODY_BYTES + 1)
    assert (
        untouched.client.ask("/truth/ferry/save", "POST", large, content_type="application/x-www-form-urlencoded")[
            0
        ].status
        == 413
    )


@pytest.mark.parametrize("path", ["/truth/ferry", "/truth/ferry/case", "/truth/ferry/export", "/truth/ferry/nothing"])
def test_pages_that_only_show_take_no_form(untouched, path):
    assert untouched.post(path, truths.form(untouched.secret, truths.QUESTION))[0].status in (404, 405)


@pytest.mark.parametrize(
    "path", ["/truth/..%2fruns/save", "/truth/%2e%2e/save", "/truth/nothing/save", "/truth/a%00b/save"]
)
def test_nothing_is_written_elsewhere(untouched, path):
    assert untouched.post(path, truths.form(untouched.secret, truths.QUESTION))[0].status == 404


def test_read_only_refuses_every_change(serve, tmp_path):
    truths.save(tmp_path, "ferry", truths.ferry())
    client = serve(tmp_path, read_only=True)
    page = client.page("/truth/ferry/case?id=f2")
    assert [tag for tag in ("textarea", "form") if page.find(tag)] == []
    assert not any("draft.js" in found.get("src", "") for found in page.find("script"))
    for path in ("/truth/ferry/save", "/truth/ferry/review", "/truth/ferry/check.json", "/truth"):
        answer, body = client.post(path, truths.form("", truths.QUESTION))
        assert (answer.status, b"--read-only" in body) == (403, True)
    assert truths.read(tmp_path).info.number == 1
    for path in ("/truth", "/truth/ferry", "/truth/ferry/queue", "/truth/ferry/diff?from=1&to=1"):
        assert client.page(path)
