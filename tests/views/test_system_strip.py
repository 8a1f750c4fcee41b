"""Latency, tokens and cost of the evaluated system: figures of a run, outliers, and the rank of a sample."""

import math

import numpy as np
import pytest

import ragstone
from ragstone.views.system_strip import SampleUsage, SystemFigures, SystemStrip, read_usage

NUMBERS = {"latency_s": 1.5, "input_tokens": 900, "output_tokens": 60, "cost_usd": 0.0002}


def run_of(tmp_path, metadata, metrics=("exact_match",)):
    rows = [
        {"id": f"r{number}", "question": f"Fare {number}?", "answer": "ten", "references": ["ten"], "metadata": one}
        for number, one in enumerate(metadata)
    ]
    return ragstone.evaluate(rows, list(metrics), tmp_path)


def test_figures_are_those_of_the_rows(tmp_path):
    run = run_of(tmp_path, [{**NUMBERS, "latency_s": second} for second in range(1, 41)])
    strip = SystemStrip.of(run)
    assert strip.figures.latency_p50 == 20.5
    assert strip.figures.latency_p95 == pytest.approx(38.05)
    assert strip.figures.latency == "20.5 s p50, 38.0 s p95"
    assert strip.figures.tokens == "900 → 60"
    assert strip.figures.cost_per_1000 == pytest.approx(0.2)
    assert strip.figures.cost == "$0.20"
    assert sum(strip.histogram["counts"]) == 40
    assert [(one.id, one.row, one.words) for one in strip.slowest] == [
        ("r39", 40, "40.0 s"), ("r38", 39, "39.0 s"), ("r37", 38, "38.0 s"),
    ]  # fmt: skip
    # Equal prices have no outlier.
    assert strip.dearest == ()
    assert (strip.absent, strip.partly) == ("", "")


@pytest.mark.parametrize("metrics", [("exact_match",), ("exact_match", "system")])
def test_the_summary_and_the_rows_give_the_same_figures(tmp_path, metrics):
    run = run_of(tmp_path, [{**NUMBERS, "latency_s": second**2} for second in range(1, 21)], metrics)
    summary = {row.metric: row for row in run.summary()}
    found, rows = SystemFigures.of_run(run, summary), SystemFigures.of(read_usage(run))
    assert vars(found) == pytest.approx(vars(rows))


def test_rows_without_a_number_are_left_out_and_counted(tmp_path):
    broken = [{"latency_s": value} for value in ("2.5", "soon", None, -1, math.inf, True)]
    strip = SystemStrip.of(run_of(tmp_path, [{"latency_s": 1.5}, *broken, {}]))
    assert strip.figures.latency_p50 == 2.0
    assert strip.partly == "latency of 2 of 8 rows"
    assert strip.figures.tokens == strip.figures.cost == ""
    assert strip.absent == "Not in the metadata: input_tokens, output_tokens, cost_usd."


def test_a_run_without_any_names_the_columns(tmp_path):
    strip = SystemStrip.of(run_of(tmp_path, [{}, {"topic": "fares"}]))
    assert not strip.known
    assert strip.histogram is None
    assert "latency_s" in strip.absent
    assert strip.absent.startswith("No latency")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (0, "9.10 s, slowest of 4"),
        (1, "3.00 s, 2nd slowest of 4"),
        (2, "3.00 s, 2nd slowest of 4"),
        (3, "0.045 s, fastest of 4"),
        (4, ""),
    ],
)
def test_a_sample_has_its_rank(row, words):
    usage = {"latency_s": np.array([9.1, 3, 3, 0.045, np.nan]), "cost_usd": np.full(5, 0.00012)}
    found = SampleUsage.of(usage, row)
    assert found.latency == words
    assert found.cost == "$0.00012"
    assert found.tokens == ""
