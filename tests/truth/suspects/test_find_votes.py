"""Several systems that agree on another answer outvote the ground truth."""

from dataclasses import replace

import pytest

import ragstone
from ragstone.formats import read_dataset
from ragstone.truth.model import Case, case_from_sample
from ragstone.truth.suspects.find import find_outvoted
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


def test_two_systems_that_agree_outvote_the_reference():
    [found] = find_outvoted([DEPTH], answers("14 metres.", "The basin is 14 metres deep.", "9 metres"))
    assert (found.kind, found.case) == ("systems", "depth")
    assert all(words in found.reason for words in ("2 of 3", "14 metres.", "12 metres"))
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
    assert "all 2 systems decline" in found.reason
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
    assert "unanswerable" in found.reason
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
    # The reference is edited: the stored verdicts no longer apply to it, so the words decide.
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
