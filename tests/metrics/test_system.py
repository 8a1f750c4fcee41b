"""Metrics of cost: hand-computed values, quiet without data, and gates."""

import numpy as np
import pytest

import ragstone
from ragstone.analysis.gate_conditions import parse_checks
from ragstone.analysis.gates import check_gate
from ragstone.engine.metric_choice import find_metric
from ragstone.stats.corpus_intervals import sums_interval


def rows(latencies, **more):
    return [
        {"id": f"q{number}", "question": f"Q{number}?", "answer": "a", "references": ["a"], "latency_s": value, **more}
        for number, value in enumerate(latencies)
    ]


def test_values_by_hand(tmp_path):
    """1 to 101 seconds: mean and median 51, the 0.9 quantile 91, the 0.95 quantile 96."""
    run = ragstone.evaluate(rows(range(1, 102)), "system", tmp_path)
    summary = run.summary()
    assert summary["system.latency"].mean == 51
    assert [summary[f"system.latency(q={q})"].mean for q in (0.5, 0.9, 0.95)] == pytest.approx([51, 91, 96])
    # Bin(101, 0.95): P(B ≤ 90) = 1.4 %, P(B ≤ 91) = 3.1 %; P(B ≤ 99) = 96.5 %, P(B ≤ 100) = 99.4 %.
    row = summary["system.latency(q=0.95)"]
    assert (row.ci_low, row.ci_high) == (91, 101)
    assert summary["system.cost"].reason == "needs metadata.cost_usd, which no row has"


def test_a_default_run_shows_only_what_the_data_has():
    plain = ragstone.evaluate([{"question": "Q?", "answer": "a", "topic": "fares"}] * 1, ["quick"])
    assert not [row.metric for row in plain.summary() if row.metric.startswith(("system", "metadata"))]
    timed = ragstone.evaluate(rows([1.0, 2.0]), ["quick"])
    shown = [row.metric for row in timed.summary() if row.metric.startswith("system")]
    assert shown == ["system.latency", *(f"system.latency(q={q})" for q in (0.5, 0.9, 0.95))]


def test_too_few_rows_say_how_many_are_needed():
    row = ragstone.evaluate(rows([1.0, 2.0, 3.0]), "latency_p95").summary()["system.latency(q=0.95)"]
    assert row.ci_low is None
    assert row.reason == "an interval of the 0.95 quantile needs 72 independent rows or more"


def test_any_number_of_the_metadata():
    run = ragstone.evaluate(
        [{"question": "Q?", "answer": "a", "hops": number} for number in (1, 2, 6, "7", "x", None)],
        ["metadata.number(key=hops)", "metadata.number(key=hops, q=0.5)"],
    )
    assert [row.mean for row in run.summary()] == [4, 4]
    assert [row.n_ok for row in run.summary()] == [4, 4]


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    values = np.random.default_rng(0).lognormal(sigma=0.3, size=120)
    root = tmp_path_factory.mktemp("runs")
    metrics = ["system.latency", "latency_p95", "token_f1"]
    before = ragstone.evaluate(rows(values.tolist()), metrics, root)
    after = ragstone.evaluate(rows((values + 0.5).tolist()), metrics, root)
    return before, after


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ("latency_p95=1s", "passes"),
        ("latency_p95=100ms", "fails"),
        ("latency=0.4", "fails"),
        ("latency=60%", "passes"),
        ("latency=10%", "fails"),
        ("latency_p95=200%", "passes"),
    ],
)
def test_gates_of_rises(two_runs, condition, outcome):
    gate = check_gate(two_runs[1], parse_checks("max-rise", [condition]), two_runs[0])
    assert gate.outcome == outcome
    [item] = gate.checks
    assert "rise ≤" in item.condition
    assert item.value == pytest.approx(0.5, abs=1e-9)


def test_a_comparison_of_quantiles(two_runs):
    found = ragstone.compare_runs(*two_runs)
    item = found["system.latency(q=0.95)"]
    assert item.difference == pytest.approx(0.5)
    assert item.verdict == "worse"
    assert item.low <= 0.5 <= item.high
    same = ragstone.compare_runs(two_runs[0], two_runs[0])["system.latency(q=0.95)"]
    assert (same.difference, same.verdict) == (0, "no evidence")


def answers(right, of=40):
    """Each answer takes 100 to 160 tokens in and 20 out."""
    return [
        {"id": f"q{at}", "question": f"How much is it, {at}?", "answer": "12" if at < right else "13", "references": ["12"],
         "input_tokens": 100 + at % 7 * 10, "output_tokens": 20}
        for at in range(of)
    ]  # fmt: skip


def test_tokens_per_correct_answer(tmp_path, monkeypatch):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    name = "system.tokens_per_correct_answer"
    runs = {right: ragstone.evaluate(answers(right), ["tokens_per_correct"], tmp_path) for right in (30, 15, 3, 0)}
    spent = sum(120 + at % 7 * 10 for at in range(40))
    for right in (30, 15, 3):
        row = runs[right].summary()[name]
        assert row.mean == pytest.approx(spent / right)
        assert row.ci_low < row.mean < row.ci_high < np.inf
    none = runs[0].summary()[name]
    assert (none.mean, none.n_ok) == (None, 40)
    assert none.reason == "there is no score of all rows together: no answer matches a reference"
    item = ragstone.compare(runs[30], runs[15])[name]
    assert (item.difference, item.verdict) == (pytest.approx(spent / 15 - spent / 30), "worse")
    item = ragstone.compare(runs[30], runs[0])[name]
    assert (item.difference, item.note) == (None, "a run has no score of all rows together")
    item = ragstone.compare(runs[15], runs[3])[name]
    assert np.isfinite([item.low, item.high]).all()


def test_the_interval_of_a_run_without_a_wrong_answer_allows_for_some(monkeypatch):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    rows = [
        {"id": str(at), "question": "Fare?", "answer": "12", "references": ["12"], "output_tokens": 106 + at}
        for at in range(7)
    ]
    row = ragstone.evaluate(rows, ["tokens_per_correct"]).summary()["system.tokens_per_correct_answer"]
    assert row.mean == 109
    # Wilson's interval of 7 right answers of 7 begins at 0.646.
    assert row.ci_low > 106
    assert row.ci_high == pytest.approx(109 / 0.6457, rel=1e-3)


@pytest.mark.parametrize("rows", [20, 30, 50])
@pytest.mark.parametrize("share", [0.95, 0.97, 0.98])
@pytest.mark.parametrize("spread", [5, 30])
def test_the_interval_of_tokens_per_correct_answer_covers_the_truth(rows, share, spread):
    corpus, random, covered = find_metric("tokens_per_correct").spec.corpus, np.random.default_rng(rows), 0
    for _ in range(200):
        table = np.column_stack([random.normal(100, spread, rows).clip(1), random.random(rows) < share])
        low, high = sums_interval(table, corpus.score, bounds=(0.0, None))
        covered += low <= 100 / share <= max(high, corpus.high_end(table.sum(axis=0), rows, rows))
    assert covered >= 0.9 * 200


def test_tokens_of_one_side_count_and_rows_without_any_do_not(monkeypatch):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    rows = [{"id": str(at), "question": "Fare?", "answer": "12", "references": ["12"]} for at in range(3)]
    run = ragstone.evaluate(
        [{**rows[0], "output_tokens": 7}, {**rows[1], "input_tokens": -1}, rows[2]], ["tokens_per_correct"]
    )
    row = run.summary()["system.tokens_per_correct_answer"]
    assert (row.mean, row.n_ok, row.n_skipped) == (7, 1, 2)
