"""Several runs in the terminal and as JSON."""

import pytest

from ragstone.analysis.leaderboard import rank_runs
from ragstone.report.leaderboard import leaderboard_dict, leaderboard_report, letter
from tests.report.drawing import draw


@pytest.fixture(scope="module")
def board(worse, better):
    return rank_runs([worse, better])


def test_many_metrics_are_one_table(board):
    lines = draw(leaderboard_report(board), 120).splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["A", "harbour-worse"], ["B", "harbour-better"]]
    row = next(line.split() for line in lines if line.startswith("fact_recall"))
    means = {place.run: f"{place.mean:.3f}" for place in board.rankings[0].places}
    assert {means[0], means[1]} <= {cell for line in lines for cell in line.split()}
    assert row[1] == "↑"


def test_json_has_every_place(board):
    metrics = leaderboard_dict(board)["metrics"]
    assert len(metrics) == len(board.rankings)
    assert all(len(metric["places"]) == 2 for metric in metrics)


@pytest.mark.parametrize(("number", "text"), [(0, "A"), (25, "Z"), (26, "27")])
def test_letters(number, text):
    assert letter(number) == text
