"""The spread within questions: variances by hand, and clustered intervals of a run."""

import numpy as np
import pytest

import ragstone
from ragstone.analysis.consistency import measure_consistency, spread_within
from ragstone.analysis.explain import count_items
from ragstone.analysis.sample_evidence import Case
from ragstone.data.share import Items
from ragstone.data.types import Sample
from ragstone.report.markdown import run_markdown
from ragstone.storage.scores import Scores
from ragstone.views.judged_items import item_texts
from ragstone.views.run import consistency_dict, consistency_lines


def test_variances_by_hand():
    """Questions (1, 3) and (5, 7): within (1+1+1+1)/2 = 2; between squares 2·(2² + 2²)/1 = 16, so (16 − 2)/2 = 7; share 2/9."""
    values = np.array([1.0, 3, 5, 7])
    [found] = spread_within(np.array(["a", "a", "b", "b"]), {"m": Scores(values, np.zeros(4))})
    assert found.within == pytest.approx(2**0.5)
    assert found.share == pytest.approx(2 / 9)
    assert (found.questions, found.rows) == (2, 4)


def test_no_spread_and_no_repeats():
    labels = np.array(["a", "a", "b", "b"])
    [equal] = spread_within(labels, {"m": Scores(np.ones(4), np.zeros(4))})
    assert (equal.within, equal.share) == (0.0, None)
    alone = Scores(np.array([1.0, np.nan, 2.0, np.nan]), np.zeros(4))
    assert spread_within(labels, {"m": alone}) == []


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    random = np.random.default_rng(0)
    rows = [
        {
            "id": f"{question}-{repeat}",
            "question": f"When {question}?",
            "answer": "nine" if random.random() < 0.9 * (question % 2) + 0.05 else "ten",
            "references": ["nine"],
            "repeat_of": question,
        }
        for question in range(20)
        for repeat in range(5)
    ]
    return ragstone.evaluate(rows, ["exact_match", "distinct_1"], tmp_path_factory.mktemp("runs"))


def test_a_run_of_repeats(run):
    found = measure_consistency(run)
    assert (found.questions, found.repeated, found.rows) == (20, 20, 100)
    spread = next(item for item in found.spreads if item.metric == "exact_match")
    assert 0 < spread.share < 0.6
    [first, *others] = consistency_lines(run)
    assert first.startswith("100 answers to 20 questions, 20 of them asked more than once")
    assert any(line.startswith("exact_match: standard deviation") for line in others)
    assert consistency_dict(run)["rows"][0].keys() == {"metric", "within", "share"}


def test_intervals_take_whole_questions(run):
    row = run.summary()["exact_match"]
    # 100 independent rows would have about ± 0.1.
    assert row.ci_high - row.ci_low > 0.3
    compared = ragstone.compare_runs(run, run)
    assert compared.settings.cluster == "repeat_of"
    assert compared["exact_match"].units == 20


def test_a_run_of_repeats_is_compared_with_one_without(run, tmp_path):
    rows = [
        {"id": f"{question}-0", "question": f"When {question}?", "answer": "nine", "references": ["nine"]}
        for question in range(20)
    ]
    once = ragstone.evaluate(rows, ["exact_match"], tmp_path)
    for pair in ((run, once), (once, run)):
        assert ragstone.compare_runs(*pair)["exact_match"].pairs == 20


def test_a_run_without_repeats_has_no_consistency():
    plain = ragstone.evaluate([{"question": "q", "answer": "a", "references": ["a"]}], "exact_match")
    assert measure_consistency(plain) is None
    assert consistency_lines(plain) == []
    assert consistency_dict(plain) is None


def test_markdown_has_the_spread(run):
    text = run_markdown(run)
    assert "100 answers to 20 questions, 20 of them asked more than once; intervals take whole questions." in text
    assert "spread within questions" in text
    assert "| exact\\_match |" in text.partition("spread within questions")[2]


def test_other_answers_are_counted_one_by_one(tmp_path):
    rows = [
        {"id": f"r{row}", "question": "When?", "answer": text, "repeat_of": "q"}
        for row, text in enumerate(["At nine.", "at nine", "At ten."])
    ]
    run = ragstone.evaluate(rows, ["consistency.exact_match"], tmp_path)
    explanation = run.explain("r0", "consistency.exact_match")
    assert explanation.working.counts[0].value == explanation.cells[0].value == 0.5
    text = str(explanation)
    assert "1 of 2 other answers = 0.500" in text
    assert "✓ other answer 1: at nine" in text
    assert "· other answer 2: At ten." in text


def test_matches_of_other_answers_are_counted_one_by_one():
    sample = Sample("s", answer="a", metadata={"other_answers": ["b", "c"]})
    [found] = count_items("consistency.answer_match", Case(sample, {"other_answer_matches": [0.25, 1.0]}), {})
    assert found.kind == "other answer"
    assert found.value == 0.625
    assert item_texts(Case(sample, {}), Items("other answer", ())) == ["b", "c"]
