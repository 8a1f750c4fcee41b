"""Single rows: a dict, a pandas row, and what can be wrong with them."""

import asyncio

import pandas as pd
import pytest

import ragstone
from ragstone.data.types import Chunk, Fact, Score
from ragstone.errors import InputError, UnknownNameError, UsageError
from ragstone.registry import evidence, metric

ROW = {
    "question": "When?",
    "answer": "At 21:40.",
    "references": ["21:40"],
    "facts": ["leaves at 21:40"],
    "contexts": ["Dogs travel free.", "The last boat leaves at 21:40."],
}


def test_score_of_a_dict():
    assert ragstone.score_row(ROW, "token_recall") == Score(1.0)
    assert ragstone.score_row(ROW, "fact_mrr") == Score(0.5)
    assert ragstone.score_row(ROW, "fact_recall@1") == Score(0.0)


def test_score_of_a_pandas_row():
    frame = pd.DataFrame([ROW, {**ROW, "answer": "Never."}, {"question": "Why?"}])
    values = frame.apply(lambda row: ragstone.score_row(row, "token_recall").value, axis=1)
    assert values.tolist()[:2] == [1.0, 0.0]
    assert pd.isna(values.tolist()[2])


def test_matches_of_a_pandas_row():
    frame = pd.DataFrame([ROW])
    [matches] = frame.apply(lambda row: ragstone.match_facts(row["facts"], row["contexts"]), axis=1)
    assert [(match.fact, match.chunk, match.start, match.end) for match in matches] == [(0, 1, 14, 29)]


def test_matches_of_texts_and_of_objects_are_the_same():
    texts = ragstone.match_facts(ROW["facts"], ROW["contexts"])
    objects = ragstone.match_facts([Fact(text) for text in ROW["facts"]], [Chunk(text) for text in ROW["contexts"]])
    assert texts == objects
    assert ragstone.match_facts(ROW["facts"], ROW["contexts"], "exact") == []


@pytest.mark.parametrize(
    ("row", "name", "reason"),
    [
        ({"question": "q"}, "token_f1", "needs answer, which no row has"),
        ({**ROW, "references": []}, "token_f1", "no references"),
        ({**ROW, "references": None}, "token_f1", "needs references"),
        ({**ROW, "contexts": []}, "k_precision", "nothing was retrieved"),
        ({**ROW, "facts": ["..."]}, "fact_recall", "no letter or digit"),
    ],
)
def test_a_row_that_lacks_something_is_skipped_and_says_why(row, name, reason):
    score = ragstone.score_row(row, name)
    assert (score.value, score.status) == (None, "skipped")
    assert reason in score.reason


def test_wrong_names_and_wrong_rows():
    with pytest.raises(UnknownNameError, match="token_recall"):
        ragstone.score_row(ROW, "token_recal")
    with pytest.raises(UnknownNameError, match="citation"):
        ragstone.score_row(ROW, "fact_recall", "citations")
    with pytest.raises(UnknownNameError, match="citation"):
        ragstone.match_facts([], [], "citations")
    with pytest.raises(InputError, match="contexts"):
        ragstone.score_row({**ROW, "contexts": 5}, "k_precision")


@pytest.mark.usefixtures("catalogue")
def test_score_row_inside_a_running_loop_and_with_async_evidence():
    @evidence
    async def echo(answer: str) -> str:
        await asyncio.sleep(0)
        return answer

    @metric("echoed", bounds=(0, None))
    def echoed(echo: str) -> float:
        return len(echo)

    async def notebook_cell():
        return ragstone.score_row(ROW, "echoed")

    assert asyncio.run(notebook_cell()) == ragstone.score_row(ROW, "echoed") == Score(9.0)


@pytest.mark.parametrize(
    ("relevance", "ranks", "metric", "value"),
    [
        # The example of DIAL's description: ranks from 1.
        ([2, 1], [1, 1, 2], "fact_recall", 1.0),
        ([2, 1], [1, 1, 2], "fact_precision", 1.0),
        ([2, 1], [1, 1, 2], "fact_recall@1", 2 / 3),
        # DIAL's tables count from 0, with -1 for a fact that was not found.
        ([2, 1], [0, 0, 1], "fact_recall@1", 2 / 3),
        ([0, 1, 2], [1, -1, 2, 2], "fact_recall", 3 / 4),
        ([0, 1, 2], [2, float("inf"), 3, 3], "fact_mrr_mean", (1 / 2 + 1 / 3 + 1 / 3) / 4),
        ([0, 1, 2], [1, -1, 2, 2], "fact_precision", 2 / 3),
        ([0, 0], [-1], "fact_recall", 0.0),
    ],
)
def test_match_results_of_dial(relevance, ranks, metric, value):
    row = pd.Series({"context_relevance": relevance, "facts_ranks": ranks})
    assert ragstone.score_row(row, metric).value == pytest.approx(value)


def test_columns_of_dial():
    row = {"context": ["Dogs.", "It leaves at 21:40."], "facts": ["leaves at 21:40"], "answer": "21:40"}
    row |= {"ground_truth_answer": "At 21:40.", "context_relevance": [0, 1], "facts_ranks": [1]}
    assert ragstone.score_row(row, "fact_mrr") == Score(0.5)
    assert ragstone.score_row(row, "token_recall") == ragstone.score_row(
        {**ROW, "references": ["At 21:40."], "answer": "21:40"}, "token_recall"
    )


@pytest.mark.parametrize(("relevance", "ranks"), [([1], [3]), ([0, 1], [-1]), ([0], [0]), ([1], [])])
def test_match_results_that_do_not_belong_together(relevance, ranks):
    with pytest.raises(UsageError):
        ragstone.score_row({"context_relevance": relevance, "facts_ranks": ranks}, "fact_recall")


def test_ranks_alone_are_enough_for_recall():
    row = {"facts_ranks": [0, 2, -1]}
    assert ragstone.score_row(row, "fact_recall").value == pytest.approx(2 / 3)
    assert ragstone.score_row(row, "fact_recall@1").value == pytest.approx(1 / 3)
    assert ragstone.score_row(row, "fact_precision").reason.startswith(
        "needs context_relevance in addition to facts_ranks"
    )
