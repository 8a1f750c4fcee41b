"""A share with its items: sums by hand."""

import pytest

from ragstone.data.share import Items, Share, harmonic_mean


def test_a_share_is_a_number():
    share = Share.of("fact", [True, False, True, True])
    assert share == 0.75
    assert share + 1 == 1.75
    [items] = share.counts
    assert (items.above, items.below, items.sums, items.value) == ((1, 3, 4), (1, 2, 3, 4), (3.0, 4.0), 0.75)
    assert not items.is_soft


def test_items_with_weight_0_do_not_count():
    share = Share.of("fact", [0.5, 0.0, 1.0], [1.0, 0.0, 1.0])
    assert share == 0.75
    assert share.counts[0].below == (1, 3)
    assert share.counts[0].is_soft


def test_a_whole_that_is_more_than_the_items():
    items = Items.counted("chunk", [0.0, 1.0], whole=4.0, of="relevant chunks")
    assert (items.sums, items.value, items.plural) == ((1.0, 4.0), 0.25, "relevant chunks")
    assert [number for number, *_ in items.parts] == [1, 2]


def test_nothing_to_count_has_no_value():
    assert Items("fact", ()).value is None


@pytest.mark.parametrize(
    ("kind", "plural"), [("fact", "facts"), ("entity", "entities"), ("answer claim", "answer claims")]
)
def test_plural(kind, plural):
    assert Items(kind, ()).plural == plural


def test_a_harmonic_mean_has_the_items_of_both():
    both = harmonic_mean(Share.of("a", [1, 0]), Share.of("b", [1]))
    assert both == pytest.approx(2 / 3)
    assert [items.kind for items in both.counts] == ["a", "b"]
    assert harmonic_mean(Share.of("a", [0]), Share.of("b", [1])) == 0.0
