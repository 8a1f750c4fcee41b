"""The checks of citations and the problems of cases."""

from ragstone.web.truth.case import _excuse_absence
from ragstone.web.truth.loaded_version import check_fact


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
