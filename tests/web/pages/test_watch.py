"""The page of a watch."""

import os
import shutil

import pytest

from ragstone.watch.series import estimate_series
from tests.watch.made_watch import ferry, make_watch  # noqa: F401  (a fixture)


@pytest.fixture(scope="module")
def client(ferry, serve):  # noqa: F811
    return serve(ferry.place.path)


def ready(client, path="/watch.json"):
    return client.when_ready(path, lambda found: found["ready"])


def test_the_viewer_of_a_watch_starts_with_its_series(client):
    answer, _ = client.ask("/")
    assert (answer.status, answer.headers["location"]) == (303, "/watch")
    assert "/watch" in [link.get("href") for link in client.page("/runs").find("a")]
    assert client.json("/runs.json")["watch"] == "/watch"


def test_series_alarms_and_counts(ferry, client):  # noqa: F811
    found, series = ready(client), estimate_series(ferry)
    assert [metric["metric"] for metric in found["metrics"]] == ["exact_match", "token_f1"]
    assert found["metrics"][0]["points"][0]["estimate"] == pytest.approx(series.points["exact_match"][0].estimate)
    assert {alarm["since"] for alarm in found["alarms"]} == {series.periods[6].period}
    newest = found["periods"][0]
    assert (newest["requests"], newest["drawn"], newest["evaluated"], newest["left"]) == (400, 60, 60, 0)
    assert newest["complete"] is False
    assert found["newest"]["period"] == series.periods[-2].period
    page = client.page("/watch")
    assert "seems lower since" in page.text()
    assert len([chart for chart in page.find("svg") if "series" in chart.get("class", "")]) == 2


def test_the_worst_samples_lead_to_their_pages(ferry, client):  # noqa: F811
    period = ready(client)["periods"][1]
    record = ferry.period(period["period"])
    values = dict(ferry.scores(record.period)["exact_match"])
    assert [values[row["sample"]] for row in period["worst"]] == [0.0] * 5
    row = period["worst"][0]
    assert client.json(row["address"] + ".json")["sample"]["id"] == row["sample"]
    assert client.json(f"{period['links'][0]['address']}.json")["page"] == "run"


def test_spans_and_pages(client):
    assert ready(client, "/watch.json?last=30")["span"] == 30
    assert ready(client, "/watch.json?last=7&page=999")["span"] == 90
    assert ready(client, "/watch.json?page=999")["page_number"] == 1


def test_a_store_with_watches(ferry, serve, tmp_path):  # noqa: F811
    shutil.copytree(ferry.place.path, tmp_path / "ferry")
    client = serve(tmp_path)
    answer, _ = client.ask("/watch.json")
    assert answer.headers["location"] == "/watch/ferry.json"
    found = ready(client, "/watch/ferry.json")
    row = found["periods"][0]["worst"][0]
    assert client.json(f"{row['address']}.json")["sample"]["id"] == row["sample"]
    run = found["periods"][0]["links"][0]["address"]
    assert client.json(f"{run}.json")["watch"] == "ferry"
    assert "/watch/ferry" in client.page(run).links
    # The table of runs lists the runs of the store only.
    assert client.json("/runs.json")["total"] == 0
    shutil.copytree(ferry.place.path, tmp_path / "tram")
    assert [watch["name"] for watch in client.json("/watch.json")["watches"]] == ["ferry", "tram"]
    assert "tram" in client.page("/watch").text()


def test_without_a_watch(serve, tmp_path):
    client = serve(tmp_path)
    assert client.json("/watch.json")["watches"] == []
    assert "No watches yet" in client.page("/watch").text()
    client.json("/watch/nothing.json", status=404)
    client.json("/watch/..%2F..%2Fetc.json", status=404)
    assert client.json("/runs.json")["watch"] == ""


def test_a_watch_without_periods(serve, tmp_path):
    make_watch(tmp_path, [])
    client = serve(tmp_path)
    assert ready(client)["total"] == 0
    assert "No periods yet" in client.page("/watch").text()


def test_a_broken_period_is_named(ferry, serve, tmp_path):  # noqa: F811
    shutil.copytree(ferry.place.path, tmp_path / "copy")
    client = serve(tmp_path / "copy")
    with open(os.path.join(tmp_path, "copy", "periods", "2026-10-05.json"), "w", encoding="utf-8") as stream:
        stream.write("[]")
    assert "not the record of a period" in client.json("/watch.json", status=500)["words"]
