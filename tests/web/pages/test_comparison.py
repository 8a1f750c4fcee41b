"""The comparison of two runs."""

import pytest

from ragstone.analysis.comparison import compare_runs


@pytest.fixture(scope="module")
def compared(viewer, worse, better):
    return viewer.when_ready(f"/compare/{worse.id}/{better.id}.json", lambda found: found["ready"])


def test_two_ticked_runs_lead_to_their_comparison(viewer, worse, better):
    answer, _ = viewer.ask(f"/compare?run={better.id}&run={worse.id}")
    assert (answer.status, answer.headers["location"]) == (303, f"/compare/{worse.id}/{better.id}")
    assert better.name in viewer.page(f"/compare?run={better.id}").text(), "one run: the other one is chosen"


def test_the_numbers_are_those_of_the_comparison(viewer, worse, better, compared):
    found = {item.metric: item for item in compare_runs(worse, better).metrics}
    rows = [row for group in compared["groups"] for row in group["rows"]]
    assert {row["metric"] for row in rows} == set(found)
    for row in rows:
        item = found[row["metric"]]
        assert row["difference"] == pytest.approx(item.difference)
        assert (row["low"], row["high"], row["verdict"]) == (item.low, item.high, item.verdict or "")
        assert abs(row["high"]) <= compared["reach"]
    page = viewer.page(f"/compare/{worse.id}/{better.id}")
    assert compared["headline"] in page.text()
    strips = [plot for plot in page.find("svg") if "strip" in plot["class"]]
    tables = len({(group["name"], row["headline"]) for group in compared["groups"] for row in group["rows"]})
    assert len(strips) == len(rows) + tables


def test_all_pairs_are_listed_losses_or_gains_first(viewer, worse, better, compared):
    losses = [row["gain"] for row in compared["table"]["rows"]]
    assert len(losses) == compared["pairs"] == compared["table"]["total"]
    assert losses == sorted(losses)
    for query in ("sort=gains", "show=gains"):
        gains = viewer.json(f"/compare/{worse.id}/{better.id}.json?{query}")["table"]["rows"]
        assert [row["gain"] for row in gains] == losses[::-1]
    rows = viewer.json(f"/compare/{worse.id}/{better.id}.json?sort=row")["table"]["rows"]
    assert [row["row"] for row in rows] == list(range(1, 26))


def test_gains_are_those_of_the_comparison(worse, better, compared):
    wanted = {sample.id: sample.gain for sample in compare_runs(worse, better).changed}
    for row in compared["table"]["rows"]:
        assert row["gain"] == pytest.approx(wanted.get(row["id"], 0.0))


def rows_of(viewer, worse, better, query):
    return viewer.json(f"/compare/{worse.id}/{better.id}.json?{query}")["table"]["rows"]


def test_pairs_are_filtered(viewer, worse, better, compared):
    everything = compared["table"]["rows"]
    for change, fits in (("worse", lambda gain: gain < 0), ("better", lambda gain: gain > 0)):
        found = rows_of(viewer, worse, better, f"change={change}")
        assert [row["id"] for row in found] == [row["id"] for row in everything if fits(row["gain"])]
    one = rows_of(viewer, worse, better, "q=lost+property")
    assert [row["id"] for row in one] == ["h08"]
    in_metric = rows_of(viewer, worse, better, "metric=token_f1&change=worse")
    assert in_metric
    assert all(row["metrics"][0]["after"] < row["metrics"][0]["before"] for row in in_metric)
    hard = rows_of(viewer, worse, better, "slice=difficulty%3Dhard")
    assert 0 < len(hard) < len(everything)
    page = viewer.page(f"/compare/{worse.id}/{better.id}?q=zzzz")
    assert "No pair matches" in page.text()


def test_causes_move_and_lead_to_their_pairs(viewer, worse, better):
    found = viewer.when_ready(f"/compare/{worse.id}/{better.id}.json", lambda data: data["ready"] and data["causes"])
    causes = found["causes"]
    for row in causes["rows"]:
        for side, (count, link) in enumerate(zip((row["before"], row["after"]), row["links"], strict=True)):
            query = link.partition("?")[2].partition("#")[0]
            listed = rows_of(viewer, worse, better, f"{query}&size=200")
            assert len(listed) == count
            assert all(pair["causes"][side] == row["name"] for pair in listed)
    missing = next(row for row in causes["rows"] if row["name"] == "missing chunk")
    assert missing["before"] > missing["after"]
    for move in found["moves"]:
        query = move["address"].partition("?")[2].partition("#")[0]
        assert len(rows_of(viewer, worse, better, query)) == move["count"]


def test_pairs_are_paged(viewer, worse, better, monkeypatch):
    monkeypatch.setattr("ragstone.web.pair_index.PAGE_SIZES", (10, 25))
    first = viewer.json(f"/compare/{worse.id}/{better.id}.json?size=10")["table"]
    last = viewer.json(f"/compare/{worse.id}/{better.id}.json?size=10&page=3")["table"]
    assert (len(first["rows"]), len(last["rows"]), first["pages"]) == (10, 5, 3)
    assert set(first["links"]) == {"next", "last"}


def test_runs_without_a_common_sample_say_so(viewer, worse, hostile):
    assert "no metric in common" in viewer.page(f"/compare/{worse.id}/{hostile.id}", 400).text() or (
        "no sample in common" in viewer.page(f"/compare/{worse.id}/{hostile.id}", 400).text()
    )
    assert viewer.ask(f"/compare/{worse.id}/nothing")[0].status == 404
    viewer.when_ready(f"/compare/{worse.id}/{worse.id}.json", lambda found: found["ready"])
    assert viewer.ask(f"/compare/{worse.id}/{worse.id}/samples/99")[0].status == 404


def test_the_counts_of_the_headline_are_those_of_the_pages(viewer, worse, better, compared):
    address = f"/compare/{worse.id}/{better.id}"
    found = viewer.when_ready(f"{address}.json", lambda data: data["causes"] is not None)
    for move in found["moves"]:
        if move["name"] != "unclear":
            assert f"{move['count']} {move['name']}" in found["headline"]
        listed = viewer.json(f"{address}.json{move['address'].partition('#')[0]}")["table"]
        assert listed["fitting"] == move["count"]
        assert {row["move"] for row in listed["rows"]} <= {move["name"]}
        assert sum(row["kind"] == move["name"] for row in found["moved"]) == move["count"]
    for row in (row for part in found["slices_failing"] for row in part["rows"]):
        listed = viewer.json(f"{address}.json{row['address'].partition('#')[0]}")["table"]
        assert listed["fitting"] >= row["rows"]
        assert sum(one["move"] == "newly failing" for one in listed["rows"]) == row["newly_failing"]
    page = viewer.page(address)
    assert {row["address"] for part in found["slices_failing"] for row in part["rows"]} <= set(page.links)


def test_a_family_of_metrics_is_in_the_address(viewer, worse, better, compared):
    address = f"/compare/{worse.id}/{better.id}"
    names = [item["name"] for item in compared["families"]]
    assert names[0] == "headline"
    explored = viewer.json(f"{address}.json?family=explored")["family"]
    assert not explored["headline"]
    group = next(name for name in names if name not in ("headline", "explored"))
    found = viewer.json(f"{address}.json?family={group}")
    rows = [row for part in found["family"]["groups"] for row in part["rows"]]
    wanted = [metric.metric for metric in better.info.metrics if metric.family == group]
    assert sorted(row["metric"] for row in rows) == sorted(wanted)
    # A family of its own: corrected among its metrics.
    alone = {item.metric: item.corrected_p for item in compare_runs(worse, better, wanted).metrics}
    assert {row["metric"]: row["p"] for row in rows} == pytest.approx(alone)
    page = viewer.page(f"{address}?family={group}")
    assert found["family"]["sentence"] in page.text()
    assert [one for one in page.find("a") if one.get("aria-current") == "true" and group in one["href"]]
    # The state of the pairs keeps it; an unknown one is the default.
    assert f"family={group}" in found["table"]["sorts"]["gains"]
    assert viewer.json(f"{address}.json?family=%3Cscript%3E")["family"]["name"] == ""
