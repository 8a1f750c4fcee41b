"""Whether answers are right, in eight worlds in which one word decides. Facts never make a verdict worse."""

import re
import tomllib
from pathlib import Path

import pytest

import ragstone
from ragstone.analysis.diagnosis import diagnose
from ragstone.analysis.fact_causes import NOT_AGREED, judge_answer
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Fact, Sample
from ragstone.models.store import Store

WORLDS = tomllib.loads((Path(__file__).parent / "one_word_worlds.toml").read_text(encoding="utf-8"))
_CHOICE = re.compile(r"\{([^|}]*)\|([^}]*)\}")
WORDS = ["fact_recall", "token_f1"]


def say(text, right=True):
    return _CHOICE.sub(lambda match: match[1 if right else 2], text)


def rows(world, right, known=("references", "facts"), short=False):
    """Each answer in the words of the fact and in other words; the chunk with the fact comes second."""
    data = WORLDS[world]["rows"]
    for number, (question, fact, other) in enumerate(data):
        chunks = [say(data[(number + step) % len(data)][1]) for step in (3, 5)]
        truth = {"references": [_CHOICE.search(fact)[1] if short else say(fact)], "facts": [say(fact)]}
        for kind, text in (("same", fact), ("other", other)):
            yield {
                "id": f"{world}-{number}-{kind}",
                "question": question,
                "answer": say(text, right),
                "contexts": [chunks[0], f"Some words come first. {say(fact)} More words follow.", chunks[1]],
                **{name: truth[name] for name in known},
            }


def states(found):
    """Of each sample: fails, passes or unknown."""
    return {one.sample_id: "fails" if one.cause else "unknown" if one.undecided else "passes" for one in found.outcomes}


@pytest.fixture
def evaluate(tmp_path):
    return lambda data, metrics=WORDS, **options: ragstone.evaluate(list(data), metrics, tmp_path, **options)


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("world", WORLDS)
def test_wrong_answers_never_pass_and_right_ones_never_fail_without_a_judge(world, short, evaluate):
    wrong, right = (evaluate(rows(world, is_right, short=short), name=str(is_right)) for is_right in (False, True))
    assert "passes" not in states(diagnose(wrong)).values()
    assert "fails" not in states(diagnose(right)).values()
    shown = str(wrong.diagnose()) + repr(wrong.diagnose())
    assert "no sample fails" not in shown
    assert "Neither" not in shown
    found = ragstone.compare(right, wrong)
    # Most of the answers in the words of the fact differ in a word that decides.
    assert len(found.failing.newly_failing) >= len(WORLDS[world]["rows"]) / 2
    assert not found.failing.fixed


@pytest.mark.parametrize("world", WORLDS)
def test_facts_alone_do_not_make_a_wrong_answer_right(world, evaluate):
    assert "passes" not in states(diagnose(evaluate(rows(world, right=False, known=["facts"])))).values()
    assert "fails" not in states(diagnose(evaluate(rows(world, right=True, known=["facts"])))).values()


def test_what_a_user_sees_of_wrong_answers(cli, evaluate):
    runs = []
    for right in (True, False):
        data = (row for world in ("ferry", "museum") for row in rows(world, right) if row["id"].endswith("same"))
        runs.append(evaluate(data, name="good" if right else "bad").path)
    printed = cli("diagnose", runs[1]).out
    assert "The generator limits quality" in printed
    assert "wrong answer" in printed
    assert "no sample fails" not in printed
    assert re.search(r"0 fixed, \d\d newly failing", cli("compare", *runs).out)


def case(answer, references=("The boat leaves at nine.",), by_facts=True, **evidence):
    sample = Sample(
        "s",
        question="When does the boat leave?",
        answer=answer,
        references=list(references) or None,
        facts=[Fact("at nine")],
    )
    return Case(sample, evidence, by_facts)


@pytest.mark.parametrize(
    ("evidence", "answer", "right", "by"),
    [
        ({}, "The boat leaves at nine.", True, "words"),
        ({}, "The boat leaves at ten.", False, "words"),
        ({}, "The boat sails then.", False, "words"),
        ({}, "I do not know.", False, "words"),
        # The words and one of two verdicts of the local judge agree, or they leave it open.
        ({"reference_matches": [0.9]}, "Departure of the boat: nine.", True, "words"),
        ({"reference_matches": [0.9]}, "The boat leaves at ten.", False, "words"),
        ({"reference_matches": [0.1]}, "The boat leaves at nine past ten.", None, "nothing"),
        ({"reference_matches": [0.5]}, "The boat leaves at half past eight.", None, "nothing"),
        ({"reference_matches": [0.1]}, "The boat leaves at half past eight.", False, "judge"),
        ({"reference_matches": [0.9]}, "The boat leaves at half past eight.", True, "judge"),
        (
            {"reference_matches": [0.9], "reference_claims_in_answer": ["neutral"]},
            "The boat leaves at half past eight.",
            None,
            "nothing",
        ),
        (
            {"reference_matches": [0.9], "reference_claims_in_answer": ["entailment"]},
            "The boat leaves at ten.",
            None,
            "nothing",
        ),
        ({"reference_claims_in_answer": ["contradiction"]}, "The boat leaves at half past eight.", False, "judge"),
    ],
)
def test_the_local_judge_and_the_words_vote(evidence, answer, right, by):
    verdict = judge_answer(case(answer, **evidence))
    assert (verdict.right, verdict.by) == (right, by)


@pytest.mark.parametrize(("match", "right"), [(1.0, True), (0.0, False)])
def test_a_language_model_decides_alone(match, right):
    assert judge_answer(case("The boat leaves at ten.", by_facts=False, reference_matches=[match])).right is right


def test_without_an_answer_or_anything_to_compare_it_with_there_is_no_verdict():
    assert judge_answer(case(None)) is None
    assert judge_answer(Case(Sample("s", answer="Yes."))) is None
    assert judge_answer(case("Soon.", reference_matches=[0.5], by_facts=True)).why != NOT_AGREED


@pytest.mark.slow
@pytest.mark.skipif(Store().find("local-judge") is None, reason="the weights are not here")
@pytest.mark.parametrize("world", ["ferry", "clinic", "library"])
def test_facts_never_make_a_verdict_of_the_local_judge_worse(world, evaluate, monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    for right in (False, True):
        before, after = (
            diagnose(evaluate(rows(world, right, known), None, judge="local", cache=False))
            for known in (["references"], ["references", "facts"])
        )
        # A row that needs a look may lose its cause, but facts never call it fine.
        fine = [{one.sample_id for one in found.outcomes if one.status == "fine"} for found in (before, after)]
        if right:
            assert len(fine[1]) >= len(fine[0]) - 1
        else:
            assert fine[1] <= fine[0]
            assert after.limits in ("generator", "unknown")
