"""What facts and wording show without a judge."""

import pytest

from ragstone.analysis.causes import find_causes
from ragstone.analysis.fact_causes import NOT_COMPARED, foreign_numbers, numbers, says_opposite
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Chunk, Sample
from tests.analysis.making import fact_case, told

FACT = "the last boat leaves at 21:10 every day"
OTHER = ["Winter boats end at 18:40.", "Dogs travel free.", "Tickets cost 9 crowns."]
REFERENCES = ["at 21:10"]


def case(chunks, answer="It leaves at 21:10.", **known):
    return fact_case([FACT], chunks, answer, REFERENCES, **known)


@pytest.mark.parametrize(
    ("name", "made", "findings"),
    [
        ("all right", case([f"Now {FACT}."]), []),
        ("all right, with citations", case([f"Now {FACT}.", "Pier 2."], "It leaves at 21:10 [1][2]."), []),
        ("the number of a citation is no number", case([FACT, "Pier 2."], "Late [2]."), [("ignored", "fact 1", (1,))]),
        (
            "missing chunk, right all the same",
            case(OTHER),
            [("missing chunk", "fact 1", ()), ("right, but not from the chunks", "answer", ())],
        ),
        ("missing chunk", case(OTHER, "It leaves late."), [("missing chunk", "fact 1", ())]),
        ("nothing retrieved", case([], "It leaves late."), [("nothing retrieved", "fact 1", ())]),
        (
            "missing and made up",
            case(OTHER, "At 23:00."),
            [("missing chunk", "fact 1", ()), ("hallucinated", "answer", ())],
        ),
        ("missing and taken from elsewhere", case(OTHER, "At 18:40."), [("missing chunk", "fact 1", ())]),
        ("noise", case([OTHER[0], FACT], "At 18:40."), [("wrong passage used", "fact 1", (1,))]),
        ("misread", case([f"{FACT}, in winter at 18:40"], "At 18:40."), [("misread", "fact 1", (1,))]),
        (
            "misread, the neighbour in a chunk below",
            case([FACT, f"{FACT}. In winter at 18:40."], "At 18:40."),
            [("misread", "fact 1", (2,))],
        ),
        ("no answer", case([FACT], " "), [("no answer", "fact 1", (1,))]),
        ("no answer, missing chunk", case(OTHER, ""), [("no answer", "answer", ()), ("missing chunk", "fact 1", ())]),
        ("hallucinated", case([FACT, *OTHER], "At 23:00."), [("hallucinated", "fact 1", (1,))]),
        ("wrongly refused", case([FACT], "I do not know."), [("wrongly refused", "fact 1", (1,))]),
        ("rightly refused", case(OTHER, "I do not know."), [("missing chunk", "fact 1", ())]),
        ("ranked too low", case([*OTHER, FACT], "It leaves late."), [("ranked too low", "fact 1", (4,))]),
        ("ignored", case([*OTHER[:2], FACT], "It leaves late."), [("ignored", "fact 1", (3,))]),
    ],
)
def test_a_cause_from_facts(name, made, findings):
    outcome = find_causes(made)
    assert told(outcome) == findings
    assert outcome.seen_by == "facts"


def test_a_number_of_the_neighbouring_sentence_is_misread():
    """Also if the annotated fact spans both sentences."""
    fact = "A day ticket costs 12 crowns. A week ticket costs 43 crowns."
    made = fact_case([fact], [fact], "It costs 12 crowns.", ["43 crowns"])
    assert told(find_causes(made)) == [("misread", "fact 1", (1,))]


def test_facts_that_the_run_did_not_look_for():
    made = Case(case([FACT]).sample)
    assert "fact_recall" in find_causes(made).undecided


def test_a_wrong_answer_without_numbers_needs_a_judge():
    made = fact_case(["dogs travel on a lead"], ["dogs travel on a lead"], "Yes, certainly.", ["on a lead, on deck"])
    outcome = find_causes(made)
    assert (told(outcome), outcome.undecided) == ([], NOT_COMPARED)
    matched = Case(made.sample, {**made.evidence, "reference_matches": [0.0]})
    assert told(find_causes(matched)) == [("wrong answer", "fact 1", (1,))]


@pytest.mark.parametrize(
    ("chunks", "cut"),
    [
        (["Boats. The last boat leaves", "at 21:10 every day. Dogs."], (1, 2)),
        (["at 21:10 every day. Dogs.", "Cats.", "Boats. The last boat leaves"], (3, 1)),
        (["Boats. The last boat leaves at", "at 21:10 every day. Dogs."], (1, 2)),  # chunks that overlap
        (["Cats.", "Boats. The last boat leaves at"], (2,)),  # the other half was not retrieved
        (["leaves at 21:10 every day. Dogs."], (1,)),
    ],
)
def test_a_fact_that_was_cut(chunks, cut):
    [finding] = find_causes(case(chunks, "It leaves late.")).findings
    assert (finding.cause.name, finding.chunks) == ("split fact", cut)


@pytest.mark.parametrize("chunk", ["Ask for the last boat.", "every day", "The last boat leaves. At 21:10 it is dark."])
def test_a_few_words_at_an_edge_are_no_cut(chunk):
    [finding] = find_causes(case([chunk], "It leaves late.")).findings
    assert finding.cause.name == "missing chunk"


@pytest.mark.parametrize(
    "expected",
    [{"relevance": {"t#2": 2.0, "t#9": 0.0}}, {"reference_contexts": ["Winter boats end at 18:40."]}],
)
def test_a_fact_that_no_expected_chunk_has_was_lost(expected):
    chunks = [Chunk("Winter boats end at 18:40. So.", "t#2"), Chunk("Dogs.", "t#3")]
    [finding] = find_causes(case(chunks, "It leaves late.", **expected)).findings
    assert finding.cause.name == "lost fact"


@pytest.mark.parametrize(
    "expected", [{"relevance": {"t#2": 2.0, "t#4": 1.0}}, {"reference_contexts": ["The last boat."]}]
)
def test_a_fact_whose_chunk_was_not_retrieved_is_not_lost(expected):
    chunks = [Chunk("Winter boats end at 18:40.", "t#2"), Chunk("Dogs.", "t#3")]
    [finding] = find_causes(case(chunks, "It leaves late.", **expected)).findings
    assert finding.cause.name == "missing chunk"


@pytest.mark.parametrize(
    ("answer", "causes"), [("There are 120.", ["hallucinated"]), ("The documents do not say.", [])]
)
def test_a_question_that_has_no_answer(answer, causes):
    outcome = find_causes(Case(Sample("s", answer=answer, contexts=[Chunk("c")], answerable=False)))
    assert [finding.cause.name for finding in outcome.findings] == causes


def test_facts_without_an_answer_show_retrieval_only():
    outcome = find_causes(Case(Sample("s", contexts=[], facts=case([]).sample.facts), {"fact_ranks": [None]}))
    assert told(outcome) == [("nothing retrieved", "fact 1", ())]
    assert outcome.seems_right is None


def test_numbers():
    assert numbers("At 21:10, for 1,200.50 crowns (12 %), B52.") == {"21:10", "1,200.50", "12", "52"}
    assert foreign_numbers("5 of 12 in 1999", "12 ships", "1999") == {"5"}


def test_only_a_fact_that_is_left_out_is_ignored():
    facts = ["The sauna costs 13.00 euros for three hours.", "Every further half hour costs 1.50 euros."]
    reference = "13.00 euros for three hours, and 1.50 euros for every further half hour."
    case = fact_case(facts, [" ".join(facts)], "The sauna costs 13.00 euros for three hours.", [reference])
    [finding] = find_causes(case).findings
    assert (finding.cause.name, finding.about) == ("ignored", "fact 2")
    assert finding.why == "chunk 1 contains it, but the answer leaves its numbers out"


def test_numbers_that_are_left_out_are_those_of_the_fact_or_of_the_reference():
    fact = "The sauna costs 13.00 euros for 3 hours in winter and in summer."
    for answer, why in (
        ("The sauna costs 13.00 euros.", "the answer leaves 3 out"),
        ("The sauna costs 13.00 euros for 3 hours.", "the answer leaves 1.50 of the reference out"),
        ("It costs 13.00 euros for 3 hours.", "the answer leaves 1.50 of the reference out"),
    ):
        known = "The sauna has a price list." if answer.startswith("It") else fact
        case = fact_case(
            [known], [fact + known], answer, ["13.00 euros for 3 hours, then 1.50 euros for each half hour."]
        )
        [finding] = find_causes(case).findings
        assert (finding.cause.name, finding.why) == ("ignored", f"chunk 1 contains it, but {why}")


@pytest.mark.parametrize(
    ("question", "answer", "references", "opposite"),
    [
        ("May I sublet?", "Yes, you can: short lets are permitted.", ["No. Subletting is not permitted."], True),
        ("Darf ich rauchen?", "Nein.", ["Ja, draußen."], True),
        ("May I sublet?", "**No**, it is not allowed [1].", ["No."], False),
        ("May I sublet?", "Yes.", ["Only with consent."], False),
        ("May I sublet?", "Yes.", ["No.", "Yes, for a week."], False),
        ("Is parking not free?", "Yes, it is free.", ["No, it is free."], False),
        ("May I sublet?", "Yes.", [], False),
    ],
)
def test_yes_in_place_of_no(question, answer, references, opposite):
    assert says_opposite(Case(Sample("s", question, answer, references=references))) is opposite
