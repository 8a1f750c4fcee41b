"""The most probable cause of a wrong row comes first, with the claim that shows it."""

import pytest

from ragstone.analysis.causes import find_causes
from ragstone.analysis.likely_causes import LIKELY, _show, cause_chances, cause_signs
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Chunk, Claim, Sample
from ragstone.data.verdict import Verdict

PERHAPS = Verdict("unsure", 0.6, 0.0)
YES, NO, SILENT = Verdict("entailment", 0.95, 0.0), Verdict("contradiction", 0.03, 0.95), Verdict("neutral", 0.03, 0.01)
CLOSED = "The pool is closed on Mondays."


def case(answer, said, right, chunks, wanted, founded, judge="small"):
    """A row about one fact: is the reference said and found, is the answer right and founded?"""
    sample = Sample(
        "s", "When is the pool closed?", answer, references=[CLOSED], contexts=[Chunk(text) for text in chunks]
    )
    evidence = {
        "reference_claims": [Claim(CLOSED)],
        "reference_claims_in_answer": [said],
        "reference_claims_in_contexts": [wanted],
        "answer_claims": [Claim(answer)],
        "answer_claims_in_reference": [right],
        "answer_claims_in_contexts": [founded],
        "reference_matches": [0.02],
    }
    return Case(sample, evidence, judge=judge)


@pytest.mark.parametrize("judge", ["small", "large"])
@pytest.mark.parametrize(
    ("cause", "kind", "chunks", "row"),
    [
        ("misread", "answer claim", (1,), case("The pool is open on Mondays.", NO, NO, [CLOSED], [YES], [NO])),
        (
            "missing chunk",
            "reference claim",
            (),
            case("The pool is closed on Sundays.", SILENT, SILENT, ["Towels cost 2 euros."], [SILENT], [SILENT]),
        ),
        (
            "ignored",
            "reference claim",
            (2,),
            case(
                "Towels cost two euros.",
                SILENT,
                SILENT,
                ["Towels cost two euros.", CLOSED],
                [SILENT, YES],
                [YES, SILENT],
            ),
        ),
        (
            "wrong passage used",
            "answer claim",
            (1,),
            case(
                *("It is closed on Fridays.", NO, NO, ["In 2019 it was closed on Fridays.", CLOSED]),
                *([NO, YES], [YES, NO]),
            ),
        ),
    ],
)
def test_the_most_probable_cause_is_first(cause, kind, chunks, row, judge):
    row = Case(row.sample, row.evidence, judge=judge)
    outcome = find_causes(row)
    first = outcome.findings[0]
    assert (outcome.status, outcome.cause.name, first.cause.name, first.kind) == ("wrong", cause, cause, kind)
    assert first.chunks == chunks
    chances = cause_chances(row)
    assert first.probability == chances[first.cause] == max(chances.values())
    assert sum(chances.values()) == pytest.approx(1.0, abs=0.03)
    rest = [one.probability for one in outcome.failures]
    assert rest == sorted(rest, reverse=True)


def test_an_answer_that_declines_in_part_is_wrongly_refused():
    answer = "I'm afraid the documents do not mention on which day it is closed. Towels cost two euros."
    outcome = find_causes(
        case(answer, SILENT, SILENT, ["Towels cost two euros.", CLOSED], [SILENT, YES], [YES, SILENT])
    )
    assert (outcome.status, outcome.cause.name) == ("wrong", "wrongly refused")
    assert outcome.findings[0].why == "chunk 2 contains it, the answer says that it is not known"


@pytest.mark.parametrize(
    ("said", "wanted", "founded", "why"),
    [
        (SILENT, PERHAPS, SILENT, "chunk 1 seems to contain it, the answer leaves it out"),
        (PERHAPS, YES, SILENT, "chunk 1 contains it, the answer may leave it out"),
        (NO, YES, SILENT, "chunk 1 contains it, the answer says otherwise"),
        (SILENT, PERHAPS, SILENT, "chunk 1 seems to contain it, the answer says something else"),
        (PERHAPS, YES, SILENT, "chunk 1 contains it, the answer may say otherwise"),
        (NO, SILENT, PERHAPS, "the answer seems to follow chunk 1; the reference does not say it"),
        (NO, SILENT, YES, "the answer follows chunk 1; the reference does not say it"),
        (NO, SILENT, PERHAPS, "no chunk clearly supports it"),
        (NO, SILENT, Verdict("entailment", 0.7, 0.0), "the chunks support it only weakly (0.70)"),
        (NO, PERHAPS, YES, "no retrieved chunk clearly contains it"),
    ],
)
def test_a_cause_is_as_sure_as_the_marks_of_its_verdicts(said, wanted, founded, why):
    row = case("It is open on Mondays.", said, SILENT, [CLOSED], [wanted], [founded])
    assert why in {_show(row, cause, 0.5).why for cause in LIKELY}


def test_one_claim_has_one_cause():
    outcome = find_causes(case("It is open on Mondays.", NO, NO, [CLOSED], [YES], [NO]))
    places = [(one.kind, one.number) for one in outcome.findings]
    assert len(places) == len(set(places))


def test_the_quote_shows_what_the_chunk_says():
    outcome = find_causes(case("The pool is open on Mondays.", NO, NO, [CLOSED], [YES], [NO]))
    assert outcome.findings[0].why == f'chunk 1 says "{CLOSED}"'


def test_a_row_that_is_fine_has_no_likely_cause():
    outcome = find_causes(case(CLOSED, YES, YES, [CLOSED], [YES], [YES]))
    assert (outcome.status, outcome.cause) == ("fine", None)


def test_no_chances_without_all_that_was_read():
    whole = case("It is open on Mondays.", NO, NO, [CLOSED], [YES], [NO])
    assert cause_signs(whole)
    for name in ("reference_claims", "answer_claims_in_contexts", "reference_claims_in_answer"):
        less = {key: value for key, value in whole.evidence.items() if key != name}
        assert cause_chances(Case(whole.sample, less)) == {}
    # Language models and people say no probabilities.
    plain = {
        key: [[str(one) for one in row] if isinstance(row, list) else row for row in value]
        for key, value in whole.evidence.items()
    }
    plain["reference_claims_in_answer"], plain["answer_claims_in_reference"] = ["contradiction"], ["contradiction"]
    assert cause_chances(Case(whole.sample, plain)) == {}


def test_every_likely_cause_has_weights_for_every_sign():
    signs = cause_signs(case("It is open on Mondays.", NO, NO, [CLOSED], [YES], [NO]))
    for judge in ("small", "large"):
        from ragstone.analysis.likely_causes import _read_weights

        weights = _read_weights()[judge]
        assert list(weights) == [cause.name for cause in LIKELY]
        assert all(one.keys() == signs.keys() for one in weights.values())


def test_without_a_reference_a_chunk_that_says_otherwise_is_named():
    """The answer says the opposite of its chunk."""
    sample = Sample("s", "When is it closed?", "The pool is open on Mondays.", contexts=[Chunk(CLOSED)])
    claims = {"answer_claims": [Claim("The pool is open on Mondays.")], "answer_claims_in_contexts": [[NO]]}
    outcome = find_causes(Case(sample, claims))
    assert (outcome.cause.name, outcome.findings[0].why) == ("misread", f'chunk 1 says "{CLOSED}"')
    assert outcome.findings[0].probability == 0.95


def doubtful(answer, support, **fields):
    """A row without a reference, whose claims have these supports by one chunk."""
    claims = [Claim(f"{answer} {number}") for number in range(len(support))]
    found = [[Verdict("entailment" if value > 0.65 else "unsure", value, 0.0)] for value in support]
    sample = Sample("s", "When is it closed?", answer, contexts=[Chunk(CLOSED)], **fields)
    return Case(sample, {"answer_claims": claims, "answer_claims_in_contexts": found})


@pytest.mark.parametrize(
    ("row", "doubt"),
    [
        (
            doubtful("Closed.", [0.75, 0.66]),
            'nothing clearly wrong: the judge is least sure of answer claim 2: "Closed. 1"',
        ),
        (doubtful("Closed.", [0.75, 0.6]), 'no chunk clearly supports answer claim 2: "Closed. 1"'),
        (
            doubtful("I am sorry, I could not find that.", []),
            "the answer declines; without a reference nothing shows whether it should",
        ),
    ],
)
def test_a_row_to_look_at_without_a_cause_says_why(row, doubt):
    outcome = find_causes(row)
    assert (outcome.status, outcome.cause, outcome.doubt) == ("look", None, doubt)


def test_no_cause_is_shown_by_a_claim_that_the_answer_states():
    row = case("It is shut on Mondays.", YES, SILENT, [CLOSED], [YES], [Verdict("entailment", 0.7, 0.0)])
    outcome = find_causes(row)
    assert (outcome.status, outcome.cause) == ("look", None)
    assert outcome.doubt == "the judge is not sure whether answer and reference say the same"


def test_a_row_that_is_fine_or_wrong_has_no_doubt():
    assert find_causes(case(CLOSED, YES, YES, [CLOSED], [YES], [YES])).doubt == ""
    assert find_causes(case("It is open on Mondays.", NO, NO, [CLOSED], [YES], [NO])).doubt == ""


def test_a_chunk_that_also_has_the_reference_is_no_noise():
    """The answer takes the value of another row of the same chunk: misread; the chunk does not contradict the reference."""
    both = "Small boats pay 12 euros. Large boats pay 30 euros."
    row = case("The pool is open on Mondays.", NO, NO, [both], [YES], [YES])
    assert find_causes(row).findings[0].cause.name != "contradicted by noise"


def test_an_answer_that_denies_nothing_is_no_noise():
    row = case(
        "Towels are free for guests.",
        SILENT,
        SILENT,
        ["Towels are free for guests.", CLOSED],
        [SILENT, YES],
        [YES, SILENT],
    )
    assert find_causes(row).findings[0].cause.name in ("ignored", "missing chunk", "hallucinated")
