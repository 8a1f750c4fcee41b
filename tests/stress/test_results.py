"""Two generators are compared on the same beds, and a stress test is an ordinary run."""

import pytest

from ragstone.analysis.comparison import compare_runs
from ragstone.errors import UsageError
from ragstone.report.html.run_page import run_html
from ragstone.stress.results import check_same_beds, contrast_tests
from ragstone.stress.run import Setting, prepare
from tests.stress.generators import (
    copies,
    samples,
    stressed,
)


def test_two_generators_on_the_same_beds(tested):
    tests = [tested("copies"), tested("refuses")]
    [found] = contrast_tests(tests)
    by_bed = {(item.bed, item.metric): item for item in found}
    noise = by_bed["noise", "rgb.accuracy"]
    assert (noise.first, noise.second) == (pytest.approx(1), pytest.approx(2.5 / 3))
    assert noise.verdict == "the first is more robust"
    assert noise.p == pytest.approx(2 / 2**8)
    rejection = by_bed["rejection", "rgb.rejection_rate"]
    assert (rejection.difference, rejection.verdict) == (1.0, "the second is more robust")
    assert by_bed["counterfactual", "rgb.error_detection_rate"].verdict == "no evidence"


def test_few_questions_prove_nothing(tmp_path):
    bed = prepare(samples()[:4], Setting(passages=4, rates=(0.5,), beds=("noise",)))
    tests = [stressed(bed, generator, tmp_path) for generator in (copies, lambda question, contexts: "no")]
    assert contrast_tests(tests)[0][0].verdict == "too few questions"


def test_other_beds_are_not_compared(tested, tmp_path):
    other = prepare(samples(), Setting(passages=4, rates=(0.0,)))
    tests = [tested("copies"), stressed(other, copies, tmp_path)]
    with pytest.raises(UsageError, match="not on the same beds"):
        check_same_beds(tests[0].rows, tests[1].rows)


def test_it_is_an_ordinary_run(tested):
    first, second = tested("copies").run, tested("refuses").run
    compared = compare_runs(first, second, [], ["bed"])
    assert {part.label for part in compared.slices} == {"noise", "rejection", "counterfactual"}
    page = run_html(first)
    assert "counterfactual" in page
    assert first.info["params"]["system"] == "function/copies"
