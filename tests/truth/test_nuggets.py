"""Nuggets made by a perfect judge over HTTP, and by rules."""

from __future__ import annotations

import json

import pytest

from ragstone.data.types import Chunk
from ragstone.tools.model_options import ModelOptions
from ragstone.truth.extract import MOST_KEPT, make_nuggets, relevant_chunks
from ragstone.truth.llm_tasks import Work
from ragstone.truth.model import Case, TruthFact, case_from_sample, cases_from_table, cases_to_table
from tests.oracle.expected import claims
from tests.oracle.language import say
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples, truth

SAMPLES = [sample for sample in make_samples(12, seed=6) if sample.language == "en" and sample.reference]


def _case(sample):
    row = sample.row()
    extra = say("en", truth("en", sample.subject, "length"), wording=1).text
    passages = [Chunk(f"{row['references'][0]} {extra}", "p1", source="register.md")]
    return Case(row["id"], row["question"], row["references"], passages=passages, relevance={"p1": 1.0})


CASES = [_case(sample) for sample in SAMPLES]


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def _work(server, quoting=False):
    return Work("openai/oracle", ModelOptions(base_url=server.base_url, cache=False), 4, quoting)


def test_a_judge_writes_nuggets_and_ranks_them():
    with OracleServer() as server:
        found = make_nuggets(CASES, _work(server))
    assert server.problems == []
    assert server.replies == {"new_nuggets": len(CASES), "nugget_importance": len(CASES)}, "two calls per case"
    for sample, row in zip(SAMPLES, found.found, strict=True):
        about = {
            claim.meaning: claim.text for claim in claims(sample.reference) if claim.meaning.subject == sample.subject
        }
        vital = [fact.text for fact in row.facts if fact.importance == "vital"]
        assert vital == [text for meaning, text in about.items() if meaning.attribute in sample.asked]
        assert {fact.standing for fact in row.facts} == {"proposed"}
        assert {fact.kind for fact in row.facts} == {"statement"}
        assert {fact.source for fact in row.facts} == {"register.md"}
        if "length" not in sample.asked:
            assert row.facts[-1].importance == "okay"
    assert found.counts["vital"] + found.counts["okay"] == found.counts["facts"] > 0
    assert set(found.prompts) == {"new_nuggets", "nugget_importance"}


def test_a_quote_makes_no_call():
    with OracleServer() as server:
        found = make_nuggets(CASES[:2], _work(server, quoting=True))
    assert server.requests == 0
    assert len(found.calls) == 4


LAKE = Case(
    "lake",
    "How is the Lirra lake used?",
    ["Morvin takes its drinking water from the Lirra lake. The lake is used for swimming in summer."],
    passages=[
        Chunk("Morvin takes its drinking water from the Lirra lake. The Lirra lake is also used by anglers.", "a"),
        Chunk("The road to Tessel was widened in 1990.", "b"),
    ],
)


def test_by_rules_the_reference_is_vital_and_what_else_bears_on_the_question_okay():
    (row,) = make_nuggets([LAKE], Work(None)).found
    assert [(fact.text, fact.importance) for fact in row.facts] == [
        ("Morvin takes its drinking water from the Lirra lake.", "vital"),
        ("The lake is used for swimming in summer.", "vital"),
        ("The Lirra lake is also used by anglers.", "okay"),
    ]


def test_relevant_chunks_by_grades_then_reference_contexts_then_words():
    assert [chunk.id for chunk in relevant_chunks(LAKE)] == ["a"]
    graded = Case("1", "q", ["r"], passages=LAKE.passages, relevance={"b": 1.0, "a": 0.0})
    assert [chunk.id for chunk in relevant_chunks(graded)] == ["b"]
    assert relevant_chunks(Case("1", "q", ["r"], reference_contexts=["x"])) == [Chunk("x")]


def test_cases_without_texts_are_skipped():
    cases = [Case("a", ""), Case("b", "q"), Case("c", "q", ["r"], answerable=False)]
    found = make_nuggets(cases, Work(None))
    assert set(found.skipped) == {"a", "b", "c"}
    assert found.found == []


def test_at_most_twenty_are_kept_vital_ones_first():
    many = " ".join(f"The lake has bay number {number}." for number in range(30))
    (row,) = make_nuggets([Case("1", "What bays has the lake?", [many])], Work(None)).found
    assert len(row.facts) == MOST_KEPT


def test_importance_is_stored_and_reaches_the_samples():
    case = Case("1", "q", facts=[TruthFact("a", importance="okay"), TruthFact("b")])
    (again,) = cases_from_table(cases_to_table([case]))
    assert again == case
    assert [fact.importance for fact in again.as_sample().facts] == ["okay", None]
    assert case_from_sample(again.as_sample()).facts == case.facts


def test_the_command_proposes_nuggets(cli, tmp_path):
    data = tmp_path / "data.jsonl"
    row = {"id": "lake", "question": LAKE.question, "references": LAKE.references}
    contexts = [{"text": chunk.text, "id": chunk.id} for chunk in LAKE.passages]
    data.write_text(json.dumps({**row, "contexts": contexts}))
    printed = cli("truth", "extract", data, "--nuggets", "--to", "lake", "-o", tmp_path / "store")
    assert printed.code == 0, printed
    assert "3 nuggets: 2 vital, 1 okay" in printed.out
    assert "saved as lake@1" in printed.out
    printed = cli("truth", "extract", data, "--nuggets", "--to", "lake", "-o", tmp_path / "store", "--json")
    assert json.loads(printed.out)["counts"]["vital"] == 2
    assert json.loads(printed.out)["saved"] is None
