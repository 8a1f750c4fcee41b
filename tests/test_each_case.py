"""`@each_case` runs every case with its fixtures and reports every failure."""

from pathlib import Path

import pytest

from tests.each_case import each_case

tried = []


@each_case("left, right", [(1, 2), (3, 4)])
def test_every_case_has_its_values_and_the_fixtures(left, tmp_path, right):
    tried.append((left, right, tmp_path.exists()))


def test_all_cases_were_tried():
    test_every_case_has_its_values_and_the_fixtures(tmp_path=Path())
    assert tried[-2:] == [(1, 2, True), (3, 4, True)]


def test_all_failures_are_reported_with_their_cases():
    @each_case("number", range(5))
    def is_even(number):
        assert number % 2 == 0

    with pytest.raises(ExceptionGroup, match="2 of 5 cases failed") as failed:
        is_even()
    assert [error.__notes__ for error in failed.value.exceptions] == [["case: 1"], ["case: 3"]]


def test_a_law_needs_cases():
    with pytest.raises(AssertionError, match="without cases"):
        each_case("number", [])(lambda number: None)
