"""Ids found in lists of ids: the same as a loop over Python strings would find, whatever the ids look like."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data import id_lookup as matching
from ragstone.data.id_lookup import IdLists, match_ids, match_lists

# Short and long, of one length and of many, with bytes that could be mistaken for padding or for the end of an id.
names = st.one_of(
    st.sampled_from(["a", "b", "ab", "", "\x00", "a\x00", "\n", "a\n", "é", "e\u0301", "日本語", "d" * 64, "d" * 65]),
    st.text(max_size=4),
    st.integers(0, 30).map(lambda number: f"chunk-{number:06d}"),
)
rows = st.lists(st.tuples(st.lists(names, max_size=6), st.lists(names, max_size=4, unique=True)), max_size=8)


def naive(pairs):
    found, lengths = [], []
    first = 0
    for row, (listed, wanted) in enumerate(pairs):
        distinct = list(dict.fromkeys(listed))
        found += [(row, rank, first + wanted.index(name)) for rank, name in enumerate(distinct, 1) if name in wanted]
        lengths.append(len(distinct))
        first += len(wanted)
    return found, lengths


def as_arrow(lists):
    flat = [name for row in lists for name in row]
    return IdLists(pa.array(flat, type=pa.string()), np.cumsum([0, *map(len, lists)]))


def as_tuples(matches):
    found = zip(matches.rows.tolist(), matches.ranks.tolist(), matches.entries.tolist(), strict=True)
    return list(found), matches.lengths.tolist()


def both_ways(pairs):
    found, wanted = [list(column) for column in zip(*pairs, strict=True)] if pairs else ([], [])
    assert as_tuples(match_lists(found, wanted)) == as_tuples(match_ids(as_arrow(found), as_arrow(wanted)))
    return as_tuples(match_lists(found, wanted))


@given(rows)
def test_the_same_as_a_loop(pairs):
    assert both_ways(pairs) == naive(pairs)


@pytest.mark.parametrize("block", [1, 7, 100])
@given(rows)
def test_blocks_make_no_difference(block, pairs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_BLOCK", block)
        assert both_ways(pairs) == naive(pairs)


def test_more_rows_than_a_block_holds():
    random = np.random.default_rng(3)
    pairs = [
        (
            [f"d{number}" for number in random.integers(0, 300, size=random.integers(0, 200)).tolist()],
            [f"d{row % 300}", "x"],
        )
        for row in range(2500)
    ]
    assert both_ways(pairs) == naive(pairs)


@given(rows)
def test_numbers_that_meet_are_tried_again(pairs):
    """With a factor of 0 all ids get one number, with one of 2^63 half of them do."""
    factors = matching._factors

    def weak(count):
        for factor in (0, 1 << 63):
            yield np.full(count, factor, dtype=np.uint64)
        yield from factors(count)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_factors", weak)
        assert both_ways(pairs) == naive(pairs)


def test_lone_surrogates():
    assert as_tuples(match_lists([["\ud800", "a"], ["\udfff\n"]], [["a"], ["\udfff\n"]])) == (
        [(0, 2, 0), (1, 1, 1)],
        [2, 1],
    )


def test_a_slice_of_a_column():
    lists = [["a", "b"], ["c", "a"], [], ["b"]]
    column = pa.array(lists)
    for start, stop in itertools.combinations(range(5), 2):
        part = column[start:stop]
        found = IdLists(part.flatten(), np.cumsum([0, *part.value_lengths().to_pylist()]))
        wanted = [["a", "b"]] * (stop - start)
        pairs = list(zip(lists[start:stop], wanted, strict=True))
        assert as_tuples(match_ids(found, as_arrow(wanted))) == naive(pairs)


def test_factors_are_odd_and_differ():
    first, second = itertools.islice(matching._factors(4), 2)
    assert len({*first.tolist(), *second.tolist()}) == 8
    assert (first % 2 == 1).all()
