"""The probability of yes, from the alternatives of the first token."""

import math

import pytest

from ragstone.llm.base import Reply
from ragstone.llm.yes_no import FALSE_UNKNOWN, probability_of


def reply(**shares):
    pairs = tuple((token, math.log(share)) for token, share in shares.items())
    return Reply("x", "m", logprobs=pairs[:1], alternatives=(pairs,))


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ({"yes": 0.6, "no": 0.2}, 0.75),
        ({"Yes": 0.3, " yes": 0.3, "NO": 0.2}, 0.75),
        ({"Yes.": 0.5, "\n": 0.5}, 1.0),
        ({"▁No": 0.9, "Ġyes": 0.1}, 0.1),
        ({"no": 0.03, "yes": 0.01, "The": 0.96}, None),
        ({"nothing": 0.5, "yesterday": 0.5}, None),
    ],
)
def test_spellings_count_together(shares, expected):
    found = probability_of(reply(**shares))
    assert found is None if expected is None else found == pytest.approx(expected)


def test_no_alternatives():
    assert probability_of(Reply("yes", "m")) is None
    assert probability_of(Reply("yes", "m", alternatives=())) is None
    assert probability_of(Reply("yes", "m", alternatives=((),))) is None


def test_the_chosen_token_counts_where_the_alternatives_lack_it():
    beside = (("no", math.log(0.2)),)
    assert probability_of(
        Reply("yes", "m", logprobs=(("yes", math.log(0.8)),), alternatives=(beside,))
    ) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ({"false": 0.6, "unknown": 0.2, "true": 0.2}, 0.75),
        ({"False": 0.3, "un": 0.3, "true": 0.4}, 0.5),
        ({"true": 1.0}, 0.0),
        ({"The": 1.0}, None),
    ],
)
def test_false_against_unknown(shares, expected):
    found = probability_of(reply(**shares), FALSE_UNKNOWN)
    assert found is None if expected is None else found == pytest.approx(expected)
