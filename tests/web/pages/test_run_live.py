"""A run that is under way, and one that was interrupted."""

import json
import os
import shutil
import socket
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from ragstone.storage.places import open_place
from ragstone.storage.runs import RunFolder
from ragstone.web.pages.run_progress import progress_of


@pytest.fixture
def under_way(tmp_path, worse):
    """A run with ten of its samples done, as the engine leaves it between two parts."""
    folder = tmp_path / "runs" / worse.id
    (folder / "parts" / "000000").mkdir(parents=True)
    shutil.copy(f"{worse.path}/samples.parquet", folder)
    first = set(worse.samples.table["id"].to_pylist()[:10])
    scores = worse.scores.to_pandas()
    mine = worse.scores.filter([name in first for name in scores["sample_id"]])
    pq.write_table(mine, folder / "parts" / "000000" / "scores.parquet")
    bounds = {metric["metric"]: metric["bounds"] for metric in worse.info["metrics"]}
    plan = {"name": "half way", "bounds": bounds, "metrics": [], "created_at": "2026-01-02T03:04:05+00:00"}
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "owner.json").write_text(json.dumps({"host": "h", "pid": 1}))
    return folder


def test_progress_is_shown(serve, tmp_path, under_way, worse):
    client = serve(tmp_path)
    found = client.json(f"/runs/{worse.id}.json")
    assert (found["page"], found["progress"]["done"], found["progress"]["total"]) == ("live", 10, 25)
    scores = worse.scores.to_pandas().pivot(index="sample_id", columns="metric", values="value")
    first = scores.loc[worse.samples.table["id"].to_pylist()[:10]]
    for item in found["metrics"]:
        assert item["mean"] == pytest.approx(first[item["metric"]].mean())
        assert item["rows"] == first[item["metric"]].count()
        assert 0 <= item["low"] <= item["mean"] <= item["high"] <= 1
    assert client.json("/runs.json")["under_way"][0]["done"] == 10
    assert found["title"] == "half way"
    assert "10 of 25 samples" in client.page(f"/runs/{worse.id}").text()
    assert "Unfinished" in client.page("/runs").text()
    assert client.ask(f"/runs/{worse.id}/samples/1")[0].status == 404
    (under_way / "owner.json").unlink()
    assert "--resume" in client.page(f"/runs/{worse.id}").text()
    shutil.rmtree(under_way)
    shutil.copytree(worse.path, under_way)
    assert client.json(f"/runs/{worse.id}.json")["page"] == "run"


@pytest.mark.parametrize(("host", "pid", "working"), [(None, None, True), (None, 0, False), ("elsewhere", 1, True)])
def test_a_run_whose_process_was_killed_is_interrupted(under_way, host, pid, working):
    if pid == 0:
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        pid = ended.pid
    owner = {"host": host or socket.gethostname(), "pid": os.getpid() if pid is None else pid}
    (under_way / "owner.json").write_text(json.dumps(owner))
    assert progress_of(RunFolder(open_place(under_way)))["working"] is working


def test_before_the_first_part(serve, tmp_path, under_way, worse):
    shutil.rmtree(under_way / "parts")
    assert RunFolder(open_place(under_way)).finished_parts() == set()
    client = serve(tmp_path)
    assert client.json(f"/runs/{worse.id}.json")["progress"]["done"] == 0
    assert "No part is finished yet" in client.page(f"/runs/{worse.id}").text()
