"""Runs on a server that speaks S3, and on one that does not answer."""

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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
    assert set(bucket.keys()) == {
        f"{home}/{name}"
        for name in ("run.json", "samples.parquet", "scores.parquet", "summary.parquet", "calls.parquet")
    }
    assert json.loads(bucket.read(f"{home}/run.json"))["id"] == run.id
    assert run.path == f"{bucket.url}/{home}"


def test_a_run_at_the_root_of_a_bucket(bucket):
    run = ragstone.evaluate(ROWS, "token_f1", bucket.url)
    assert ragstone.open_run(run.path + "/").summary()["token_f1"].n_ok == 1


def test_run_json_is_the_last_of_the_files(bucket):
    run = ragstone.evaluate(ROWS, "token_f1", bucket.url)
    items = bucket.client.list_objects_v2(Bucket=bucket.name)["Contents"]
    times = {item["Key"].rpartition("/")[2]: item["LastModified"] for item in items}
    assert max(times.values()) == times["run.json"]
    assert run.info["status"] == "finished"


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet"])
def test_data_from_a_bucket(bucket, name, tmp_path):
    if name.endswith("jsonl"):
        url = bucket.write(name, json.dumps(ROWS[0]).encode())
    else:
        pq.write_table(ragstone.read_dataset(ROWS).table, tmp_path / name)
        url = bucket.write(name, (tmp_path / name).read_bytes())
    assert ragstone.evaluate(url, "token_f1").summary()["token_f1"].n_ok == 1


def test_no_such_bucket(bucket):
    with pytest.raises(StorageError, match="there is no such bucket. Create it first") as caught:
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


class _Dying(BaseHTTPRequestHandler):
    """A server in front of the real one that hangs up after some bytes have been uploaded."""

    def relay(self):
        import http.client

        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.uploaded += len(body)
        if self.server.uploaded > self.server.most:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        upstream = http.client.HTTPConnection(self.server.upstream)
        upstream.request(self.command, self.path, body, dict(self.headers))
        answer = upstream.getresponse()
        content = answer.read()
        upstream.close()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection", "server", "date"):
                self.send_header(name, value)
        self.send_header(
            "Content-Length", str(len(content)) if self.command != "HEAD" else answer.getheader("Content-Length", "0")
        )
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = relay  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def dying_server(bucket, monkeypatch, s3_server):
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Dying)
    server.upstream, server.uploaded, server.most = s3_server.removeprefix("http://"), 0, 1 << 62
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr(places, "_S3_TIMEOUT_S", 2)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("most", [0, 1 << 20, 15 << 20])
def test_a_server_that_dies_in_the_middle_of_an_upload_shows_no_half(bucket, dying_server, most):
    place = open_place(f"{bucket.url}/file")
    place.write_bytes(b"old")
    dying_server.most = dying_server.uploaded + most
    with pytest.raises(StorageError, match=f"cannot write {bucket.url}/file"):
        place.write_bytes(bytes(32 << 20))
    assert bucket.read("file") == b"old"


def test_a_server_that_dies_while_the_run_is_written_leaves_no_finished_run(bucket, dying_server):
    dying_server.most = dying_server.uploaded + 9000
    with pytest.raises(StorageError, match="cannot write .*parquet"):
        ragstone.evaluate(ROWS, "token_f1", bucket.url)
    assert not any(key.endswith("run.json") for key in bucket.keys())


def test_nobody_listens(bucket, monkeypatch):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{listener.getsockname()[1]}")
        started = time.monotonic()
        with pytest.raises(StorageError, match="the server does not answer. Check the network and AWS_ENDPOINT_URL"):
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
