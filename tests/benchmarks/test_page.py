"""The page of `make bench` and the history of releases."""

import json

import pytest

from benchmarks.page import GOALS, Release, last_release, machine, page, read_history, record
from benchmarks.results import Result

HELP, SQUAD, ROUGE = "ragstone --help", "lexical: SQuAD's script takes", "ROUGE: rouge-score takes"


def cells(text, name):
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_the_page_shows_goal_figure_and_what_moved():
    before = Release("0.1.0", machine(), {HELP: 14.0, SQUAD: 22.0, ROUGE: 69.0})
    text = page([Result(HELP, 7.0, "×"), Result(SQUAD, 16.5, "×"), Result("other", 1, "s")], before)
    assert cells(text, HELP) == ["≤ 8.00 ×", "7.00 ×", "yes", "14.0 ×", "0.50 better"]
    assert cells(text, SQUAD) == ["≥ 20.0 ×", "16.5 ×", "no", "22.0 ×", "0.75 WORSE"]
    assert cells(text, ROUGE) == ["≥ 80.0 ×", "—", "", "69.0 ×", ""]
    assert "other" not in text.splitlines()[2]
    assert "another machine" not in text


def test_a_small_move_is_not_judged():
    text = page([Result(HELP, 7.3, "×")], Release("0.1.0", "another", {HELP: 7.0}))
    assert cells(text, HELP)[-1] == "1.04"
    assert "0.1.0 was measured on another machine: another" in text


def test_the_first_page_has_no_history():
    assert cells(page([Result(HELP, 7.0, "×")], None), HELP) == ["≤ 8.00 ×", "7.00 ×", "yes", "—", ""]
    assert last_release([]) is None


def test_record_keeps_other_releases_and_other_figures(tmp_path):
    path = tmp_path / "history.json"
    record("0.1.0", [Result(HELP, 14.0, "×"), Result("not on the page", 1, "s")], path)
    record("0.1.0", [Result(SQUAD, 15.87654, "×")], path)
    record("0.2.0", [Result(HELP, 7.0, "×")], path)
    assert [(one.release, dict(one.figures)) for one in read_history(path)] == [
        ("0.1.0", {HELP: 14.0, SQUAD: 15.88}),
        ("0.2.0", {HELP: 7.0}),
    ]
    assert last_release(read_history(path)).release == "0.2.0"


def test_the_last_release_prefers_this_machine():
    history = [Release("0.1.0", machine(), {}), Release("0.2.0", machine(), {HELP: 1}), Release("0.2.0", "other", {})]
    assert last_release(history).figures == {HELP: 1}


def test_the_committed_history_has_only_goals_of_the_page():
    known = {goal.name for goal in GOALS}
    for release in read_history():
        assert set(release.figures) <= known
        assert release.machine


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
def test_goals_have_at_most_one_limit(goal):
    assert goal.at_most is None or goal.at_least is None


def test_history_is_plain_json(tmp_path):
    path = tmp_path / "history.json"
    record("0.1.0", [Result(HELP, 14.0, "×")], path)
    assert json.loads(path.read_text())[0] == {"release": "0.1.0", "machine": machine(), "figures": {HELP: 14.0}}
