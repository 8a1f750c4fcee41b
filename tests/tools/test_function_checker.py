"""A function of claims and texts is a checker: plain, async or in batches; wrong values fail their cells and say why."""

import asyncio
import json
import re

import numpy as np
import pytest

import ragstone
from ragstone.data.verdict import Verdict
from ragstone.errors import UsageError
from ragstone.tools.checkers import LocalCascade
from ragstone.tools.function_checker import FunctionChecker, open_function
from tests.tools.checking import in_chunks, in_text, labels
from tests.tools.test_checkers import SURE, UNSURE, Local

ROWS = [
    {
        "id": str(number),
        "question": "Where is the light?",
        "answer": f"The light is on the mole. It is as tall as {number} boats.",
        "contexts": ["The light is on the mole.", f"The tower is as tall as {number} boats."],
        "references": ["The light is on the mole."],
    }
    for number in range(4)
]
METRIC = "ragas.faithfulness"
FILE = """
def overlap(claims, texts):
    return [[float(set(claim.lower().split()) <= set(text.lower().split())) for text in texts] for claim in claims]


def fails(claims, texts):
    raise ValueError("no model on this machine")


def model(prompts):
    return ["{}" for _ in prompts]
"""


@pytest.fixture(autouse=True)
def claims_by_rules(monkeypatch):
    """Claims are extracted by the rules of the local judge."""
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")


def share(claim, text):
    words = set(claim.lower().split())
    return len(words & set(text.lower().split())) / len(words)


def plain(claims, texts):
    return [[share(claim, text) for text in texts] for claim in claims]


async def waits(claims, texts):
    await asyncio.sleep(0)
    return np.array(plain(claims, texts))


class Pairs:
    """A callable for many pairs of several rows at once."""

    batch_size = 5
    version = "pairs-1"

    def __init__(self):
        self.sizes = []

    def __call__(self, claims, texts):
        self.sizes.append(len(claims))
        return [share(*pair) for pair in zip(claims, texts, strict=True)]


def test_plain_async_and_batch_functions_give_the_same_scores(tmp_path):
    pairs = Pairs()
    runs = [ragstone.evaluate(ROWS, METRIC, tmp_path, checker=one) for one in (plain, waits, pairs)]
    values = [[row["value"] for row in run.scores.to_pylist()] for run in runs]
    assert values[0] == values[1] == values[2]
    assert all(0 < value < 1 for value in values[0])
    assert max(pairs.sizes) == 5, "pairs of several rows share a call"
    signatures = [run.info["judge"]["checker"] for run in runs]
    assert signatures[2] == "function/Pairs#pairs-1"
    assert [one.partition("#")[0] for one in signatures[:2]] == ["function/plain", "function/waits"]
    assert [ragstone.score_row(row, METRIC, checker=plain).value for row in ROWS] == values[0]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda c, t: [0.5], r"must return 2 × 2 values \(claims × texts\).* It returned a list of 1 without rows"),
        (lambda c, t: [[0.5]] * 3, r"must return 2 × 2 values .* It returned 3 × 1 values"),
        (lambda c, t: [[1], [1, 0]], "It returned 2 × 1/2 values"),
        (lambda c, t: None, "It returned NoneType, not a list"),
        (lambda c, t: [[1.5] * 2] * 2, r"returned 1.5: a probability of support is a number from 0 to 1"),
        (lambda c, t: [["perhaps"] * 2] * 2, "returned the word 'perhaps'. Choose from: entailment, contradiction"),
        (lambda c, t: 1 / 0, "raised ZeroDivisionError: division by zero"),
    ],
)
def test_wrong_values_and_errors_fail_their_cells(function, words, tmp_path):
    def sometimes(claims, texts):
        return function(claims, texts) if "3 boats" in claims[-1] else plain(claims, texts)

    score = ragstone.score_row(ROWS[3], METRIC, checker=sometimes)
    assert (score.status, bool(re.search(words, score.reason))) == ("failed", True), score
    run = ragstone.evaluate(ROWS, METRIC, tmp_path, checker=sometimes)
    assert [row["status"] for row in run.scores.to_pylist()] == ["ok"] * 3 + ["failed"]


def test_a_wrong_batch_says_so():
    def two(claims, texts):
        return [0.5, 0.5]

    two.batch_size = 8
    score = ragstone.score_row(ROWS[0], METRIC, checker=two)
    assert "batch_size and must return a list of 4 values, one per pair of claim and text" in score.reason
    two.batch_size = 0
    with pytest.raises(UsageError, match=r"batch_size of .* must be a whole number of 1 or more"):
        ragstone.score_row(ROWS[0], METRIC, checker=two)


def test_a_function_may_skip():
    def skips(claims, texts):
        raise ragstone.Skip("not this one")

    score = ragstone.score_row(ROWS[0], METRIC, checker=skips)
    assert (score.status, score.reason) == ("skipped", "not this one")


def test_words_and_verdicts_are_used_as_they_are():
    given = [["entailment", Verdict("contradiction", 0.1, 0.8, "another number", "mine")]]
    found = asyncio.run(in_chunks(FunctionChecker(lambda claims, texts: given), "q", ["a"], ["1", "2"]))
    assert found.each == [["entailment", "contradiction"]]
    assert (found.each[0][1].reason, found.each[0][1].source) == ("another number", "mine")
    assert found.together == ["entailment"]


def test_other_forms_of_the_words_are_understood():
    checker = open_function(lambda claims, texts: [["Supported", "refuted", "not enough info"]])
    verdicts = asyncio.run(checker.check("q", ["c"], ["a", "b", "c"]))
    assert [str(verdict) for verdict in verdicts[0]] == ["entailment", "contradiction", "neutral"]


@pytest.mark.parametrize(("support", "word"), [(0.55, "entailment"), (0.5, "unsure"), (0.45, "neutral")])
def test_probabilities_become_words(support, word):
    checker = FunctionChecker(lambda claims, texts: [[support] * len(texts) for _ in claims])
    assert asyncio.run(in_text(checker, "q", ["a"], "A text that says something.")) == [word]


def test_chunks_are_read_alone_and_then_as_one_text():
    asked = []

    def both(claims, texts):
        asked.append((list(claims), list(texts)))
        return [[float(set(claim.split()) <= set(text.split())) for text in texts] for claim in claims]

    found = asyncio.run(in_chunks(FunctionChecker(both), "q", ["oak", "oak elm", "ash"], ["oak", "elm"], "an ash"))
    assert asked == [(["oak", "oak elm", "ash"], ["oak", "elm", "an ash"]), (["oak elm", "ash"], ["oak\nelm"])]
    assert found.together == ["entailment", "entailment", "neutral"]
    assert found.history == ["neutral", "neutral", "entailment"]


def test_refusals_and_nuggets():
    checker = FunctionChecker(plain)
    assert asyncio.run(in_text(checker, "q", ["I do not know."], "I do not know.")) == ["neutral"]
    answer = "the last boat leaves at nine"
    found = asyncio.run(labels(checker, "q", ["boat leaves", "ash"], answer))
    assert found == ["support", "not_support"]


def test_a_quote_does_not_call_the_function():
    asked = []
    ragstone.quote(ROWS, METRIC, checker=lambda claims, texts: asked.append(claims))
    assert asked == []


def test_a_function_above_the_local_judge():
    checker = LocalCascade(Local({("a", "1"): SURE, ("b", "1"): UNSURE}), FunctionChecker(lambda c, t: [[0.0]]), 0.9)
    assert asyncio.run(in_chunks(checker, "q", ["a", "b"], ["1"])).each == [["entailment"], ["neutral"]]


def test_functions_of_prompts_stay_language_models(tmp_path):
    (tmp_path / "own.py").write_text(FILE)
    assert open_function(f"{tmp_path}/own.py:model") is None
    assert open_function("openai/gpt-4o-mini") is None
    assert open_function(lambda prompts, more=3: prompts) is None
    with pytest.raises(UsageError, match="takes claims and texts: name it with --checker"):
        ragstone.score_row(ROWS[0], METRIC, judge=plain)


def test_other_functions_have_other_signatures():
    one, other = (FunctionChecker(function) for function in (lambda c, t: [[0.1]], lambda c, t: [[0.2]]))
    assert one.signature != other.signature


def test_on_the_command_line(tmp_path, cli):
    (tmp_path / "own.py").write_text(FILE)
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    options = ["run", str(tmp_path / "rows.jsonl"), "-m", METRIC, "--out", str(tmp_path / "runs"), "--checker"]
    done = cli(*options, f"{tmp_path}/own.py:overlap")
    assert done.code == 0, done.err
    [path] = (tmp_path / "runs" / "runs").iterdir()
    run = ragstone.open_run(str(path))
    assert [row["value"] for row in run.scores.to_pylist()] == [pytest.approx(6 / 13)] * 4, "6 of 13 words"
    assert run.info["judge"]["checker"].startswith("function/own.py:overlap#")
    failed = cli(*options, f"{tmp_path}/own.py:fails")
    assert "no model on this machine" in " ".join((failed.out + failed.err).split())
