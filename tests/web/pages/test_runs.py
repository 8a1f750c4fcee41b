"""The list of runs."""

import shutil

import pytest


def test_runs_are_listed_newest_first(viewer, worse, better, hostile):
    found = viewer.json("/runs.json")
    assert [run["id"] for run in found["runs"]] == sorted([worse.id, better.id, hostile.id], reverse=True)
    mine = next(run for run in found["runs"] if run["id"] == better.id)
    assert mine["metrics"][0]["mean"] == pytest.approx(better.summary()["fact_recall"].mean)
    assert len(mine["course"]["values"]) == 2
    assert mine["course"]["here"] == 1
    page = viewer.page("/runs")
    assert f"/runs/{better.id}" in page.links
    assert len([box for box in page.find("input") if box.get("name") == "run"]) == 3


def test_runs_are_filtered(viewer, better):
    assert [run["id"] for run in viewer.json("/runs.json?q=harbour-BETTER")["runs"]] == [better.id]
    assert viewer.json("/runs.json?q=nothing-like-it")["fitting"] == 0
    assert "No run matches" in viewer.page("/runs?q=nothing-like-it").text()


def test_an_empty_root_says_what_to_do(serve, tmp_path):
    client = serve(tmp_path)
    assert client.json("/runs.json")["runs"] == []
    assert "ragstone run" in client.page("/runs").text()


def test_a_broken_run_does_not_hide_the_others(serve, tmp_path, worse):
    shutil.copytree(worse.path, tmp_path / "runs" / "sound")
    for name, text in (("torn", "{"), ("future", '{"layout": 99}')):
        (tmp_path / "runs" / name).mkdir()
        (tmp_path / "runs" / name / "run.json").write_text(text)
    shutil.copytree(worse.path, tmp_path / "runs" / "half")
    (tmp_path / "runs" / "half" / "summary.parquet").write_bytes(b"PAR1")
    (tmp_path / "runs" / "no-run.txt").write_text("")
    client = serve(tmp_path)
    found = client.json("/runs.json")
    assert [run["id"] for run in found["runs"]] == ["sound"]
    assert [run["id"] for run in found["broken"]] == ["torn", "half", "future"]
    assert "not JSON" in client.page("/runs").text()
    assert client.json("/runs/torn.json", 500)["words"].endswith(")")
    assert client.ask("/runs/no-run.txt")[0].status == 404
