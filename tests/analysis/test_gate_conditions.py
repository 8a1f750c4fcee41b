"""Limits with units and percentages."""

import pytest

from ragstone.analysis.gate_conditions import Check, parse_checks, read_checks
from ragstone.errors import UsageError


@pytest.mark.parametrize(
    ("text", "limit", "relative"),
    [
        ("latency_p95=0.2s", 0.2, False),
        ("latency_p95=200ms", 0.2, False),
        ("latency_p95= 10 %", 0.1, True),
        ("cost=$0.01", 0.01, False),
        ("cost=0.01usd", 0.01, False),
        ("system.latency(q=0.99)=1e-3", 0.001, False),
    ],
)
def test_limits(text, limit, relative):
    [check] = parse_checks("max-rise", [text])
    assert check == Check("max-rise", text.rpartition("=")[0], pytest.approx(limit), relative)


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("max-rise", "latency_p95=2 hours", "unit 'hours' is not known"),
        ("max-rise", "latency=1usd", "latency is not measured in usd"),
        ("max-rise", "cost=200ms", "cost is not measured in ms"),
        ("max", "system.latency=2usd", "system.latency is not measured in usd"),
        ("min", "recall@5=0.8s", "recall@5 is not measured in s"),
        ("max-rise", "latency_p95=-1", "a rise is 0 or more"),
        ("max-rise", "0.2", "METRIC=VALUE"),
        ("max-rise", "latency_p95=fast", "not a number"),
        ("min", "recall=5%", "share of the baseline"),
        ("max-drop", "5%", "share of the baseline"),
    ],
)
def test_mistakes(kind, text, words):
    with pytest.raises(UsageError, match=words):
        parse_checks(kind, [text])


def test_words():
    assert str(Check("max-rise", "cost", 0.1, relative=True)) == "cost rise ≤ 10 %"
    assert str(Check("max-drop", "recall", 0.02)) == "recall drop ≤ 0.02"


def test_the_table_of_a_configuration():
    checks = read_checks({"max-rise": {"latency_p95": "200ms", "cost": "10%"}, "min": {"recall": 0.8}}, "ragstone.toml")
    assert checks == [
        Check("min", "recall", 0.8),
        Check("max-rise", "latency_p95", pytest.approx(0.2)),
        Check("max-rise", "cost", 0.1, relative=True),
    ]
