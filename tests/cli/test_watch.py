"""The command `ragstone watch`."""

from __future__ import annotations

import json

import pytest

from ragstone.truth.store import TruthStore
from ragstone.watch.store import WatchStore
from tests.http.loopback import loopback
from tests.watch.logs import request, write_lines

__all__ = ["loopback"]


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_lines(tmp_path / "app.jsonl", [request(number, f"2026-11-{10 + number % 2}") for number in range(40)])


BASE = ("watch", "w", "--from", "app.jsonl", "--once", "-m", "refusal,k_precision")


def test_once(cli, log):
    done = cli(*BASE, "--rate", "0.5", "--now", "2026-11-12T05:00")
    assert done.code == 0, done.err
    assert "40 new requests; each request with probability 0.5" in done.out
    assert "2026-11-11        20                    open" in done.out
    assert "No change found" in done.out
    assert [one.complete for one in WatchStore("w").periods()] == [True, False]
    write_lines(log, [request(99, "2026-11-11")])
    with log.open("a") as stream:
        stream.write("not json\n")
    done = cli("watch", "w", "--once", "--json", "--now", "2026-11-12T06:00")
    found = json.loads(done.out)
    assert (found["requests"], found["complete"]) == (1, ["2026-11-11"])
    assert found["left_out"] == {"lines that are not JSON objects": 1}


def test_strata_with_their_own_rates(cli, log):
    done = cli(*BASE, "--strata", "app", "--rate", "0.01", "--rate-of", "mobile=1")
    assert done.code == 0, done.err
    assert [one.drawn.get("mobile") for one in WatchStore("w").periods()] == [7, 7]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rate", "0.1", "--per-period", "5"), "--rate or --per-period"),
        (("--rate-of", "a"), "VALUE=RATE"),
        (("--rate-of", "a=b", "--strata", "app"), "a rate is a number"),
        (("--every", "soon"), "60s, 5m"),
        (("--period", "month"), "day, week"),
        (("--budget", "1usd"), "--budget-per-day"),
        (("--budget-per-day", "much"), "not a budget"),
        (("-m", "no_such_metric"), "unknown metric"),
        (("--webhook", "ftp://x"), "not an HTTP URL"),
        (("--now", "today"), "2026-11-16T12:00"),
        (("--from", "-"), "standard input"),
    ],
)
def test_mistakes_are_found_before_the_first_pass(cli, log, options, message):
    done = cli("watch", "w", "--from", "app.jsonl", "--once", *options)
    assert done.code == 2
    assert message in done.err
    assert not WatchStore("w").exists()


def test_a_new_watch_needs_a_source(cli, tmp_path):
    done = cli("watch", tmp_path / "w", "--once")
    assert (done.code, "--from" in done.err) == (2, True)


def test_another_design_is_refused(cli, log):
    assert cli(*BASE, "--per-period", "3").code == 0
    done = cli(*BASE, "--rate", "0.5")
    assert (done.code, "start another watch" in done.err) == (2, True)
    assert cli("watch", "w", "--once").code == 0


@pytest.mark.slow
def test_the_worst_go_to_the_ground_truth_and_alarms_to_a_webhook(cli, tmp_path, monkeypatch, loopback):
    """Ten quiet days, then every answer declines."""
    monkeypatch.chdir(tmp_path)
    loopback.handler = lambda asked: {}
    rows = []
    for day in range(1, 13):
        for number in range(20):
            row = request(1000 * day + number, f"2026-09-{day:02d}", answer=f"It is {number}.")
            rows.append({**row, "answer": "I do not know."} if day > 10 or number == 0 else row)
    write_lines(tmp_path / "app.jsonl", rows)
    hook = ("--webhook", loopback.url, "--to", "desk", "--propose", "2")
    done = cli(
        "watch", "w", "--from", "app.jsonl", "--once", "-m", "refusal,k_precision", "--rate", "1", *hook, "-o", "store"
    )
    assert done.code == 0, done.err
    assert loopback.asked, done.err
    assert loopback.asked[0].json["event"] == "watch.alarm"
    assert {alarm["direction"] for alarm in loopback.asked[0].json["alarms"] if alarm["metric"] == "refusal"} == {
        "higher"
    }
    cases = TruthStore("store").read("desk").cases
    assert len(cases) == 24
    assert {case.standing for case in cases} == {"proposed"}
    sent = len(loopback.asked)
    assert cli("watch", "w", "--once", *hook, "-o", "store").code == 0
    assert len(loopback.asked) == sent


def _without_time(rows, column):
    return [{column if name == "time" else name: value for name, value in row.items()} for row in rows]


def test_the_time_of_a_request_can_be_mapped(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [request(number, f"2026-11-{10 + number % 2}") for number in range(40)]
    write_lines(tmp_path / "logs" / "app.jsonl", _without_time(rows, "visited"))
    base = ("watch", "w", "--from", "logs", "--once", "-m", "refusal", "--now", "2026-11-12T05:00")
    refused = cli(*base, "--map", "metadata.time=visited")
    assert (refused.code, "unknown field 'metadata.time'" in refused.err) == (2, True)
    assert not (tmp_path / "w").exists()
    done = cli(*base, "--map", "time=visited")
    assert done.code == 0, done.err
    assert "no time" not in done.err
    assert [(one.period, one.requests) for one in WatchStore("w").periods()] == [("2026-11-10", 20), ("2026-11-11", 20)]


def test_requests_without_a_time_are_noted(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [request(number) for number in range(10)]
    late = [{**row, "id": f"x{row['id']}", "when": "14.11.2026 05:10"} for row in _without_time(rows, "visited")]
    write_lines(tmp_path / "app.jsonl", [*_without_time(rows, "when"), *late])
    done = cli(*BASE, "--now", "2026-11-12T05:00")
    assert done.code == 0, done.err
    told = " ".join(done.err.split())
    assert "10 of 20 new requests have no time that can be read (columns: app, visited, when); they count for" in told
    assert "Name the column when you start a watch: --map time=visited" in told
    found = {one.period: one.requests for one in WatchStore("w").periods()}
    assert found == {"2026-11-10": 10, "2026-11-12": 10}
    again = cli("watch", "w", "--once", "--json", "--now", "2026-11-12T06:00")
    assert (json.loads(again.out)["without_time"], "no time" in again.err) == (0, False)


def test_a_source_without_files_is_noted(cli, log):
    done = cli(*BASE, "--from", "nothere", "--from", "./next-*.jsonl")
    assert done.code == 0, done.err
    told = " ".join(done.err.split())
    assert "--from nothere has no log file so far" in told
    assert "--from ./next-*.jsonl has no log file so far" in told
    assert "--from app.jsonl" not in told
    log.unlink()  # rotated away: its position is known
    assert "--from app.jsonl" not in cli("watch", "w", "--once").err


@pytest.mark.parametrize("source", ["lgs/*.jsonl", "lgs/a/../app-*.jsonl", "lgs/app.jsonl"])
def test_a_source_in_a_folder_that_does_not_exist_is_refused(cli, log, source):
    log.with_name("logs").mkdir()
    done = cli("watch", "w", "--from", source, "--once")
    assert done.code == 2
    assert "there is no folder" in done.err
    assert "Did you mean logs?" in done.err or "/.." in source
    assert not log.with_name("w").exists()
    assert cli(*BASE).code == 0
    assert cli("watch", "w", "--from", source, "--once").code == 2


def test_another_design_is_named_in_words(cli, log):
    assert cli(*BASE, "--per-period", "30").code == 0
    told = " ".join(cli(*BASE, "--rate", "0.5", "--seed", "3").err.split())
    assert "the design of w is fixed: 30 requests per period, a simple random sample; wanted: each request" in told
    assert "with probability 0.5, seed 3." in told
    assert "the since of w is fixed: not set; wanted: 2026-11-01." in " ".join(
        cli(*BASE, "--since", "2026-11-01").err.split()
    )
