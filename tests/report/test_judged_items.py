"""Nuggets, checklists, claims in a corpus and reasons, item by item."""

import io
from dataclasses import replace

from rich.console import Console

import ragstone
from ragstone.analysis.explain import explain_sample
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import CheckedItem, Chunk, Claim, Fact, Grade, Sample
from ragstone.data.verdict import Verdict
from ragstone.report.explain import explanation_dict, explanation_report
from ragstone.views.judged_items import judged_groups


def case(evidence, **fields):
    return Case(Sample("1", **fields), evidence)


def test_nothing_judged_is_no_group():
    assert judged_groups(case({}, facts=[Fact("a")])) == ()


def test_each_kind_is_a_group():
    grade = Grade(1.0, 0.0, 1.0, reasoning="It is kind.")
    evidence = {
        "nugget_support": [Verdict("support", 0.91, 0.0, counted=1.0), Verdict("not_support")],
        "own_checks": [CheckedItem("Is it short?", "no")],
        "answer_claims": [Claim("It is red.")],
        "answer_claims_in_corpus": [Verdict("entailment")],
        "corpus_passages": [[Chunk("The boat is red.", "p1")]],
        "answer_claims_in_reference": [Verdict("neutral", reason="It says blue.")],
        "polite_grade": grade,
        "rude_grade": replace(grade, reasoning=None),
    }
    groups = judged_groups(case(evidence, facts=[Fact("a"), Fact("b", importance="okay")]))
    rows = {group.key: [(row.text, row.words, row.note, row.reason) for row in group.rows] for group in groups}
    assert rows == {
        "nuggets": [("a", "in the answer 0.91", "vital", ""), ("b", "not in the answer", "okay", "")],
        "checklist-own": [("Is it short?", "no", "", "")],
        "corpus": [("It is red.", "supported", "", "nearest passage: The boat is red.")],
        "reasons-answer_claims_in_reference": [("It is red.", "not mentioned", "", "It says blue.")],
        "grades": [("polite", "1 on 0 to 1", "", "It is kind.")],
    }


def shown(explanation):
    console = Console(width=120, file=io.StringIO())
    console.print(explanation_report(explanation))
    return console.file.getvalue()


def test_explain_shows_what_a_score_counts(tmp_path):
    facts = [{"text": "The boat is red.", "importance": "vital"}, {"text": "It is old.", "importance": "okay"}]
    row = {
        "id": "1",
        "question": "q",
        "answer": "Red.",
        "facts": facts,
        "nugget_support": ["support", "partial_support"],
    }
    run = ragstone.evaluate([row], "nugget", tmp_path)
    text = shown(explain_sample(run, "1", "nugget.weighted"))
    assert "1.25 of 1.50 facts = 0.833" in text
    assert "partly in the answer" in text
    found = explanation_dict(explain_sample(run, "1", "nugget.weighted"))
    assert found["evidence"]["nugget_support"] == ["support", "partial_support"]
