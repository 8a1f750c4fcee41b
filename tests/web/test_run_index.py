"""The order and filters of the sample table, and its state in the address."""

import pytest

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
