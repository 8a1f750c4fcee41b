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
