"""Passes over logs: periods, late requests, budgets, restarts."""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.errors import InputError, StorageError, UsageError
from ragstone.watch import intake as intake_module
from ragstone.watch.sample_design import Design
from ragstone.watch.state import only_watcher, read_state
from ragstone.watch.store import WatchStore
from ragstone.watch.watch import Settings, Watch, open_watch
from tests.watch.logs import check_exactly_once, request, write_lines

ALL = Design(rate=1.0)


class World:
    """A watch with a clock that the test sets."""

    def __init__(self, home, design=ALL, budget=None, options=None, **settings) -> None:
        self.now = datetime.fromisoformat("2026-11-10T12:00:00+00:00")
        self.store = WatchStore(home / "watch")
        self.notes: list[str] = []
        self.followed: list[str] = []
        values = {"sources": (str(home / "logs"),), "metrics": ("refusal",), **settings}
        found = open_watch(self.store, Settings(design=design, **values))
        self.watch = Watch(self.store, found, options or {}, budget, self.follow, self.notes.append, lambda: self.now)

    def follow(self, period: str) -> bool:
        self.followed.append(period)
        return True

    def at(self, moment: str):
        self.now = datetime.fromisoformat(f"2026-11-{moment}:00+00:00")
        return self.watch.step()


def test_a_period_is_evaluated_when_it_is_over(tmp_path):
    log = write_lines(tmp_path / "logs" / "a.jsonl", [request(number) for number in range(10)])
    world = World(tmp_path)
    assert world.at("10T12:00").requests == 10
    record = world.store.period("2026-11-10")
    assert (record.requests, record.complete, record.runs) == (10, False, ())
    write_lines(log, [request(number) for number in range(5, 15)])  # five of them again
    world.at("11T05:59")  # a day is open for six more hours
    assert world.store.period("2026-11-10").requests == 15
    done = world.at("11T06:00")
    assert done.complete == ("2026-11-10",) == tuple(world.followed)
    check_exactly_once(world.store, {"2026-11-10": {f"r{n}" for n in range(15)}})
    assert world.store.period("2026-11-10").runs == ("2026-11-10-000",)
    assert world.at("11T07:00").complete == ()
    assert world.followed == ["2026-11-10"]
    assert read_state(world.store.state_file).duplicates == 5


def test_a_follow_up_that_fails_is_tried_again(tmp_path):
    write_lines(tmp_path / "logs" / "a.jsonl", [request(1)])
    world = World(tmp_path)
    results = iter([False, True])
    world.watch.follow_up = lambda period: world.follow(period) and next(results)
    for hour in range(3):
        world.at(f"12T0{hour}:00")
    assert world.followed == ["2026-11-10"] * 2


def test_late_requests_are_counted_and_not_evaluated(tmp_path):
    log = write_lines(tmp_path / "logs" / "a.jsonl", [request(number) for number in range(4)])
    world = World(tmp_path)
    world.at("12T00:00")
    write_lines(log, [request(number) for number in range(2, 7)])
    assert world.at("12T01:00").requests == 3
    assert world.store.period("2026-11-10").late == 3
    assert world.store.period("2026-11-10").requests == 4
    check_exactly_once(world.store, {"2026-11-10": {f"r{n}" for n in range(4)}}, late=3)


def test_late_requests_are_in_the_record_after_a_kill_before_it_was_written(tmp_path, monkeypatch):
    log = write_lines(tmp_path / "logs" / "a.jsonl", [request(number) for number in range(4)])
    world = World(tmp_path)
    world.at("12T00:00")
    write_lines(log, [request(number) for number in range(4, 7)])

    def killed(record):
        raise KeyboardInterrupt

    monkeypatch.setattr(world.store, "write_period", killed)
    with pytest.raises(KeyboardInterrupt):
        world.at("12T01:00")
    monkeypatch.undo()
    assert world.at("12T02:00").requests == 0
    assert world.store.period("2026-11-10").late == 3
    written = (tmp_path / "watch" / "periods" / "2026-11-10.json").stat().st_mtime_ns
    world.at("12T03:00")
    assert (tmp_path / "watch" / "periods" / "2026-11-10.json").stat().st_mtime_ns == written


def test_requests_without_a_time_or_an_id(tmp_path):
    rows = [{"question": "Why?", "answer": "Because."}] * 3 + [{"question": "Why?", "answer": "Because.", "id": "x"}]
    log = write_lines(tmp_path / "logs" / "a.jsonl", rows)
    world = World(tmp_path)
    world.at("10T12:00")
    write_lines(log, rows)  # three more requests, and one that is known
    write_lines(tmp_path / "logs" / "b.jsonl", [*rows[:1], {"question": "No answer?"}, {"answer": "No question."}])
    world.at("10T13:00")
    write_lines(log, [request(1, "2027-01-01")])  # a wrong clock
    world.at("11T12:00")
    assert world.store.period("2026-11-10").requests == 8
    assert world.store.period("2026-11-11").requests == 1
    assert read_state(world.store.state_file).left_out == {"rows without an answer": 1, "rows without a question": 1}


def test_a_reservoir_is_a_sample_of_the_whole_period(tmp_path, monkeypatch):
    monkeypatch.setattr(intake_module, "MOST_SEGMENTS", 3)
    world = World(tmp_path, Design(per_period=8, strata="app"))
    for hour in range(10):
        write_lines(tmp_path / "logs" / "a.jsonl", [request(hour * 20 + number) for number in range(20)])
        world.at(f"10T{10 + hour}:00")
    world.at("11T10:00")
    record = world.store.period("2026-11-10")
    design = world.watch.settings.design
    assert record.seen == {"mobile": 67, "web": 133}
    assert record.drawn == {"mobile": 8, "web": 8}
    for app, remainder in (("mobile", (0,)), ("web", (1, 2))):
        keys = sorted((design.key(f"r{n}"), f"r{n}") for n in range(200) if n % 3 in remainder)
        assert {name for name, stratum in record.strata.items() if stratum == app} == {name for _, name in keys[:8]}
    assert record.weights[keys[0][1]] == pytest.approx(133 / 8)


def test_weeks(tmp_path):
    write_lines(tmp_path / "logs" / "a.jsonl", [request(n, f"2026-11-{9 + n:02d}") for n in range(10)])
    world = World(tmp_path, period="week")
    assert world.at("23T00:00").complete == ("2026-W46",)
    assert [(one.period, one.requests) for one in world.store.periods()] == [("2026-W46", 7), ("2026-W47", 3)]


def test_masked_rows_have_no_personal_data(tmp_path):
    row = request(1, answer="Write to ann@example.com or +49 30 1234567.", user="ann@example.com")
    write_lines(tmp_path / "logs" / "a.jsonl", [row])
    world = World(tmp_path, mask=True)
    world.at("12T00:00")
    (run,) = world.store.runs("2026-11-10")
    (sample,) = run.samples
    assert sample.answer == "Write to [e-mail 1] or [phone 1]."
    assert sample.metadata["user"] == "[e-mail 1]"
    assert not [path for path in (tmp_path / "watch").rglob("*") if path.is_file() and b"ann@" in path.read_bytes()]


def test_since(tmp_path):
    write_lines(tmp_path / "logs" / "a.jsonl", [request(n, f"2026-11-{9 + n:02d}") for n in range(3)])
    world = World(tmp_path, since="2026-11-10")
    assert world.at("20T00:00").complete == ("2026-11-10", "2026-11-11")


def test_a_table_that_is_written_again(tmp_path):
    file = tmp_path / "logs" / "day.parquet"
    file.parent.mkdir()
    world = World(tmp_path)
    file.write_bytes(b"PAR1 half of it")
    with pytest.raises(InputError, match="damaged Parquet"):  # `ragstone watch` notes it and tries again
        world.at("10T12:00")
    for last in (3, 5):
        pq.write_table(pa.Table.from_pylist([request(number) for number in range(last)]), file)
        assert world.at(f"10T1{last}:00").requests == (3 if last == 3 else 2)
    world.at("12T00:00")
    check_exactly_once(world.store, {"2026-11-10": {f"r{n}" for n in range(5)}})


def test_exports_as_one_document_and_other_column_names(tmp_path):
    rows = [{"key": f"k{n}", "prompt": f"What is {n}?", "answer": "It.", "time": "2026-11-10T01:00Z"} for n in range(3)]
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "export.json").write_text(json.dumps(rows))
    world = World(tmp_path, columns={"question": "prompt", "id": "key"}, format="ragstone")
    world.at("12T00:00")
    check_exactly_once(world.store, {"2026-11-10": {"k0", "k1", "k2"}})


def test_dial_logs_by_day(tmp_path):
    for day in (10, 11):
        folder = tmp_path / "logs" / "assistant" / "parsed_logs" / "2026" / "11" / str(day)
        folder.mkdir(parents=True)
        rows = [
            {
                "question": f"What is {n}?",
                "answer": "It is.",
                "attachments": "[]",
                "response_id": f"d{day}-{n}",
                "time": f"2026-11-{day}T10:00:00Z",
            }
            for n in range(4)
        ]
        pq.write_table(pa.Table.from_pylist(rows), folder / "part-0.parquet")
    world = World(tmp_path, Design(rate=1.0, strata="deployment"))
    world.at("13T00:00")
    check_exactly_once(world.store, {f"2026-11-{day}": {f"d{day}-{n}" for n in range(4)} for day in (10, 11)})
    assert world.store.period("2026-11-10").seen == {"assistant": 4}


def span(trace: str, name: str, parent: str | None, start: str, seconds: int = 2, **attributes) -> dict:
    begin = datetime.fromisoformat(f"2026-11-10T{start}+00:00")
    return {
        "trace_id": trace,
        "span_id": f"{trace}-{name}",
        "parent_id": parent and f"{trace}-{parent}",
        "name": name,
        "start_time": begin.isoformat(),
        "end_time": (begin + timedelta(seconds=seconds)).isoformat(),
        "attributes": attributes,
    }


def exchange(number: int) -> dict:
    return {"input.value": f"What is {number}?", "output.value": f"It is {number}."}


def test_spans_wait_for_their_trace(tmp_path):
    documents = {"openinference.span.kind": "RETRIEVER", "retrieval.documents": [{"document.content": "The text."}]}
    spool = write_lines(tmp_path / "logs" / "spool.jsonl", [span("t1", "search", "root", "12:00:00", **documents)])
    world = World(tmp_path)
    assert world.at("10T12:01").requests == 0
    late = span("t2", "late", "root", "12:01:00")
    write_lines(
        spool,
        [span("t1", "root", None, "12:00:00", **exchange(1)), span("t2", "root", None, "12:01:00", **exchange(2))],
    )
    assert world.at("10T12:01").requests == 1  # the second may still have children
    write_lines(spool, [late, late])
    assert world.at("10T12:05").requests == 1
    chain = {"openinference.span.kind": "CHAIN"}
    straggler = span("t2", "later", "root", "12:01:01", **exchange(2), **chain)
    write_lines(spool, [straggler, span("t3", "child", "root", "12:06:00", **exchange(3), **chain)])
    assert world.at("10T12:06").requests == 0
    assert world.at("10T12:30").requests == 1  # its root is lost; the straggler of the second is not a new request
    world.at("12T00:00")
    check_exactly_once(world.store, {"2026-11-10": {"t1", "t2", "t3"}})
    samples = {sample.id: sample for run in world.store.runs("2026-11-10") for sample in run.samples}
    assert [chunk.text for chunk in samples["t1"].contexts] == ["The text."]


def test_otlp_exports(tmp_path):
    def attribute(name, value):
        return {"key": name, "value": {"stringValue": value}}

    spans = [
        {
            "traceId": f"{n:032x}",
            "spanId": "a" * 16,
            "startTimeUnixNano": "1794312000000000000",
            "endTimeUnixNano": "1794312001000000000",
            "attributes": [attribute("input.value", f"What is {n}?"), attribute("output.value", "It.")],
        }
        for n in range(1, 4)
    ]
    row = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    write_lines(tmp_path / "logs" / "spool.jsonl", [row, row])
    world = World(tmp_path)
    world.at("12T00:00")
    assert [record.requests for record in world.store.periods()] == [3]


def paid_judge(tmp_path, monkeypatch):
    """A judge with a price, and its calls so far."""
    prices = tmp_path / "prices.toml"
    calls = []

    def judge(prompts):
        calls.extend(prompts)
        return ['{"grade": 40}'] * len(prompts)

    judge.__qualname__ = "judge"
    monkeypatch.setenv("RAGSTONE_PRICES", str(prices))
    prices.write_text('[models]\n"function/judge" = [10.0, 10.0]\n')
    return judge, calls


@pytest.mark.slow
def test_a_budget_stops_and_goes_on_the_next_day(tmp_path, monkeypatch):
    judge, _calls = paid_judge(tmp_path, monkeypatch)
    write_lines(tmp_path / "logs" / "a.jsonl", [request(number) for number in range(60)])
    options = {"judge": judge, "exam": False}
    world = World(tmp_path, Design(rate=1.0, strata="app"), 0.1, options, metrics=("grade.quality",))
    world.at("11T12:00")
    record = world.store.period("2026-11-10")
    first = sum(record.evaluated.values())
    assert 0 < first < 60
    assert not record.complete
    assert sum(record.weights.values()) == pytest.approx(60)
    state = read_state(world.store.state_file)
    assert 0 < state.spent["2026-11-11"] <= 0.1
    world.at("11T18:00")  # the budget is that of a day
    assert sum(world.store.period("2026-11-10").evaluated.values()) == first
    for day in range(12, 18):
        world.at(f"{day}T12:00")
        assert read_state(world.store.state_file).spent.get(f"2026-11-{day}", 0) <= 0.1
        if world.store.period("2026-11-10").complete:
            break
    record = world.store.period("2026-11-10")
    check_exactly_once(world.store, {"2026-11-10": {f"r{n}" for n in range(60)}})
    assert len(record.runs) > 1
    failed = [value for _, value in world.store.scores("2026-11-10")["grade.quality"] if value is None]
    assert not failed
    assert world.followed == ["2026-11-10"]


def test_the_reservation_of_a_killed_run_counts_as_spent(tmp_path, monkeypatch):
    judge, _ = paid_judge(tmp_path, monkeypatch)
    write_lines(tmp_path / "logs" / "a.jsonl", [request(number) for number in range(5)])
    world = World(tmp_path, ALL, 1.0, {"judge": judge, "exam": False}, metrics=("grade.quality",))

    def die(*_, **__):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr("ragstone.watch.period_runs.evaluate", die)
        with pytest.raises(SystemExit):
            world.at("11T12:00")
    state = read_state(world.store.state_file)
    assert state.spent == {"2026-11-11": 0.25}
    assert state.periods["2026-11-10"].attempt.run == "2026-11-10-000"
    assert world.at("11T13:00").complete == ("2026-11-10",)
    record = world.store.period("2026-11-10")
    assert record.runs == ("2026-11-10-000",)
    assert read_state(world.store.state_file).spent["2026-11-11"] == pytest.approx(0.25 + record.spent_usd, abs=1e-6)


@pytest.mark.slow
def test_rows_that_no_budget_allows_are_given_up(tmp_path, monkeypatch):
    judge, _ = paid_judge(tmp_path, monkeypatch)
    write_lines(tmp_path / "logs" / "a.jsonl", [request(number) for number in range(60)])
    options = {"judge": judge, "exam": False, "cache": False}
    world = World(tmp_path, ALL, 0.03, options, metrics=("grade.quality",))
    world.at("11T12:00")
    assert world.at("18T11:00").complete == ()
    assert world.at("18T12:00").complete == ("2026-11-10",)
    record = world.store.period("2026-11-10")
    assert 0 < len(record.weights) < 60
    assert (record.drawn, record.complete) == ({"all": 60}, True)
    assert sum(record.weights.values()) == pytest.approx(60)


def test_settings_of_a_watch_are_fixed(tmp_path):
    World(tmp_path)
    with pytest.raises(UsageError, match="start another watch"):
        World(tmp_path, Design(rate=0.5))
    with pytest.raises(UsageError, match="the period of"):
        World(tmp_path, period="week")
    world = World(tmp_path, sources=(str(tmp_path / "more.jsonl"),), metrics=("k_precision",))
    assert world.watch.settings.sources == (str(tmp_path / "logs"), str(tmp_path / "more.jsonl"))
    assert Settings.from_json(world.store.settings()) == world.watch.settings


def test_one_process_at_a_time(tmp_path):
    place = WatchStore(tmp_path / "w").place
    with (
        only_watcher(place),
        pytest.raises(StorageError, match=f"is in use by process {os.getpid()}"),
        only_watcher(place),
    ):
        pass
    with only_watcher(place):
        pass
    other = {"host": "elsewhere", "pid": 1, "started": None}
    (place / "owner.json").write_bytes(json.dumps(other).encode())
    with pytest.raises(StorageError, match="process 1 on elsewhere"), only_watcher(place):
        pass


def test_a_source_that_cannot_be_reached_closes_nothing(tmp_path, bucket, monkeypatch):
    write_lines(tmp_path / "logs" / "a.jsonl", [request(1)])
    world = World(tmp_path, sources=(str(tmp_path / "logs"), f"{bucket.url}/logs/x.jsonl"))
    world.at("10T12:00")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(StorageError):
        world.at("12T00:00")
    assert not world.store.period("2026-11-10").complete


def test_a_clock_that_was_set_back_files_nothing(tmp_path):
    write_lines(tmp_path / "logs" / "a.jsonl", [request(1)])
    world = World(tmp_path)
    world.now = datetime.fromisoformat("1971-01-01T00:00:00+00:00")
    with pytest.raises(StorageError, match="the clock of this machine says 1971-01-01 00:00 UTC"):
        world.watch.step()
    world.at("10T12:00")
    with pytest.raises(StorageError, match="but the last pass was at 2026-11-10 12:00"):
        world.at("09T12:00")
    world.at("10T11:30")  # clocks are corrected by a little
    assert [record.period for record in world.store.periods()] == ["2026-11-10"]
