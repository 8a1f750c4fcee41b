"""A quote counts the calls of a run without making any."""

import pytest

from ragstone.engine.quote import MOST_ROWS, quote, sample_positions, sum_calls
from ragstone.llm.wrappers import Call
from ragstone.testing import FakeLLM

ROW = {"question": "Where?", "answer": "On the mole.", "references": ["On the mole."], "contexts": ["It is here."]}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))


def rows(count):
    places = [f"On mole {number}." for number in range(count)]
    return [{"id": place, **ROW, "answer": place, "references": [f"Look: {place}"]} for place in places]


def test_calls_per_metric_and_in_total():
    llm = FakeLLM([])
    estimate = quote(rows(3), ["ragchecker.precision", "ragchecker.recall", "token_f1"], judge=llm)
    assert llm.requests == []
    # Per row: claims of answer and reference, and a verdict for each.
    assert (estimate.rows, estimate.total.calls) == (3, 12.0)
    assert {line.name: line.calls for line in estimate.metrics} == {
        "ragchecker.precision": 6.0,
        "ragchecker.recall": 6.0,
    }
    assert estimate.total.seconds > 0


def test_many_rows_are_sampled():
    assert list(sample_positions(3)) == [0, 1, 2]
    positions = sample_positions(10_000)
    assert (len(positions), positions[0], positions[-1]) == (MOST_ROWS, 0, 9_999)
    assert len(sample_positions(0)) == 0


def call(cost):
    values = dict.fromkeys(Call.__dataclass_fields__)
    return Call(**{**values, "input_tokens": 10, "output_tokens": 5, "cost_usd": cost})


def test_an_unknown_price_gives_no_cost():
    assert sum_calls("x", [call(0.5), call(None)], 1).cost_usd is None
    line = sum_calls("x", [call(0.5), call(0.25)], 2, factor=4.0)
    assert (line.calls, line.input_tokens, line.output_tokens, line.cost_usd) == (8.0, 80.0, 40.0, 3.0)
    assert line.seconds == pytest.approx((2 * 0.6 + 10 * 0.012) * 4 / 2)
