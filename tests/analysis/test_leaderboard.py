"""Several runs ranked: letters for what cannot be told apart, parameters of a sweep."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.analysis.leaderboard import group_letters, rank_runs
from ragstone.errors import UsageError
from tests.analysis.scored import declare, make_run, noise


@pytest.fixture
def metrics(catalogue):
    declare(catalogue)


def test_ranks_and_groups(metrics, tmp_path):
    base = noise(1, 50)
    runs = [
        make_run(tmp_path, name, quality=base + more + noise(seed, 50, 0.02, 0.02), params={"chunk_size": size})
        for name, more, seed, size in (("a", 0.0, 5, 128), ("b", 0.2, 6, 256), ("c", 0.2, 8, 512))
    ]
    found = rank_runs(runs)
    places = {runs[place.run].name: place for place in found.rankings[0].places}
    assert (places["b"].rank, places["c"].rank, places["a"].rank) == (1, 1, 3)
    assert (places["b"].letters, places["c"].letters, places["a"].letters) == ("a", "a", "b")
    assert found.parameters == ("chunk_size",)
    assert [found.values(run) for run in range(3)] == [[128], [256], [512]]


def test_lower_can_be_better(metrics, tmp_path):
    runs = [
        make_run(tmp_path, name, ["delay"], delay=noise(seed, 40) + more)
        for seed, (name, more) in enumerate((("slow", 2), ("fast", 0)))
    ]
    assert [place.run for place in rank_runs(runs).rankings[0].places] == [1, 0]


def test_only_samples_that_all_runs_have(metrics, tmp_path):
    runs = [
        make_run(
            tmp_path,
            f"r{first}",
            quality=np.arange(first, first + 12) / 20,
            ids=[f"s{n}" for n in range(first, first + 12)],
            questions=[f"q{n}" for n in range(first, first + 12)],
        )
        for first in (0, 2, 4)
    ]
    found = rank_runs(runs)
    assert found.samples == 8
    assert {round(place.mean, 6) for place in found.rankings[0].places} == {round(np.mean(np.arange(4, 12)) / 20, 6)}
    assert found.remarks[0] == "4 of 12 samples of each of 3 runs are not in all runs and are left out"
    assert len(found.remarks) == 1


def test_cells_that_failed_anywhere_are_left_out_everywhere(metrics, tmp_path):
    runs = [
        make_run(tmp_path, name, quality=[first, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
        for name, first in (("a", "broken"), ("b", 1.0), ("c", 0.0))
    ]
    ranking = rank_runs(runs).rankings[0]
    assert ranking.samples == 7
    assert {place.mean for place in ranking.places} == {0.5}
    assert {place.letters for place in ranking.places} == {"a"}


def test_no_rank_without_direction_or_rows(metrics, tmp_path):
    runs = [make_run(tmp_path, name, ["quality", "size"], quality=[0.1, 0.2], size=[1, 2]) for name in "ab"]
    quality, size = rank_runs(runs).rankings
    assert quality.note == "too few rows"
    assert size.note == "it has no better direction"
    assert {place.rank for place in (*quality.places, *size.places)} == {None}


def test_one_run_is_no_leaderboard(metrics, tmp_path):
    with pytest.raises(UsageError, match="two runs or more"):
        rank_runs([make_run(tmp_path, "a", quality=[0.5])])


def test_nothing_in_all_runs(metrics, tmp_path):
    names = [["x", "y"], ["y", "z"], ["x", "z"]]
    runs = [
        make_run(tmp_path, f"r{n}", quality=[0.5, 0.6], ids=ids, questions=[f"q{i}" for i in ids])
        for n, ids in enumerate(names)
    ]
    with pytest.raises(UsageError, match="no sample in common"):
        rank_runs(runs)


@given(st.data(), st.integers(1, 6))
def test_letters_are_shared_by_exactly_those_that_cannot_be_told_apart(data, count):
    pairs = list(combinations(range(count), 2))
    differ = set(data.draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else set()
    order = data.draw(st.permutations(range(count)))
    letters = dict(zip(order, group_letters(order, differ), strict=True))
    for first, second in pairs:
        assert bool(set(letters[first]) & set(letters[second])) == ((first, second) not in differ)
