"""`ragstone view` as a user types it; a root in a bucket; an evaluation that really runs."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.errors import UsageError
from ragstone.storage.places import open_place
from ragstone.web.app import Viewer
from tests.report import runs

COMMAND = [sys.executable, "-m", "ragstone"]
SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def start():
    """Start the command, and give its address once it is printed."""
    started = []

    def begin(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        process = subprocess.Popen(
            [*COMMAND, "view", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        started.append(process)
        line = process.stdout.readline()
        return process, line

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_it_says_where_it_is_and_ctrl_c_stops_it(start, store, worse):
    process, line = start(str(store), "--port", "0")
    address = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
    with urllib.request.urlopen(f"{address}runs.json") as answer:
        assert worse.id in {run["id"] for run in json.load(answer)["runs"]}
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


@pytest.mark.slow
def test_on_another_address_it_prints_a_token(start, store):
    _, line = start(str(store), "--port", "0", "--host", "0.0.0.0")
    port, token = re.search(r":(\d+)/\?token=(\S+)", line).groups()
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/runs.json")
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/runs.json", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked) as answer:
        assert answer.status == 200


def test_a_root_in_a_bucket(serve, bucket, worse):
    root = open_place(f"{bucket.url}/evals")
    run = runs.harbour("worse", str(root))
    client = serve(str(root))
    assert [found["id"] for found in client.json("/runs.json")["runs"]] == [run.id]
    found = client.json(f"/runs/{run.id}/samples/8.json")
    assert found["sample"]["id"] == worse.samples.table["id"][7].as_py()
    assert client.ask("/runs/..%2f..%2fother")[0].status == 404


def test_off_this_machine_there_is_always_a_token(tmp_path):
    with closing(Viewer(str(tmp_path), "127.0.0.1", 0)) as viewer:
        assert viewer.token is None
    with closing(Viewer(str(tmp_path), "0.0.0.0", 0)) as viewer:
        pass
    assert len(viewer.token) >= 24
    assert viewer.url.endswith(f"/?token={viewer.token}")
    with pytest.raises(UsageError, match="8 characters"):
        Viewer(str(tmp_path), "0.0.0.0", 0, token="short")


def test_a_port_that_is_taken_is_a_plain_error(tmp_path, viewer):
    with pytest.raises(UsageError, match="Choose another --port"):
        Viewer(str(tmp_path), "127.0.0.1", viewer.viewer.port)
