"""Weighted means: what a few cases say about all the requests that they were drawn from."""

import json

import numpy as np
import pytest
from scipy import stats

import ragstone
from ragstone.errors import UsageError
from ragstone.truth.weighted_means import estimate_production


def run_of(rights, metadata):
    """A run in which an answer is right or wrong, each sample with its metadata."""
    rows = [
        {
            "id": str(number),
            "question": f"{number}?",
            "answer": "yes" if right else "no",
            "references": ["yes"],
            "metadata": about,
        }
        for number, (right, about) in enumerate(zip(rights, metadata, strict=True))
    ]
    return ragstone.evaluate(rows, ["exact_match", "bleu"])


def test_each_case_counts_for_the_requests_that_it_stands_for():
    run = run_of([1, 1, 0, 0], [{"weight": 90.0}, {"weight": 90.0}, {"weight": 10.0}, {"weight": 10.0}])
    found = estimate_production(run)
    assert (found.requests, found.cases, found.without_weight) == (200.0, 4, 0)
    [only] = found.estimates  # BLEU is no mean of rows
    assert (only.metric, only.plain, only.mean, only.cases, only.scored) == ("exact_match", 0.5, 0.9, 4, 1.0)
    # By hand: residuals are w (y - 0.9) / 200, their spread with n / (n - 1), and 196 of 200 were not drawn.
    residuals = np.array([90 * 0.1, 90 * 0.1, 10 * -0.9, 10 * -0.9]) / 200
    error = (0.98 * 4 / 3 * np.sum((residuals - residuals.mean()) ** 2)) ** 0.5
    reach = stats.t.ppf(0.975, 3) * error
    assert only.low == pytest.approx(0.9 - reach)
    assert only.high == pytest.approx(1.0)


def test_cases_that_were_drawn_several_times_and_from_several_strata():
    draws = [
        [{"stratum": "good", "times": 2, "weight": 20.0}],
        [{"stratum": "good", "times": 1, "weight": 20.0}, {"stratum": "bad", "times": 1, "weight": 5.0}],
        [{"stratum": "bad", "times": 1, "weight": 5.0}],
    ]
    weights = [sum(draw["times"] * draw["weight"] for draw in listed) for listed in draws]
    about = [{"weight": weight, "draws": listed} for weight, listed in zip(weights, draws, strict=True)]
    [found] = estimate_production(run_of([1, 0, 1], about)).estimates
    assert found.mean == pytest.approx((40 + 0 + 5) / 70)
    assert found.cases == 3


def test_what_has_no_value_and_what_has_no_weight_is_told():
    rows = [
        {"id": "a", "question": "?", "answer": "yes", "references": ["yes"], "metadata": {"weight": 3.0}},
        {"id": "b", "question": "?", "answer": "yes", "metadata": {"weight": 1.0}},
        {"id": "c", "question": "?", "answer": "no", "references": ["yes"]},
    ]
    found = estimate_production(ragstone.evaluate(rows, ["exact_match"]))
    assert found.without_weight == 1
    assert found.estimates[0].mean == 1.0
    assert found.estimates[0].scored == 0.75
    with pytest.raises(UsageError, match=r"no sample of run .* has a weight"):
        estimate_production(ragstone.evaluate(rows[2:], ["exact_match"]))


@pytest.mark.slow
def test_intervals_hold_what_they_promise():
    """Drawn again and again from a log with a rare and bad part, nine intervals of ten and more hold the log's mean."""
    random = np.random.default_rng(7)
    log = {"common": random.random(9000) < 0.9, "rare": random.random(1000) < 0.3}
    truth = np.concatenate([*log.values()]).mean()
    plain, held = [], 0
    for _ in range(60):
        rights, about = [], []
        for name, values in log.items():
            rights += random.choice(values, 40, replace=False).tolist()
            about += [
                {"weight": len(values) / 40, "draws": [{"stratum": name, "times": 1, "weight": len(values) / 40}]}
            ] * 40
        [found] = estimate_production(run_of(rights, about)).estimates
        held += found.low <= truth <= found.high
        plain.append(found.plain)
    assert held >= 54
    assert np.mean(plain) < truth - 0.1  # which is why the weights are kept


def test_by_command(cli, tmp_path):
    rows = [
        {"question": "?", "answer": "yes", "references": ["yes"], "metadata": {"weight": weight}}
        for weight in (9.0, 1.0)
    ]
    rows[1]["answer"] = "no"
    data = tmp_path / "rows.json"
    data.write_text(json.dumps([{"id": str(number), **row} for number, row in enumerate(rows)]))
    cli("run", data, "-m", "exact_match", "-o", tmp_path, "--name", "base", "-q")
    done = cli("truth", "estimate", "base", "-o", tmp_path)
    assert done.out.splitlines()[0] == "base: 2 cases that represent 10 requests"
    assert "exact_match          0.900" in done.out
    assert json.loads(cli("truth", "estimate", "base", "-o", tmp_path, "--json").out)["estimates"][0]["mean"] == 0.9


def test_the_headlines_by_command(cli, tmp_path):
    row = {"question": "?", "answer": "yes", "references": ["yes"], "contexts": ["yes"], "metadata": {"weight": 2.0}}
    data = tmp_path / "rows.json"
    data.write_text(json.dumps([{"id": str(number), **row} for number in range(3)]))
    names = "token_f1,token_recall,k_precision,refusal,exact_match"
    cli("run", data, "-m", names, "-o", tmp_path, "--name", "base", "-q")
    short = cli("truth", "estimate", "base", "-o", tmp_path).out
    assert "token_recall" in short
    assert "exact_match" not in short
    assert "1 more metric with --full" in short
    for more in (["--full"], ["-m", names]):
        full = cli("truth", "estimate", "base", "-o", tmp_path, *more).out
        assert "exact_match" in full
        assert "more metric" not in full
