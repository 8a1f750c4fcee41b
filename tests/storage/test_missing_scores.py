"""Cells without a value: how many, where and why."""

import pytest

from ragstone.engine.evaluate import evaluate
from ragstone.storage.scores import MissingScores, find_missing, read_missing_cells


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rows = [{"id": f"s{row}", "answer": "a", "references": ["a"] if row % 3 else None} for row in range(3000)]

    def judge(prompts):
        raise RuntimeError("out of order")

    metrics = ["token_f1", "answer_match", "recall@5"]
    options = {"judge": judge, "exam": False, "cache": False, "limit": 30}
    folder = tmp_path_factory.mktemp("missing")
    return evaluate(rows, "token_f1", folder), evaluate(
        [{**row, "question": f"q{row['id']}"} for row in rows], metrics, folder, **options
    )


def test_cells_are_counted_over_all_parts(run):
    [missing] = find_missing(run[0])
    assert missing == MissingScores("token_f1", "skipped", missing.reason, 1000, ("s0", "s3", "s6", "s9", "s12"))
    assert missing.reason == "no references"
    assert read_missing_cells(run[0]).num_rows == 1000


def test_failed_first_and_what_was_not_computed_last(run):
    found = find_missing(run[1])
    assert [item.status for item in found] == ["failed", "skipped", "skipped", "not computed"]
    assert "out of order" in found[0].reason
    assert (found[0].metric, found[0].count) == ("answer_match", 20)
    assert (found[-1].metric, found[-1].count, found[-1].examples) == ("recall@5", 30, ())


def test_every_cell_with_its_reason(run):
    cells = read_missing_cells(run[1])
    assert cells.column_names == ["sample_id", "metric", "status", "reason"]
    assert set(cells["status"].to_pylist()) == {"failed", "skipped"}
