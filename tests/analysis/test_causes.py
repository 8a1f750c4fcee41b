"""Each cause from the smallest evidence that shows it; the right value is found by reading the definition."""

from dataclasses import replace

import pytest

from ragstone.analysis.cause_names import CAUSES
from ragstone.analysis.causes import DO_NOT_FIT, NO_DATA, NOTHING_TO_GO_BY, find_causes
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Chunk, Claim, Sample
from ragstone.data.verdict import Verdict
from tests.analysis.making import claim_case, fact_case, matrix, told


@pytest.mark.parametrize(
    ("name", "case", "findings"),
    [
        ("all right", claim_case("y", "y.", "y", "y."), []),
        ("missing chunk", claim_case(".", ".."), [("missing chunk", "reference claim 1", ())]),
        ("missing chunk, though a chunk denies it", claim_case(".", "n"), [("missing chunk", "reference claim 1", ())]),
        ("nothing retrieved", claim_case("."), [("nothing retrieved", "reference claim 1", ())]),
        (
            "missing chunk: not even all together say it",
            claim_case(".", "..", together="."),
            [("missing chunk", "reference claim 1", ())],
        ),
        ("split", claim_case(".", "..", together="y"), [("split fact", "reference claim 1", ())]),
        ("split, but said", claim_case("y", "..", "y", "..", together="y", founded_together="y"), []),
        (
            "low: below all that the answer uses",
            claim_case(".", "....y", "y", "yy..."),
            [("ranked too low", "reference claim 1", (5,))],
        ),
        ("low: the answer uses none", claim_case(".", "...y"), [("ranked too low", "reference claim 1", (4,))]),
        (
            "not low: among the first three",
            claim_case(".", "..y", "y", "y.."),
            [("ignored", "reference claim 1", (3,))],
        ),
        (
            "not low: the answer reads further down",
            claim_case(".", "...y.", "y", "....y"),
            [("ignored", "reference claim 1", (4,))],
        ),
        (
            "not low: it stands further up as well",
            claim_case(".", "y...y", "y", "y...."),
            [("ignored", "reference claim 1", (1, 5))],
        ),
        ("ignored", claim_case(".", ".y"), [("ignored", "reference claim 1", (2,))]),
        ("misread", claim_case("n", ".y"), [("misread", "reference claim 1", (2,))]),
        (
            "misread, seen from both sides",
            claim_case("n", ".y", "n", ".n"),
            [("misread", "reference claim 1", (2,)), ("misread", "answer claim 1", (2,))],
        ),
        (
            "noise",
            claim_case("n", "yn", "n", "ny"),
            [("wrong passage used", "reference claim 1", (2,)), ("wrong passage used", "answer claim 1", (2,))],
        ),
        (
            "noise, and the right chunk is missing",
            claim_case("n", "n", "n", "y"),
            [("wrong passage used", "reference claim 1", (1,)), ("wrong passage used", "answer claim 1", (1,))],
        ),
        (
            "noise, where the reference is silent about the wrong claim",
            claim_case("n", "yn", ".", ".y"),
            [("wrong passage used", "reference claim 1", (2,)), ("wrong passage used", "answer claim 1", (2,))],
        ),
        (
            "noise that takes two chunks together",
            claim_case("y", "y..", "yn", "y.. ...", founded_together="yy"),
            [("wrong passage used", "answer claim 2", ())],
        ),
        (
            "right, but not from the chunks",
            claim_case("y", "..", "y", ".."),
            [("right, but not from the chunks", "answer claim 1", ())],
        ),
        ("no own knowledge: the chunks say it together", claim_case("y", "..", "y", "..", founded_together="y"), []),
        ("hallucinated", claim_case("y", "y", "y.", "y ."), [("hallucinated", "answer claim 2", ())]),
        ("hallucinated and denied", claim_case("y", "y.", "yn", "y. .n"), [("hallucinated", "answer claim 2", (2,))]),
        (
            "beyond the reference",
            claim_case("y", "y.", "y.", "y. .y"),
            [("beyond the reference", "answer claim 2", (2,))],
        ),
    ],
)
def test_a_cause_from_claims(name, case, findings):
    outcome = find_causes(case)
    assert told(outcome) == findings
    assert outcome.seen_by == "claims"


@pytest.mark.parametrize(
    "refusal",
    [
        {"declining_words": ["I do not know"]},
        {"noncommittal": True},
        {"sample": {"answer": "I do not know; the documents do not say."}},
    ],
)
def test_a_refusal_is_wrong_where_a_chunk_has_the_answer(refusal):
    outcome = find_causes(claim_case("..", "y. ..", **refusal))
    assert told(outcome) == [
        ("wrongly refused", "reference claim 1", (1,)),
        ("missing chunk", "reference claim 2", ()),
    ]
    assert outcome.cause.name == "wrongly refused"


def test_a_refusal_without_a_chunk_is_the_retrievers_fault():
    outcome = find_causes(claim_case("..", ".. ..", declining_words=["I do not know"]))
    assert {finding.cause.name for finding in outcome.findings} == {"missing chunk"}


def test_what_a_refusal_says_is_no_hallucination():
    case = claim_case(".", "y", ".", ".", declining_words=["the documents do not say"])
    assert told(find_causes(case)) == [("wrongly refused", "reference claim 1", (1,))]


def test_an_evasive_answer_that_says_something_right_is_no_refusal():
    assert told(find_causes(claim_case("y.", "y y", "y", "y", noncommittal=True))) == [
        ("ignored", "reference claim 2", (1,))
    ]


def test_without_a_reference_only_support_is_known():
    evidence = {"answer_claims": [Claim("a"), Claim("b")], "answer_claims_in_contexts": matrix("y .")}
    outcome = find_causes(Case(Sample("s", answer="An answer.", contexts=[Chunk("c")]), evidence))
    assert told(outcome) == [("unsupported", "answer claim 2", ())]
    assert (outcome.cause, outcome.status) == (CAUSES["unsupported"], "look")


@pytest.mark.parametrize(
    ("answer", "findings"),
    [
        ("I do not know.", []),
        ("It is 5.", [("hallucinated", "answer claim 1", ()), ("wrong passage used", "answer claim 2", (1,))]),
    ],
)
def test_a_question_that_has_no_answer(answer, findings):
    case = claim_case(".", ".", "..", ". y", sample={"answer": answer, "answerable": False})
    assert told(find_causes(case)) == findings


def test_nothing_to_go_by():
    outcome = find_causes(Case(Sample("s", answer="An answer.")))
    assert (outcome.undecided, outcome.findings, outcome.cause) == (NO_DATA, (), None)
    for answer, why in (("An answer.", NOTHING_TO_GO_BY), (None, "the sample has no answer")):
        for sample in (
            Sample("s", answer=answer, references=["It."]),
            Sample("s", answer=answer, contexts=[Chunk("c")]),
        ):
            assert find_causes(Case(sample)).undecided == why


@pytest.mark.parametrize("name", ["reference_claims_in_answer", "answer_claims_in_contexts", "answer_claims"])
def test_evidence_that_does_not_fit_together_is_no_crash(name):
    case = claim_case("y.", "y y", "yy", "y y")
    cut = Case(case.sample, {**case.evidence, name: case.evidence[name][:1]})
    assert find_causes(cut).undecided == DO_NOT_FIT


def test_a_missing_claim_may_be_a_fact_that_was_cut():
    case = claim_case(".", "..", chunks=["The boat leaves at", "ten in the morning."])
    texts = [chunk.text for chunk in case.sample.contexts]
    facts = fact_case(["The boat leaves at ten in the morning."], texts, "At noon.")
    both = Case(facts.sample, {**case.evidence, **facts.evidence})
    outcome = find_causes(both)
    assert told(outcome) == [("missing chunk", "reference claim 1", ()), ("split fact", "fact 1", (1, 2))]
    assert outcome.cause.name == "split fact"


@pytest.mark.parametrize(
    ("case", "cause"),
    [
        (claim_case("...", ". y y", "y", "y"), "ignored"),  # two of three
        (claim_case("..", ". y", "y", "y"), "missing chunk"),  # a tie: the first in the pipeline
        (claim_case("n.", "n. .y", "n", "y."), "wrong passage used"),  # both sides of one mistake count once: a tie
        (claim_case("n..", "n. .y .y", "n", "y."), "ignored"),
        (claim_case(".", ".", "....", ". . . ."), "hallucinated"),  # one claim is missing, four are made up
        (claim_case("y", ".", "y", "."), None),  # own knowledge is no fault
    ],
)
def test_the_main_cause(case, cause):
    found = find_causes(case).cause
    assert (found.name if found else None) == cause


def test_the_tally_counts_each_reference_claim_once():
    outcome = find_causes(claim_case("yy..n", "y . y . y"))
    assert outcome.tally == {"said": 2, "ignored": 2, "missing": 1}


def test_every_cause_has_a_meaning_and_faults_have_a_part():
    assert all(cause.meaning for cause in CAUSES.values())
    assert {name for name, cause in CAUSES.items() if not cause.fails} == {
        "right, but not from the chunks",
        "beyond the reference",
    }


def test_an_empty_answer_is_not_a_claim_left_out():
    outcome = find_causes(claim_case("..", "y. ..", sample={"answer": " "}))
    assert [finding.cause.name for finding in outcome.findings] == ["no answer", "missing chunk"]
    assert outcome.cause.name == "no answer"


def test_an_empty_answer_comes_first_and_is_a_fact():
    """Also if the local judge finds no chunk for the claim, and if there is nothing else to go by."""
    unsaid, unfound = Verdict("neutral", 0.0, 0.0), Verdict("neutral", 0.16, 0.0, counted=0.3)
    case = claim_case(
        ".", ".", sample={"answer": ""}, reference_claims_in_answer=[unsaid], reference_claims_in_contexts=[[unfound]]
    )  # fmt: skip
    outcome = find_causes(case)
    assert [finding.cause.name for finding in outcome.findings] == ["no answer", "missing chunk"]
    assert (outcome.cause.name, outcome.findings[0].probability) == ("no answer", None)
    found = Verdict("entailment", 0.9, 0.0)
    [whole] = find_causes(replace(case, evidence={**case.evidence, "reference_claims_in_contexts": [[found]]})).findings
    assert (whole.cause.name, whole.probability) == ("no answer", None)
    alone = find_causes(Case(Sample("s", answer=" ")))
    assert (alone.cause.name, alone.undecided) == ("no answer", "")
    assert find_causes(Case(Sample("s"))).cause is None


def test_an_empty_retrieval_is_the_retrievers_fault():
    """Also if the judge calls the answer's claims made up: no chunk could support them."""
    made_up = Verdict("neutral", 0.3, 0.0)
    case = claim_case("y", "", ".", "", answer_claims_in_reference=[made_up])
    outcome = find_causes(case)
    assert told(outcome) == [("nothing retrieved", "chunks", ()), ("hallucinated", "answer claim 1", ())]
    assert (outcome.cause.name, outcome.cause.part) == ("nothing retrieved", "retriever")
    declined = Sample("s", answer="I do not know.", contexts=[], answerable=False)
    assert find_causes(Case(declined)).cause is None
    assert find_causes(Case(Sample("s", answer="x"))).cause is None


def test_a_claim_with_the_words_of_a_chunk_says_so():
    unfound = Verdict("neutral", 0.28, 0.0, counted=0.4)
    chunks = ["Helmets are recommended.", "Divers must be at least 18 years old."]
    case = claim_case(
        right=".", chunks=chunks,
        answer_claims=[Claim("Divers must be 18 years old.")], answer_claims_in_reference=[unfound],
        answer_claims_in_contexts=[[unfound, unfound]],
    )  # fmt: skip
    [finding] = find_causes(case).findings
    assert (finding.cause.name, finding.why.partition("; ")[2]) == (
        "hallucinated",
        'chunk 2 says "Divers must be at least 18 years old."',
    )


def test_a_claim_of_the_neighbouring_sentence_is_misread():
    """The chunk that supports the wrong claim also has the right one."""
    assert find_causes(claim_case("n", "y.", "n", "y.")).cause.name == "misread"


def unsure_at(case, name, claim, chunk=None):
    row = case.evidence[name] if chunk is None else case.evidence[name][claim]
    row[claim if chunk is None else chunk] = "unsure"
    return case


def test_an_unsure_verdict_is_not_a_finding():
    case = unsure_at(claim_case(".", "y"), "reference_claims_in_answer", 0)
    outcome = find_causes(case)
    assert (outcome.findings, outcome.tally["unsure"]) == ((), 1)
    case = unsure_at(claim_case(".", "."), "reference_claims_in_contexts", 0, 0)
    assert find_causes(case).findings == ()
    case = unsure_at(claim_case("y", "y", "n", "."), "answer_claims_in_reference", 0)
    assert find_causes(case).findings == ()
    case = unsure_at(claim_case("y", "y", "n", "."), "answer_claims_in_contexts", 0, 0)
    assert find_causes(case).findings == ()


def test_a_refusal_does_not_say_otherwise():
    case = claim_case("n", "yn", "n", ".y", declining_words="I do not know")
    assert {finding.cause.name for finding in find_causes(case).findings} == {"wrongly refused"}


def test_a_claim_that_a_table_denies_is_told_by_its_cell():
    table = "| Plot | Rent | Shed |\n|---|---|---|\n| Rosebank | £72 | yes |\n| Hollow | £88 | no |"
    evidence = {"answer_claims": [Claim("The rent of Rosebank is £88.")], "answer_claims_in_contexts": matrix("n")}
    sample = Sample("s", answer="The rent of Rosebank is £88.", contexts=[Chunk(table)])
    [found] = find_causes(Case(sample, evidence)).findings
    assert found.why == "the table in chunk 1 says Rosebank: Rent £72"


def test_verdicts_of_language_models_have_no_probability():
    [missing] = find_causes(claim_case(".", "..")).findings
    assert missing.probability is None


def test_a_reference_that_was_not_read_is_not_absent():
    evidence = {"answer_claims": [Claim("a")], "answer_claims_in_contexts": matrix(".")}
    sample = Sample("s", answer="An answer.", contexts=[Chunk("c")], references=["It is so."])
    outcome = find_causes(Case(sample, evidence))
    assert outcome.findings[0].why == "no chunk supports it, and it was not checked against the reference"
    assert outcome.lacking == ("reference_claims_in_answer", "reference_claims_in_contexts")
    without = find_causes(Case(Sample("s", answer="An answer.", contexts=[Chunk("c")]), evidence))
    assert (without.findings[0].why, without.lacking) == ("no chunk supports it", ())


def test_an_answer_whose_claims_were_not_read_is_not_fully_examined():
    case = claim_case("y", "y", "y", "y")
    assert find_causes(case).lacking == ()
    some = {name: value for name, value in case.evidence.items() if not name.startswith("answer")}
    assert find_causes(Case(case.sample, some)).lacking == ("answer_claims_in_contexts",)


def test_thanks_need_no_chunk():
    welcome = Sample("s", "Thanks!", "You're welcome!", contexts=[])
    assert find_causes(Case(welcome, {"answer_claims": []})).cause is None
    assert find_causes(Case(welcome, {})).cause is None, "by its words, if no metric read its claims"
    assert find_causes(Case(replace(welcome, answer="At nine."), {})).cause.name == "nothing retrieved"
    assert find_causes(Case(welcome, {"answer_claims": [Claim("It is open.")]})).cause.name == "nothing retrieved"
    assert find_causes(Case(replace(welcome, answer=""), {"answer_claims": []})).cause.name == "no answer"
