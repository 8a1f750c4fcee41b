"""Runs on a server that speaks S3, and on one that does not answer."""

import json
import socket
import threading
import time
from contextlib import suppress

import pyarrow.parquet as pq
import pytest

import ragstone
from ragstone.errors import StorageError, UsageError
from ragstone.storage import places
from ragstone.storage.places import open_place

ROWS = [{"id": "a", "question": "q", "answer": "one two", "references": ["one"]}]


def test_a_whole_run(bucket):
    run = ragstone.evaluate(ROWS, "token_f1", f"{bucket.url}/prefix")
    home = f"prefix/runs/{run.id}"
    assert set(bucket.list()) == {
        f"{home}/{name}"
        for name in ("run.json", "samples.parquet", "scores.parquet", "summary.parquet", "calls.parquet")
    }
    assert json.loads(bucket.read(f"{home}/run.json"))["id"] == run.id
    assert run.path == f"{bucket.url}/{home}"


def test_a_run_at_the_root_of_a_bucket(bucket):
    run = ragstone.evaluate(ROWS, "token_f1", bucket.url)
    assert ragstone.open_run(run.path + "/").summary()["token_f1"].n_ok == 1


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet"])
def test_data_from_a_bucket(bucket, name, tmp_path):
    if name.endswith("jsonl"):
        url = bucket.write(name, json.dumps(ROWS[0]).encode())
    else:
        pq.write_table(ragstone.read_dataset(ROWS).table, tmp_path / name)
        url = bucket.write(name, (tmp_path / name).read_bytes())
    assert ragstone.evaluate(url, "token_f1").summary()["token_f1"].n_ok == 1


def test_no_such_bucket(bucket):
    with pytest.raises(StorageError, match=r"there is no such bucket\. Create it first") as caught:
        ragstone.evaluate(ROWS, "token_f1", "s3://no-such-bucket-here/prefix")
    assert caught.value.exit_code == 1
    names = [item["Name"] for item in bucket.client.list_buckets()["Buckets"]]
    assert "no-such-bucket-here" not in names


def test_no_such_object(bucket):
    with pytest.raises(UsageError, match=f"there is no file '{bucket.url}/nothing.jsonl'"):
        ragstone.evaluate(f"{bucket.url}/nothing.jsonl", "token_f1")


def test_an_interrupted_upload_publishes_no_half(bucket, monkeypatch):
    """Closing Arrow's stream publishes what it has, so there must be no moment at which it has a half."""
    place = open_place(f"{bucket.url}/file")
    writes = []

    class Watched:
        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            return self

        def __exit__(self, *problem):
            return self.stream.__exit__(*problem)

        def write(self, content):
            writes.append(len(content))
            return self.stream.write(content)

    real = places.Place._open_output
    monkeypatch.setattr(places.Place, "_open_output", lambda self: Watched(real(self)))
    with place.writing() as stream:
        for _ in range(20):
            stream.write(b"x" * (1 << 20))
    assert writes == [20 << 20]
    assert len(bucket.read("file")) == 20 << 20


class DyingServer:
    """A line to the real server that is cut, for good, once so many bytes have gone up."""

    def __init__(self, upstream):
        self._upstream = upstream
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listener]
        self._uploaded = 0
        self.most = 1 << 62
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def live_for(self, more_bytes):
        self.most = self._uploaded + more_bytes

    def die(self):
        for end in self._sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._upstream)
                self._sockets += [near, far]
                threading.Thread(target=self._pump, args=(near, far, True), daemon=True).start()
                threading.Thread(target=self._pump, args=(far, near, False), daemon=True).start()

    def _pump(self, source, target, is_up):
        with suppress(OSError):
            while block := source.recv(1 << 16):
                if is_up:
                    self._uploaded += len(block)
                    if self._uploaded > self.most:
                        self.die()
                target.sendall(block)
            target.shutdown(socket.SHUT_WR)


@pytest.fixture
def dying_server(bucket, monkeypatch, s3_server):
    host, port = s3_server.removeprefix("http://").split(":")
    server = DyingServer((host, int(port)))
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    yield server
    server.die()


@pytest.mark.slow
@pytest.mark.parametrize("most", [0, 1 << 20, 15 << 20])
def test_a_server_that_dies_in_the_middle_of_an_upload_shows_no_half(bucket, dying_server, most):
    place = open_place(f"{bucket.url}/file")
    place.write_bytes(b"old")
    dying_server.live_for(most)
    with pytest.raises(StorageError, match=f"cannot write {bucket.url}/file"):
        place.write_bytes(bytes(32 << 20))
    assert bucket.read("file") == b"old"


@pytest.mark.slow
def test_a_server_that_dies_while_the_run_is_written_leaves_no_finished_run(bucket, dying_server):
    dying_server.live_for(16_000)
    with pytest.raises(StorageError, match="the server does not answer"):
        ragstone.evaluate(ROWS, "token_f1", bucket.url)
    assert not any(key.endswith("run.json") for key in bucket.list())


@pytest.mark.slow
def test_nobody_listens(bucket, monkeypatch):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{listener.getsockname()[1]}")
        started = time.monotonic()
        with pytest.raises(StorageError, match=r"the server does not answer\. Check the network and AWS_ENDPOINT_URL"):
            ragstone.evaluate(ROWS, "token_f1", bucket.url)
        assert time.monotonic() - started < 20


@pytest.mark.slow
def test_somebody_listens_and_never_answers(bucket, monkeypatch):
    monkeypatch.setattr(places, "_S3_TIMEOUT_S", 1)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(50)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{listener.getsockname()[1]}")
        started = time.monotonic()
        with pytest.raises(StorageError, match="the server does not answer"):
            ragstone.evaluate(ROWS, "token_f1", bucket.url)
        assert time.monotonic() - started < 30


def test_secrets_stay_out_of_messages(bucket, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret-value")
    with pytest.raises(StorageError) as caught:
        ragstone.evaluate(ROWS, "token_f1", "s3://no-such-bucket-here/prefix")
    assert "very-secret-value" not in str(caught.value)
