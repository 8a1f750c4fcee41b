"""The list of runs."""

import json
import shutil
from pathlib import Path

import pytest

import ragstone
from ragstone.web.library import Library
from ragstone.web.pages.runs import runs_page


def test_runs_are_listed_newest_first(viewer, worse, better, hostile):
    found = viewer.when_ready("/runs.json", lambda data: not data["waiting"])
    assert [run["id"] for run in found["runs"]] == sorted([worse.id, better.id, hostile.id], reverse=True)
    mine = next(run for run in found["runs"] if run["id"] == better.id)
    columns = [column["metric"] for column in found["metrics"]]
    for name, item in zip(columns, mine["metrics"], strict=True):
        row = better.summary()[name] if name in {metric.metric for metric in better.info.metrics} else None
        assert item["mean"] == (row and pytest.approx(row.mean))
    assert [column["param"] for column in found["params"]] == ["evil"]
    assert len(found["datasets"]) == 2
    page = viewer.page("/runs")
    assert f"/runs/{better.id}" in page.links
    assert len([box for box in page.find("input") if box.get("name") == "run"]) == 3


def test_wrong_rows_are_counted_in_the_background(serve, tmp_path, worse, better, monkeypatch):
    for run in (worse, better):
        shutil.copytree(run.path, tmp_path / "runs" / run.id)
    client = serve(tmp_path)
    found = client.when_ready("/runs.json", lambda data: all(run["statuses"] is not None for run in data["runs"]))
    for run in found["runs"]:
        assert (
            run["statuses"] == client.ready(ragstone.open_run(tmp_path / "runs" / run["id"]))["diagnosis"]["statuses"]
        )
    counts = found["runs"][1]["statuses"]
    cell = [link for link in client.page("/runs").links if "cause=" in link and worse.id in link]
    assert cell == [f"/runs/{worse.id}?cause={name}#samples" for name in ("wrong", "look", "fine") if counts.get(name)]
    # Of a large run only once its page was opened.
    monkeypatch.setattr("ragstone.web.pages.runs._MAX_COUNTED", 10)
    client = serve(tmp_path)
    assert [run["statuses"] for run in client.json("/runs.json")["runs"]] == [{}, {}]
    client.ready(worse)
    opened = client.when_ready("/runs.json", lambda data: data["runs"][1]["statuses"])
    assert [run["statuses"] for run in opened["runs"]] == [{}, counts]


def test_a_trend_is_of_one_system_and_one_data_set(serve, tmp_path, worse, better):
    for run, name in ((worse, "1"), (worse, "2"), (better, "3")):
        shutil.copytree(run.path, tmp_path / "runs" / name)
    found = serve(tmp_path).when_ready("/runs.json", lambda data: not data["waiting"])
    courses = {run["id"]: run["course"] for run in found["runs"]}
    assert [len(courses[name]["values"]) for name in "123"] == [2, 2, 1]
    assert (courses["1"]["here"], courses["2"]["here"]) == (0, 1)
    assert len(found["datasets"]) == 1


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("sort=metric:token_f1", "worse better hostile"),
        ("sort=metric:token_f1&dir=down", "better worse hostile"),
        ("sort=samples&dir=down", "better worse hostile"),
        ("sort=param:evil", "hostile better worse"),
        ("dir=down", "worse better hostile"),
    ],
)
def test_runs_are_sorted(viewer, worse, better, hostile, query, order):
    runs = {"worse": worse, "better": better, "hostile": hostile}
    found = [run["id"] for run in viewer.json(f"/runs.json?{query}")["runs"]]
    wanted = [runs[name].id for name in order.split()]
    if "metric" in query:
        found, wanted = ([one for one in side if one != hostile.id] for side in (found, wanted))
    if query.startswith("sort=samples"):
        assert found[-1] == hostile.id
    else:
        assert [one for one in found if one in wanted] == wanted


def test_runs_are_filtered_by_data_set_and_name(viewer, worse, better, hostile):
    found = viewer.when_ready("/runs.json", lambda data: not data["waiting"])
    key = next(item["key"] for item in found["datasets"] if item["runs"] == 2)
    assert {run["id"] for run in viewer.json(f"/runs.json?data={key}")["runs"]} == {worse.id, better.id}
    assert [run["id"] for run in viewer.json("/runs.json?name=harbour-worse")["runs"]] == [worse.id]


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
    assert client.json("/runs/torn.json", 409)["words"].endswith("remove its folder.")
    assert client.ask("/runs/no-run.txt")[0].status == 404


def test_data_sets_of_one_file_name_are_told_apart(serve, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.csv").write_text(f"question,answer\nWhat is {name}?,A number.\n")
        ragstone.evaluate(tmp_path / name / "x.csv", ["ari"], tmp_path, name=f"run-{name}")
    found = serve(tmp_path).when_ready("/runs.json", lambda data: not data["waiting"])
    assert {item["name"] for item in found["datasets"]} == {f"x.csv, 1 samples, as in run-{n}" for n in ("one", "two")}


def test_finished_is_sorted_by_the_finish(tmp_path):
    """A run that started first may finish last."""
    runs = [
        ragstone.evaluate([{"question": "q", "answer": "a", "references": ["a"]}], ["token_f1"], tmp_path, name=n)
        for n in "abc"
    ]
    for run, minute in zip(runs, (30, 10, 20), strict=True):
        manifest = Path(run.path) / "run.json"
        stored = json.loads(manifest.read_text())
        stored["finished_at"] = f"2026-11-17T08:{minute}:00+00:00"
        manifest.write_text(json.dumps(stored))
    library = Library(tmp_path)
    assert [row["name"] for row in runs_page(library, {})["runs"]] == ["a", "c", "b"]
    assert [row["name"] for row in runs_page(library, {"dir": "down"})["runs"]] == ["b", "c", "a"]
