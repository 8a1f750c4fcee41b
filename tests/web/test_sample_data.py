"""Facts and chunks as page data, excerpts and limits."""

from ragstone.analysis.sample_evidence import read_case
from ragstone.report.html.marked_text import excerpt
from ragstone.views.marks import Limits


def test_marked_facts_are_the_matches(viewer, better):
    for row in range(1, 26):
        found = viewer.json(f"/runs/{better.id}/samples/{row}.json")
        case = read_case(better, row - 1)
        matches = case.evidence.get("fact_matches") or ()
        for fact in found["facts"]:
            assert fact["ranks"] == list(dict.fromkeys(m.chunk + 1 for m in matches if m.fact + 1 == fact["number"]))
        marked = {n for chunk in found["chunks"] for piece in chunk["pieces"] for n in piece["numbers"]}
        assert marked == {match.fact + 1 for match in matches}


def test_an_excerpt_has_context_on_both_sides():
    assert excerpt("abcdefgh", 3, 5, 2) == {"before": "… bc", "here": "de", "after": "fg …"}
    assert excerpt("abc", 0, 3, 2) == {"before": "", "here": "abc", "after": ""}


def test_limits_remember_that_a_text_was_cut():
    limits = Limits(3)
    assert (limits.shorten("abc"), limits.cut) == ("abc", False)
    assert limits.shorten("abcdef").startswith("abc … (6 ")
    assert limits.cut
    assert Limits.read({"full": "1"}).size > Limits.read({}).size
