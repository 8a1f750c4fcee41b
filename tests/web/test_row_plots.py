"""The scatter plot of a run: its points, its links, and a sample of a large run. Failing shares are in pages/test_run.py."""

import json
from urllib.parse import urlencode

import ragstone
from ragstone.analysis.cause_texts import RowLabel
from ragstone.analysis.row_columns import RowJudgements
from ragstone.storage.scores import read_scores
from ragstone.web.row_plots import MOST_POINTS, run_plots, scatter_plot
from ragstone.web.run_index import RunIndex, TableState


def test_points_are_the_rows_with_both_values(unsure):
    viewer, run = unsure
    query = urlencode({"x": "token_f1", "y": "latency", "where": "row <= 6"})
    found = viewer.ready(run, f"?{query}")["scatter"]
    scores = read_scores(run, ["token_f1"])["token_f1"].values
    assert [point["row"] for point in found["points"]] == [row for row in range(1, 15) if row != 4]
    assert all(point["x"] == scores[point["row"] - 1] for point in found["points"])
    assert all(point["y"] == (point["row"] - 1) / 2 for point in found["points"])
    assert [point["row"] for point in found["points"] if point["chosen"]] == [1, 2, 3, 5, 6]
    page = viewer.page(f"/runs/{run.id}?{query}")
    links = [item["href"] for item in page.find("a") if "/samples/" in item["href"] and item.get("tabindex") == "-1"]
    assert {
        f"/runs/{run.id}/samples/{row}?{urlencode({'where': 'row <= 6', 'x': 'token_f1', 'y': 'latency'})}"
        for row in (1, 14)
    } <= set(links)
    shapes = {item["class"] for item in page.find("path")}
    assert any("out" in name.split() for name in shapes)


def test_quarters_count_the_rows_that_they_show(unsure):
    viewer, run = unsure
    for where in ("", "row > 3 and token_f1 < .9"):
        found = viewer.ready(run, f"?{urlencode({'where': where, 'x': 'token_f1', 'y': 'latency'})}")["scatter"]
        assert sum(item["rows"] for item in found["quarters"]) > 5
        for item in found["quarters"]:
            table = viewer.json(f"/runs/{run.id}.json{item['address'].removesuffix('#samples')}")["table"]
            assert table["problem"] is None
            assert table["fitting"] == item["rows"]


def test_senseless_columns_give_the_default(unsure):
    viewer, run = unsure
    usual = viewer.ready(run)["scatter"]
    strange = viewer.ready(run, "?x=%3Cscript%3E&y=question")["scatter"]
    assert (strange["x"], strange["y"]) == (usual["x"], usual["y"])
    same = viewer.ready(run, "?x=token_f1&y=token_f1")["scatter"]
    assert same["x"]["name"] == "token_f1" != same["y"]["name"]


def test_a_large_run_shows_a_sample_with_the_filtered_rows(tmp_path):
    rows = 6_000
    file = tmp_path / "large.jsonl"
    with file.open("w") as stream:
        for number in range(rows):
            row = {"id": str(number), "question": "?", "answer": f"a {number % 7}", "references": ["a 3 b"]}
            stream.write(json.dumps(row) + "\n")
    index = RunIndex.read(ragstone.evaluate(file, ["token_f1", "rouge_l"], tmp_path / "store"))
    known = RowJudgements(rows, [RowLabel("", 0.9)] * rows)
    state = TableState(where="row <= 100")
    found = run_plots(index, known, state, index.select(state, known)[0], [])["scatter"]
    assert found["rows"] == rows
    assert len(found["points"]) == MOST_POINTS
    assert [point["row"] for point in found["points"] if point["chosen"]] == list(range(1, 101))
    assert {point["status"] for point in found["points"]} == {"wrong"}
    assert str(scatter_plot(found)).count("<path") == MOST_POINTS


def test_hostile_ids_are_escaped():
    axis = {"name": "<b>", "written": "`<b>`", "low": 0.0, "high": 1.0}
    point = {"row": 1, "id": '"><script>alert(1)</script>', "x": 0.5, "y": 0.5, "status": "wrong", "chosen": True}
    drawn = str(scatter_plot({"x": axis, "y": axis, "start": '?"<', "query": '?q="<', "run": "r", "points": [point]}))
    assert "<script" not in drawn
    assert "<b>" not in drawn
    assert 'href="/runs/r/samples/1?q=&#34;&lt;"' in drawn


def test_latency_has_links_to_bars(unsure, viewer, worse):
    client, run = unsure
    found = client.ready(run)["latency"]
    assert sum(found["spread"]["counts"]) == 13
    page = client.page(f"/runs/{run.id}")
    assert f"/runs/{run.id}/samples/14" in page.links, "the slowest, in the system strip"
    bars = [item["href"] for item in page.find("a") if item["href"].startswith("?where=latency")]
    tables = [client.json(f"/runs/{run.id}.json{bar.removesuffix('#samples')}")["table"] for bar in bars]
    assert [table["fitting"] for table in tables] == [count for count in found["spread"]["counts"] if count]
    assert viewer.ready(worse)["latency"] is None, "this run has no latencies"
