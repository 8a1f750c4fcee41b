"""The tools by the local judge, with a toy in its place: what is asked of it, and what its probabilities become."""

import asyncio
import json
import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ragstone.data.types import Claim
from ragstone.data.verdict import Verdict
from ragstone.errors import Skip
from ragstone.models.local_judge import Judgements, LocalJudge, Support, find_local_judge, open_local_judge, read_card
from ragstone.models.store import Installed
from ragstone.tools.local_judges import (
    BY_CELLS,
    BY_NUMBERS,
    EACH,
    TOGETHER,
    LocalChecker,
    LocalEstimator,
    LocalExtractor,
    LocalGrader,
    other_quantity,
)
from ragstone.tools.protocols import InContext, Joint
from tests.models.toy_judge import make_toy_judge
from tests.tools.checking import in_chunks, in_text, labels

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'ragstone[local]'")
pytest.importorskip("onnx", reason="onnx is not installed")

MOLE = "The light stands on the mole. The horn is red."
TOWER = "The tower is white and has three windows."
MORE = "Many visitors come here in summer to see the harbour and to walk along the mole to the light."
FILLER = "Vessels carry crates of salt to the harbour every week. "


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    texts = [MOLE, TOWER, FILLER, "It was built in 1903 by Ada Moor, the keeper. Where not lamp"]
    folder = make_toy_judge(tmp_path_factory.mktemp("toy"), texts)
    card = read_card(folder)
    return LocalJudge(Installed("local-judge", folder, "", dict(card.files)), card)


@pytest.fixture
def checker(judge):
    return LocalChecker(Judgements(judge), judge.card, judge.signature)


def run(awaited):
    return asyncio.run(awaited)


class Counting:
    """Always gives the same probabilities, and keeps what it was asked."""

    def __init__(self, supported=0.0, contradicted=0.0):
        self.asked = []
        self._support = Support(supported, contradicted)

    async def support(self, pairs):
        self.asked += pairs
        return [self._support for _ in pairs]


def test_claims_are_sentences_and_names_are_capitals():
    extractor = LocalExtractor()
    content = run(extractor.content("Who built it?", "It was built by Ada Moor. It is red.", {"reference_entities"}))
    assert content.claims == [Claim("It was built by Ada Moor.", words=6), Claim("It is red.", words=3)]
    assert content.entities == ["Ada Moor"]
    assert run(extractor.content("Who?", "It is Ada.", ())).entities == []
    chinese = run(extractor.content("谁？", "灯塔建于1903年。", {"reference_entities"}))
    assert chinese.claims == [Claim("灯塔建于1903年。", words=1)]
    assert isinstance(chinese.entities, Skip)


def test_verdicts_against_a_text(checker):
    claims = [
        "The light stands on the mole.",
        "The horn is white.",
        "The horn is not red.",
        "",
        "…",
        "灯塔建于1903年。",
    ]
    assert run(in_text(checker, "Where?", claims, MOLE)) == [
        "entailment", "unsure", "contradiction", "neutral", "neutral", "neutral",
    ]  # fmt: skip
    assert run(in_text(checker, "Where?", claims[:2], " ")) == ["neutral", "neutral"]
    assert run(in_text(checker, "Where?", [], MOLE)) == []


def test_a_short_text_is_read_with_its_question(checker):
    assert run(in_text(checker, "Where is the light?", ["The light: on the mole."], "on the mole")) == ["entailment"]
    assert run(in_text(checker, "Where is the tower?", ["The light: on the mole."], "on the mole")) == ["neutral"]


def test_verdicts_against_chunks_and_against_all_of_them(checker):
    claims = [
        "The light stands on the mole.",
        "The light stands on the mole, the tower has three white windows.",
        "It has salt lamp.",
    ]
    found = run(in_chunks(checker, "Where?", claims, [MOLE, TOWER]))
    assert found.each == [["entailment", "neutral"], ["neutral", "entailment"], ["neutral", "neutral"]]
    assert found.together == ["entailment", "entailment", "neutral"], "the second needs both and counts for the nearest"
    assert found.agreement is None
    nothing = run(in_chunks(checker, "Where?", claims, []))
    assert (nothing.each, nothing.together) == ([[], [], []], ["neutral"] * 3)


def test_a_passage_without_a_word_of_the_claim_is_not_read(judge):
    counting = Counting()
    run(in_chunks(LocalChecker(counting, judge.card, ""), "Where?", ["The light is red."], [MOLE, "Nothing else."]))
    assert [evidence for evidence, _ in counting.asked] == [MOLE], "the other chunk is not near"


def test_verdicts_keep_their_probabilities(judge):
    checker = LocalChecker(Judgements(judge), replace(judge.card, coverage_weight=0.25, unrelated=0.03), "")
    claims = ["The horn is red.", "The horn is white.", "The horn is not red.", "Crates carry salt."]
    verbatim, near, denied, unrelated = run(checker.weigh(claims, [MOLE]))
    assert verbatim[0].as_dict() == {"verdict": "entailment", "supported": 1.0, "contradicted": 0.0, "counted": 1.0}
    [verdict] = near
    assert (verdict, 0.35 < verdict.support < 0.65) == ("unsure", True)
    assert verdict.counted == verdict.support, "words do not count against chunks"
    by_reference = run(checker.in_text("", claims, MOLE))[1]
    assert by_reference.counted == pytest.approx(0.75 * verdict.support + 0.25 * 2 / 3, abs=1e-3)
    assert denied[0] == "contradiction"
    assert denied[0].support + denied[0].contradiction <= 1
    assert (unrelated[0], unrelated[0].contradiction) == ("neutral", 0.0)
    assert checker.verdict("Crates carry salt.", MOLE, None).support == 0.03, "a text that is not read"


@pytest.mark.parametrize(
    ("supported", "contradicted", "word"),
    [(0.65, 0.0, "entailment"), (0.64, 0.36, "unsure"), (0.36, 0.0, "unsure"), (0.35, 0.65, "contradiction"),
     (0.4, 0.6, "contradiction"), (0.35, 0.5, "neutral"), (0.99, 0.01, "entailment")],
)  # fmt: skip
def test_a_verdict_between_the_thresholds_is_unsure(judge, supported, contradicted, word):
    verdict = LocalChecker(Judgements(judge), replace(judge.card, contradiction=0.6), "").verdict(
        "The horn is blue.", MOLE, Support(supported, contradicted)
    )
    assert verdict == word
    assert verdict.support + verdict.contradiction <= 1


def test_all_chunks_together(judge):
    checker = LocalChecker(Judgements(judge), judge.card, "")
    unsure, no = Verdict("unsure", 0.5, 0.1, counted=0.6), Verdict("neutral", 0.1, 0.3, counted=0.2)
    assert checker.joined([no, unsure], None).as_dict() == {
        "verdict": "unsure", "supported": 0.5, "contradicted": 0.3, "counted": 0.6,
    }  # fmt: skip
    assert checker.joined([no], Verdict("contradiction", 0.0, 0.9, counted=0.1)) == "neutral"
    assert checker.joined([no, "entailment"], None).support is None, "a language model said so"
    assert checker.joined([], None) == "neutral"


def test_a_chunk_that_is_far_away_is_not_read_if_another_is_near(judge):
    counting = Counting()
    claim = "The red light of the old tower stands on the mole."
    run(in_chunks(LocalChecker(counting, judge.card, ""), "Where?", [claim], [MOLE, "A red crate."]))
    assert {evidence for evidence, _ in counting.asked} == {MOLE}
    counting.asked.clear()
    run(LocalChecker(counting, judge.card, "").weigh([claim], ["A red crate.", "An old crate."]))
    assert counting.asked == [("A red crate.\n\nAn old crate.", claim)], "a paraphrase has few words in any text"


@pytest.mark.parametrize(
    ("supported", "contradicted", "readings"), [(0.1, 0.2, 1), (0.9, 0, 6), (0.5, 0, 6), (0, 1, 6)]
)
def test_chunks_are_read_alone_only_if_all_together_say_something_of_the_claim(
    judge, supported, contradicted, readings
):
    chunks = [f"{MOLE} In {year} the lamp was white. {FILLER * 12}" for year in range(1901, 1906)]
    counting = Counting(supported, contradicted)
    found = run(in_chunks(LocalChecker(counting, judge.card, ""), "Where?", ["The red light is on the mole."], chunks))
    asked = list(dict.fromkeys(counting.asked))
    assert len(asked) == readings
    together, *alone = [evidence for evidence, _ in asked]
    assert len(together.split()) <= TOGETHER
    assert all(len(evidence.split()) <= EACH for evidence in alone)
    assert found.each[0][0].support == supported, "the nearest chunk has at least what all say together"
    [(evidence, _)] = asked_of(judge, "The red light is on the mole.", [chunks[0], "Salt."])
    assert EACH < len(evidence.split()) <= judge.card.window, "the only near chunk is read as a whole"


def test_a_verdict_does_not_depend_on_other_claims(checker):
    claims, chunks = ["The horn is white.", "The tower is red.", "The light is not on the mole."], [MOLE, TOWER]
    alone = [run(checker.weigh([claim], chunks))[0] for claim in claims]
    assert run(checker.weigh(claims, chunks)) == alone


def test_a_claim_that_a_chunk_contains_is_not_read_together(judge):
    chunks = [MOLE, "The horn is green."]
    assert asked_of(judge, "The horn is red.", chunks) == [("The horn is green.", "The horn is red.")]
    assert asked_of(judge, "The horn is red.", [MOLE, MOLE]) == []


def asked_of(judge, claim, chunks):
    """The pairs that are read for a claim."""
    counting = Counting()
    run(in_chunks(LocalChecker(counting, judge.card, ""), "Where?", [claim], chunks))
    return counting.asked


def test_only_near_sentences_are_read(judge):
    counting = Counting()
    run(in_text(LocalChecker(counting, judge.card, ""), "Where?", ["The light is tall."], f"{MOLE} {FILLER * 40}"))
    [(evidence, _)] = counting.asked
    assert evidence.startswith("The light stands on the mole.")
    assert len(evidence.split()) <= judge.card.window


@pytest.mark.slow
def test_evidence_of_a_hundred_thousand_words(judge):
    text = FILLER * 6000 + "The light stands on the mole. " + FILLER * 5000
    assert len(text.split()) > 100_000
    counting = Counting()
    checker = LocalChecker(counting, judge.card, "")
    run(in_text(checker, "Where?", ["The light stands on the mole.", "Vessels carry salt."], text))
    assert len(counting.asked) <= 2 * 4
    real = LocalChecker(Judgements(judge), judge.card, "")
    assert run(in_text(real, "Where?", ["The light stands on the mole."], text)) == ["entailment"]


def test_numbers_as_words_find_their_passage(judge):
    counting = Counting()
    run(in_text(LocalChecker(counting, judge.card, ""), "How many?", ["3"], TOWER))
    assert len(counting.asked) == 1


def test_answers_are_graded_against_each_reference(judge, checker):
    grader = LocalGrader(Judgements(judge), checker, judge.signature)
    found = run(grader.matches("Where?", "on the mole", ["on the mole", "white tower"]))
    assert found[0] > 0.9
    assert found[1] < 0.1
    assert run(grader.matches("Where?", " ", ["on the mole"])) == [0.0]
    assert run(grader.useful_chunks("Where?", "The light stands on the mole.", [TOWER, MOLE])) == [False, True]
    assert run(grader.useful_chunks("Where?", "", [TOWER])) == [False]


def test_shares_go_both_ways(judge):
    estimator = LocalEstimator(Judgements(judge), judge.signature)
    found = run(estimator.shares("Where?", "The light stands on the mole.", [MOLE, TOWER]))
    assert found.of_answer[0] > 0.9 > found.of_answer[1]
    assert found.of_references[0] < found.of_answer[0], "half of the reference is not in the answer"
    empty = run(LocalEstimator(Judgements(judge), "").shares("Where?", "", ["", MOLE]))
    assert (empty.of_answer, empty.of_references) == ([0.0, 0.0], [0.0, 0.0])
    long = run(LocalEstimator(Judgements(judge), "").shares("Where?", FILLER * 2000, [FILLER]))
    assert long.of_answer[0] > 0.9


GERMAN = "Das Licht steht auf der Mole, und das Horn ist rot. Die Karten sind an Bord zu haben."


def test_other_languages_are_skipped(judge, checker):
    grader = LocalGrader(Judgements(judge), checker, "")
    estimator = LocalEstimator(Judgements(judge), "", judge.card)
    for asked in (
        in_text(checker, "Where?", ["The horn is red."], GERMAN),
        in_chunks(checker, "Where?", [GERMAN], [MOLE]),
        grader.matches("Where?", GERMAN, ["on the mole"]),
        grader.useful_chunks("Where?", "The horn is red.", [GERMAN]),
        estimator.shares("Where?", GERMAN, [MOLE]),
    ):
        with pytest.raises(Skip, match="the text is not English"):
            run(asked)
    both = replace(judge.card, languages=("en", "de"))
    assert len(run(in_text(LocalChecker(Judgements(judge), both, ""), "Where?", ["Das Horn ist rot."], GERMAN))) == 1


def test_a_refusal_contradicts_nothing_and_matches_a_refusal_only(judge, checker):
    assert run(in_text(checker, "Which?", ["The horn is red."], "I cannot answer this question.")) == ["neutral"]
    grader = LocalGrader(Judgements(judge), checker, "")
    assert run(grader.matches("Which?", "I do not know.", ["red", "The documents do not say."])) == [0.0, 1.0]


class Matching:
    """Matches nothing, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    async def match(self, question, references, answer):
        self.asked += [(reference, answer) for reference in references]
        return [0.25 for _ in references]


class Agreeing:
    """A judge to which every answer says the same."""

    async def match(self, question, references, answer):
        return [0.94] * len(references)

    async def support(self, pairs):
        return [Support(0.94, 0.0)] * len(pairs)


@pytest.mark.parametrize(
    ("reference", "answer", "match"),
    [
        ("A jar of honey costs £6.", "A jar of honey costs £16.", BY_NUMBERS[True][1]),
        ("A jar of honey costs £6.", "You pay £6 for a jar of honey, and £11 for two.", 0.94),
        ("The office is on the second floor.", "The office is on floor two of the building.", 0.94),
        ("£6", f"A jar of honey is a nice present. It costs £6. {MORE}", 0.94),
        # A long answer without the number, and one with another number for the same thing in another sentence.
        ("£6", f"A jar of honey is a nice present. It is sold by weight. {MORE}", BY_NUMBERS[False][1]),
        ("£6", f"It costs £6 today. A jar of honey will cost £9 in May. {MORE}", 0.4),
    ],
)
def test_an_answer_with_another_number_in_its_place_hardly_matches(checker, reference, answer, match):
    grader = LocalGrader(Agreeing(), checker, "toy")
    found = asyncio.run(grader.matches("What does a jar of honey cost?", answer, [reference]))
    assert found == [pytest.approx(match, abs=0.001)]


class BySentence:
    """A judge that finds the reference word for word, and is distracted by long texts."""

    async def match(self, question, references, answer):
        return [0.9 if reference in answer and len(answer.split()) < 10 else 0.2 for reference in references]

    async def support(self, pairs):
        return [Support(0.8 if claim.split("? ")[1].rstrip(".") in text else 0.1, 0.0) for text, claim in pairs]


def test_a_long_answer_is_read_by_its_best_sentence_and_as_evidence(checker):
    grader = LocalGrader(BySentence(), checker, "toy")
    right, wrong = (
        f"There is a lot to see in the town. The light was built by {name}. {MORE}" for name in ("Ada", "Bo")
    )
    assert run(grader.matches("Who built the light?", right, ["Ada"]))[0] > 0.5
    assert run(grader.matches("Who built the light?", wrong, ["Ada"]))[0] < 0.2


@pytest.mark.slow
def test_systems_of_different_verbosity_are_ranked_as_people_rank_them():
    """Every other question of training/written/systems.jsonl.xz: those that nothing is fitted on."""
    path = Path(__file__).parents[2] / "training/written/systems.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][1::2]
    judgements = Judgements(open_local_judge())
    grader = LocalGrader(judgements, LocalChecker(judgements, judgements.judge.card, ""), "")
    people = {system: np.mean([row["right"][system] for row in rows]) for system in rows[0]["right"]}

    async def mean(system):
        asked = (grader.matches(row["question"], row["answers"][system], [row["reference"]]) for row in rows)
        return np.mean([found[0] for found in await asyncio.gather(*asked)])

    judge = {system: run(mean(system)) for system in people}
    assert all(judge[one] > judge[other] for one in people for other in people if people[one] > people[other])
    assert np.corrcoef(list(people.values()), list(judge.values()))[0, 1] > 0.8


def test_quantities_are_compared_before_the_model_is_asked(checker):
    matching = Matching()
    grader = LocalGrader(matching, checker, "toy")
    assert run(grader.matches("How heavy?", "1.2 kg", ["1,200 g", "a heavy bag", "12 kg"])) == [1.0, 0.25, 0.0]
    assert matching.asked == [("a heavy bag", "1.2 kg")]
    matching.asked.clear()
    assert run(grader.matches("How heavy?", "1.2 kg", ["1,200 g"])) == [1.0]
    assert matching.asked == [], "the model is not run for nothing"
    assert grader.signature == "toy;quantities/7;long/1", "stored results of earlier rules are not used again"


def test_a_negation_of_what_the_text_says_is_not_supported_and_not_asked(judge):
    counting = Counting()
    checker = LocalChecker(counting, judge.card, "")
    claims = ["The horn is not red.", "The light never stands on the mole.", "It may not rain."]
    rows = run(checker.weigh(claims, [f"{MOLE} It may rain."]))
    assert [row[0] for row in rows] == ["contradiction", "contradiction", "neutral"]
    assert [(row[0].support, row[0].contradiction) for row in rows] == [(0.0, 1.0), (0.0, 1.0), (0.0, 0.0)]
    assert counting.asked == []


@pytest.mark.parametrize(
    "text",
    ["- The light stands on the mole.\n- The horn is red.", "> **The light** stands on the mole. The `horn` is _red_."],
)
def test_layout_marks_do_not_reach_the_judge(judge, text):
    counting = Counting()
    for one in (text, MOLE):
        run(LocalChecker(counting, judge.card, "").weigh(["The **horn** of the light is red."], [one]))
    [first, second] = [(" ".join(evidence.split()), claim) for evidence, claim in counting.asked]
    assert first == second == (MOLE, "The horn of the light is red.")


def test_swapped_names_are_at_most_unsure(judge):
    checker = LocalChecker(Counting(), judge.card, "")
    sure = Support(0.99, 0.0)
    assert checker.verdict("Moor paid Ada.", "Ada paid Moor.", sure) == "unsure"
    assert checker.verdict("Ada paid Moor for it.", "Ada paid Moor.", sure) == "entailment"


def test_nuggets_are_labelled_whole_and_by_their_parts(checker):
    answer = "The light stands on the mole. The horn is red."
    nuggets = ["The horn is red.", "The horn is red. Crates of salt are carried to the tower every week.", ""]
    found = run(labels(checker, "Where is the light?", nuggets, answer))
    assert found[:2] == ["support", "partial_support"]
    assert found[0].support == 1.0
    assert run(labels(checker, "q", nuggets[:1], "I do not know.")) == ["not_support"]
    assert run(labels(checker, "q", nuggets[:1], " ")) == ["not_support"]


@pytest.mark.parametrize(
    ("claims", "text", "words"),
    [
        (["At most 1.20 m."], "The non-swimmer pool is 2.10 m deep.", ["contradiction"]),
        (["The non-swimmer pool is 2.10 m deep."], "At most 1.20 m.", ["contradiction"]),
        (["The ticket costs 5.50 euros.", "Children pay 3 euros."], "5.50 euros", [None, "neutral"]),
        (["At most 1.20 m."], "The non-swimmer pool is 1.20 m deep.", [None]),
        (["120 cm"], "1.20 m", [None]),
        (["Adults pay 5.50 euros."], "Children pay 3 euros.", [None]),
    ],
)
def test_other_quantities_are_not_support(claims, text, words):
    assert [other_quantity(claim, text, alone=len(claims) == 1) for claim in claims] == words


def test_a_claim_is_not_supported_by_another_quantity(monkeypatch):
    """By the shipped judge, which takes 2.10 m for at most 1.20 m."""
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
    shipped = open_local_judge()
    checker = LocalChecker(Judgements(shipped), shipped.card, "")
    question, deep = "How deep is the non-swimmer pool?", "The non-swimmer pool is 2.10 m deep."
    [verdict] = run(in_text(checker, question, ["At most 1.20 m."], deep))
    assert (verdict, verdict.support, verdict.counted) == ("contradiction", 0.0, 0.0)


def test_a_pronoun_in_the_answer_does_not_hide_a_nugget(monkeypatch):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
    if (shipped := find_local_judge()) is None:
        pytest.skip("no local judge")
    checker = LocalChecker(Judgements(shipped), shipped.card, "shipped")
    question, answer = "How big is the main telescope?", "It has an aperture of 38 cm. It is kept in the small dome."
    nuggets = ["The main telescope has an aperture of 38 cm.", "The main telescope weighs four tonnes."]
    assert run(labels(checker, question, nuggets, answer)) == ["support", "not_support"]
    # All words of this nugget are in the question, so the question must not support it.
    found = run(labels(checker, "Is the hall open on Mondays?", ["The hall is open on Mondays."], "It is closed then."))
    assert found != ["support"]


class InTurn(Counting):
    """Supports texts with the wanted words only."""

    def __init__(self, *wanted):
        super().__init__()
        self._wanted = wanted

    async def support(self, pairs):
        self.asked += pairs
        return [Support(0.9 if claim in self._wanted else 0.2, 0.1) for _, claim in pairs]


def test_a_doubtful_claim_is_read_again_in_its_context(judge):
    chunks, claims = ["The horn on the mole is red. It is loud.", TOWER], ["It is red."]
    [claim] = InContext.of(claims, "What of the horn?", "The horn is loud. It is red.")
    whole, asked = "The horn is loud. It is red.", "What of the horn? It is red."
    texts = [*chunks, Joint.of(chunks)]
    read = InTurn(whole, asked)
    [row] = run(LocalChecker(read, judge.card, "").check("What of the horn?", [claim], texts))
    assert row[-1] == "entailment"
    assert row[-1].support == pytest.approx(0.9, abs=0.01)
    assert row[0] == row[-1]  # the nearest chunk
    # A claim without its text is not read again, and one that its sentences do not support is read once more only.
    for one, more in ((claims[0], 0), (claim, 1)):
        silent = InTurn()
        [row] = run(LocalChecker(silent, judge.card, "").check("What of the horn?", [one], texts))
        assert row[-1].support < 0.35
        assert sum(text == whole for _, text in silent.asked) == more
        assert not any(text == asked for _, text in silent.asked)


def test_a_total_of_numbers_in_the_sentence_before_is_not_refused(judge):
    text = "A day costs 60 crowns. Sundays add 40 crowns."
    [claim] = InContext.of(
        ["It is 100 crowns."], "How much?", "A day costs 60 crowns and a Sunday 40 more. It is 100 crowns."
    )
    checker = LocalChecker(Counting(0.8), judge.card, "")
    assert run(in_chunks(checker, "How much?", [claim], [text])).each[0][0] == "entailment"
    assert (
        run(in_chunks(checker, "How much?", [str(claim)], [text])).each[0][0].reason
        == "the text does not say 100 crowns"
    )


def test_cells_of_tables_limit_the_judge(judge):
    text = "| Zone | Adult | Child |\n|---|---|---|\n| A | 3 € | 1 € |\n| B | 5 € | 2 € |"
    sure, silent = (LocalChecker(Counting(value), judge.card, "") for value in (0.99, 0.1))
    claims = ["An adult pays 5 € in zone B.", "An adult pays 3 € in zone B."]
    right, wrong = (row[0] for row in run(in_chunks(sure, "", claims, [text])).each)
    assert right == "entailment"
    assert (wrong, wrong.support, wrong.reason) == ("contradiction", BY_NUMBERS[True][1], "the table says B: Adult 5 €")
    assert run(in_chunks(silent, "", claims, [text])).each[0][0].support == BY_CELLS
    # Another chunk has the number.
    assert run(in_chunks(sure, "", claims, [text, "Dogs pay 3 €."])).each[1][0] == "contradiction"
