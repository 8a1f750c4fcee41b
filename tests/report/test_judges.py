"""Audits of judges and the card of the local judge."""

import numpy as np
import pytest

from ragstone.agreement.audit import Audit, Finding
from ragstone.agreement.duels import Judged, JudgeNote, Meeting
from ragstone.models.local_judge import Card
from ragstone.report.judges import audit_dict, audit_report, card_lines, duels_report
from ragstone.stats.intervals import Interval
from ragstone.stats.resampled_measures import Estimate
from tests.report.drawing import draw

AUDIT = Audit(
    "openai/x",
    (
        Finding("position", "prefers the first", 0.8, Interval(0.7, 0.9), 0.5, 40, "biased", "Ask in both orders."),
        Finding("injection", "obeys the answer", None, None, 0.0, 0, "not tested", ""),
    ),
    (),
    1,
    "no reply",
)


def test_an_audit_has_numbers_and_advice():
    text = draw(audit_report(AUDIT), 120)
    assert "1 bias found" in text
    row = next(line.split() for line in text.splitlines() if line.startswith("✗"))
    assert row[:8] == ["✗", "position", "0.80", "0.70", "–", "0.90", "0.5", "40"]
    assert "position: Ask in both orders." in text
    assert "1 duel was not decided: no reply" in text


@pytest.mark.parametrize(
    ("seats", "share", "interval", "words"),
    [
        # Three duels whose interval contains 0.5, although the judge always says "A".
        ((6, 0, 0), 1.0, (0.44, 1.0), "prefers the first position (first 6, second 0, tie 0). These are few verdicts."),
        ((0, 6, 2), 0.1, (0.0, 0.6), "prefers the second position (first 0, second 6, tie 2). These are few verdicts."),
        ((60, 40, 0), 0.6, (0.55, 0.65), "prefers the first position (first 60, second 40, tie 0). Only wins"),
        ((7, 5, 0), 0.58, (0.4, 0.8), "shows no clear preference for a position (first 7, second 5, tie 0)"),
        ((0, 0, 8), 0.5, (0.4, 0.6), ""),
        ((40, 1, 0), 1.0, (0.9, 1.0), "chooses the first answer in 40 of 41 verdicts, in either order: do not trust"),
        ((0, 8, 0), 0.0, (0.0, 0.3), "chooses the second answer in 8 of 8 verdicts, in either order: do not trust"),
    ],
)
def test_a_preference_for_a_seat_is_told_from_counts(seats, share, interval, words):
    note = JudgeNote("openai/x", 4, 0, None, 1.0, Estimate(share, Interval(*interval), np.array([])), seats)
    judged = Judged(
        ("a", "b"), 4, 0, 0, (Meeting("a", "b", 1, 2, 1, 0.5, None, None),), (), False, (note,), None, None, ()
    )
    text = " ".join(draw(duels_report(judged), 160).split())
    assert words in text
    assert any(word in text for word in ("preference", "prefers", "chooses")) == bool(words)


def test_one_random_order_is_counted_too():
    for seats, words in (
        ((9, 1, 0), "prefers the first position"),
        ((20, 0, 1), "chooses the first answer in 20 of 21"),
    ):
        note = JudgeNote("openai/x", 10, 0, None, None, None, seats)
        judged = Judged(
            ("a", "b"), 9, 0, 0, (Meeting("a", "b", 1, 2, 1, 0.5, None, None),), (), False, (note,), None, None, ()
        )
        text = " ".join(draw(duels_report(judged), 160).split())
        assert words in text
        assert "both orders" not in text


def test_an_audit_as_json():
    values = audit_dict(AUDIT)
    assert values["biased"] == ["position"]
    assert [finding["interval"] for finding in values["findings"]] == [[0.7, 0.9], None]


def test_the_card_is_markdown():
    figure = {"task": "match", "data": "a|b", "rows": 1200, "measure": "F1", "judge": 0.9, "low": 0.8, "high": 0.95}
    card = Card("1", {}, 1, {}, {}, {}, ladder={"match": [(0.98, 0.9)]}, figures=({**figure, "overlap": 0.5},))
    lines = list(card_lines(card))
    assert "| a\\|b | 1,200 | F1 | 0.900 (0.800 – 0.950) | 0.500 |" in lines
    assert any("90% confident: 98% correct" in line for line in lines)
