"""Audits of judges and the card of the local judge."""

from ragstone.agreement.audit import Audit, Finding
from ragstone.models.local_judge import Card
from ragstone.report.judges import audit_dict, audit_report, card_lines
from ragstone.stats.intervals import Interval
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
