"""Generators with known behaviour get exactly the expected rates and curves."""

import pytest

from ragstone.data.types import Sample
from ragstone.errors import UsageError
from ragstone.stress.results import contrast_tests, find_curves, find_places, read_rows, read_stress
from ragstone.stress.run import Setting, prepare, run_stress
from tests.stress.generators import (
    LENGTHS,
    copies,
    ignores_first,
    needs_all,
    samples,
    stressed,
)
from tests.stress.test_test_beds import INTEGRATION


def means(test, bed, metric):
    curve = next(curve for curve in test.curves if (curve.bed, curve.metric) == (bed, metric))
    return [point.mean for point in curve.points]


def test_one_that_always_copies(tested):
    test = tested("copies")
    # Two positives at most: at the rates 0 to 0.5 both are there (at 0.25 with one of noise), at 0.75 one, at 1 none, where nobody can be right.
    assert means(test, "noise", "rgb.accuracy") == [1, 1, 1, 1, 0]
    assert test.main("noise").rates == (0, 0.33, 0.5, 0.75)
    assert test.main("noise").robustness.value == pytest.approx(1)
    assert test.main("noise").drop == 0
    # All eight questions agree: the interval is between the ends of Wilson's.
    assert test.main("noise").robustness.low == pytest.approx(0.6756, abs=1e-3)
    assert means(test, "rejection", "rgb.rejection_rate") == [0]
    assert means(test, "counterfactual", "rgb.error_detection_rate") == [0, 0, 0, 0]
    assert means(test, "counterfactual", "rgb.accuracy") == [0, 0, 0, 0]
    assert [curve.metric for curve in test.curves if curve.bed == "counterfactual"][:2] == [
        "rgb.error_detection_rate",
        "rgb.accuracy",
    ]


def test_one_that_refuses_above_a_noise_level(tested):
    test = tested("refuses")
    assert means(test, "noise", "rgb.accuracy") == [1, 1, 1, 0, 0]
    # Two steps in full and half of the third, of three.
    assert test.main("noise").robustness.value == pytest.approx(2.5 / 3)
    assert means(test, "rejection", "rgb.rejection_rate") == [1]
    assert test.main("rejection").robustness.value == 1


def test_a_rate_that_leaves_no_room_for_the_answer_is_not_counted(tmp_path):
    # Of four passages at 0.9, rounded up, all four are noise; at 1 they always are.
    bed = prepare(samples(), Setting(passages=4, rates=(0.5, 0.75, 0.9, 1.0), beds=("noise",)))
    found = stressed(bed, copies, tmp_path)
    assert means(found, "noise", "rgb.accuracy") == [1, 1, 0]
    assert (found.main("noise").rates, found.main("noise").drop) == ((0.5, 0.75), 0)
    assert found.main("noise").robustness.value == pytest.approx(1)


def test_a_curve_is_drawn_and_integrated_over_the_shares_of_noise_that_the_passages_have(tmp_path):
    one_gold = [
        Sample(sample.id, sample.question, contexts=sample.contexts[:1], references=sample.references)
        for sample in samples()
    ]
    bed = prepare(one_gold, Setting(beds=("noise",)))
    # Right only among at most three passages: up to a share of 0.667; the area from 0 to 0.8 is a trapezoid.
    found = stressed(
        bed, lambda question, contexts: copies(question, contexts) if len(contexts) <= 3 else "?", tmp_path
    )
    curve = found.main("noise")
    assert [point.rate for point in curve.points] == [0, 0.5, 0.67, 0.8, 1]
    assert means(found, "noise", "rgb.accuracy") == [1, 1, 1, 0, 0]
    assert curve.robustness.value == pytest.approx((2 / 3 + (0.8 - 2 / 3) / 2) / 0.8, abs=1e-3)


def test_noise_alone_has_no_robustness(tmp_path):
    bed = prepare(samples(), Setting(passages=4, rates=(1.0,), beds=("noise",)))
    tests = [stressed(bed, copies, tmp_path) for _ in range(2)]
    assert tests[0].main("noise").robustness is None
    assert contrast_tests(tests) == [[]]


def test_one_that_detects_a_planted_error(tested):
    test = tested("detects")
    assert means(test, "counterfactual", "rgb.error_detection_rate") == [1, 1, 1, 1]
    long_names = sum(len(ship) > 6 for ship in LENGTHS) / len(LENGTHS)
    assert means(test, "counterfactual", "rgb.error_correction_rate") == [long_names] * 4
    assert means(test, "noise", "rgb.accuracy") == [1, 1, 1, 1, 0]


def test_one_that_ignores_the_first_passage(tmp_path):
    bed = prepare(samples(), Setting(passages=4, rates=(0.75,), repeats=12, beds=("noise",)))
    run = run_stress(bed, ignores_first, tmp_path, system_options={"cache": False})
    rows = read_rows(run)
    places = find_places(rows)
    assert [(place.place, place.of, place.mean) for place in places] == [(1, 4, 0), (2, 4, 1), (3, 4, 1), (4, 4, 1)]
    assert sum(place.rows for place in places) == 8 * 12
    first = sum(row.metadata["passages"][0] == "+" for row in bed.rows)
    assert places[0].rows == first > 0
    point = find_curves(rows)[0].points[0]
    assert point.mean == pytest.approx(1 - first / len(bed.rows))
    # Twelve repeats of eight questions are eight questions.
    assert point.questions == 8


def test_one_that_puts_facts_together(tmp_path):
    bed = prepare(INTEGRATION, Setting(passages=3, rates=(0.0, 0.5, 1.0), beds=("integration",)))
    test = stressed(bed, needs_all, tmp_path)
    # Two of three passages hold the parts at most: the rates 0.5 and 1 both have a third of noise.
    assert means(test, "integration", "rgb.accuracy") == [1, 1]
    assert test.main("integration").rates == (0, 0.33)
    half = stressed(bed, lambda question, contexts: contexts[0].replace("five", "?").replace("5", "?"), tmp_path)
    assert means(half, "integration", "rgb.accuracy") == [0, 0]


def test_a_curve_of_any_metric(tested):
    test = tested("copies")
    assert means(test, "noise", "token_f1") == [1, 1, 1, 1, 0]
    assert means(test, "rejection", "refusal") == [0]


def test_intervals_are_wilsons_over_questions(tested):
    point = tested("copies").main("noise").points[0]
    assert (point.low, point.high) == (pytest.approx(0.6756, abs=1e-4), 1.0)
    assert point.questions == 8


def test_an_ordinary_run_is_no_stress_test(tmp_path):
    import ragstone

    run = ragstone.evaluate([{"question": "a", "answer": "b", "references": ["b"]}], "token_f1", tmp_path)
    with pytest.raises(UsageError, match="is not a stress test"):
        read_stress(run)
