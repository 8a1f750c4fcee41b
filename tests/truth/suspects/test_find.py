"""Wrong ground truth is found, and correct ground truth is not reported."""

import json
from dataclasses import replace

import pytest

import ragstone
from ragstone.data.types import Chunk
from ragstone.formats import read_dataset
from ragstone.truth.model import Case, TruthFact, case_from_sample
from ragstone.truth.store import TruthStore
from ragstone.truth.suspects.find import find_suspects
from tests.e2e.judged import rows
from tests.oracle.world import make_samples

ASKED = "How deep is the harbour?"
DEPTH = Case("depth", ASKED, ["12 metres"])


def suspects_of(kind, cases, documents=None):
    return [suspect for suspect in find_suspects(cases, documents=documents) if suspect.kind == kind]


@pytest.mark.parametrize(
    ("reference", "facts", "reason"),
    [
        ("12 metres", ["The basin is 14 metres deep"], "the reference says 12, the facts say 14"),
        ("Anna Berg", ["The light was built by Ole Vik"], "no fact has the words of a reference"),
        ("12 metres", ["The basin is 12 metres deep"], None),
        ("twelve metres", ["The basin is 12 metres deep"], None),
        ("Yes", ["The basin is 14 metres deep"], None),
        ("12 metres", [], None),
    ],
)
def test_references_that_disagree_with_their_facts(reference, facts, reason):
    case = Case("a", "Who built it, and how deep?", [reference], [TruthFact(fact) for fact in facts])
    assert [found.reason for found in suspects_of("references", [case])] == ([reason] if reason else [])


def test_one_reference_that_the_facts_bear_out_is_enough():
    case = Case("a", ASKED, ["40 feet", "12 metres"], [TruthFact("The basin is 12 metres deep")])
    assert suspects_of("references", [case]) == []
    proposed = replace(case, references=["40 feet"], facts=[TruthFact("It is 12 metres deep", standing="proposed")])
    assert suspects_of("references", [proposed]) == []


def test_facts_that_do_not_stand_in_their_passages():
    passage = Chunk("The basin is 12 metres deep. It was dug in 1890.", source="guide.pdf")
    facts = [
        TruthFact("The basin is 14 metres deep"),
        TruthFact("It was dug in 1890"),
        TruthFact("Gone", standing="rejected"),
    ]
    [found] = suspects_of("documents", [replace(DEPTH, passages=[passage], facts=facts)])
    assert found.reason.startswith("1 of 2 facts")
    assert found.witnesses[0].text == "The basin is 14 metres deep"
    assert found.witnesses[0].says.startswith("invalid: ")


def test_facts_that_no_longer_stand_in_the_documents():
    case = replace(DEPTH, documents=["docs/Guide.pdf"], facts=[TruthFact("The basin is 12 metres deep")])
    assert suspects_of("documents", [case], {"new/guide.pdf": "Today the basin is 12 metres deep, they say."}) == []
    [found] = suspects_of(
        "documents",
        [case],
        {"new/guide.pdf": "The basin is 13 metres deep.", "other.pdf": "The basin is 12 metres deep."},
    )
    assert found.reason.startswith("1 of 1 facts")
    assert found.witnesses[0].who == "docs/Guide.pdf"
    # A case without documents is checked against all of them.
    bare = replace(case, documents=[])
    assert suspects_of("documents", [bare], {"a.txt": "Nothing.", "b.txt": "The basin is 12 metres deep."}) == []


def test_equal_questions_with_other_answers():
    other = Case("again", "how deep is the harbour", ["14 metres"])
    [found] = suspects_of("duplicates", [DEPTH, other, Case("third", "How long?", ["14 metres"])])
    assert (found.kind, found.case) == ("duplicates", "depth")
    assert "'again'" in found.reason
    assert [witness.text for witness in found.witnesses] == ["12 metres", "14 metres"]
    assert suspects_of("duplicates", [DEPTH, replace(other, references=["It is 12 metres deep"])]) == []
    elsewhere = [replace(DEPTH, documents=["a.pdf"]), replace(other, documents=["b.pdf"])]
    assert suspects_of("duplicates", elsewhere) == []
    either = [replace(DEPTH, answerable=True), replace(other, references=["12 metres"], answerable=False)]
    assert "only one of them" in suspects_of("duplicates", either)[0].reason


def test_right_ground_truth_is_left_in_peace():
    """The world's references and facts are true: nothing in it is suspect, whatever its systems answer."""
    world = [row for row in rows(make_samples(40, seed=11)) if row.get("references")]
    cases = [case_from_sample(sample) for sample in read_dataset(world)]
    passages = [replace(case, passages=[Chunk(text) for text in case.references]) for case in cases]
    assert find_suspects(passages, [ragstone.evaluate(world, ["token_f1"])]) == []


def test_by_command(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = TruthStore("ragstone-store")
    facts = [TruthFact("The basin is 12 metres deep", source="guide.txt")]
    store.save("harbour", [replace(DEPTH, facts=facts), Case("pier", "How long?", ["300 metres"])], author="Ada")
    for number, text in enumerate(("14 metres", "It is 14 metres deep [red]now[/red]")):
        row = {"id": "depth", "question": ASKED, "answer": text}
        ragstone.evaluate([row], ["token_f1"], "ragstone-store", name=f"s{number}")
    (tmp_path / "guide.txt").write_text("The basin is 14 metres deep.\n")
    done = cli("truth", "suspects", "harbour", "--run", "s0", "--run", "s1", "--documents", "guide.txt")
    assert done.code == 0
    assert done.out.splitlines()[0] == "harbour@1: 1 of 2 cases are suspect"
    assert "systems agree against the ground truth" in done.out
    assert "facts are not in their documents" in done.out
    assert "[red]now[/red]" in done.out
    found = json.loads(cli("truth", "suspects", "harbour", "--runs", "s0", "--runs", "s1", "--json").out)
    assert [suspect["kind"] for suspect in found["suspects"]] == ["systems"]
    assert cli("truth", "suspects", "harbour").out.startswith("harbour@1: 0 of 2 cases are suspect\n")
