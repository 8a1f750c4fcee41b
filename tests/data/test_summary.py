"""The summary prints, is found by name and comes back from its table."""

import pytest

from ragstone.data.summary import Summary, SummaryRow

ROWS = [
    SummaryRow("recall@5", "all", 0.8125, 0.7, 0.9, 25, 0, 0),
    SummaryRow("recall@5", "language=de", 0.5, None, None, 1, 0, 0),
    SummaryRow("fact_recall", "all", None, None, None, 0, 20, 5, "no facts (20)"),
]
SUMMARY = Summary(ROWS)


def test_text():
    assert str(SUMMARY).splitlines() == [
        "metric       mean   95 % interval   ok/skipped/failed",
        "recall@5     0.812  0.700 to 0.900  25/0/0",
        "recall@5     0.500  –               1/0/0",
        "fact_recall  –      –               0/20/5",
    ]


def test_metrics_without_a_value_are_only_counted():
    idle = [SummaryRow(f"steps.{name}", "all", None, None, None, 0, 25, 0, "no steps (25)") for name in "ab"]
    table = Summary([*ROWS, *idle])
    assert str(table) == f"{SUMMARY}\n2 metrics are not computed: run.missing"
    assert "1 metric is not computed" in str(Summary(idle[:1]))
    assert "steps.a" not in table._repr_html_()
    assert "<p>2 metrics are not computed: run.missing</p>" in table._repr_html_()
    assert (len(table), table["steps.a"].n_skipped) == (5, 25)


def test_html_is_escaped():
    html = Summary([SummaryRow("<b>&", "all", 1.0, 1.0, 1.0, 1, 0, 0)])._repr_html_()
    assert "<td>&lt;b&gt;&amp;</td><td>1.000</td><td>1.000 to 1.000</td><td>1/0/0</td>" in html
    assert html.count("<tr>") == 2


def test_is_a_sequence():
    assert list(SUMMARY) == ROWS
    assert (len(SUMMARY), SUMMARY[-1], SUMMARY[:2]) == (3, ROWS[-1], ROWS[:2])


def test_by_name_over_all_rows():
    assert SUMMARY["recall@5"].mean == 0.8125


def test_unknown_name():
    with pytest.raises(KeyError, match=r"'recall'.*recall@5, fact_recall"):
        SUMMARY["recall"]


@pytest.mark.parametrize("rows", [ROWS, []], ids=["rows", "none"])
def test_arrow_round_trip(rows):
    assert list(Summary.from_arrow(Summary(rows).to_arrow())) == rows


def test_pandas():
    frame = SUMMARY.to_pandas()
    assert frame["n_skipped"].tolist() == [0, 0, 20]
    assert frame["mean"].isna().tolist() == [False, False, True]
