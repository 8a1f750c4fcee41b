"""The same samples have the same fingerprint; any other samples have another."""

import io
import itertools
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.data.dataset import samples_table
from ragstone.data.fingerprint import Fingerprint, fingerprint
from ragstone.data.types import Chunk, Citation, Fact, Sample, Step, Turn
from tests.data.strategies import samples

FULL = Sample(
    id="1",
    question="q",
    answer="a",
    contexts=[Chunk("text", "c1", 0.5, "page"), Chunk("other")],
    references=["r", "s"],
    reference_contexts=["rc"],
    relevance={"c1": 1.0},
    facts=[Fact("f", "citation", "page")],
    answerable=True,
    documents=["d"],
    history=[Turn("user", "h", [Chunk("hc")])],
    rewritten_question="w",
    steps=[Step("search", "q", [Chunk("sc", "c1")], 0.5)],
    expected_steps=[Step("search")],
    citations=[Citation("c1", 0, 2)],
    metadata={"k": 1},
)


def of(*rows):
    return fingerprint([samples_table(rows)])


@settings(max_examples=20)
@given(rows=samples, cuts=st.lists(st.integers(0, 5), max_size=4))
def test_same_over_batches(rows, cuts):
    table = samples_table(rows)
    edges = sorted({0, len(rows), *(cut for cut in cuts if cut <= len(rows))})
    pieces = [table.slice(start, end - start) for start, end in itertools.pairwise(edges)]
    assert fingerprint(pieces) == fingerprint([table])
    if pieces:
        assert fingerprint([pa.concat_tables(pieces)]) == fingerprint([table])


@settings(max_examples=20)
@given(before=samples, rows=samples, after=samples)
def test_same_for_a_slice_of_something_larger(before, rows, after):
    whole = samples_table([*before, *rows, *after]).combine_chunks()
    assert fingerprint([whole.slice(len(before), len(rows))]) == fingerprint([samples_table(rows)])


@settings(max_examples=20)
@given(rows=samples.filter(bool))
def test_same_without_the_columns_that_have_no_value(rows):
    table = samples_table(rows)
    filled = [name for name in table.schema.names if table[name].null_count < len(rows)]
    assert fingerprint([table.select(filled)]) == fingerprint([table])


@pytest.mark.parametrize("row_group_size", [1, 2, 100])
def test_same_over_row_groups(row_group_size):
    table = samples_table([replace(FULL, id=str(number)) for number in range(7)])
    stream = io.BytesIO()
    pq.write_table(table, stream, row_group_size=row_group_size)
    assert fingerprint(pq.ParquetFile(stream).iter_batches()) == fingerprint([table])


def test_same_whatever_the_order_of_the_columns():
    table = samples_table([FULL])
    assert fingerprint([table.select(table.schema.names[::-1])]) == fingerprint([table])


def test_can_be_asked_on_the_way():
    total = Fingerprint()
    total.update(samples_table([FULL]))
    first = total.hexdigest()
    assert first == total.hexdigest() == of(FULL)
    total.update(samples_table([replace(FULL, id="2")]))
    assert total.hexdigest() == of(FULL, replace(FULL, id="2")) != first


OTHERS = {
    "id": ["2", ""],
    "question": [None, "", "q ", "p"],
    "answer": [None, "", "A"],
    "contexts": [
        None,
        [],
        [Chunk("text", "c1", 0.5, "page")],
        [Chunk("other"), Chunk("text", "c1", 0.5, "page")],
        [Chunk("text", "c1", 0.25, "page"), Chunk("other")],
        [Chunk("text", "c1", None, "page"), Chunk("other")],
        [Chunk("text", "c1", 0.5, "page"), Chunk("other", score=0.0)],
        [Chunk("text", "c1", 0.5, None), Chunk("other", source="page")],
        [Chunk("textc", "1", 0.5, "page"), Chunk("other")],
    ],
    "references": [None, [], ["rs"], ["r", "s", ""], ["s", "r"], ["", "rs"]],
    "reference_contexts": [None, ["rc", "rc"], [""]],
    "relevance": [None, {}, {"c1": 2.0}, {"c1": 0.0}, {"c2": 1.0}, {"c1": 1.0, "c2": 0.0}],
    "facts": [
        None,
        [Fact("f", "statement", "page")],
        [Fact("f", "citation", None)],
        [Fact("f")] * 2,
        [Fact("f", importance="vital")],
    ],
    "answerable": [None, False],
    "documents": [None, ["d", "d"]],
    "history": [None, [Turn("user", "h")], [Turn("assistant", "h", [Chunk("hc")])], [Turn("user", "h", [])]],
    "rewritten_question": [None, "", "w "],
    "steps": [None, [], [Step("search")], [Step("search", "q", [Chunk("sc")], 0.5)], [Step("search", "q", [], 0.25)]],
    "expected_steps": [None, [Step("fetch")], [Step("search", "q")]],
    "citations": [None, [], [Citation("1")], [Citation("c1", 0, 3)], [Citation("c1", 0, 2, "s")]],
    "metadata": [{}, {"k": 2}, {"k": "1"}],
}


def test_every_field_is_tried():
    assert OTHERS.keys() == set(Sample.__dataclass_fields__)


def test_changes_with_any_cell_of_any_row():
    seen = {of(FULL, FULL)}
    changed = [replace(FULL, **{name: value}) for name, values in OTHERS.items() for value in values]
    seen.update(of(other, FULL) for other in changed)
    assert len(seen) == 1 + len(changed)


def test_changes_with_the_number_of_rows():
    other = replace(FULL, id="2")
    assert len({of(), of(FULL), of(FULL, FULL), of(FULL, other)}) == 4


@settings(max_examples=20)
@given(rows=samples)
def test_same_in_any_order_of_the_rows(rows):
    assert of(*rows) == of(*rows[::-1]) == of(*sorted(rows, key=repr))


def test_values_do_not_wander_between_rows():
    one, two = replace(FULL, id="1", answer="a"), replace(FULL, id="2", answer="b")
    assert of(one, two) != of(replace(one, answer="b"), replace(two, answer="a"))


def test_rows_without_any_value_count():
    answers = samples_table([Sample("1"), Sample("2")]).select(["answer"])
    assert fingerprint([answers]) != fingerprint([answers.slice(1)])
