"""Rows that have what a function needs: all needs, or one of several, and the reasons for the other rows."""

import asyncio

import numpy as np
import pytest

from ragstone.data.columns import Sparse
from ragstone.data.types import Chunk, Sample
from ragstone.engine.catalogue import cards
from ragstone.engine.plan import make_plan
from ragstone.errors import DefinitionError
from ragstone.registry import evidence, metric, parse_metric
from tests.engine.batch import scores, walk

pytestmark = pytest.mark.usefixtures("catalogue")

ROWS = [
    Sample("both", question="?", answer="four", references=["no"]),
    Sample("answer", question="?", answer="three"),
    Sample("references", question="?", references=["one", "two"]),
    Sample("neither", question="?"),
    Sample("no question", answer="a"),
]
NEITHER = (None, "skipped", "no answer and no references")
EXPECTED = [(4.0, "ok", None), (5.0, "ok", None), (2.0, "ok", None), NEITHER, (None, "skipped", "no question")]


def length_metric():
    @metric("words_or_texts", bounds=(0, None))
    def words_or_texts(length: int) -> float:
        return length


def test_plain_functions_get_none():
    @evidence(either=("answer", "references"))
    def length(question: str, answer: str | None, references: list[str] | None) -> int:
        return len(answer) if answer is not None else len(references)

    length_metric()
    assert scores(ROWS, "words_or_texts") == EXPECTED


def test_async_functions_get_none():
    @evidence(either=("answer", "references"))
    async def length(question: str, answer: str | None, references: list[str] | None) -> int:
        await asyncio.sleep(0)
        return len(answer) if answer is not None else len(references)

    length_metric()
    assert scores(ROWS, "words_or_texts") == EXPECTED


def test_columnar_functions_get_what_there_is():
    seen = []

    @evidence(columnar=True, transient=True, either=("answer", "references"))
    def length(question, answer: Sparse | None, references: Sparse | None):
        seen.append((len(question), answer.rows.tolist(), references.rows.tolist()))
        values = np.zeros(len(question))
        values[references.rows] = references.column.value_lengths().to_numpy()
        values[answer.rows] = [len(text) for text in answer.column.to_pylist()]
        return values

    length_metric()
    assert scores(ROWS, "words_or_texts") == EXPECTED
    assert seen == [(3, [0, 1], [0, 2])]


def test_none_for_a_column_that_no_row_has():
    @evidence(columnar=True, transient=True, either=("answer", "references"))
    def length(answer: Sparse | None, references: Sparse | None):
        assert references is None
        return np.array([len(text) for text in answer.column.to_pylist()])

    length_metric()
    assert scores(ROWS[1:2], "words_or_texts") == [(5.0, "ok", None)]


def test_row_by_row_when_the_columns_fail():
    @evidence(columnar=True, transient=True, either=("answer", "references"))
    def length(answer: Sparse | None, references: Sparse | None):
        if answer is not None and references is not None:
            raise ValueError("both")
        return np.array([1 if references is None else 2])

    length_metric()
    assert scores(ROWS[:3], "words_or_texts") == [
        (None, "failed", "ValueError: both"),
        (1.0, "ok", None),
        (2.0, "ok", None),
    ]


def test_evidence_can_be_the_one_or_the_other():
    """One of the two cannot be made from this data: the other is enough."""

    @evidence
    def answer_length(answer: str) -> int:
        return len(answer)

    @evidence
    def facts_count(facts: list) -> int:
        return len(facts)

    @evidence(either=("answer_length", "facts_count"))
    def length(answer_length: int | None, facts_count: int | None) -> int:
        return answer_length if facts_count is None else facts_count

    length_metric()
    assert scores(ROWS[:3], "words_or_texts") == [
        (4.0, "ok", None),
        (5.0, "ok", None),
        (None, "skipped", "no answer length and no facts count"),
    ]


def plan(*present):
    @evidence(either=("answer", "references"))
    def length(question: str, answer: str | None, references: list[str] | None) -> int:
        return 0

    length_metric()
    return make_plan([parse_metric("words_or_texts")], present, {})


def test_planning():
    assert not plan("question", "answer").skipped
    assert not plan("question", "references").skipped
    assert plan("question").skipped == {"words_or_texts": "needs answer or references, which no row has"}
    assert plan("answer").skipped == {"words_or_texts": "needs question, which no row has"}
    assert cards("words_or_texts")[0].needs == ["question", "answer or references"]


def test_a_choice_among_strangers():
    with pytest.raises(DefinitionError, match="length: 'facts' is in `either`"):

        @evidence(either=("answer", "facts"))
        def length(answer: str) -> int:
            return 0


def test_retrieval_takes_ids_or_texts():
    by_id = Sample("1", contexts=[Chunk("one", "a"), Chunk("two", "b")], relevance={"b": 1.0})
    by_text = Sample("2", contexts=[Chunk("one"), Chunk("two")], reference_contexts=["two"])
    cells = walk([by_id, by_text], "mrr").cells["mrr"]
    assert cells.values.tolist() == [0.5, 0.5]
