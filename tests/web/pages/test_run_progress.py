"""Speed, cost and low samples of a run that is computed, and the button that stops it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.data.schema import CALLS
from ragstone.storage.durable import process_start
from tests.web.pages.test_run_live import under_way  # noqa: F401  (a fixture)

SLEEP = "import time; print('up', flush=True); time.sleep(60)"


@pytest.fixture
def process():
    """A process that waits until it is stopped."""
    started = subprocess.Popen(
        [sys.executable, "-c", f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {SLEEP}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert started.stdout.readline() == b"up\n"
    yield started
    started.kill()
    started.wait()
    started.stdout.close()


def own(folder, pid, command="ragstone run x --resume", **changes):
    """Record a process as the owner of a run."""
    owner = {"host": socket.gethostname(), "pid": pid, "started": process_start(int(pid)), **changes}
    (folder / "owner.json").write_text(json.dumps(owner))
    plan = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps({**plan, "command": command}))


def test_speed_and_time_left(serve, tmp_path, under_way, worse):  # noqa: F811
    own(under_way, os.getpid())
    ago = time.time() - 100
    os.utime(under_way / "owner.json", (ago, ago))
    found = serve(tmp_path).json(f"/runs/{worse.id}.json")["progress"]
    assert found["rate"] == pytest.approx(0.1, rel=0.2)
    assert found["left_s"] == pytest.approx(150, rel=0.2)
    # Parts of an earlier process say nothing about this one.
    os.utime(under_way / "parts" / "000000" / "scores.parquet", (ago - 50, ago - 50))
    found = serve(tmp_path).json(f"/runs/{worse.id}.json")["progress"]
    assert (found["done"], found["rate"], found["left_s"]) == (10, None, None)


def test_cost_of_budget(serve, tmp_path, under_way, worse):  # noqa: F811
    client = serve(tmp_path)
    assert client.json(f"/runs/{worse.id}.json")["cost"] == {"spent_usd": None, "budget_usd": None}
    rows = {name: [None, None] for name in CALLS.names} | {"cost_usd": [0.25, 0.5]}
    schema = pa.schema([field.with_nullable(True) for field in CALLS])
    pq.write_table(pa.Table.from_pydict(rows, schema=schema), under_way / "parts" / "000000" / "calls.parquet")
    plan = json.loads((under_way / "plan.json").read_text())
    (under_way / "plan.json").write_text(json.dumps({**plan, "budget_usd": 5.0}))
    assert client.json(f"/runs/{worse.id}.json")["cost"] == {"spent_usd": 0.75, "budget_usd": 5.0}
    text = client.page(f"/runs/{worse.id}").text()
    assert "$0.7500" in text
    assert "of $5 budget" in text


def test_low_and_failed_samples_of_the_newest_part(serve, tmp_path, under_way, worse):  # noqa: F811
    file = under_way / "parts" / "000000" / "scores.parquet"
    table = pq.read_table(file)
    rows = table.to_pylist()
    first = rows[0]["sample_id"]
    for row in rows:
        if row["sample_id"] == first and row["metric"] == "token_f1":
            row |= {"status": "failed", "value": None, "reason": "the judge <b>stumbled</b>"}
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), file)
    client = serve(tmp_path)
    low = client.json(f"/runs/{worse.id}.json")["low"]
    assert low[0]["id"] == first
    assert low[0]["failure"] == "token_f1 failed: the judge <b>stumbled</b>"
    assert low[0]["question"]
    means = [row["mean"] for row in low[1:]]
    assert means == sorted(means)
    assert means
    assert max(means) < 0.5
    page = client.page(f"/runs/{worse.id}")
    assert "<b>stumbled</b>" in page.text()


def test_the_button_stops_the_process(serve, tmp_path, under_way, worse, process):  # noqa: F811
    own(under_way, process.pid)
    client = serve(tmp_path)
    path = f"/runs/{worse.id}"
    assert "Stop this run" in client.page(path).text()
    answer, _ = client.post(f"{path}/stop", {"token": "wrong"})
    assert answer.status == 403
    assert client.ask(f"{path}/stop")[0].status == 405
    answer, _ = client.post(f"{path}/stop", {"token": client.secret(path)})
    assert (answer.status, answer.headers["location"]) == (303, f"{path}?stop=1")
    assert process.wait(timeout=20) in (1, -signal.SIGINT)
    found = client.json(f"{path}.json?stop=1")
    assert not found["progress"]["working"]
    assert "ragstone run x --resume" in client.page(f"{path}?stop=1").text()


@pytest.mark.parametrize(
    "changes", [{"started": "another time"}, {"started": None}, {"host": "elsewhere"}, {"pid": True}, {"command": ""}]
)
def test_other_processes_are_not_stopped(serve, tmp_path, under_way, worse, process, changes):  # noqa: F811
    client, path = serve(tmp_path), f"/runs/{worse.id}"
    own(under_way, process.pid)
    secret = client.secret(path)
    own(under_way, **{"pid": process.pid, **changes})
    assert not client.json(f"{path}.json")["can_stop"]
    assert "Stop this run" not in client.page(path).text()
    answer, body = client.post(f"{path}/stop", {"token": secret})
    assert answer.status == 400, body
    assert b"cannot be stopped from here" in body
    assert process.poll() is None


def test_the_viewer_does_not_stop_itself(serve, tmp_path, under_way, worse):  # noqa: F811
    own(under_way, os.getpid())
    assert not serve(tmp_path).json(f"/runs/{worse.id}.json")["can_stop"]


def test_a_read_only_viewer_stops_nothing(serve, tmp_path, under_way, worse, process):  # noqa: F811
    own(under_way, process.pid)
    client = serve(tmp_path, read_only=True)
    page = client.page(f"/runs/{worse.id}")
    assert "Stop this run" not in page.text()
    assert "Ctrl-C" in page.text()
    assert client.post(f"/runs/{worse.id}/stop", {"token": "x"})[0].status == 403
    assert process.poll() is None
