"""Three or more runs in one table."""

import shutil

import pytest

from ragstone.analysis.leaderboard import rank_runs
from ragstone.storage.runs import open_run


@pytest.fixture(scope="module")
def three(serve, tmp_path_factory, worse, better):
    root = tmp_path_factory.mktemp("three")
    for run, name in ((worse, "a"), (better, "b"), (better, "c")):
        shutil.copytree(run.path, root / "runs" / name)
    return serve(root), [open_run(str(root / "runs" / name)) for name in "abc"]


def test_runs_are_ranked(three):
    client, runs = three
    found = client.when_ready("/compare.json?run=a&run=b&run=c", lambda data: data["ready"])
    board = {ranking.metric: ranking for ranking in rank_runs(runs).rankings}
    assert [column["metric"] for column in found["columns"]] == list(board)
    for row in found["rows"]:
        for column, cell in zip(found["columns"], row["cells"], strict=True):
            place = next(one for one in board[column["metric"]].places if runs[one.run].id == row["id"])
            assert (cell["mean"], cell["rank"], cell["group"]) == (place.mean, place.rank, place.letters)
    assert found["rows"][0]["against"] == ""
    assert found["rows"][-1]["id"] == "a"
    page = client.page("/compare?run=a&run=b&run=c")
    assert "3 runs" in page.text()
    assert "/compare/b/a" in page.links


def test_the_order_is_in_the_address(three):
    client, _ = three
    path = "/compare.json?run=a&run=b&run=c&sort=token_f1"
    down = client.when_ready(path, lambda data: data["ready"])
    up = client.json(f"{path}&dir=down")
    assert [row["id"] for row in up["rows"]] == [row["id"] for row in down["rows"]][::-1]
    assert next(column for column in down["columns"] if column["metric"] == "token_f1")["address"].endswith("dir=down")


def test_fewer_than_two_runs_lead_to_the_choice(three):
    for path in ("/compare.json", "/compare.json?run=a"):
        assert three[0].json(path)["page"] == "choice"


def test_rows_stand_side_by_side_and_can_be_filtered(three):
    client, _ = three
    query = "run=a&run=b&run=c"
    found = client.when_ready(f"/compare.json?{query}", lambda data: data["ready"] and not data["shared"]["waiting"])
    shared = found["shared"]
    assert shared["total"] == len(shared["rows"]) == 25
    differs = [row["differs"] for row in shared["rows"]]
    assert differs == sorted(differs, reverse=True)
    assert sum(differs) == shared["differing"] > 0
    for row in shared["rows"]:
        assert len({cell["status"] for cell in row["cells"]}) == (2 if row["differs"] else 1)
        # The second and the third run are copies.
        assert row["cells"][1]["status"] == row["cells"][2]["status"]
    only = client.json(f"/compare.json?{query}&rows=differs")["shared"]
    assert [row["id"] for row in only["rows"]] == [row["id"] for row in shared["rows"] if row["differs"]]
    page = client.page(f"/compare?{query}&rows=differs")
    cell = only["rows"][0]["cells"][1]
    assert {cell["address"], only["rows"][0]["address"]} <= set(page.links)
    beside = client.when_ready(only["rows"][0]["address"].replace("?", ".json?"), lambda data: data["ready"])
    assert "Facts, chunks, claims and scores below compare A and B" in client.page(only["rows"][0]["address"]).text()
    assert [other["id"] for other in beside["others"]] == ["c"]
    assert beside["others"][0]["side"]["id"] == only["rows"][0]["id"]
    assert "with=" in (beside["walk"]["next"] or beside["walk"]["previous"])
    assert client.ask(f"{only['rows'][0]['address']}&with=../../etc")[0].status == 404
