"""Single rows: a dict, a pandas row, and what can be wrong with them."""

import asyncio

import pandas as pd
import pytest

import ragstone
from ragstone.data.types import Chunk, Fact, Score
from ragstone.errors import InputError, UnknownNameError
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
