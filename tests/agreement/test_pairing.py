"""Who meets whom: everybody equally often, and nobody without an answer."""

from collections import Counter

import pytest

from ragstone.agreement.pairing import ONE, OTHER, QUESTION, _rounds, pair_runs
from ragstone.errors import UsageError
from tests.agreement.worlds import half, little, store_run, whole, world_rows


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
    with pytest.raises(UsageError, match="no question in common"):
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
    with pytest.raises(UsageError, match="leave out --with-reference"):
        pair_runs([store_run(tmp_path, "c", bare), store_run(tmp_path, "d", bare)], with_reference=True)
