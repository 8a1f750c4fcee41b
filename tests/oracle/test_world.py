"""The world is as it says: texts mean what they were made from, and the expected numbers are those worked out by hand."""

import re
from collections import Counter

import pytest

from tests.each_case import each_case
from tests.oracle.expected import SKIPPED, claims, cosine, expected
from tests.oracle.judge import judge
from tests.oracle.language import SHIPS, Proposition, Statement, read, read_question, say
from tests.oracle.verdicts import needed, verdict
from tests.oracle.world import FATES, World, is_true, make_samples, truth

SAMPLES = make_samples(300)
NOISE = Statement("Visitors keep to the marked paths.", "nothing")


def named(name):
    return each_case("sample", SAMPLES[:40])(name)


def test_samples_are_the_same_for_the_same_seed():
    assert [sample.row() for sample in make_samples(20, seed=3)] == [
        sample.row() for sample in make_samples(20, seed=3)
    ]
    assert make_samples(20, seed=3)[0].row() != make_samples(20, seed=4)[0].row()
    ids = [sample.id for seed in range(3) for sample in make_samples(20, seed=seed)]
    assert len(set(ids)) == 60


def test_everything_occurs():
    fates = Counter(fate for sample in SAMPLES for fate in sample.fates.values())
    assert all(fates[fate] > 10 for fate in FATES), fates
    assert all(fates[kind] > 5 for kind in ("noncommittal", "nothing_found", "no_reference", "wrong_and_lost")), fates
    assert {sample.language for sample in SAMPLES} == {"en", "de", "zh"}
    assert {0, 1, 2, 3, 4, 5} <= {len(sample.chunks) for sample in SAMPLES}


@named
def test_texts_mean_what_they_were_made_from(sample):
    row = sample.row()
    assert read(row["answer"]) == sample.answer
    assert [read(text) for text in row["contexts"]] == sample.chunks
    assert read_question(row["question"]) == (sample.subject, sample.asked)
    if sample.reference is not None:
        assert read(row["references"][0]) == sample.reference
        assert all(is_true(statement.meaning) for statement in sample.reference)


@named
def test_sentences_are_those_that_ragstone_cuts(sample):
    """The sentences needed are counted by ragstone's sentences; they must be the world's."""
    from ragstone.text.sentences import sentences

    for text, chunk in zip(sample.row()["contexts"], sample.chunks, strict=True):
        assert [text[span.start : span.end] for span in sentences(text)] == [statement.text for statement in chunk]


def test_each_fate_is_what_its_name_says():
    """Worked out from what the fates promise, for each asked attribute of each sample."""
    for sample in SAMPLES:
        if "all" in sample.fates:
            continue
        said = {statement.meaning.attribute: statement.meaning for statement in claims(sample.answer)}
        for attribute, fate in sample.fates.items():
            right = truth(sample.language, sample.subject, attribute)
            asserting = [chunk for chunk in sample.chunks if verdict(said.get(attribute, right), chunk) == "entailment"]
            assert (attribute in said) == (fate not in ("ignored", "missing")), (sample.id, attribute, fate)
            assert (said.get(attribute) == right) == (fate in ("right", "own_knowledge", "split"))
            assert bool(asserting) == (fate in ("right", "ignored", "misread", "misled", "misled_twice")), (
                sample.id,
                fate,
            )
            everything = [statement for chunk in sample.chunks for statement in chunk]
            assert (verdict(right, everything) == "entailment") == (fate in ("right", "ignored", "split"))


def test_a_judge_that_compares_letters_is_wrong():
    """What is entailed stands nowhere letter by letter; what stands letter by letter is denied or only quoted."""
    entailed = copied = 0
    for sample in SAMPLES:
        for claim in claims(sample.answer):
            for chunk, text in zip(sample.chunks, sample.row()["contexts"], strict=True):
                found = verdict(claim.meaning, chunk)
                entailed += found == "entailment"
                copied += claim.text in text
                assert not (claim.text in text and found == "entailment")
    assert entailed > 100
    assert copied > 50


def test_verdicts_by_hand():
    launched = Proposition("Maren", "launched", "1903")
    text = "In 1903 the Maren first took to the water."
    assert verdict(launched, read(text)) == "entailment"
    assert verdict(launched, read("In 1921 the Maren first took to the water.")) == "contradiction"
    assert verdict(launched, read("In 1903 the Maren Star first took to the water.")) == "neutral"
    assert verdict(launched, read("It is not true to write: The Maren was launched in 1903.")) == "contradiction"
    assert (
        verdict(launched, read("Nobody has ever shown what is sometimes heard: The Maren was launched in 1903."))
        == "neutral"
    )
    flag = Proposition("Maren", "flag", "Cassia")
    port, country = read("The Maren belongs to the harbour of Verrin. The town of Verrin is part of Cassia.")
    assert verdict(flag, [port]) == verdict(flag, [country]) == "neutral"
    assert verdict(flag, [port, country]) == "entailment"
    assert verdict(flag._replace(value="Aldoria"), [port, country]) == "contradiction"


def worked_example():
    """Two reference claims, five answer claims, four chunks: every number below is counted by hand."""
    ship = "Maren"
    right = {name: truth("en", ship, name) for name in ("launched", "cargo", "captain", "length", "port", "flag")}

    def wrong(attribute):
        other = {"launched": "1887", "cargo": "timber", "captain": "Ada Finch", "length": "48"}
        meaning = right[attribute]._replace(value=other[attribute])
        assert not is_true(meaning)
        return meaning

    country = truth("en", right["port"].value, "country")
    return World(
        "by-hand",
        "en",
        ship,
        ["launched", "flag"],
        [say("en", right["launched"]), say("en", right["flag"])],
        [
            say("en", right["launched"]),  # right, in chunk 2
            say("en", right["flag"]),  # right, in chunks 1 and 4 together only: self-knowledge
            say("en", wrong("cargo")),  # wrong, in chunk 2, which is relevant, and in 3, which is not
            say("en", wrong("captain")),  # wrong, in chunk 3
            say("en", wrong("length")),  # wrong, nowhere
        ],
        [
            [say("en", right["port"], 1), NOISE],
            [say("en", right["launched"], 1), say("en", wrong("cargo"), 1)],
            [say("en", wrong("cargo"), 1), say("en", wrong("captain"), 1), NOISE],
            [say("en", country, 1), NOISE, say("en", wrong("length"), 0, "denies")],
        ],
    )


def test_expected_by_hand():
    found = expected(worked_example())
    by_hand = {
        "ragchecker.precision": 2 / 5,
        "ragchecker.recall": 1.0,
        "ragchecker.f1": 2 * 0.4 / 1.4,
        "ragchecker.claim_recall": 1 / 2,
        "ragchecker.context_precision": 1 / 4,
        "ragchecker.context_utilization": 1.0,
        "ragchecker.noise_sensitivity_in_relevant": 1 / 5,
        "ragchecker.noise_sensitivity_in_irrelevant": 1 / 5,
        "ragchecker.hallucination": 1 / 5,
        "ragchecker.self_knowledge": 1 / 5,
        "ragchecker.faithfulness": 3 / 5,
        "ragas.faithfulness": 4 / 5,
        "ragas.context_recall": 1.0,
        "ragas.noise_sensitivity": 1 / 5,
        "ragas.context_precision": (1 / 1 + 2 / 2 + 3 / 4) / 3,  # chunks 1 and 4 are halves of what is asked
        "ragas.context_relevance": 3 / 10,
    }
    assert {name: found[name] for name in by_hand} == pytest.approx(by_hand, abs=1e-12)
    # F1 = 2·2 / (2·2 + 3 + 0), and the rest is the cosine.
    assert found["ragas.answer_correctness"] == pytest.approx(0.75 * 4 / 7 + 0.25 * found["semantic_similarity"])
    # Named: Maren, the year, the country. The country stands in chunk 4, the year in chunk 2.
    assert found["ragas.context_entity_recall"] == 1.0


def test_the_laws_hold():
    for sample in SAMPLES:
        found = expected(sample)
        if found["ragchecker.precision"] == SKIPPED:
            continue
        assert sum(found[f"ragchecker.{name}"] for name in ("faithfulness", "hallucination", "self_knowledge")) == (
            pytest.approx(1)
        )
        noise = sum(found[f"ragchecker.noise_sensitivity_in_{kind}"] for kind in ("relevant", "irrelevant"))
        assert found["ragchecker.precision"] + noise + found["ragchecker.hallucination"] == pytest.approx(1)


def test_all_metrics_are_expected():
    """A new metric of these families needs an expected value."""
    from ragstone.registry import CATALOGUE

    names = {name for name in CATALOGUE._metrics if re.match(r"(ragas|ragchecker)\.", name)}
    assert names <= set(expected(SAMPLES[0]))
    assert all(set(expected(sample)) == set(expected(SAMPLES[0])) for sample in SAMPLES)


def test_of_two_sentences_that_say_the_same_the_first_is_needed():
    sentences = read(
        "In 1903 the Maren first took to the water. The Maren was launched in 1903. Edda Lund commands the Maren. "
        "The Maren belongs to the harbour of Verrin. The town of Dunmere is part of Cassia. "
        "The Maren was launched in 1921. Nobody has ever shown what is sometimes heard: The Maren was launched in 1958."
    )
    assert needed("Maren", ["launched"], sentences) == [True, False, False, False, False, True, False]
    assert needed("Maren", ["flag"], sentences) == [False] * 7
    located = [*sentences, *read("The town of Verrin is part of Cassia.")]
    assert needed("Maren", ["flag"], located) == [False, False, False, True, False, False, False, True]
    stated = [*located, *read("The colours of Cassia fly on the Maren.")]
    assert needed("Maren", ["flag"], stated) == [False] * 8 + [True]


def test_claims_as_triplets_mean_the_same():
    for sample in SAMPLES[:20]:
        row = sample.row()
        triplets = judge("triplets", {"text": row["answer"]})["triplets"]
        spelled = [" ".join(triplet.values()) for triplet in triplets]
        sentences = judge("claims", {"text": row["answer"]})["claims"]
        data = {"chunks": row["contexts"]}
        assert judge("context_verdicts", {**data, "claims": spelled}) == judge(
            "context_verdicts", {**data, "claims": sentences}
        )


def test_cosines_by_hand():
    assert cosine("the red boat", "the red boat") == pytest.approx(1)
    assert cosine("red boat", "blue sea") == pytest.approx(0)
    assert cosine("red boat", "Red sea!") == pytest.approx(1 / 2)
    assert cosine("", "") == pytest.approx(1)


@named
def test_the_judge_sees_what_is_expected(sample):
    """From the texts alone the judge finds what the sample was made from."""
    row = sample.row()
    said = judge("claims", {"text": row["answer"]})["claims"]
    assert said == [statement.text for statement in claims(sample.answer)]
    for given in judge("context_verdicts", {"claims": said, "chunks": row["contexts"]})["verdicts"]:
        claim = claims(sample.answer)[given["claim"] - 1]
        backing = [
            letter
            for letter, chunk in zip("ABCDEFGHIJ", sample.chunks, strict=False)
            if verdict(claim.meaning, chunk) == "entailment"
        ]
        everything = [statement for chunk in sample.chunks for statement in chunk]
        assert [label for label in given["supported_by"] if len(label) == 1] == backing
        assert bool(given["supported_by"]) == (verdict(claim.meaning, everything) == "entailment")
    assert judge("questions", {"answer": row["answer"], "count": "3"})["noncommittal"] == sample.noncommittal


def test_all_ships_have_names_of_their_own():
    names = [name for ships in SHIPS.values() for name in ships]
    assert len(set(names)) == len(names)
