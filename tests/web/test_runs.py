"""The list of runs, one run, and the table of its samples."""

import json
import shutil
from collections import Counter
from threading import Event

import numpy as np
import pytest

import ragstone
from ragstone.compare.diagnosis import diagnose
from ragstone.compare.worst import find_worst
from ragstone.web import insights
from ragstone.web.diagnosed import diagnosed
from ragstone.web.library import Library
from ragstone.web.table import TableState
from tests.report.runs import BIDI, EVIL


def ready(client, run, query=""):
    return client.when_ready(f"/runs/{run.id}.json{query}", lambda found: found["diagnosis"] is not None)


def test_the_root_leads_to_the_runs(viewer):
    answer, _ = viewer.ask("/")
    assert (answer.status, answer.headers["location"]) == (303, "/runs")


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
    assert "No run has all of these words" in viewer.page("/runs?q=nothing-like-it").text()


def test_an_empty_root_says_what_to_do(serve, tmp_path):
    client = serve(tmp_path)
    assert client.json("/runs.json")["runs"] == []
    assert "ragstone run" in client.page("/runs").text()


def test_a_run_shows_its_summary_and_its_diagnosis(viewer, worse):
    found = ready(viewer, worse)
    summary = {row.metric: row for row in worse.summary()}
    for item in found["metrics"]:
        assert item["mean"] == pytest.approx(summary[item["metric"]].mean)
        assert sum(item["spread"]["counts"]) == item["ok"]
    assert found["diagnosis"]["headline"]
    assert sum(cause["main"] for cause in found["diagnosis"]["causes"]) == found["diagnosis"]["failing"] > 0
    page = viewer.page(f"/runs/{worse.id}")
    assert found["diagnosis"]["headline"] in page.text()
    assert len(page.ids) == len(set(page.ids))


def test_the_worst_come_first(viewer, worse):
    found = ready(viewer, worse)["table"]
    faults = [bool(row["cause"]) for row in found["rows"]]
    assert faults == sorted(faults, reverse=True)
    index = Library(str(viewer.viewer._library.root)).index(worse)
    faulty = [row["row"] - 1 for row in found["rows"] if row["cause"]]
    assert [row["row"] - 1 for row in found["rows"]][:20] == find_worst(index.quality, faulty, 20)


@pytest.mark.parametrize("metric", ["token_f1", "fact_recall"])
@pytest.mark.parametrize("down", [False, True])
def test_samples_are_sorted_by_a_metric(viewer, worse, metric, down):
    query = f"?sort={metric}&col={metric}&size=200{'&dir=down' if down else ''}"
    rows = viewer.json(f"/runs/{worse.id}.json{query}")["table"]["rows"]
    values = [row["values"][0] for row in rows]
    there = [value for value in values if value is not None]
    assert there == sorted(there, reverse=down)
    assert values[: len(there)] == there
    table = worse.scores.to_pandas()
    cells = table[table["metric"] == metric].set_index("sample_id")["value"]
    ids = worse.samples.table["id"].to_pylist()
    assert all(value is None or value == cells[ids[row["row"] - 1]] for row, value in zip(rows, values, strict=True))


def test_samples_are_filtered_by_text_cause_and_status(viewer, worse):
    whole = ready(viewer, worse)["table"]
    word = worse.samples.table["question"][0].as_py().split()[-1].strip("?")
    fitting = viewer.json(f"/runs/{worse.id}.json?q={word.upper()}&size=200")["table"]
    texts = worse.samples.table.select(["id", "question", "answer"]).to_pylist()
    assert fitting["fitting"] == sum(any(word.lower() in (v or "").lower() for v in row.values()) for row in texts) > 0
    cause = whole["causes"][0]
    found = viewer.json(f"/runs/{worse.id}.json?cause={cause.replace(' ', '+')}")["table"]
    assert {row["cause"] for row in found["rows"]} == {cause}
    counts = [
        viewer.json(f"/runs/{worse.id}.json?status={s}")["table"]["fitting"] for s in ("failed", "skipped", "complete")
    ]
    assert sum(counts) == whole["total"]
    assert "No sample fits" in viewer.page(f"/runs/{worse.id}?q=zzzzzz").text()


def test_pages_are_turned(viewer, worse):
    total = worse.info["dataset"]["rows"]
    seen = []
    for page in range(1, -(-total // 25) + 1):
        found = viewer.json(f"/runs/{worse.id}.json?size=25&sort=row&page={page}")["table"]
        seen += [row["row"] for row in found["rows"]]
    assert seen == list(range(1, total + 1))
    assert viewer.json(f"/runs/{worse.id}.json?page=99999")["table"]["first"] >= 1


def test_senseless_addresses_show_the_default(viewer, worse):
    strange = "?sort=nothing&dir=x&page=-3&size=7&status=odd&col=none&cause="
    assert viewer.json(f"/runs/{worse.id}.json{strange}")["table"]["here"] == ""


def test_a_link_shows_the_same_view():
    state = TableState(
        query="a & b", cause="misread", sort="token_f1", descending=True, columns=("recall@5", "x"), page=3
    )
    from urllib.parse import parse_qs

    query = parse_qs(state.address.removeprefix("?"))
    again = TableState.read(
        {name: values[0] for name, values in query.items()}, query["col"], ["token_f1", "recall@5", "x"]
    )
    assert again == state
    assert TableState().address == ""
    assert state.sorted_by("token_f1") == state.but(descending=False)


def test_what_is_not_there_is_said(viewer):
    assert "there is no run nothing" in viewer.json("/runs/nothing.json", 404)["words"]
    assert viewer.page("/nothing", 404).text()


def test_without_any_score_and_with_odd_numbers(viewer, worse):
    text = json.dumps(viewer.json(f"/runs/{worse.id}.json"))
    assert "NaN" not in text
    assert np.isfinite(json.loads(text)["metrics"][0]["mean"])


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


def test_a_slice_shows_its_samples(viewer, worse):
    found = ready(viewer, worse)
    levels = [json.loads(cell)["difficulty"] for cell in worse.samples.table["metadata"].to_pylist()]
    [by_level] = [part for part in found["slices"] if part["column"] == "difficulty"]
    assert {row["label"]: row["samples"] for row in by_level["rows"]} == dict(Counter(levels))
    for row in by_level["rows"]:
        query = row["address"].removesuffix("#samples")
        table = viewer.json(f"/runs/{worse.id}.json{query}&size=200&sort=row")["table"]
        assert [item["row"] - 1 for item in table["rows"]] == [
            at for at, level in enumerate(levels) if level == row["label"]
        ]
    page = viewer.page(f"/runs/{worse.id}{query}")
    [option] = [item for item in page.find("option") if "selected" in item and "difficulty=" in item.get("value", "")]
    assert option["value"] == by_level["rows"][-1]["key"]
    sample = viewer.json(table["rows"][0]["address"].replace("?", ".json?"))
    assert sample["walk"]["of"] == table["fitting"], "j and k stay within the slice"
    for strange in ("difficulty=none", "nothing=1", "difficulty"):
        assert viewer.json(f"/runs/{worse.id}.json?slice={strange}")["table"]["fitting"] == 0


def test_causes_are_those_of_all_samples_in_the_end(serve, tmp_path, worse, monkeypatch):
    monkeypatch.setattr(insights, "FIRST_FEW", 5)
    whole = Event()
    monkeypatch.setattr(
        insights, "diagnose", lambda *args, **more: (len(args) > 1 or whole.wait(30)) and diagnose(*args, **more)
    )
    shutil.copytree(worse.path, tmp_path / "runs" / worse.id)
    client, rows = serve(tmp_path), worse.info["dataset"]["rows"]
    first = ready(client, worse)
    assert first["diagnosis"]["looked_at"] == 5
    assert sum(row["cause"] is not None for row in first["table"]["rows"]) == 5
    assert "what the first 5 samples say" in client.page(f"/runs/{worse.id}").text()
    whole.set()
    there = client.when_ready(f"/runs/{worse.id}.json", lambda found: found["diagnosis"]["looked_at"] == rows)
    expected = {outcome.sample_id: outcome.cause.name if outcome.cause else "" for outcome in diagnose(worse).outcomes}
    assert {row["id"]: row["cause"] for row in there["table"]["rows"]} == expected
    assert there["diagnosis"] == diagnosed(diagnose(worse), worse.id), "counted without texts, the same as with them"


def test_every_page_has_its_twin(viewer, worse, better):
    run, both = f"/runs/{worse.id}", f"/compare/{worse.id}/{better.id}"
    ready(viewer, worse)
    viewer.when_ready(f"{both}.json", lambda found: found["ready"])
    for path in ("/runs", run, f"{run}/samples/2", f"{run}/samples/2/facts", both, f"{both}/samples/8"):
        for query in ("", "?q=boat&size=25"):
            page = viewer.page(f"{path}{query}")
            [link] = [
                link["href"] for link in page.find("a") if link.get("class") == "twin" and ".json" in link["href"]
            ]
            assert link == f"{path}.json{query}"
            assert page.find("body")[0]["class"] == f"viewer page-{viewer.json(link)['page']}"


def test_hostile_labels_are_only_labels(serve, tmp_path):
    rows = [
        {"question": "q", "answer": "a", "references": ["a"], "metadata": {EVIL: kind}} for kind in (EVIL, EVIL, "b=c")
    ]
    run = ragstone.evaluate(rows, "token_f1", tmp_path)
    client = serve(tmp_path)
    [by_evil] = ready(client, run)["slices"]
    for row, count in zip(by_evil["rows"], (2, 1), strict=True):
        path = f"/runs/{run.id}{row['address'].removesuffix('#samples')}"
        assert client.json(path.replace("?", ".json?"))["table"]["fitting"] == count
        page = client.page(path)
        assert not page.find("img")
        assert {item.get("src") for item in page.find("script")} == {"/static/viewer.js"}
        assert BIDI not in page.text()
