"""The page of one run: diagnosis, metrics, slices and the table of samples."""

import json
from collections import Counter
from urllib.parse import unquote_plus, urlencode

import numpy as np
import pytest

import ragstone
from ragstone.analysis.sample_order import find_worst
from ragstone.web.library import Library
from tests.report.runs import BIDI, EVIL, hostile_rows


def test_a_run_shows_its_summary_and_its_diagnosis(viewer, worse):
    found = viewer.ready(worse)
    summary = {row.metric: row for row in worse.summary()}
    for item in found["metrics"]:
        assert item["mean"] == pytest.approx(summary[item["metric"]].mean)
        assert sum(item["spread"]["counts"]) == item["ok"]
    assert found["diagnosis"]["headline"]
    assert sum(cause["main"] for cause in found["diagnosis"]["causes"]) == found["diagnosis"]["failing"] > 0
    page = viewer.page(f"/runs/{worse.id}")
    assert found["diagnosis"]["headline"] in page.text()
    assert len(page.ids) == len(set(page.ids))


def test_a_cause_counts_the_samples_that_its_link_shows(viewer, worse):
    causes = viewer.ready(worse)["diagnosis"]["causes"]
    assert any(cause["samples"] > cause["main"] > 0 for cause in causes)
    for cause in causes:
        if cause["address"]:
            path, _, query = cause["address"].removesuffix("#samples").partition("?")
            assert viewer.json(f"{path}.json?{query}")["table"]["fitting"] == cause["shown"] == cause["main"]


def test_the_worst_come_first(viewer, worse):
    found = viewer.ready(worse)["table"]
    faults = [bool(row["cause"]) for row in found["rows"]]
    assert faults == sorted(faults, reverse=True)
    index = Library(str(viewer.viewer._library.root)).index(worse)
    faulty = worse.diagnose().faulty
    assert [row["row"] - 1 for row in found["rows"]][:20] == find_worst(index.quality, faulty, 20)


def test_pages_are_turned(viewer, worse):
    total = worse.info["dataset"]["rows"]
    seen = []
    for page in range(1, -(-total // 25) + 1):
        found = viewer.json(f"/runs/{worse.id}.json?size=25&sort=row&page={page}")["table"]
        seen += [row["row"] for row in found["rows"]]
    assert seen == list(range(1, total + 1))
    assert viewer.json(f"/runs/{worse.id}.json?page=99999")["table"]["first"] >= 1


def test_without_any_score_and_with_odd_numbers(viewer, worse):
    text = json.dumps(viewer.json(f"/runs/{worse.id}.json"))
    assert "NaN" not in text
    assert np.isfinite(json.loads(text)["metrics"][0]["mean"])


def test_a_slice_shows_its_samples(viewer, worse):
    found = viewer.ready(worse)
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


def test_hostile_labels_are_only_labels(serve, tmp_path):
    rows = [
        {"question": "q", "answer": "a", "references": ["a"], "metadata": {EVIL: kind}} for kind in (EVIL, EVIL, "b=c")
    ]
    run = ragstone.evaluate(rows, "token_f1", tmp_path)
    client = serve(tmp_path)
    [by_evil] = client.ready(run)["slices"]
    for row, count in zip(by_evil["rows"], (2, 1), strict=True):
        path = f"/runs/{run.id}{row['address'].removesuffix('#samples')}"
        assert client.json(path.replace("?", ".json?"))["table"]["fitting"] == count
        page = client.page(path)
        assert not page.find("img")
        assert {item.get("src") for item in page.find("script")} == {
            f"/static/{name}.js" for name in ("viewer", "live", "filter", "brush")
        }
        assert BIDI not in page.text()


def test_a_sample_that_was_not_examined_has_a_badge_and_a_filter(tmp_path, serve):
    """It is not one of the samples without a fault, nor of those that another version fixes."""
    rows = [row | {"query_id": f"s{at}"} for at, row in enumerate(hostile_rows(3))]
    bare = {name: rows[2][name] for name in ("query_id", "query", "gt_answer", "response", "retrieved_context")}
    before = ragstone.evaluate(rows, ["ragchecker"], tmp_path, format="ragchecker", name="before")
    after = ragstone.evaluate([*rows[:2], bare], ["ragchecker"], tmp_path, format="ragchecker", name="after")
    client = serve(tmp_path)
    found = client.ready(after)["table"]
    assert [row["cause"] == "not examined" for row in sorted(found["rows"], key=lambda row: row["row"])] == [0, 0, 1]
    assert found["causes"][-1] == "not examined"
    for name, count in (("not examined", 1), ("any fault", 2), ("no fault", 0)):
        assert client.json(f"/runs/{after.id}.json?cause={name.replace(' ', '+')}")["table"]["fitting"] == count
    assert "? not examined" in client.page(f"/runs/{after.id}").text()
    assert "? no judgement" in client.page(f"/runs/{after.id}/samples/3").text()
    compared = client.when_ready(f"/compare/{before.id}/{after.id}.json", lambda data: data["ready"] and data["causes"])
    assert {move["name"]: move["count"] for move in compared["moves"]} == {
        "fixed": 0,
        "newly failing": 0,
        "still failing": 2,
    }
    assert "? not examined" in client.page(f"/compare/{before.id}/{after.id}").text()


def test_a_bar_of_a_histogram_shows_the_samples_that_it_counts(unsure):
    viewer, run = unsure
    counts = {item["metric"]: item["spread"]["counts"] for item in viewer.ready(run)["metrics"]}
    page = viewer.page(f"/runs/{run.id}?where=row+%3C+99")
    bars = [
        unquote_plus(item["href"])
        for item in page.find("a")
        if item.get("tabindex") == "-1" and "where" in item["href"]
    ]
    for name in ("token_f1", "system.latency", "ragchecker.faithfulness"):
        found = [bar for bar in bars if f" and {name} " in bar]
        table = [
            viewer.json(
                f"/runs/{run.id}.json?{urlencode({'where': bar.partition('where=')[2].removesuffix('#samples')})}"
            )
            for bar in found
        ]
        assert [one["table"]["fitting"] for one in table] == [count for count in counts[name] if count]


def test_slices_show_their_failing_share_worst_first(viewer, worse):
    found = viewer.ready(worse)
    statuses = {row["row"]: row["status"] for row in viewer.json(f"/runs/{worse.id}.json?size=200")["table"]["rows"]}
    metadata = [json.loads(cell) for cell in worse.samples.table["metadata"].to_pylist()]
    for part in found["slices"]:
        shares = [row["failing"]["share"] for row in part["rows"]]
        assert shares == sorted(shares, reverse=True)
        for row in part["rows"]:
            own = [
                statuses[at]
                for at, cell in enumerate(metadata, 1)
                if f"{part['column']}={cell[part['column']]}" == row["key"]
            ]
            assert row["failing"]["wrong"] == own.count("wrong")
            assert row["failing"]["look"] == own.count("look")
            if row["failing"]["look"]:
                query = row["failing"]["look_address"].removesuffix("#samples")
                assert viewer.json(f"/runs/{worse.id}.json{query}")["table"]["fitting"] == row["failing"]["look"]
                assert f"{own.count('look')} to look at" in viewer.page(f"/runs/{worse.id}").text
            assert row["failing"]["of"] == len(own) - own.count("no judgement")
            if row["failing"]["wrong"]:
                query = row["failing"]["address"].removesuffix("#samples")
                assert viewer.json(f"/runs/{worse.id}.json{query}")["table"]["fitting"] == row["failing"]["wrong"]
    assert any(row["failing"]["share"] for row in found["slices"][0]["rows"])
