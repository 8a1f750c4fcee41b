"""Excerpts of chunks around the sentence or row that a claim is about."""

from ragstone.text.excerpts import excerpt
from ragstone.text.passages import Passages

PROBATION = (
    "The probation period lasts six months for permanent contracts. It can be shortened by the department head. "
    "Apprentices and dual students have a probation period of four months. Working students have none at all."
)
RATES = "\n".join(
    [
        "Daily allowance, full day / arrival day:",
        "| Country | Full day | Arrival day |",
        "|---|---|---|",
        *(f"| Land{at} | {at} | {at + 1} |" for at in range(30)),
        "| Norway | 75 | 50 |",
        "Trips of less than 8 hours give no allowance.",
    ]
)


def test_a_short_text_is_whole_and_a_long_one_is_around_the_nearest_sentence():
    assert excerpt(PROBATION, "anything", 300) == PROBATION
    found = excerpt(PROBATION, "Apprentices have four months.", 120)
    assert (
        found
        == "…Apprentices and dual students have a probation period of four months. Working students have none at all."
    )
    assert excerpt(PROBATION, "鲸鱼", 20) == "The probation period…"


def test_a_row_of_a_table_comes_with_its_head():
    found = excerpt(RATES, "The full day allowance for Norway is 75 euros.", 120).split("\n")
    assert found[:2] == ["| Country | Full day | Arrival day |", "…"]
    assert found[-1] == "| Norway | 75 | 50 |…"
    markup = (
        RATES.replace("|---|---|---|\n", "")
        .replace("| Country", "<tr><th>Country")
        .replace("| Norway", "<tr><td>Norway")
    )
    assert "Norway" in excerpt(markup, "The full day allowance for Norway is 75 euros.", 120)


def test_text_without_stops_is_cut_around_the_words():
    found = excerpt("word " * 500 + "a red lamp " + "word " * 500, "The lamp is red.", 100)
    assert "red lamp" in found
    assert len(found) < 300


def test_the_head_of_a_table_is_not_evidence_if_a_row_is():
    claim = "The full day allowance is 75 in Norway on a full arrival day."
    span, _ = Passages(RATES).nearest_evidence(claim)
    assert RATES[span.start : span.end] == "| Norway | 75 | 50 |"
    head = "| Country | Full day |\n|---|---|\n| 1 | 2 |"
    span, _ = Passages(head).nearest_evidence("country")
    assert head[span.start : span.end].startswith("| Country")
    assert Passages("").nearest_evidence("country") is None
