"""Styles by rule."""

import random
from itertools import islice

from ragstone.truth.synthesis.styles import STYLES, mistyped, restyled, shuffled_styles

ASKED = "How long before departure must vehicles check in at the quay for “Summer fares”?"


def test_slips_are_few_the_same_and_outside_of_names_and_quotations():
    wrong = mistyped(ASKED)
    assert wrong == mistyped(ASKED) != ASKED
    assert "“Summer fares”" in wrong
    assert sum(one != other for one, other in zip(wrong.split(), ASKED.split(), strict=True)) <= 3
    assert mistyped("Who is it?") == "Who is it?"


def test_keywords_keep_what_is_asked():
    assert restyled(ASKED, "keyword") == "how long before departure vehicles check quay summer fares"


def test_other_styles_contain_the_question():
    assert ASKED in restyled(ASKED, "long")
    assert ASKED in restyled(ASKED, "angry")
    assert restyled(ASKED, "plain") == ASKED


def test_half_of_the_questions_are_plain():
    drawn = list(islice(shuffled_styles(STYLES, random.Random(0)), 100))
    assert {style: drawn.count(style) for style in STYLES} == {
        style: 50 if style == "plain" else 10 for style in STYLES
    }
