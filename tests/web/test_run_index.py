"""The order and filters of the sample table, and its state in the address."""

from urllib.parse import urlencode

import pytest

from ragstone.storage.scores import read_scores
from ragstone.web.run_index import TableState


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
    whole = viewer.ready(worse)["table"]
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
    assert "No sample matches" in viewer.page(f"/runs/{worse.id}?q=zzzzzz").text()


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


def table_of(viewer, run, **query):
    return viewer.ready(run, f"?{urlencode(query)}")["table"]


def numbers(table):
    return [row["row"] for row in table["rows"]]


def test_a_filter_selects_rows_with_chips_sort_and_pages(unsure):
    viewer, run = unsure
    f1 = read_scores(run, ["token_f1"])["token_f1"].values
    where = "latency >= 2 and token_f1 < 50%"
    table = table_of(viewer, run, where=where, sort="row")
    expected = [row for row in range(1, 15) if row != 4 and (row - 1) / 2 >= 2 and f1[row - 1] < 0.5]
    assert numbers(table) == expected != []
    assert table["problem"] is None
    assert numbers(table_of(viewer, run, where=where, sort="row", dir="down")) == expected[::-1]
    chosen = table_of(viewer, run, where=where, slice=f"top k={(expected[0] - 1) % 3}", sort="row")
    assert numbers(chosen) == [row for row in expected if row % 3 == expected[0] % 3]
    assert table_of(viewer, run, where="row <= 14", size=25, page=9)["fitting"] == 14
    page = viewer.page(f"/runs/{run.id}?{urlencode({'where': where})}")
    [field] = [item for item in page.find("input") if item.get("id") == "where"]
    assert field["value"] == where


def test_samples_walk_through_the_filtered_rows(unsure):
    viewer, run = unsure
    first = table_of(viewer, run, where="`slice.top k` = 1", sort="row")["rows"][0]
    assert "where=" in first["address"]
    sample = viewer.json(first["address"].replace("?", ".json?"))
    assert sample["walk"]["of"] == 5
    assert sample["walk"]["next"].startswith(f"/runs/{run.id}/samples/5?")
    assert "where=" in sample["walk"]["back"]


def test_unsure_of_so_many_verdicts_is_a_link(unsure):
    viewer, run = unsure
    verdicts = run.info["totals"]["local_verdicts"]
    words = f"unsure of {verdicts['unsure']} of its {sum(verdicts.values())} verdicts"
    data = viewer.ready(run)
    assert data["unsure"]["words"] == words
    _, body = viewer.ask(f"/runs/{run.id}")
    assert f'<a href="?where=unsure+%3E+0#samples">{words}</a>' in body.decode()
    assert viewer.json(f"/runs/{run.id}.json?where=unsure+%3E+0")["table"]["fitting"] > 0


@pytest.mark.parametrize(
    "where", ["faithfullness < .5", "(((", "x" * 5000, "<script>alert(1)</script>", "unsure > 0 and \u202e"]
)
def test_a_mistake_in_a_filter_is_told_and_changes_nothing(unsure, where):
    viewer, run = unsure
    table = table_of(viewer, run, where=where)
    assert table["fitting"] == table["total"] == 14
    assert "(at character " in table["problem"]["words"]
    page = viewer.page(f"/runs/{run.id}?{urlencode({'where': where})}")
    assert "The filter is not applied" in page.text()
    assert {item.get("src") for item in page.find("script")} == {
        f"/static/{n}.js" for n in ("viewer", "live", "filter", "brush")
    }
    if where.startswith("faith"):
        assert "did you mean faithfulness?" in page.text()
    first = table["rows"][0]["address"].replace("?", ".json?")
    assert viewer.json(first)["walk"]["of"] == 14


def test_names_for_completion_are_those_of_the_filter(unsure):
    viewer, run = unsure
    names = table_of(viewer, run)["names"]
    assert {"faithfulness", "unsure", "latency", "status", "wrong", "question", "`slice.top k`"} <= set(names)
    for name in names:
        assert table_of(viewer, run, where=f"{name} is missing or row > 0")["problem"] is None
