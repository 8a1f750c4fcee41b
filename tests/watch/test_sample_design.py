"""Which requests are drawn, and what they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.errors import UsageError
from ragstone.watch.sample_design import (
    MOST_STRATA,
    OTHER,
    Design,
    design_weights,
    evaluation_order,
    period_end,
    period_of,
    period_start,
)


def test_the_same_requests_are_drawn_again():
    one, two, other = Design(rate=0.1), Design(rate=0.1), Design(rate=0.1, seed=1)
    drawn = [{n for n in range(5000) if d.draws(d.key(f"r{n}"), "all")} for d in (one, two, other)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert abs(len(drawn[0]) - 500) < 5 * np.sqrt(450)


def test_strata_have_their_own_rates():
    design = Design(rate=0.05, strata="app", rates={"new": 0.5})
    keys = [design.key(f"r{n}") for n in range(4000)]
    assert abs(sum(design.draws(key, "new") for key in keys) - 2000) < 160
    assert abs(sum(design.draws(key, "old") for key in keys) - 200) < 70
    assert design.stratum({"app": "new"}, {}) == "new"
    assert design.stratum({}, {}) == "(none)"
    many = {f"s{n}": 1 for n in range(MOST_STRATA)}
    assert (design.stratum({"app": "x"}, many), design.stratum({"app": "s3"}, many)) == (OTHER, "s3")
    assert design.stratum({"app": "new"}, many) == "new"


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"rate": 0.1, "per_period": 5},
        {"rate": 0.0},
        {"rate": 1.5},
        {"per_period": 0},
        {"rate": 0.1, "rates": {"a": 0.2}},
    ],
)
def test_impossible_designs(wrong):
    with pytest.raises(UsageError):
        Design(**wrong)


def test_a_prefix_of_the_order_is_a_random_sample_of_every_stratum():
    """Simulation: weighted means of any prefix are unbiased, although the strata differ in rate and in level."""
    generator = np.random.default_rng(0)
    strata = np.array(["small"] * 60 + ["large"] * 540)
    values = np.where(strata == "small", 0.2, 0.8) + generator.normal(0, 0.1, 600)
    seen = {"small": 60, "large": 540}
    means = {10: [], 40: [], 80: []}
    for seed in range(400):
        design = Design(rate=0.1, strata="s", rates={"small": 0.5}, seed=seed)
        rows = [n for n in range(600) if design.draws(design.key(f"r{n}"), strata[n])]
        order = evaluation_order([design.key(f"r{n}") for n in rows], [strata[n] for n in rows])
        for size, found in means.items():
            ids = {str(rows[place]): strata[rows[place]] for place in order[:size]}
            weights = design_weights(seen, ids)
            assert set(ids.values()) == {"small", "large"}
            assert sum(weights.values()) == pytest.approx(600)
            found.append(sum(weights[name] * values[int(name)] for name in ids) / 600)
    for found in means.values():
        error = np.std(found) / np.sqrt(len(found))
        assert abs(np.mean(found) - values.mean()) < 4 * error


def test_two_rows_of_each_stratum_come_first():
    order = evaluation_order(list(range(100)), ["rare" if n in (50, 97, 99) else "often" for n in range(100)])
    assert set(order[:4]) == {0, 1, 50, 97}
    assert sorted(order) == list(range(100))
    assert evaluation_order([], []) == []


def test_the_design_in_words():
    assert Design(rate=0.05).describe() == "each request with probability 0.05"
    assert "200 requests of each app" in Design(per_period=200, strata="app").describe()
    assert Design.from_json(Design(rate=0.1, strata="a", rates={"b": 1.0}).as_json()) == Design(
        0.1, None, "a", {"b": 1.0}
    )


@pytest.mark.parametrize(
    ("moment", "kind", "period", "end"),
    [
        ("2026-11-16T23:59:59+00:00", "day", "2026-11-16", "2026-11-17T00:00:00+00:00"),
        ("2026-11-17T00:30:00+01:00", "day", "2026-11-16", "2026-11-17T00:00:00+00:00"),
        ("2027-01-03T12:00:00+00:00", "week", "2026-W53", "2027-01-04T00:00:00+00:00"),
    ],
)
def test_periods(moment, kind, period, end):
    from datetime import datetime

    assert period_of(datetime.fromisoformat(moment), kind) == period
    assert period_end(period) == datetime.fromisoformat(end)
    assert period_of(period_start(period), kind) == period
