"""The probes of an audit."""

import pytest

from ragstone.agreement.audit_probes import injected_answers, natural_pairs, padded_twins
from tests.agreement.worlds import half, store_run, world_rows

COUNT = 14


@pytest.fixture
def run(tmp_path):
    return store_run(tmp_path / "store", "half", world_rows(COUNT, half))


def test_probes_say_the_same_but_for_what_is_tried(run):
    samples = list(run.samples)
    for row in padded_twins(samples):
        assert row["answer"].startswith(row["metadata"]["other_answer"])
        assert len(row["answer"]) > len(row["metadata"]["other_answer"]) + 100
    with_words = {row["id"]: row for row in injected_answers(samples)}
    for name, row in with_words.items():
        if name.endswith("/with"):
            plain = with_words[name.removesuffix("with") + "without"]
            assert row["answer"].startswith(plain["answer"])
            assert row["metadata"]["other_answer"] == plain["metadata"]["other_answer"]


def test_without_references_an_answer_meets_a_shorter_form_of_itself(tmp_path):
    rows = [
        {"id": "1", "question": "Which?", "answer": "It is the blue one. It stands by the door."},
        {"id": "2", "question": "When?", "answer": "At nine."},
    ]
    found = natural_pairs(store_run(tmp_path, "bare", rows), None, 10, 0)
    assert [(row["answer"], row["metadata"]["other_answer"]) for row in found] == [
        ("It is the blue one. It stands by the door.", "It is the blue one.")
    ]


def test_padding_is_in_the_language_of_the_answer(tmp_path):
    rows = [
        {"id": "1", "question": "Wann?", "answer": "Die Fähre fährt um neun und ist nicht teuer."},
        {"id": "2", "question": "什么时候？", "answer": "渡轮九点开。"},
    ]
    german, chinese = padded_twins(list(store_run(tmp_path, "bare", rows).samples))
    assert "Mit anderen Worten" in german["answer"]
    assert "换句话说" in chinese["answer"]
