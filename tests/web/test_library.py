"""The runs under a root: broken folders, symlinks, and the diagnosis in two steps."""

import json
import os
import shutil
from collections import Counter
from threading import Event

from ragstone.analysis import diagnosis, differences
from ragstone.analysis.causes import find_causes
from ragstone.analysis.diagnosis import diagnose, with_reasons
from ragstone.analysis.sample_evidence import read_cases_at
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


def test_nothing_is_computed_twice(serve, tmp_path, worse, better, monkeypatch):
    counts = Counter()

    def count(module, name):
        function = getattr(module, name)

        def counted(*args, **more):
            counts[name] += 1
            return function(*args, **more)

        monkeypatch.setattr(module, name, counted)

    monkeypatch.setattr(insights, "FIRST_FEW", 5)
    count(diagnosis, "find_causes")
    count(differences, "bootstrap_means")
    for run in (worse, better):
        shutil.copytree(run.path, tmp_path / "runs" / run.id)
    client = serve(tmp_path)
    for run in (worse, better):
        rows = run.info.rows
        client.when_ready(
            f"/runs/{run.id}.json",
            lambda found, rows=rows: found["diagnosis"] and found["diagnosis"]["looked_at"] == rows,
        )
    for _ in range(2):
        found = client.when_ready(f"/compare/{worse.id}/{better.id}.json", lambda found: found["ready"])
        assert found["causes"]["rows"]
    assert counts == {"find_causes": worse.info.rows + better.info.rows, "bootstrap_means": 1}


def test_what_is_read_when_needed_gives_the_same_causes(worse, better):
    for run in (worse, better):
        cases = read_cases_at(run, range(run.info.rows)).values()
        assert diagnose(run).outcomes == with_reasons(run, map(find_causes, cases))


def test_links_cannot_leave_the_root(serve, tmp_path, worse):
    root = tmp_path / "root"
    (root / "runs").mkdir(parents=True)
    os.symlink(worse.path, root / "runs" / "elsewhere")
    shutil.copytree(worse.path, root / "runs" / "here")
    client = serve(root)
    assert client.ask("/runs/elsewhere")[0].status == 404
    assert [run["id"] for run in client.json("/runs.json")["runs"]] == ["here"]
