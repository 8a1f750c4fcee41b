"""Notifications of a finished run and their records."""

from dataclasses import replace

import pytest

from ragstone.notify.notify import FILE, Listeners, read_records, send_notifications
from ragstone.notify.webhook import PATIENCE, deliver, read_webhook

QUICK = replace(PATIENCE, first_wait_s=0.0)


@pytest.fixture
def hook(loopback):
    loopback.handler = lambda asked: {}
    return read_webhook(f"http://user:hunter22@127.0.0.1:{loopback.port}/services/T0/s3cretpath?key=k3y", "json", {})


def test_failure_is_noted_and_written_down_without_secrets(loopback, hook, run, monkeypatch):
    monkeypatch.setattr("ragstone.notify.notify.deliver", lambda *given: deliver(*given, patience=QUICK))
    loopback.stop()
    notes = []
    send_notifications(run, Listeners(hook), notes.append)
    [note] = notes
    assert "given up after 4 attempts" in note
    assert "stored" in note
    [record] = read_records(run)
    assert (record["kind"], record["delivered"], record["attempts"]) == ("webhook", False, 4)
    assert record["address"] == f"http://127.0.0.1:{loopback.port}"
    written = (run.folder.place / FILE).read_bytes().decode() + note
    assert not [secret for secret in ("hunter22", "s3cretpath", "k3y", "user") if secret in written]


def test_a_message_that_cannot_be_made_is_no_failure(loopback, hook, run, monkeypatch):
    monkeypatch.setattr("ragstone.notify.notify.diagnose", lambda *given: 1 / 0)
    notes = []
    send_notifications(run, Listeners(hook), notes.append)
    assert loopback.asked == []
    assert "could not be built: ZeroDivisionError" in notes[0]
    assert read_records(run)[0]["delivered"] is False


def test_records_add_up(loopback, hook, run):
    for _ in range(2):
        send_notifications(run, Listeners(hook), pytest.fail)
    assert [record["delivered"] for record in read_records(run)] == [True, True]


def test_a_record_that_cannot_be_written_is_no_failure(loopback, hook, run):
    (run.folder.place / FILE).write_bytes(b"{ this is no JSON")
    notes = []
    send_notifications(run, Listeners(hook), notes.append)
    assert len(loopback.asked) == 1
    assert "could not be recorded" in notes[0]
