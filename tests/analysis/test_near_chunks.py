"""A chunk is near to a claim if one of its sentences has most of its words and all of its numbers."""

import pytest

from ragstone.analysis.fact_causes import near_chunk, near_hint

CHUNKS = ["Helmets are recommended.", "Divers are at least 18 years old. The season starts in May."]


@pytest.mark.parametrize(
    ("claim", "rank"),
    [
        ("Divers must be at least 18 years old.", 2),
        ("Divers must be at least 16 years old.", None),  # another number
        ("Divers start at 18 in May.", None),  # words of two sentences
        ("A helmet is recommended.", 1),
        ("", None),
    ],
)
def test_near_chunks(claim, rank):
    assert near_chunk(claim, CHUNKS) == rank
    assert bool(near_hint(claim, CHUNKS)) == (rank is not None)
