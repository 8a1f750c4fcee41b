"""What each retrieved chunk is worth: by id, else by text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.columns import Sparse
from ragstone.data.dataset import samples_table
from ragstone.data.types import Chunk, Sample
from ragstone.evidence_functions.gains import PIECES, judge_lists, retrieval_judgements


def judge(*rows, wanted=PIECES):
    """The pieces for samples, as the engine would call for them."""
    batch = samples_table(rows).to_batches()[0]
    return judge_columns(*(batch.column(name) for name in ("contexts", "relevance", "reference_contexts")), wanted)


def judge_columns(contexts, relevance, references, wanted=PIECES):
    columns = []
    for column in (relevance, references):
        known = np.flatnonzero([bool(value) for value in column.to_pylist()])
        columns.append(Sparse(column.take(known), known) if len(known) else None)
    return retrieval_judgements(contexts, *columns, frozenset(wanted))


def ranked(ids, grades, texts=None):
    return Sample("", contexts=[Chunk("", name) for name in ids], relevance=grades, reference_contexts=texts)


def as_lists(column):
    return [column[row].tolist() for row in range(len(column))]


def values(pieces):
    return {name: as_lists(gaps.column) for name, gaps in pieces.items()}


def test_grades_in_rank_order():
    found = judge(ranked("bxa", {"a": 1, "b": 2, "c": 3}), ranked("", {"a": 1}))
    assert as_lists(found["gains"].column) == [[2, 0, 1], []]
    assert as_lists(found["relevant_grades"].column) == [[3, 2, 1], [1]]
    assert found["gains"].reasons == {}


def test_a_chunk_retrieved_twice_counts_at_its_first_place():
    assert as_lists(judge(ranked("abab", {"b": 1}))["gains"].column) == [[0, 1]]


def test_a_grade_of_0_is_a_judgement_one_below_is_none():
    found = judge(ranked("abcd", {"a": -2, "b": 0, "c": 0.5, "e": 0}))
    assert as_lists(found["gains"].column) == [[0, 0, 0.5, 0]]
    assert found["judgements"].column.ranks.tolist() == [2, 3]
    assert as_lists(found["relevant_grades"].column) == [[0.5]]
    assert as_lists(found["judged_grades"].column) == [[0.5, 0, 0]]


def test_only_the_pieces_that_are_wanted():
    assert judge(ranked("a", {"a": 1}), wanted=("gains",)).keys() == {"gains"}


def test_chunks_without_id_have_no_grade():
    found = judge(ranked("a", {"a": 1}), ranked(["a", None, None], {"a": 1}))
    assert {str(gaps.reasons) for gaps in found.values()} == {"{1: 'retrieved chunk 2 has no id'}"}
    assert as_lists(found["gains"].column) == [[1], []]


BY_TEXT = Sample(
    "", contexts=[Chunk("Boats leave at nine."), Chunk("Nothing.")], reference_contexts=["boats LEAVE at nine"]
)


def test_by_text_where_there_is_no_relevance():
    found = judge(BY_TEXT)
    assert values(found) == {
        "gains": [[1, 0]],
        "relevant_grades": [[1]],
        "judgements": [[1, 0]],
        "judged_grades": [[1]],
    }


def test_each_row_is_judged_by_what_it_has():
    with_text = Sample("", contexts=[Chunk("a", "1"), Chunk("b", None)], relevance={"1": 3}, reference_contexts=["b"])
    without_text = ranked(["1", None], {"1": 1})
    found = judge(BY_TEXT, ranked("xa", {"a": 2}), with_text, without_text, ranked("ba", {"a": 1, "b": 3}, ["a"]))
    assert as_lists(found["gains"].column) == [[1, 0], [0, 2], [0, 1], [], [3, 1]]
    assert as_lists(found["relevant_grades"].column) == [[1], [2], [1], [], [3, 1]]
    assert found["gains"].reasons == {3: "retrieved chunk 2 has no id"}


def test_texts_without_words():
    row = ranked(["a", None], {"a": 1}, ["?!"])
    assert judge(row)["gains"].reasons == {0: "the reference contexts contain no words"}
    row = Sample("", contexts=[Chunk("?!")], reference_contexts=["words"])
    assert judge(row)["gains"].reasons == {0: "the retrieved chunks contain no words"}


def test_unknown_texts_are_not_compared():
    row = ranked(["a", None], {"a": 1}, ["words"])
    reason = "the text of 1 of 2 retrieved chunks is unknown (known by id or as an image only)"
    assert judge(row)["gains"].reasons == {0: reason}


grades = st.dictionaries(st.sampled_from("abc"), st.floats(-1, 4), min_size=1)
texts = st.lists(st.sampled_from(["a", "b c", "?"]), min_size=1, max_size=2)
rows = st.one_of(
    st.builds(ranked, st.text("abc", max_size=3), grades),
    st.builds(
        lambda chunks, grades, texts: Sample(
            "", contexts=[Chunk(*chunk) for chunk in chunks], relevance=grades, reference_contexts=texts
        ),
        st.lists(st.tuples(st.sampled_from(["a", "B, c", ""]), st.sampled_from(["a", None])), max_size=3),
        st.none() | grades,
        texts,
    ),
)


@given(st.lists(rows, min_size=1, max_size=4), st.data())
def test_a_slice_of_a_column_is_a_column(batch, data):
    start = data.draw(st.integers(0, len(batch) - 1))
    table = samples_table(batch).to_batches()[0]
    columns = [table.column(name) for name in ("contexts", "relevance", "reference_contexts")]
    whole, part = judge_columns(*columns), judge_columns(*(column[start:] for column in columns))
    for name in PIECES:
        reasons = {row - start: reason for row, reason in whole[name].reasons.items() if row >= start}
        assert part[name].reasons == reasons
        assert as_lists(part[name].column) == as_lists(whole[name].column)[start:]


@given(st.lists(st.tuples(st.lists(st.sampled_from("abcd"), max_size=5), grades), max_size=5))
def test_lists_give_the_same(pairs):
    lists = judge_lists([ids for ids, _ in pairs], [judged for _, judged in pairs], frozenset(PIECES))
    if pairs:
        table = values(judge(*(ranked(ids, judged) for ids, judged in pairs)))
        assert {name: as_lists(column) for name, column in lists.items()} == table
    else:
        assert all(len(column) == 0 for column in lists.values())


def test_lists_of_something_else():
    with pytest.raises(TypeError):
        judge_lists([[1]], [{"a": 1.0}], frozenset(PIECES))
