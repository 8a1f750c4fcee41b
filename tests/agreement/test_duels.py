"""Duels before the oracle: the better system wins, biases show, and what cannot be decided is told.

Who meets whom: everybody equally often, and nobody without an answer.
"""

from collections import Counter

import numpy as np
import pytest

from ragstone.agreement.duels import ONE, OTHER, QUESTION, _rounds, judge_pairs, pair_runs
from ragstone.errors import UsageError
from ragstone.stats.intervals import wilson_interval
from ragstone.stats.rater_agreement import majority
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


def test_kappa_of_the_two_orders(tmp_path):
    """LLMBar: agreement and kappa of the verdicts in both orders."""
    from sklearn.metrics import cohen_kappa_score

    calls = iter(range(1000))
    found, _ = hold(
        tmp_path,
        (little, whole),
        oracles=OracleServer(alter=lambda prompt, body, reply: {**reply, "winner": "AAB"[next(calls) % 3]}),
    )
    (note,) = found.judges
    rows = [row for row in found.runs[0].evidence("pair_verdicts").column("value").to_pylist() if len(row) == 2]
    by_order = [{verdict["first"]: verdict["winner"] for verdict in row} for row in rows]
    first, second = ([row[name] for row in by_order] for name in ("one", "other"))
    assert note.order_kappa == pytest.approx(cohen_kappa_score(first, second))
    assert 1 - note.inconsistent == pytest.approx(sum(map(str.__eq__, first, second)) / len(rows))


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
    assert note.seats == (2 * asked, 0, 0)
    # One and other in every row: no agreement, and none by chance.
    assert note.order_kappa == 0.0
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_jury_shares_one_budget(tmp_path, monkeypatch):
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"openai/one" = [40.0, 2.0]\n"openai/two" = [40.0, 2.0]\n')
    monkeypatch.setenv("RAGSTONE_PRICES", str(prices))
    pairing = pair_runs([store_run(tmp_path, kind.__name__, world_rows(12, kind)) for kind in (little, whole)])
    with OracleServer() as server:
        options = {"base_url": server.base_url, "cache": False, "concurrency": 1}
        alone = judge_pairs(pairing, ["openai/one"], None, options)
        spent = alone.runs[0].info["totals"]["cost_usd"]
        # Up to 4,096 tokens of reply are reserved for the first calls.
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
        assert any("openai/one" in note and first.runs[0].id in note for note in notes)
        # Another order is another question.
        judge_pairs(pairing, ["openai/one"], str(tmp_path / "pairs"), {**options, "order": "random"})
        assert server.calls == 2 * before + before // 2


@pytest.mark.parametrize("systems", range(2, 12))
def test_in_a_tournament_everybody_meets_everybody_once(systems):
    rounds = _rounds(systems)
    met = Counter(pair for meetings in rounds for pair in meetings)
    assert met == Counter({(i, j): 1 for j in range(systems) for i in range(j)})
    for meetings in rounds:
        players = [player for pair in meetings for player in pair]
        assert len(players) == len(set(players)) == systems - systems % 2


def test_few_systems_meet_on_every_question(tmp_path):
    runs = [store_run(tmp_path, name, world_rows(6, kind)) for name, kind in (("a", whole), ("b", half), ("c", little))]
    pairing = pair_runs(runs)
    assert (pairing.systems, pairing.questions, pairing.left_out) == (("a", "b", "c"), 6, 0)
    assert len(pairing.rows) == 18
    assert len({row["id"] for row in pairing.rows}) == 18


def test_many_systems_meet_in_turns_and_equally_often(tmp_path):
    runs = [store_run(tmp_path, f"s{number}", world_rows(20, half)) for number in range(6)]
    rows = pair_runs(runs).rows
    # Six systems have fifteen pairs; five rounds of three, so that twenty questions take sixty duels, not three hundred.
    assert len(rows) == 60
    pairs = Counter((row["metadata"][ONE], row["metadata"][OTHER]) for row in rows)
    assert len(pairs) == 15
    assert set(pairs.values()) == {4}
    assert set(Counter(row["metadata"][QUESTION] for row in rows).values()) == {3}
    assert len(pair_runs(runs, every_pair=True).rows) == 300
    assert rows != pair_runs(runs, seed=1).rows


def test_questions_without_an_answer_of_everybody_are_counted(tmp_path):
    rows = world_rows(5, whole)
    fewer = [{**row, "answer": None} if row["id"] == "q1" else row for row in rows[:4]]
    pairing = pair_runs([store_run(tmp_path, "a", rows), store_run(tmp_path, "b", fewer)])
    assert [row["id"] for row in pairing.rows] == ["q0", "q2", "q3"]
    assert (pairing.questions, pairing.left_out) == (3, 2)
    assert len(pair_runs([store_run(tmp_path, "a", rows), store_run(tmp_path, "b", fewer)], limit=1).rows) == 1


def test_runs_of_other_questions_cannot_be_paired(tmp_path):
    other = [{**row, "id": f"x{row['id']}"} for row in world_rows(3, whole)]
    with pytest.raises(UsageError, match="no common question"):
        pair_runs([store_run(tmp_path, "a", world_rows(3, whole)), store_run(tmp_path, "b", other)])


def test_runs_of_one_name_are_told_apart(tmp_path):
    runs = [store_run(tmp_path, "same", world_rows(2, kind)) for kind in (whole, little)]
    systems = pair_runs(runs).systems
    assert len(set(systems)) == 2
    assert all(name.startswith("same (") for name in systems)


def test_a_run_cannot_be_held_against_itself(tmp_path):
    run = store_run(tmp_path, "a", world_rows(2, whole))
    with pytest.raises(UsageError, match="is named twice"):
        pair_runs([run, run])


def test_other_questions_under_the_same_id_are_left_out(tmp_path):
    rows = world_rows(4, whole)
    other = [*rows[:1], {**rows[1], "question": "Something else?"}, *rows[2:]]
    pairing = pair_runs([store_run(tmp_path, "a", rows), store_run(tmp_path, "b", other)])
    assert [row["id"] for row in pairing.rows] == ["q0", "q2", "q3"]
    assert pairing.left_out == 1


def test_references_that_are_wanted_and_missing_are_counted(tmp_path):
    rows = world_rows(3, whole)
    bare = [{name: value for name, value in row.items() if name != "references"} for row in rows]
    some = [rows[0], *bare[1:]]
    assert pair_runs([store_run(tmp_path, "a", some), store_run(tmp_path, "b", bare)], with_reference=True).bare == 2
    with pytest.raises(UsageError, match="--with-reference"):
        pair_runs([store_run(tmp_path, "c", bare), store_run(tmp_path, "d", bare)], with_reference=True)
