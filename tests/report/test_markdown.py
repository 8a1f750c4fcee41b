"""Runs as Markdown: the numbers, and text from data that cannot become markup."""

import re

from ragstone.analysis.diagnosis import diagnose
from ragstone.report.markdown import run_markdown
from ragstone.views.diagnosis import DiagnosisView, headline


def test_markdown_has_verdict_numbers_and_worst(worse):
    text = run_markdown(worse, worst=2)
    found = diagnose(worse)
    # First how many rows are wrong, then which part limits quality.
    assert text.startswith(f"### harbour-worse: {DiagnosisView.of(found).statuses_text}\n\n{headline(found)}\n")
    for row in worse.summary():
        assert f"{row.mean:.3f}" in text
    assert "the 2 worst samples" in text
    assert text.count("<details>") == text.count("</details>") == 3
    tables = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    assert len(tables) == 4
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_markdown_of_hostile_data_has_no_markup(hostile):
    text = run_markdown(hostile)
    assert "<img" not in text
    assert "<script" not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
