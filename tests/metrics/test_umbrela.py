"""UMBRELA grades: figures by hand, and grades by a perfect judge over HTTP."""

from math import log2

import pytest

import ragstone
from ragstone.analysis.explain import explain_sample
from ragstone.data.types import Grade
from ragstone.metrics.umbrela import grade, ndcg
from ragstone.views.judged_items import judged_groups
from tests.oracle.judge import relevance_grade
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

ROWS = [{**sample.row(), "references": None} for sample in make_samples(14, seed=3) if sample.language == "en"]


def of(*values):
    return [Grade(float(value), 0.0, 3.0) for value in values]


def test_the_mean_grade_by_hand():
    """(3 + 0 + 2) / 9 of all three, (3 + 0) / 6 of the first two; 0 without chunks."""
    assert grade(of(3, 0, 2)) == pytest.approx(5 / 9)
    assert grade(of(3, 0, 2), k=2) == pytest.approx(3 / 6)
    assert grade(of(3), k=5) == 1
    assert grade([]) == 0


def test_graded_ndcg_by_hand():
    """Grades 1, 0, 3: 1 + 3 / 2 against 3 + 1 / log2 3; the first two against the best two of all."""
    assert ndcg(of(1, 0, 3)) == pytest.approx((1 + 3 / 2) / (3 + 1 / log2(3)))
    assert ndcg(of(1, 0, 3), k=2) == pytest.approx(1 / (3 + 1 / log2(3)))
    assert ndcg(of(3, 2, 2)) == 1
    assert ndcg(of(0, 0)) == ndcg([]) == 0


def evaluate(tmp_path, **options):
    with OracleServer(**options) as server:
        names = ["umbrela.grade", "umbrela.grade@2", "umbrela.ndcg"]
        run = ragstone.evaluate(
            ROWS, names, tmp_path / "runs", judge="openai/oracle", base_url=server.base_url, cache=False
        )
    assert server.problems == []
    return run, server


def test_each_chunk_is_graded_once_by_its_question(tmp_path):
    run, server = evaluate(tmp_path)
    assert server.replies == {"relevance_grade": sum(len(row["contexts"]) for row in ROWS)}
    found = {(row["sample_id"], row["metric"]): row["value"] for row in run.scores.to_pylist()}
    seen = set()
    for row in ROWS:
        grades = [relevance_grade(row["question"], text) for text in row["contexts"]]
        seen |= set(grades)
        assert found[row["id"], "umbrela.grade"] == pytest.approx(grade(of(*grades)))
        assert found[row["id"], "umbrela.grade@2"] == pytest.approx(grade(of(*grades[:2])))
        assert found[row["id"], "umbrela.ndcg"] == pytest.approx(ndcg(of(*grades)))
    assert len(seen) >= 3, "the world has passages of several grades"
    explained = explain_sample(run, ROWS[0]["id"], "umbrela.grade")
    assert explained.working.counts[0].value == pytest.approx(explained.working.cell.value)
    (group,) = [group for group in judged_groups(explained.case) if group.key == "chunk-grades"]
    assert len(group.rows) == len(ROWS[0]["contexts"])
    assert all("trustworthiness 3" in row.reason for row in group.rows)


def test_a_quote_counts_one_call_per_chunk():
    estimate = ragstone.quote(ROWS, "umbrela", judge="openai/oracle")
    assert estimate.total.calls == sum(len(row["contexts"]) for row in ROWS)


def test_a_grade_off_the_scale_is_asked_for_again_and_then_fails(tmp_path):
    run, server = evaluate(tmp_path, alter=lambda prompt, body, reply: {**reply, "grade": 4})
    assert server.replies["relevance_grade"] == 2 * sum(len(row["contexts"]) for row in ROWS)
    retrieved = [row["id"] for row in ROWS if row["contexts"]]
    failed = {row["sample_id"] for row in run.scores.to_pylist() if row["status"] == "failed"}
    assert failed == set(retrieved)


def test_the_local_judge_does_not_grade_and_says_so(tmp_path):
    run = ragstone.evaluate(ROWS[:2], "umbrela", tmp_path, judge="local")
    assert run.info.skipped.keys() == {"umbrela.grade", "umbrela.ndcg"}
    assert "the local judge does not write questions, select sentences or grade chunks" in str(run.info.skipped)
