"""The runs under a root: broken folders, symlinks, and the diagnosis in two steps."""

import json
import os
import shutil
from threading import Event

from ragstone.analysis.diagnosis import diagnose
from ragstone.web import library as insights
from ragstone.web.library import describe_diagnosis
from ragstone.web.render import page_json


def test_causes_are_those_of_all_samples_in_the_end(serve, tmp_path, worse, monkeypatch):
    monkeypatch.setattr(insights, "FIRST_FEW", 5)
    whole = Event()
    monkeypatch.setattr(
        insights, "diagnose", lambda *args, **more: (args[1] or whole.wait(30)) and diagnose(*args, **more)
    )
    shutil.copytree(worse.path, tmp_path / "runs" / worse.id)
    client, rows = serve(tmp_path), worse.info["dataset"]["rows"]
    first = client.ready(worse)
    assert first["diagnosis"]["looked_at"] == 5
    assert sum(row["cause"] is not None for row in first["table"]["rows"]) == 5
    assert "the first 5 samples" in client.page(f"/runs/{worse.id}").text()
    whole.set()
    there = client.when_ready(f"/runs/{worse.id}.json", lambda found: found["diagnosis"]["looked_at"] == rows)
    expected = {outcome.sample_id: outcome.cause.name if outcome.cause else "" for outcome in diagnose(worse).outcomes}
    assert {row["id"]: row["cause"] for row in there["table"]["rows"]} == expected
    assert there["diagnosis"] == json.loads(page_json(describe_diagnosis(diagnose(worse), worse))), (
        "counted without texts, the same as with them"
    )


def test_links_cannot_leave_the_root(serve, tmp_path, worse):
    root = tmp_path / "root"
    (root / "runs").mkdir(parents=True)
    os.symlink(worse.path, root / "runs" / "elsewhere")
    shutil.copytree(worse.path, root / "runs" / "here")
    client = serve(root)
    assert client.ask("/runs/elsewhere")[0].status == 404
    assert [run["id"] for run in client.json("/runs.json")["runs"]] == ["here"]
