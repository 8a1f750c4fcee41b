"""Refusals and whether they were right; the harbour example, whose faults are written down."""

import json
import re
from importlib import resources

import pytest

from ragstone.data.types import Sample, Score
from tests.metrics.scoring import cell, score

REFUSED, ANSWERED = "I don't know.", "At nine."


@pytest.mark.parametrize(
    ("answer", "answerable", "refusal", "fits"),
    [(REFUSED, False, 1, 1), (REFUSED, True, 1, 0), (ANSWERED, False, 0, 0), (ANSWERED, True, 0, 1)],
)
def test_by_hand(answer, answerable, refusal, fits):
    row = Sample("1", answer=answer, answerable=answerable)
    found = score([row], "refusal", "answerability_accuracy")
    assert [cells[0].value for cells in found.values()] == [refusal, fits]


@pytest.mark.parametrize(
    ("row", "name", "reason"),
    [
        (Sample("1", answer="", answerable=True), "refusal", "the answer is empty"),
        (Sample("1", answer=" \n", answerable=True), "answerability_accuracy", "the answer is empty"),
        (Sample("1", answerable=True), "refusal", "no answer"),
        (Sample("1", answer="x"), "answerability_accuracy", "no answerable"),
    ],
)
def test_skipped(row, name, reason):
    assert cell(row, name) == Score(None, "skipped", reason)


@pytest.mark.parametrize(("system", "column"), [("better", 1), ("worse", 2)])
def test_the_harbour_example(system, column):
    folder = resources.files("ragstone.examples.harbour")
    faults = re.findall(r"^\| (h\d+) \| (.*?) \| (.*?) \|$", (folder / "FAULTS.md").read_text("utf-8"), re.MULTILINE)
    refused = {row[0] for row in faults if "refused" in row[column]}
    rows = [json.loads(line) for line in (folder / f"{system}.jsonl").read_text("utf-8").splitlines()]
    samples = [Sample(row["id"], answer=row["answer"], answerable=row["answerable"]) for row in rows]
    found = score(samples, "refusal", "answerability_accuracy")
    assert {row.id for row, cell in zip(samples, found["refusal"], strict=True) if cell.value} == refused
    fits = {row.id for row, cell in zip(samples, found["answerability_accuracy"], strict=True) if cell.value}
    assert fits == {row.id for row in samples if (row.id in refused) != row.answerable}
