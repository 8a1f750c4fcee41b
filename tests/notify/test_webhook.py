"""Web-hooks over a real connection: what is sent, signed, tried again, written down, and never shown."""

import hashlib
import hmac
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.analysis.aggregate import aggregate
from ragstone.analysis.diagnosis import diagnose
from ragstone.errors import UsageError
from ragstone.notify.notify import Listeners, send_notifications
from ragstone.notify.webhook import PATIENCE, SECRET, deliver, make_message, read_webhook, slack_text
from tests.http.loopback import GARBAGE, HANG, RESET

QUICK = replace(PATIENCE, first_wait_s=0.0)


@pytest.fixture
def hook(loopback):
    loopback.handler = lambda asked: {}
    return read_webhook(f"http://user:hunter22@127.0.0.1:{loopback.port}/services/T0/s3cretpath?key=k3y", "json", {})


def test_the_aggregate_arrives(loopback, hook, run):
    send_notifications(run, Listeners(hook), pytest.fail)
    [asked] = loopback.asked
    assert asked.path == "/services/T0/s3cretpath?key=k3y"
    assert asked.headers["authorization"] == "Basic dXNlcjpodW50ZXIyMg=="
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["x-ragstone-event"] == "run.finished"
    assert asked.headers["x-ragstone-delivery"] == run.id
    assert "x-ragstone-signature" not in asked.headers
    assert asked.json == json.loads(json.dumps({"event": "run.finished", **aggregate(run, diagnose(run))}))
    row = run.summary()["fact_recall"]
    [metric] = [one for one in asked.json["metrics"] if one["metric"] == "fact_recall"]
    assert (metric["mean"], metric["ci_low"], metric["n_ok"]) == (row.mean, row.ci_low, row.n_ok)


def test_no_text_of_a_sample_and_no_path_is_sent(loopback, hook, run):
    send_notifications(run, Listeners(hook), pytest.fail)
    body = loopback.asked[0].body.decode()
    assert run.samples[0].question not in body
    assert run.path not in body
    assert "harbour/worse.jsonl" not in body


def test_a_signature_can_be_checked(loopback, run):
    loopback.handler = lambda asked: {}
    signed = read_webhook(loopback.url, "json", {SECRET: "a secret"})
    assert deliver(signed, {"name": "größer"}, "x").delivered
    [asked] = loopback.asked
    stamp = asked.headers["x-ragstone-timestamp"]
    expected = hmac.new(b"a secret", stamp.encode() + b"." + asked.body, hashlib.sha256).hexdigest()
    assert asked.headers["x-ragstone-signature"] == f"sha256={expected}"
    assert asked.json == {"name": "größer"}


@pytest.mark.parametrize("trouble", [(503, {}), (429, {}, {"Retry-After": "0"}), (408, {}), RESET, GARBAGE])
def test_passing_trouble_is_tried_again(loopback, hook, trouble):
    loopback.handler = lambda asked: {} if len(loopback.asked) > 2 else trouble
    found = deliver(hook, {}, "x", QUICK)
    assert (found.delivered, found.attempts, found.status, found.error) == (True, 3, 200, None)


@pytest.mark.parametrize(("status", "words"), [(400, "replied 400"), (404, "replied 404"), (302, "redirects")])
def test_lasting_trouble_is_not(loopback, hook, status, words):
    loopback.handler = lambda asked: (status, {}, {"Location": "http://127.0.0.1:1/"})
    found = deliver(hook, {}, "x", QUICK)
    assert (found.delivered, found.attempts, found.status) == (False, 1, status)
    assert words in found.error


def test_in_the_end_it_is_given_up(loopback, hook):
    loopback.handler = lambda asked: (500, {})
    found = deliver(hook, {}, "x", QUICK)
    assert (found.delivered, found.attempts, len(loopback.asked)) == (False, 4, 4)


def test_silence_is_given_up_too(loopback, hook, monkeypatch):
    monkeypatch.setattr("ragstone.notify.webhook._TIMEOUT_S", 0.1)
    loopback.handler = lambda asked: HANG
    found = deliver(hook, {}, "x", replace(QUICK, attempts=2))
    assert (found.delivered, found.attempts) == (False, 2)
    assert "no complete reply" in found.error


def test_whatever_breaks_while_posting_is_no_failure(hook, monkeypatch):
    def explode(*given):
        raise MemoryError

    monkeypatch.setattr("ragstone.notify.webhook._headers", explode)
    found = deliver(hook, {}, "x", QUICK)
    assert (found.delivered, found.error) == (False, "MemoryError while posting")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://host/x",
        "javascript:alert(1)",
        "http://",
        "https://:443/x",
        "http://h:no/",
        "host/x",
        "",
    ],
)
def test_what_is_no_web_address_is_refused(url):
    with pytest.raises(UsageError, match="https://host/path"):
        read_webhook(url, "json", {})


def test_a_refusal_does_not_repeat_a_password():
    with pytest.raises(UsageError) as refused:
        read_webhook("ftp://user:hunter22@host/s3cret", "json", {})
    assert "hunter22" not in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_unknown_forms_are_refused():
    with pytest.raises(UsageError, match="json, slack"):
        read_webhook("http://h/", "teams", {})


def test_slack_by_hand():
    found = {
        "run": {"name": "<!channel> *v2* @here `x`", "id": "r1"},
        "dataset": {"rows": 1},
        "metrics": [
            {"metric": "token_f1", "mean": 0.5, "ci_low": 0.25, "ci_high": 0.75, "n_failed": 2, "better": "higher"},
            {"metric": "none", "mean": None, "ci_low": None, "ci_high": None, "n_failed": 0, "better": "higher"},
        ],
        "diagnosis": {
            "limits": "both",
            "sure": False,
            "failing": 3,
            "looked_at": 4,
            "text": "3 of 4 samples fail: 3 missing chunk",
            "causes": [
                {"cause": "missing chunk", "main_of": 3},
                {"cause": "right, but not from the chunks", "main_of": 0},
            ],
        },
        "totals": {"cost_usd": 1.234},
    }
    assert slack_text(found).splitlines() == [
        "*&lt;!channel&gt; ∗v2∗ @\u200bhere 'x'* finished: 1 sample",
        "retriever and generator both limit quality (not sure: too few rows)",
        "3 of 4 samples fail: 3 missing chunk",
        "• `token_f1` 0.500 (0.250 – 0.750)",
        "2 cells failed",
        "cost $1.23",
        "run `r1`",
    ]


def test_slack_gets_a_text_and_nothing_else(run):
    assert list(make_message(aggregate(run), "slack")) == ["text"]


@pytest.mark.parametrize("format", ["json", "slack"])
def test_on_the_command_line(cli, loopback, tmp_path, monkeypatch, format):
    loopback.handler = lambda asked: (400, {})
    data = tmp_path / "answers.jsonl"
    data.write_text('{"question": "q", "answer": "a", "references": ["a"]}\n')
    url = f"http://me:hunter22@127.0.0.1:{loopback.port}/hook"
    done = cli("run", data, "-m", "token_f1", "-o", tmp_path, "--webhook", url, "--webhook-format", format)
    assert done.code == 0
    assert "was not notified: the server replied 400" in done.err
    assert "hunter22" not in done.out + done.err
    [asked] = loopback.asked
    assert ("text" in asked.json) == (format == "slack")
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and b"hunter22" in path.read_bytes()]
    assert kept == []


def test_a_wrong_address_stops_before_anything_is_evaluated(cli, tmp_path):
    done = cli("run", tmp_path / "no-such-file.jsonl", "-o", tmp_path, "--webhook", "gopher://h/")
    assert done.code == 2
    assert "'gopher:' is not an HTTP URL" in done.err


def test_the_check_in_the_docs_works(loopback):
    page = (Path(__file__).parents[2] / "docs" / "reports.md").read_text()
    [code] = re.findall(r"```python\n(import hashlib.*?)```", page, flags=re.DOTALL)
    names = {}
    exec(code, names)
    loopback.handler = lambda asked: {}
    deliver(read_webhook(loopback.url, "json", {SECRET: "a secret"}), {"x": 1}, "x")
    [asked] = loopback.asked
    headers = {name: asked.headers[name.lower()] for name in ("X-Ragstone-Timestamp", "X-Ragstone-Signature")}
    assert names["is_genuine"]("a secret", headers, asked.body)
    assert not names["is_genuine"]("another", headers, asked.body)
    assert not names["is_genuine"]("a secret", headers, asked.body + b" ")
    assert not names["is_genuine"]("a secret", {**headers, "X-Ragstone-Timestamp": "1"}, asked.body)


def test_the_fields_in_the_docs_are_those_that_are_sent(run):
    page = (Path(__file__).parents[2] / "docs" / "reports.md").read_text()
    message = make_message(aggregate(run, diagnose(run)), "json")
    inner = [*message["run"], *message["dataset"], *message["metrics"][0], *message["diagnosis"], *message["totals"]]
    names = [*message, *inner, *message["diagnosis"]["causes"][0]]
    assert [name for name in names if f"`{name}`" not in page] == []
