"""RGB's four abilities, by hand."""

import pytest

from ragstone.engine.evaluate import evaluate
from ragstone.errors import Skip
from ragstone.metrics.rgb import (
    accuracy,
    error_correction_rate,
    error_detection_rate,
    judged_error_detection_rate,
    judged_rejection_rate,
    needed_answers,
    planted_answer,
    rejection_rate,
)
from tests.oracle.server import OracleServer


@pytest.mark.parametrize(
    ("answer", "needed", "score"),
    [
        ("It was in TAMPA, Florida.", [["Tampa"]], 1),
        ("It was in Glendale.", [["Tampa"]], 0),
        ("On Jan 2, 2022.", [["January 2 2022", "jan 2, 2022"]], 1),
        ("Ada and Bo", [["Ada"], ["Bo", "Robert"]], 1),
        ("Ada and Robert", [["Ada"], ["Bo", "Robert"]], 1),
        ("Ada", [["Ada"], ["Bo", "Robert"]], 0),
        ("共有70个议席", [["70"]], 1),
        ("", [["70"]], 0),
    ],
)
def test_accuracy(answer, needed, score):
    assert accuracy(answer, needed) == score


def test_needed_answers_come_from_metadata_or_references():
    assert needed_answers(["a", "b"], None) == [["a", "b"]]
    assert needed_answers(["a b"], {"needed_answers": ["a", ["b", "c"]]}) == [["a"], ["b", "c"]]
    for nothing in ((None, {}), (None, None), (["x"], {"needed_answers": [[]]}), ([" "], {})):
        with pytest.raises(Skip, match="no right answer"):
            needed_answers(*nothing)


@pytest.mark.parametrize(
    ("answer", "words", "by_rgb", "by_any"),
    [
        ("I can not answer because of the insufficient information in documents.", ["I can not answer"], 1, 1),
        ("文档信息不足，因此我无法回答。", [], 1, 1),
        ("Insufficient information, but perhaps 70.", [], 1, 1),
        ("I do not know.", ["I do not know."], 0, 1),
        ("It is 70.", [], 0, 0),
    ],
)
def test_rejection(answer, words, by_rgb, by_any):
    assert rejection_rate(answer, words, False, by="rgb") == by_rgb
    assert rejection_rate(answer, words, False) == by_any


def test_what_can_be_answered_need_not_be_declined():
    for call in (lambda: rejection_rate("I do not know.", ["x"], True), lambda: judged_rejection_rate(True, True)):
        with pytest.raises(Skip, match="contain the answer"):
            call()
    assert judged_rejection_rate(True, False) == 1
    assert judged_rejection_rate(False, False) == 0


def test_detection_and_correction():
    detects = "There are factual errors in the provided documents. It was Tampa."
    other = "The documents are wrong. It was Tampa."
    assert error_detection_rate(detects, ["factual errors"], "Glendale", by="rgb") == 1
    assert error_detection_rate(other, ["documents are wrong"], "Glendale", by="rgb") == 0
    assert error_detection_rate(other, ["documents are wrong"], "Glendale") == 1
    assert error_detection_rate("Glendale.", [], "Glendale") == 0
    assert judged_error_detection_rate(True, "Glendale") == 1
    assert error_correction_rate(detects, ["factual errors"], "Glendale", [["Tampa"]]) == 1
    assert error_correction_rate(detects, ["factual errors"], "Glendale", [["Tampa"], ["Florida"]]) == 0
    with pytest.raises(Skip, match="not detected"):
        error_correction_rate("Glendale.", [], "Glendale", [["Tampa"]])
    with pytest.raises(Skip, match="no error was planted"):
        planted_answer({})


ROWS = [
    {"id": "right", "question": "Where?", "answer": "Tampa.", "references": ["Tampa"], "metadata": {"bed": "noise"}},
    {"id": "declines", "question": "Where?", "answer": "I do not know.", "answerable": False},
    {"id": "insists", "question": "Where?", "answer": "Tampa.", "answerable": False},
    {
        "id": "detects",
        "question": "Where?",
        "answer": "There are factual errors in the documents. It was Tampa.",
        "metadata": {"needed_answers": [["Tampa"]], "fake_answer": "Glendale"},
    },
    {
        "id": "misled",
        "question": "Where?",
        "answer": "Glendale.",
        "metadata": {"needed_answers": [["Tampa"]], "fake_answer": "Glendale"},
    },
]


def test_one_run_over_all_abilities_counts_each_where_it_belongs():
    found = {row.metric: row for row in evaluate(ROWS, ["rgb"]).summary()}
    assert {name: (row.mean, row.n_ok) for name, row in found.items() if row.mean is not None} == {
        "rgb.accuracy": (pytest.approx(2 / 3), 3),
        "rgb.rejection_rate": (0.5, 2),
        "rgb.error_detection_rate": (0.5, 2),
        "rgb.error_correction_rate": (1.0, 1),
    }


def test_they_are_computed_only_when_they_are_named():
    assert not [row for row in evaluate(ROWS).summary() if row.metric.startswith("rgb.")]


def test_a_judge_says_who_declines_and_who_reports_errors():
    rows = [{**row, "answer": _spoken(row["answer"])} for row in ROWS]
    with OracleServer() as server:
        run = evaluate(
            rows,
            ["rgb.rejection_rate.judged", "rgb.error_detection_rate.judged"],
            judge="openai/oracle",
            base_url=server.base_url,
            cache=False,
        )
        assert not server.problems
        assert server.replies["stance"] == 4  # two rows say the same
    found = {row.metric: (row.mean, row.n_ok) for row in run.summary()}
    assert found == {"rgb.rejection_rate.judged": (0.5, 2), "rgb.error_detection_rate.judged": (0.5, 2)}


def _spoken(answer):
    """As the oracle's world declines."""
    from tests.oracle.language import REFUSALS

    return REFUSALS["en"] if answer == "I do not know." else answer
