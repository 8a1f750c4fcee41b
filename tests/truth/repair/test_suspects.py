"""Ground truth that is wrong is found, and that which is right is left in peace."""

import json
from dataclasses import replace

import pytest

import ragstone
from ragstone.data.types import Chunk
from ragstone.formats import read_dataset
from ragstone.truth.cases import Case, TruthFact
from ragstone.truth.exchange import case_from_sample
from ragstone.truth.repair.documents import find_fallen
from ragstone.truth.repair.finding import find_suspects
from ragstone.truth.repair.gist import agree, gist_of
from ragstone.truth.repair.references import find_conflicting, find_unsupported
from ragstone.truth.repair.systems import find_outvoted
from ragstone.truth.versions import TruthStore
from tests.e2e.judged import judging, rows
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

ASKED = "How deep is the harbour?"
DEPTH = Case("depth", ASKED, ["12 metres"])


def answers(*texts, id="depth", question=ASKED, **more):
    """A run for each text, in which it is the answer."""
    runs = []
    for number, text in enumerate(texts):
        row = {"id": id, "question": question, "answer": text, "references": ["12 metres"], **more}
        runs.append(ragstone.evaluate([row], ["token_f1"], name=f"system {number + 1}"))
    return runs


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("14 metres", "The harbour is 14 metres deep.", True),
        ("fourteen metres", "14 metres", True),
        ("14 metres", "15 metres", False),
        ("14 metres", "It is not 14 metres deep.", False),
        ("Yes.", "Yes, it is deep.", True),
        ("Yes.", "No.", False),
        ("the mole", "on the northern mole", True),
        ("the mole", "the tower", False),
    ],
)
def test_what_says_the_same(one, other, same):
    assert agree(gist_of(one, ASKED), gist_of(other, ASKED)) is same
    assert agree(gist_of(other, ASKED), gist_of(one, ASKED)) is same


def test_two_systems_that_agree_outvote_the_reference():
    [found] = find_outvoted([DEPTH], answers("14 metres.", "The basin is 14 metres deep.", "9 metres"))
    assert (found.kind, found.case) == ("systems", "depth")
    assert found.reason == "2 of 3 systems say the same, such as '14 metres.'; the reference says '12 metres'"
    assert [(witness.who, witness.text) for witness in found.witnesses] == [
        ("system 1", "14 metres."),
        ("system 2", "The basin is 14 metres deep."),
    ]


@pytest.mark.parametrize(
    "texts",
    [
        ("14 metres", "12 metres"),  # one against, one for it
        ("14 metres", "15 metres"),  # two against, who disagree
        ("14 metres", "14 metres deep", "12 metres", "It is 12 metres deep"),  # as many for it as against
        ("14 metres", "I don't know."),
        ("12 metres", "It is 12 metres deep"),
        ("14 metres",),
    ],
)
def test_no_majority_no_suspect(texts):
    assert list(find_outvoted([DEPTH], answers(*texts))) == []


def test_runs_with_the_same_answers_are_one_system():
    assert list(find_outvoted([DEPTH], answers("14 metres", "14 metres"))) == []


def test_all_systems_decline():
    [found] = find_outvoted([DEPTH], answers("I don't know.", "The documents do not say."))
    assert found.reason == "all 2 systems decline to answer: does it stand in the documents?"
    assert (
        list(
            find_outvoted(
                [replace(DEPTH, references=[], answerable=False)], answers("I don't know.", "The documents do not say.")
            )
        )
        == []
    )


def test_what_is_said_to_be_unanswerable_is_answered():
    case = replace(DEPTH, references=[], answerable=False)
    [found] = find_outvoted([case], answers("14 metres", "It is 14 metres deep"))
    assert found.reason.endswith("it is said to be unanswerable")
    assert list(find_outvoted([replace(case, answerable=None)], answers("14 metres", "14 metres deep"))) == []


def test_references_that_are_only_proposed_are_not_defended():
    assert list(find_outvoted([replace(DEPTH, standing="proposed")], answers("14 metres", "14 metres deep"))) == []


def test_judges_count_for_more_than_words():
    """The oracle knows that both answers are right, however they are worded, or wrong."""
    world = [row for row in rows(make_samples(8, seed=5)) if row.get("references")]
    cases = [case_from_sample(sample) for sample in read_dataset(world)]
    same = [{**row, "answer": row["references"][0], "contexts": row["references"]} for row in world]
    with OracleServer() as server:
        one = ragstone.evaluate(same, ["ragchecker", "answer_match"], name="one", **judging(server))
        other = [{**row, "answer": f"{row['answer']} Visitors keep to the marked paths."} for row in same]
        two = ragstone.evaluate(other, ["ragchecker", "answer_match"], name="two", **judging(server))
    assert list(find_outvoted(cases, [one, two])) == []
    # Somebody spoils a reference: the stored verdicts are no longer about it, the words are.
    spoilt = [replace(cases[0], references=["It carries 99 tons of salt."]), *cases[1:]]
    [found] = find_outvoted(spoilt, [one, two])
    assert found.case == cases[0].id
    assert all("its retrieved chunks support it" in witness.says for witness in found.witnesses[:1])


def test_the_judges_words_are_shown():
    world = rows(make_samples(4, seed=5))[:1]
    cases = [case_from_sample(sample) for sample in read_dataset(world)]
    wrong = {**world[0], "references": ["It carries 99 tons of salt."]}
    case = replace(cases[0], references=wrong["references"])
    with OracleServer() as server:
        runs = [
            ragstone.evaluate([{**wrong, "answer": text}], ["answer_match"], name=text, **judging(server))
            for text in (cases[0].references[0], f"{cases[0].references[0]} Indeed.")
        ]
    [found] = find_outvoted([case], runs)
    assert [witness.says for witness in found.witnesses] == ["answer_match 0.00 by openai/oracle"] * 2


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
    assert [found.reason for found in find_unsupported([case])] == ([reason] if reason else [])


def test_one_reference_that_the_facts_bear_out_is_enough():
    case = Case("a", ASKED, ["40 feet", "12 metres"], [TruthFact("The basin is 12 metres deep")])
    assert list(find_unsupported([case])) == []
    proposed = replace(case, references=["40 feet"], facts=[TruthFact("It is 12 metres deep", standing="proposed")])
    assert list(find_unsupported([proposed])) == []


def test_facts_that_do_not_stand_in_their_passages():
    passage = Chunk("The basin is 12 metres deep. It was dug in 1890.", source="guide.pdf")
    facts = [
        TruthFact("The basin is 14 metres deep"),
        TruthFact("It was dug in 1890"),
        TruthFact("Gone", standing="rejected"),
    ]
    [found] = find_fallen([replace(DEPTH, passages=[passage], facts=facts)])
    assert found.reason == "1 of 2 facts do not stand in the passages"
    assert found.witnesses[0].text == "The basin is 14 metres deep"
    assert found.witnesses[0].says.startswith("invalid: ")


def test_facts_that_no_longer_stand_in_the_documents():
    case = replace(DEPTH, documents=["docs/Guide.pdf"], facts=[TruthFact("The basin is 12 metres deep")])
    assert list(find_fallen([case], {"new/guide.pdf": "Today the basin is 12 metres deep, they say."})) == []
    [found] = find_fallen(
        [case], {"new/guide.pdf": "The basin is 13 metres deep.", "other.pdf": "The basin is 12 metres deep."}
    )
    assert found.reason == "1 of 1 facts do not stand in the documents"
    assert found.witnesses[0].who == "docs/Guide.pdf"
    # Who names no document is looked for in all of them.
    bare = replace(case, documents=[])
    assert list(find_fallen([bare], {"a.txt": "Nothing.", "b.txt": "The basin is 12 metres deep."})) == []


def test_equal_questions_with_other_answers():
    other = Case("again", "how deep is the harbour", ["14 metres"])
    [found] = find_conflicting([DEPTH, other, Case("third", "How long?", ["14 metres"])])
    assert (found.kind, found.case) == ("duplicates", "depth")
    assert found.reason == "case 'again' asks the same and has another reference"
    assert [witness.text for witness in found.witnesses] == ["12 metres", "14 metres"]
    assert list(find_conflicting([DEPTH, replace(other, references=["It is 12 metres deep"])])) == []
    elsewhere = [replace(DEPTH, documents=["a.pdf"]), replace(other, documents=["b.pdf"])]
    assert list(find_conflicting(elsewhere)) == []
    either = [replace(DEPTH, answerable=True), replace(other, references=["12 metres"], answerable=False)]
    assert "only one of them is said to be answerable" in next(find_conflicting(either)).reason


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
    assert "facts do not stand in their documents" in done.out
    assert "[red]now[/red]" in done.out
    found = json.loads(cli("truth", "suspects", "harbour", "--runs", "s0", "--runs", "s1", "--json").out)
    assert [suspect["kind"] for suspect in found["suspects"]] == ["systems"]
    assert cli("truth", "suspects", "harbour").out == "harbour@1: 0 of 2 cases are suspect\n"
