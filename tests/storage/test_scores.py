"""Score columns and labels of a run."""

import numpy as np
import pytest

import ragstone
from ragstone.analysis.consistency import measure_consistency
from ragstone.errors import UnknownNameError
from ragstone.storage.scores import NONE, OK, SKIPPED, default_cluster, read_ids, read_labels, read_scores

ROWS = [
    {"id": "a", "question": "q", "answer": "one two", "references": ["one"], "metadata": {"topic": "x", "n": 1}},
    {"id": "b", "question": "q", "answer": "one", "references": ["one"], "metadata": {"topic": "y", "flag": True}},
    {"id": "c", "question": "q", "answer": "one", "answerable": False, "documents": ["z", "d"]},
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ragstone.evaluate(ROWS, "token_f1", tmp_path_factory.mktemp("store"))


def test_values_and_states_are_in_the_order_of_the_samples(run):
    scores = read_scores(run, ["token_f1"])["token_f1"]
    assert scores.values[:2] == pytest.approx([2 / 3, 1.0])
    assert np.isnan(scores.values[2])
    assert scores.states.tolist() == [OK, OK, SKIPPED]
    assert read_ids(run) == ["a", "b", "c"]


def test_a_metric_without_cells_has_empty_columns(run):
    assert len(read_scores(run, ["recall"])["recall"].values) == 0


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        ("topic", ["x", "y", NONE]),
        ("n", ["1", NONE, NONE]),
        ("flag", [NONE, "yes", NONE]),
        ("answerable", [NONE, NONE, "no"]),
        ("documents", [NONE, NONE, "d, z"]),
    ],
)
def test_labels(run, column, labels):
    assert read_labels(run, column).tolist() == labels


def test_an_unknown_column_lists_the_known_ones(run):
    with pytest.raises(UnknownNameError, match=r"topic.*answerable"):
        read_labels(run, "topics")


def talk(sample, conversation=None, history=True):
    row = {"id": sample, "question": "q", "answer": "one", "references": ["one"], "metadata": {"session": conversation}}
    return row | ({"history": [{"role": "user", "text": "a"}]} if history else {})


def test_turns_of_a_conversation_are_resampled_together(tmp_path):
    rows = [talk("a", "x"), talk("b", "x"), talk("c", "y"), talk("x")]
    run = ragstone.evaluate(rows, "token_f1", tmp_path)
    assert default_cluster(run) == "conversation"
    assert read_labels(run, "conversation").tolist() == ["x", "x", "y", "#x"]
    # Three units: Wilson's interval of 3 of 3 rows in place of 4 of 4, at least.
    assert run.summary()["token_f1"].ci_low < 1


@pytest.mark.parametrize(
    "rows",
    [
        [talk("a", "x", history=False), talk("b", "x", history=False)],
        [talk("a", "x"), talk("b", "y")],
        [talk("a"), talk("b")],
    ],
)
def test_rows_are_resampled_one_by_one_without_conversations(rows, tmp_path):
    assert default_cluster(ragstone.evaluate(rows, "token_f1", tmp_path)) is None


def test_rows_that_ask_a_question_with_other_passages_are_resampled_together(tmp_path):
    """They are no repeats: they have no other answers and no consistency."""
    rows = [
        {"id": f"{at}", "question": "q", "answer": "one", "references": ["one"], "metadata": {"question_id": at // 4}}
        for at in range(40)
    ]
    rows.append({"id": "x", "question": "q", "answer": "one", "references": ["one"]})
    run = ragstone.evaluate(rows, "token_f1", tmp_path)
    assert default_cluster(run) == "question_id"
    assert read_labels(run, "question_id").tolist()[3:5] + read_labels(run, "question_id").tolist()[-1:] == [
        "0",
        "1",
        "x",
    ]
    assert run.summary()["token_f1"].ci_low < 0.8
    assert measure_consistency(run) is None
    alone = [{**row, "metadata": {"question_id": row["id"]}} for row in rows]
    assert default_cluster(ragstone.evaluate(alone, "token_f1", tmp_path)) is None
