"""The chips above the sample table: their counts and their links."""

from collections import namedtuple

from ragstone.analysis.cause_texts import RowLabel
from ragstone.analysis.row_columns import RowJudgements
from ragstone.web.row_chips import row_chips
from ragstone.web.run_index import TableState


def test_chips_show_how_many_rows_they_select(unsure):
    viewer, run = unsure
    chips = viewer.ready(run)["table"]["chips"]
    assert {"unsure"} < {chip["name"] for chip in chips}
    for chip in chips:
        query = chip["address"].removesuffix("#samples")
        table = viewer.ready(run, query)["table"]
        assert table["fitting"] == chip["rows"] > 0
        [same] = [one for one in table["chips"] if one["name"] == chip["name"]]
        assert same["chosen"]
        assert not chip["chosen"]
        assert same["address"] == "?#samples", "a second click removes it"
    page = viewer.page(f"/runs/{run.id}{query}")
    assert [item for item in page.find("a") if item.get("aria-current") == "true"]


def test_chips_of_labels(unsure):
    viewer, run = unsure
    index = viewer.viewer._library.index(run)
    label = namedtuple("Label", "score author")
    causes = [RowLabel("misread", 0.9, judged_wrong=0.9), RowLabel("", 0.05, judged_wrong=0.05)]
    known = RowJudgements(14, causes, {0: (label(1.0, "Ada"),), 1: (label(0.0, "Ada"),), 2: (label(1.0, "Ada"),)})
    chips = {chip["name"]: chip["rows"] for chip in row_chips(index, known, TableState())}
    assert chips["labelled"] == 3
    assert chips["disagreed with"] == 2
    assert index.select(TableState(where="disagreed", sort="row"), known)[0].tolist() == [0, 1]
    assert "labelled" not in {chip["name"] for chip in row_chips(index, RowJudgements(14, causes), TableState())}


def test_terms_are_added_and_removed(unsure):
    viewer, run = unsure
    index, known = viewer.viewer._library.index(run), RowJudgements(14, None)
    for where, chosen, changed in (
        ("", False, "unsure > 0"),
        ("status = wrong", False, "status = wrong and unsure > 0"),
        ("status = wrong and unsure > 0", True, "status = wrong"),
        ("unsure > 0", True, ""),
        ("a or b", False, "(a or b) and unsure > 0"),
        ("((", False, "unsure > 0"),
        ("(a and b) and unsure > 0", True, "(a and b)"),
        ("a or unsure > 0", False, "(a or unsure > 0) and unsure > 0"),
        ("not unsure > 0", False, "not unsure > 0 and unsure > 0"),
    ):
        [chip] = [one for one in row_chips(index, known, TableState(where=where)) if one["name"] == "unsure"]
        assert chip["chosen"] is chosen, where
        assert chip["address"] == f"{TableState(where=changed).address or '?'}#samples", where
