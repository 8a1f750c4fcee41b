"""Duels before the oracle: the better system wins, biases show, and what cannot be decided is told."""

import numpy as np
import pytest

from ragstone.agreement.duels import judge_pairs, majority
from ragstone.agreement.pairing import pair_runs
from ragstone.errors import UsageError
from ragstone.stats.intervals import wilson_interval
from tests.agreement.worlds import half, little, store_run, whole, world_rows
from tests.oracle.server import OracleServer


def hold(tmp_path, kinds, count=12, oracles=None, with_reference=False, **options):
    runs = [store_run(tmp_path, kind.__name__, world_rows(count, kind)) for kind in kinds]
    pairing = pair_runs(runs, with_reference)
    with oracles or OracleServer() as server:
        options = {"base_url": server.base_url, "cache": False, **options}
        found = judge_pairs(pairing, ["openai/oracle"], str(tmp_path / "pairs"), options)
    assert server.problems == []
    return found, server


def first_seat_wins(prompt, body, reply):
    return {**reply, "winner": "A"}


def test_the_better_system_wins(tmp_path):
    found, server = hold(tmp_path, (little, whole))
    (met,) = found.meetings
    assert (met.wins, met.winner) == (0, "whole")
    assert met.losses + met.ties == 12
    assert met.ties == sum(
        row["answer"] == other["answer"]
        for row, other in zip(world_rows(12, little), world_rows(12, whole), strict=True)
    )
    assert met.share == pytest.approx(met.ties / 2 / 12)
    assert met.interval.low <= met.share <= met.interval.high
    # Answers that are the same are equal without a call; all others are asked about twice.
    assert server.replies["pair"] == 2 * met.losses
    (note,) = found.judges
    assert note.inconsistent == 0.0
    assert note.first_seat.value == 0.5


def test_half_as_good_wins_half(tmp_path):
    found, _ = hold(tmp_path, (half, whole), count=10)
    (met,) = found.meetings
    assert (met.wins, met.ties, met.losses) == (0, 5, 5)
    assert met.share == 0.25
    assert met.p == pytest.approx(2 * 0.5**5)
    assert met.winner is None


def test_a_judge_who_prefers_a_seat_decides_nothing(tmp_path):
    found, _ = hold(tmp_path, (little, whole), oracles=OracleServer(alter=first_seat_wins))
    (met,) = found.meetings
    assert (met.wins, met.losses, met.ties) == (0, 0, 12)
    (note,) = found.judges
    asked = 12 - sum(
        row["answer"] == other["answer"]
        for row, other in zip(world_rows(12, little), world_rows(12, whole), strict=True)
    )
    # What is the same was never asked about: it says nothing about the judge.
    assert (note.inconsistent, note.first_seat.value) == (1.0, 1.0)
    assert note.first_seat.interval.low == pytest.approx(1 - wilson_interval(0, asked).high)


def test_one_random_order_costs_half_and_both_seats_are_taken(tmp_path):
    found, server = hold(tmp_path, (little, whole), count=20, order="random")
    (met,) = found.meetings
    assert met.wins == 0
    assert server.replies["pair"] == met.losses
    assert found.judges[0].inconsistent is None
    firsts = [row[0]["first"] for row in found.runs[0].evidence("pair_verdicts").column("value").to_pylist()]
    assert {"one", "other"} <= set(firsts)


def test_references_are_shown_where_they_are_wanted(tmp_path):
    _, without = hold(tmp_path, (little, whole), count=3)
    _, shown = hold(tmp_path, (little, whole), count=3, with_reference=True)
    _, own = hold(tmp_path, (little, whole), count=3, grading=["own-reference"])
    assert not any("<reference " in body["messages"][-1]["content"] for body in without.bodies)
    assert all("<reference " in body["messages"][-1]["content"] for body in shown.bodies)
    assert own.replies["own_reference"] >= 1
    assert any("your own answer" in body["messages"][0]["content"] for body in own.bodies)


def test_several_systems_are_ranked(tmp_path):
    found, _ = hold(tmp_path, (little, half, whole), count=14)
    assert [row.system for row in found.standings] == ["whole", "half", "little"]
    strengths = [row.strength for row in found.standings]
    assert sum(strengths) == pytest.approx(0.0, abs=1e-9)
    assert all(row.interval.low <= row.strength <= row.interval.high for row in found.standings)
    assert len(found.meetings) == 3


def test_duels_that_fail_are_told_and_not_counted(tmp_path):
    oracle = OracleServer(alter=lambda prompt, body, reply: {"reasoning": "", "winner": "nobody at all"})
    found, _ = hold(tmp_path, (little, whole), count=4, oracles=oracle)
    (note,) = found.judges
    (met,) = found.meetings
    assert note.undecided == 4 - met.ties
    assert "cannot be used" in note.reason
    assert met.wins == met.losses == 0


def test_a_jury_decides_by_majority(tmp_path):
    def seated(prompt, body, reply):
        return first_seat_wins(prompt, body, reply) if body["model"] == "seated" else reply

    runs = [store_run(tmp_path, kind.__name__, world_rows(8, kind)) for kind in (half, whole)]
    with OracleServer(alter=seated) as server:
        options = {"base_url": server.base_url, "cache": False}
        found = judge_pairs(pair_runs(runs), ["openai/fair", "openai/just", "openai/seated"], None, options)
    (met,) = found.meetings
    assert (met.wins, met.ties, met.losses) == (0, 4, 4)
    # On the four answers that are the same nobody was asked, on the others the third one wavers.
    assert found.unanimous == 0.0
    assert found.alpha.value < 0
    assert [note.inconsistent for note in found.judges] == [0.0, 0.0, 1.0]
    assert [note.judge for note in found.judges] == ["openai/fair", "openai/just", "openai/seated"]


def test_majorities():
    wins = np.array([[1, 1, 0, np.nan, 0.5], [1, 0, 0, np.nan, 1], [0, 0.5, np.nan, np.nan, 0.5]])
    assert majority(wins).tolist()[:3] == [1.0, 0.5, 0.0]
    assert np.isnan(majority(wins)[3])
    assert majority(wins)[4] == 0.5


def test_answers_that_are_the_same_say_nothing_about_the_judge(tmp_path):
    runs = [store_run(tmp_path, name, world_rows(6, whole)) for name in ("a", "b")]
    with OracleServer() as server:
        found = judge_pairs(pair_runs(runs), ["openai/oracle"], None, {"base_url": server.base_url, "cache": False})
    assert server.calls == 0
    (met,), (note,) = found.meetings, found.judges
    assert (met.ties, met.share, note.undecided) == (6, 0.5, 0)
    assert (note.inconsistent, note.first_seat) == (None, None)


def test_who_never_met_anybody_has_no_share(tmp_path):
    runs = [
        store_run(tmp_path, f"s{number}", world_rows(1, kind))
        for number, kind in enumerate([whole, half] * 2 + [little])
    ]
    with OracleServer() as server:
        found = judge_pairs(pair_runs(runs), ["openai/oracle"], None, {"base_url": server.base_url, "cache": False})
    (alone,) = (row for row in found.standings if not row.duels)
    assert (alone.share, alone.strength, alone.interval) == (None, None, None)
    never = [met for met in found.meetings if met.wins + met.ties + met.losses == 0]
    assert len(never) == 8
    assert {(met.share, met.interval, met.p, met.winner) for met in never} == {(None, None, None, None)}


@pytest.mark.parametrize("judge", ["local", "openai/oracle>nobody/knows"])
def test_who_cannot_judge_pairs_is_told_before_anybody_is_asked(tmp_path, judge):
    runs = [store_run(tmp_path, kind.__name__, world_rows(3, kind)) for kind in (half, whole)]
    with OracleServer() as server, pytest.raises(UsageError):
        judge_pairs(pair_runs(runs), ["openai/oracle", judge], None, {"base_url": server.base_url, "cache": False})
    assert server.calls == 0


def test_a_jury_shares_one_budget(tmp_path, monkeypatch):
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"openai/one" = [1.0, 2.0]\n"openai/two" = [1.0, 2.0]\n')
    monkeypatch.setenv("RAGSTONE_PRICES", str(prices))
    pairing = pair_runs([store_run(tmp_path, kind.__name__, world_rows(12, kind)) for kind in (little, whole)])
    with OracleServer() as server:
        options = {"base_url": server.base_url, "cache": False, "concurrency": 1}
        alone = judge_pairs(pairing, ["openai/one"], None, options)
        spent = alone.runs[0].info["totals"]["cost_usd"]
        # A call may cost up to 4,096 tokens of reply, which are set aside.
        found = judge_pairs(pairing, ["openai/one", "openai/two"], None, {**options, "budget": 1.5 * spent + 0.01})
    assert found.judges[0].undecided == 0
    assert found.judges[1].undecided > 0
    assert "the budget of" in found.judges[1].reason
    totals = [run.info["totals"] for run in found.runs]
    assert sum(total["cost_usd"] for total in totals) <= 1.5 * spent + 0.01
    # What was refused was not asked.
    assert totals[0]["calls"] + totals[1]["calls"] == server.calls - alone.runs[0].info["totals"]["calls"]


def test_a_jury_goes_on_with_the_judge_who_was_not_done(tmp_path):
    pairing = pair_runs([store_run(tmp_path, kind.__name__, world_rows(8, kind)) for kind in (half, whole)])
    with OracleServer() as server:
        options = {"base_url": server.base_url, "cache": False, "resume": True}
        first = judge_pairs(pairing, ["openai/one"], str(tmp_path / "pairs"), options)
        before, notes = server.calls, []
        both = judge_pairs(pairing, ["openai/one", "openai/two"], str(tmp_path / "pairs"), options, note=notes.append)
        assert server.calls == 2 * before
        assert both.runs[0].path == first.runs[0].path
        assert f"openai/one has been asked all of it: run {first.runs[0].id}" in notes
        # Another order is another question.
        judge_pairs(pairing, ["openai/one"], str(tmp_path / "pairs"), {**options, "order": "random"})
        assert server.calls == 2 * before + before // 2
