"""The checks of citations and the problems of cases."""

from dataclasses import replace

from ragstone.truth.model import Case
from ragstone.web.truth.case import _excuse_absence
from ragstone.web.truth.case_checks import check_fact
from ragstone.web.truth.store import find_problems, lost_citations
from tests.web import truths


def test_a_case_without_passages_says_so():
    """Empty passages are none; a run's chunks may show that a citation stands, not that it does not."""
    for passages in ([], ["", " "]):
        found = check_fact("citation", "Whales", passages)
        assert (found["verdict"], "no passages" in found["why"]) == ("none", True)
    stands, absent = (check_fact("citation", text, ["Whales sing."]) for text in ("Whales sing", "Trams"))
    assert _excuse_absence(stands) == stands
    assert absent["verdict"] == "absent"
    assert _excuse_absence(absent)["verdict"] == "none"
    assert "no passages" in _excuse_absence(absent)["why"]


def test_problems_of_a_case():
    first, second, third = truths.ferry()
    assert find_problems(first, 1) == []
    assert find_problems(second, 2) == ["to review", "duplicate question"]
    assert find_problems(third, 1) == []
    assert find_problems(replace(third, references=["Ada"], question=" "), 1) == [
        "no question",
        "answer to an unanswerable question",
    ]
    assert find_problems(Case("x", "Why\u202e?"), 1) == ["no answer", "no fact", "hidden characters"]


def test_lost_citations_are_found_by_row():
    assert lost_citations(truths.ferry()) == {1}
    assert lost_citations([replace(case, passages=[]) for case in truths.ferry()]) == frozenset()
