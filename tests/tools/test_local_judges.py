"""The tools by the local judge, with a toy in its place: what is asked of it, and what its probabilities become."""

import asyncio
from dataclasses import replace

import pytest

from ragstone.data.types import Claim, ScoredVerdict
from ragstone.errors import Skip
from ragstone.models.local_judge import Judgements, LocalJudge, Support, open_local_judge, read_card
from ragstone.models.store import Installed
from ragstone.tools.local_judges import (
    EACH,
    TOGETHER,
    LocalChecker,
    LocalEstimator,
    LocalExtractor,
    LocalGrader,
    other_quantity,
)
from tests.models.toy_judge import make_toy_judge

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'ragstone[local]'")
pytest.importorskip("onnx", reason="onnx is not installed")

MOLE = "The light stands on the mole. The horn is red."
TOWER = "The tower is white and has three windows."
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
    assert content.claims == [Claim("It was built by Ada Moor."), Claim("It is red.")]
    assert content.entities == ["Ada Moor"]
    assert run(extractor.content("Who?", "It is Ada.", ())).entities == []
    chinese = run(extractor.content("谁？", "灯塔建于1903年。", {"reference_entities"}))
    assert chinese.claims == [Claim("灯塔建于1903年。")]
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
    assert run(checker.against_text("Where?", claims, MOLE)) == [
        "entailment", "unsure", "contradiction", "neutral", "neutral", "neutral",
    ]  # fmt: skip
    assert run(checker.against_text("Where?", claims[:2], " ")) == ["neutral", "neutral"]
    assert run(checker.against_text("Where?", [], MOLE)) == []


def test_a_short_text_is_read_with_its_question(checker):
    assert run(checker.against_text("Where is the light?", ["The light: on the mole."], "on the mole")) == [
        "entailment"
    ]
    assert run(checker.against_text("Where is the tower?", ["The light: on the mole."], "on the mole")) == ["neutral"]


def test_verdicts_against_chunks_and_against_all_of_them(checker):
    claims = [
        "The light stands on the mole.",
        "The light stands on the mole, the tower has three white windows.",
        "It has salt lamp.",
    ]
    found = run(checker.against_chunks("Where?", claims, [MOLE, TOWER]))
    assert found.each == [["entailment", "neutral"], ["neutral", "entailment"], ["neutral", "neutral"]]
    assert found.together == ["entailment", "entailment", "neutral"], "the second needs both and counts for the nearest"
    assert found.agreement is None
    nothing = run(checker.against_chunks("Where?", claims, []))
    assert (nothing.each, nothing.together) == ([[], [], []], ["neutral"] * 3)


def test_a_passage_without_a_word_of_the_claim_is_not_read(judge):
    counting = Counting()
    run(LocalChecker(counting, judge.card, "").against_chunks("Where?", ["The light is red."], [MOLE, "Nothing else."]))
    assert [evidence for evidence, _ in counting.asked] == [MOLE], "the other chunk is not near"


def test_verdicts_keep_their_probabilities(judge):
    checker = LocalChecker(Judgements(judge), replace(judge.card, coverage_weight=0.25, unrelated=0.03), "")
    verbatim, near, denied, unrelated = run(
        checker.weigh(["The horn is red.", "The horn is white.", "The horn is not red.", "Crates carry salt."], [MOLE])
    )
    assert verbatim[0].as_dict() == {"verdict": "entailment", "supported": 1.0, "contradicted": 0.0, "counted": 1.0}
    [verdict] = near
    assert (verdict, 0.35 < verdict.supported < 0.65) == ("unsure", True)
    assert verdict.counted == pytest.approx(0.75 * verdict.supported + 0.25 * 2 / 3, abs=1e-3)
    assert denied[0] == "contradiction"
    assert denied[0].supported + denied[0].contradicted <= 1
    assert (unrelated[0], unrelated[0].contradicted) == ("neutral", 0.0)
    assert checker.verdict("Crates carry salt.", MOLE, None).supported == 0.03, "a text that is not read"


@pytest.mark.parametrize(
    ("supported", "contradicted", "word"),
    [(0.65, 0.0, "entailment"), (0.64, 0.99, "unsure"), (0.36, 0.0, "unsure"), (0.35, 0.95, "contradiction"),
     (0.35, 0.5, "neutral"), (0.99, 0.99, "entailment")],
)  # fmt: skip
def test_a_verdict_between_the_thresholds_is_unsure(judge, supported, contradicted, word):
    verdict = LocalChecker(Judgements(judge), replace(judge.card, contradiction=0.6), "").verdict(
        "The horn is blue.", MOLE, Support(supported, contradicted)
    )
    assert verdict == word
    assert verdict.supported + verdict.contradicted <= 1


def test_all_chunks_together(judge):
    checker = LocalChecker(Judgements(judge), judge.card, "")
    unsure, no = ScoredVerdict("unsure", 0.5, 0.1, 0.6), ScoredVerdict("neutral", 0.1, 0.3, 0.2)
    assert checker.joined([no, unsure], None).as_dict() == {
        "verdict": "unsure", "supported": 0.5, "contradicted": 0.3, "counted": 0.6,
    }  # fmt: skip
    assert checker.joined([no], ScoredVerdict("contradiction", 0.0, 0.9, 0.1)) == "neutral"
    assert checker.joined([no, "entailment"], None).supported is None, "a language model said so"
    assert checker.joined([], None) == "neutral"


def test_a_chunk_that_is_far_away_is_not_read_if_another_is_near(judge):
    counting = Counting()
    claim = "The red light of the old tower stands on the mole."
    run(LocalChecker(counting, judge.card, "").against_chunks("Where?", [claim], [MOLE, "A red crate."]))
    assert {evidence for evidence, _ in counting.asked} == {MOLE}
    counting.asked.clear()
    run(LocalChecker(counting, judge.card, "").weigh([claim], ["A red crate.", "An old crate."]))
    assert counting.asked == [("A red crate.\nAn old crate.", claim)], "a paraphrase has few words in any text"


@pytest.mark.parametrize(
    ("supported", "contradicted", "readings"), [(0.1, 0.2, 1), (0.9, 0, 6), (0.5, 0, 6), (0, 1, 6)]
)
def test_chunks_are_read_alone_only_if_all_together_say_something_of_the_claim(
    judge, supported, contradicted, readings
):
    chunks = [f"{MOLE} In {year} the lamp was white. {FILLER * 12}" for year in range(1901, 1906)]
    counting = Counting(supported, contradicted)
    found = run(
        LocalChecker(counting, judge.card, "").against_chunks("Where?", ["The red light is on the mole."], chunks)
    )
    asked = list(dict.fromkeys(counting.asked))
    assert len(asked) == readings
    together, *alone = [evidence for evidence, _ in asked]
    assert len(together.split()) <= TOGETHER
    assert all(len(evidence.split()) <= EACH for evidence in alone)
    assert found.each[0][0].supported == supported, "the nearest chunk has at least what all say together"
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
    run(LocalChecker(counting, judge.card, "").against_chunks("Where?", [claim], chunks))
    return counting.asked


def test_only_near_sentences_are_read(judge):
    counting = Counting()
    run(LocalChecker(counting, judge.card, "").against_text("Where?", ["The light is tall."], f"{MOLE} {FILLER * 40}"))
    [(evidence, _)] = counting.asked
    assert evidence.startswith("The light stands on the mole.")
    assert len(evidence.split()) <= judge.card.window


@pytest.mark.slow
def test_evidence_of_a_hundred_thousand_words(judge):
    text = FILLER * 6000 + "The light stands on the mole. " + FILLER * 5000
    assert len(text.split()) > 100_000
    counting = Counting()
    checker = LocalChecker(counting, judge.card, "")
    run(checker.against_text("Where?", ["The light stands on the mole.", "Vessels carry salt."], text))
    assert len(counting.asked) <= 2 * 4
    real = LocalChecker(Judgements(judge), judge.card, "")
    assert run(real.against_text("Where?", ["The light stands on the mole."], text)) == ["entailment"]


def test_numbers_as_words_find_their_passage(judge):
    counting = Counting()
    run(LocalChecker(counting, judge.card, "").against_text("How many?", ["3"], TOWER))
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
        checker.against_text("Where?", ["The horn is red."], GERMAN),
        checker.against_chunks("Where?", [GERMAN], [MOLE]),
        grader.matches("Where?", GERMAN, ["on the mole"]),
        grader.useful_chunks("Where?", "The horn is red.", [GERMAN]),
        estimator.shares("Where?", GERMAN, [MOLE]),
    ):
        with pytest.raises(Skip, match="the text is not English"):
            run(asked)
    both = replace(judge.card, languages=("en", "de"))
    assert (
        len(run(LocalChecker(Judgements(judge), both, "").against_text("Where?", ["Das Horn ist rot."], GERMAN))) == 1
    )


def test_a_refusal_contradicts_nothing_and_matches_a_refusal_only(judge, checker):
    assert run(checker.against_text("Which?", ["The horn is red."], "I cannot answer this question.")) == ["neutral"]
    grader = LocalGrader(Judgements(judge), checker, "")
    assert run(grader.matches("Which?", "I do not know.", ["red", "The documents do not say."])) == [0.0, 1.0]


class Matching:
    """Matches nothing, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    async def match(self, question, references, answer):
        self.asked += [(reference, answer) for reference in references]
        return [0.25 for _ in references]


def test_quantities_are_compared_before_the_model_is_asked(checker):
    matching = Matching()
    grader = LocalGrader(matching, checker, "toy")
    assert run(grader.matches("How heavy?", "1.2 kg", ["1,200 g", "a heavy bag", "12 kg"])) == [1.0, 0.25, 0.0]
    assert matching.asked == [("a heavy bag", "1.2 kg")]
    matching.asked.clear()
    assert run(grader.matches("How heavy?", "1.2 kg", ["1,200 g"])) == [1.0]
    assert matching.asked == [], "the model is not run for nothing"
    assert grader.signature == "toy;quantities/1", "stored results of earlier rules are not used again"


def test_a_negation_of_what_the_text_says_is_not_supported_and_not_asked(judge):
    counting = Counting()
    checker = LocalChecker(counting, judge.card, "")
    claims = ["The horn is not red.", "The light never stands on the mole.", "It may not rain."]
    rows = run(checker.weigh(claims, [f"{MOLE} It may rain."]))
    assert [row[0] for row in rows] == ["contradiction", "contradiction", "neutral"]
    assert [(row[0].supported, row[0].contradicted) for row in rows] == [(0.0, 1.0), (0.0, 1.0), (0.0, 0.0)]
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
    found = run(checker.nuggets("Where is the light?", nuggets, answer))
    assert found[:2] == ["support", "partial_support"]
    assert found[0].supported == 1.0
    assert run(checker.nuggets("q", nuggets[:1], "I do not know.")) == ["not_support"]
    assert run(checker.nuggets("q", nuggets[:1], " ")) == ["not_support"]


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
    [verdict] = run(checker.against_text(question, ["At most 1.20 m."], deep))
    assert (verdict, verdict.supported, verdict.counted) == ("contradiction", 0.0, 0.0)
