"""A verdict equals its word, keeps its numbers in the stored form of 0.1.0, and is shown by one table."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.verdict import DECIDED, NEUTRAL, SIGNS, WORDS, Verdict, probability_of, strongest

SHARES = st.floats(0, 1)
LINES = st.text(max_size=20) | st.none()


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("entailment", (None, None, None, None, None)),
        ("unsure 0.5200 0.0300 0.6100", (0.52, 0.03, 0.61, None, None)),
        ("unsure 0.5200 0.0300 0.6100\nIt says 1.5.", (0.52, 0.03, 0.61, "It says 1.5.", None)),
        ("neutral\nIt says 1.5.", (None, None, None, "It says 1.5.", None)),
        ("neutral\n\nmine", (None, None, None, None, "mine")),
    ],
)
def test_the_stored_form_is_that_of_0_1_0(text, fields):
    verdict = Verdict.from_text(text)
    assert (verdict.support, verdict.contradiction, verdict.counted, verdict.reason, verdict.source) == fields
    assert verdict.to_text() == text
    assert verdict == text.split()[0]


@given(st.sampled_from(list(WORDS)), SHARES, SHARES, LINES, LINES, SHARES | st.none())
def test_a_verdict_survives_storing_and_pickling(word, support, contradiction, reason, source, counted):
    verdict = Verdict(word, support, contradiction, reason, source, counted=counted)
    for again in (Verdict.from_text(verdict.to_text()), pickle.loads(pickle.dumps(verdict))):
        assert again == verdict == word
        assert again.as_dict() == verdict.as_dict()


def test_a_verdict_is_immutable_and_counts_its_support():
    verdict = Verdict("entailment", 0.9)
    assert (verdict.counted, verdict.contradiction, probability_of(verdict)) == (0.9, 0.0, 0.9)
    assert probability_of("entailment") is None
    with pytest.raises(AttributeError):
        verdict.support = 0.1


def test_one_table_says_how_verdicts_are_shown():
    assert SIGNS == {"good": "✓", "bad": "✗", "unsure": "?", "silent": "·"}
    assert [strongest(DECIDED[at:]) for at in range(4)] == [*DECIDED, NEUTRAL]


@pytest.mark.parametrize("text", ["entailment 7", "unsure 0.5200 0.0300 0.6100 12", "neutral 3\nwhy\nlocal"])
def test_words_of_a_claim_are_stored(text):
    verdict = Verdict.from_text(text)
    assert verdict.words == int(text.splitlines()[0].split()[-1])
    assert verdict.to_text() == text
    assert verdict == text.split()[0]
    assert Verdict.from_text(verdict.standing_for(None).to_text()).words is None
