"""The order of the questions: random for halving, always the same for a seed."""

from dataclasses import replace

import pytest

from ragstone.errors import UsageError
from ragstone.sweep.plan import read_plan
from ragstone.sweep.sweep_folder import read_questions, shuffle_questions


def test_the_order_is_random_and_the_same_for_a_seed(home):
    plan = read_plan("sweep.toml")
    plan, questions = read_questions(plan, "store")
    ids = [sample.id for sample in questions]
    orders = [[one.id for one in shuffle_questions(replace(plan, seed=seed), questions)] for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == ids != orders[0]
    assert [one.id for one in shuffle_questions(replace(plan, halving=None), questions)] == ids


def test_data_without_questions(home):
    (home / "questions.jsonl").write_text('{"id": "a", "answer": "x"}\n')
    with pytest.raises(UsageError, match="no question"):
        read_questions(read_plan("sweep.toml"), "store")
