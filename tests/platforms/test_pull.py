"""Pulls from every platform: all pages, through faults, and through the death of the process."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ragstone.errors import ServiceError, StorageError, UnknownNameError, UsageError
from ragstone.formats import open_reader, read_dataset
from ragstone.platforms.api import PATIENCE
from ragstone.platforms.pull import ENDING, plan_pull, pull, read_progress
from tests.http.loopback import RESET
from tests.platforms.fakes import variables
from tests.platforms.records import FARE, FERRY

SINCE = datetime(2026, 11, 1, tzinfo=UTC)
UNTIL = datetime(2026, 11, 2, tzinfo=UTC)
SERVERS = [
    ("langfuse", {"version": 4}),
    ("langfuse", {"version": 3}),
    ("phoenix", {}),
    ("langsmith", {"version": 2}),
    ("langsmith", {"version": 1}),
]
every_server = pytest.mark.parametrize(
    ("platform", "options"),
    SERVERS,
    ids=lambda value: value if isinstance(value, str) else str(value.get("version", "")),
)


def read(path, platform, since=SINCE, until=UNTIL, note=lambda state: None):
    start, _ = plan_pull(str(path), platform, None, since, until)
    return asyncio.run(pull(str(path), start, note, patience=replace(PATIENCE, first_wait_s=0.01)))


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


@every_server
def test_all_pages_become_samples(tmp_path, start, platform, options):
    start(platform, **options)
    log = tmp_path / "log.jsonl"
    done = read(log, platform)
    assert done.finished
    assert done.rows == len(lines(log))
    assert open_reader(str(log)).format.name == platform
    samples = {sample.question: sample for sample in read_dataset(str(log))}
    assert set(samples) == {FERRY, FARE}
    assert samples[FERRY].answer == "At eight."
    assert [chunk.text for chunk in samples[FERRY].contexts] == ["It leaves at eight.", "Adults pay ten."]
    assert samples[FERRY].metadata["signals"] == {"like": 1}
    assert samples[FARE].metadata["signals"] == {"dislike": 1}


@every_server
def test_faults_are_waited_out_and_nothing_is_lost_or_doubled(tmp_path, start, platform, options):
    fake = start(platform, **options)
    read(tmp_path / "whole.jsonl", platform)
    fake.faults = [
        (429, {"message": "slow down"}, {"Retry-After": "0"}),
        None,
        (500, {"message": "oops"}),
        RESET,
        None,
        (503, b"busy"),
    ]
    read(tmp_path / "log.jsonl", platform)
    assert fake.faults == []
    assert (tmp_path / "log.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_retry_after_is_respected(tmp_path, start):
    fake = start("phoenix")
    fake.faults = [(429, {}, {"Retry-After": "1"})]
    begin = time.monotonic()
    read(tmp_path / "log.jsonl", "phoenix")
    assert time.monotonic() - begin >= 1.0


def test_a_server_that_stays_broken_is_reported(tmp_path, start):
    fake = start("phoenix")
    fake.faults = [(500, {"detail": "database is locked"})] * 20
    with pytest.raises(
        ServiceError, match=r"Phoenix replied 500 to GET .*database is locked.*given up after 7 attempts"
    ):
        read(tmp_path / "log.jsonl", "phoenix")


@pytest.mark.parametrize(
    ("platform", "variable"),
    [("langfuse", "LANGFUSE_SECRET_KEY"), ("phoenix", "PHOENIX_API_KEY"), ("langsmith", "LANGSMITH_API_KEY")],
)
def test_a_wrong_key_names_its_variable_and_is_not_printed(tmp_path, start, monkeypatch, platform, variable):
    fake = start(platform)
    monkeypatch.setenv(variable, "wrong-secret-value")
    with pytest.raises(UsageError, match=variable) as raised:
        read(tmp_path / "log.jsonl", platform)
    assert "wrong-secret-value" not in str(raised.value)
    assert len(fake.requests) == 1


@pytest.mark.parametrize("variable", ["LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"])
def test_a_missing_key_names_its_variable(tmp_path, start, monkeypatch, variable):
    start("langfuse")
    monkeypatch.delenv(variable)
    with pytest.raises(UsageError, match=f"Langfuse needs a key: set {variable}"):
        read(tmp_path / "log.jsonl", "langfuse")


def test_no_server_names_the_address_and_its_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ServiceError, match=r"no server answers at http://127.0.0.1:9.*PHOENIX_COLLECTOR_ENDPOINT"):
        read(tmp_path / "log.jsonl", "phoenix")


def test_an_unknown_project_is_named(tmp_path, start, monkeypatch):
    start("langsmith")
    monkeypatch.setenv("LANGSMITH_PROJECT", "nowhere")
    with pytest.raises(UsageError, match="LangSmith has no project 'nowhere'"):
        read(tmp_path / "log.jsonl", "langsmith")


class StoppedError(Exception):
    pass


@every_server
def test_an_interrupted_pull_continues_at_its_page(tmp_path, start, platform, options):
    """Stop after every page in turn, with half a page written behind the checkpoint."""
    start(platform, **options)
    whole = tmp_path / "whole.jsonl"
    read(whole, platform)
    log = tmp_path / "log.jsonl"

    def stop(state):
        raise StoppedError

    for _ in range(20):
        try:
            read(log, platform, note=stop)
        except StoppedError:
            with log.open("ab") as file:
                file.write(b'{"half": "a pa')
        if (state := read_progress(str(log))).finished:
            break
    assert state.finished
    # What is behind the checkpoint is cut off by the next pull.
    assert log.read_bytes()[: state.size] == whole.read_bytes()


def test_an_expired_cursor_starts_the_stage_again(tmp_path, start):
    fake = start("langfuse")
    whole = tmp_path / "whole.jsonl"
    read(whole, "langfuse")
    log = tmp_path / "log.jsonl"
    seen = []

    def stop(state):
        seen.append(state)
        if len(seen) == 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        read(log, "langfuse", note=stop)
    fake.faults = [(400, {"message": "Invalid cursor"})]
    read(log, "langfuse")
    assert log.read_bytes() == whole.read_bytes()


def test_a_finished_pull_is_extended(tmp_path, start):
    fake = start("langfuse")
    log = tmp_path / "log.jsonl"
    noon = datetime(2026, 11, 1, 10, 30, tzinfo=UTC)
    first = read(log, "langfuse", until=noon)
    assert {sample.question for sample in read_dataset(str(log))} == {FERRY}
    fake.requests.clear()
    second = read(log, "langfuse", since=None)
    assert second.since == first.until
    assert {sample.question for sample in read_dataset(str(log))} == {FERRY, FARE}
    with pytest.raises(UsageError, match="is complete up to"):
        plan_pull(str(log), "langfuse", None, SINCE, UNTIL)


def test_files_of_others_are_not_touched(tmp_path, start):
    start("langfuse")
    log = tmp_path / "log.jsonl"
    log.write_text('{"question": "mine"}\n')
    with pytest.raises(UsageError, match="is not the file of an earlier pull"):
        read(log, "langfuse")
    assert log.read_text() == '{"question": "mine"}\n'
    other = tmp_path / "other.jsonl"
    read(other, "langfuse")
    start("phoenix")
    with pytest.raises(UsageError, match="has rows of langfuse"):
        read(other, "phoenix")
    with pytest.raises(UsageError, match="--since"):
        read(tmp_path / "new.jsonl", "langfuse", since=None)
    with pytest.raises(UnknownNameError, match="langfuse, phoenix, langsmith"):
        read(tmp_path / "new.jsonl", "langfus")


def test_a_shortened_file_is_an_error(tmp_path, start):
    start("langfuse")
    log = tmp_path / "log.jsonl"
    read(log, "langfuse", until=datetime(2026, 11, 1, 10, 30, tzinfo=UTC))
    log.write_text("")
    with pytest.raises(StorageError, match="shorter"):
        read(log, "langfuse", since=None)


@pytest.mark.slow
def test_a_killed_process_continues(tmp_path, start):
    """kill -9 in the middle of the pages, then the same command again."""
    fake = start("langfuse")
    fake.page = 1
    read(tmp_path / "whole.jsonl", "langfuse")
    fake.server.delay_s = 0.15
    log = tmp_path / "log.jsonl"
    command = [sys.executable, "-m", "ragstone", "pull", "langfuse", "--since", "2026-11-01", "--until", "2026-11-02"]
    environment = {**os.environ, **variables("langfuse", fake), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([*command, "-o", str(log)], env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while (state := read_progress(str(log))) is None or state.rows < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    assert not read_progress(str(log)).finished
    fake.server.delay_s = 0
    done = subprocess.run([*command, "-o", str(log)], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "continues the pull" in done.stderr
    assert log.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not (tmp_path / f"log.jsonl{ENDING}.tmp").exists()
