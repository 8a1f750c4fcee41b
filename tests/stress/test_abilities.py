"""Oracle generators get exactly the rates and curves that they must."""

import pytest

from ragstone.compare.comparison import compare_runs
from ragstone.errors import UsageError
from ragstone.report.html.run_page import run_html
from ragstone.stress.beds import Setting
from ragstone.stress.comparing import check_same_beds
from ragstone.stress.curves import find_curves, find_places, read_rows
from ragstone.stress.results import contrast_tests, keep_reports, read_stress
from ragstone.stress.running import prepare, run_stress
from tests.stress.generators import LENGTHS, copies, detects, ignores_first, needs_all, refuses_above, samples
from tests.stress.test_beds import INTEGRATION

RATES = (0.0, 0.25, 0.5, 0.75, 1.0)


@pytest.fixture(scope="module")
def prepared():
    """Four passages, two of which can hold the answer."""
    return prepare(samples(), Setting(passages=4, rates=RATES))


@pytest.fixture(scope="module")
def tested(prepared, tmp_path_factory):
    """The tests of generators that several look at, each run once."""
    home, found = tmp_path_factory.mktemp("stressed"), {}

    def test_of(name):
        if name not in found:
            generator = {"copies": copies, "refuses": refuses_above(0.5), "detects": detects}[name]
            more = {"metrics": ["token_f1", "refusal"]} if name == "copies" else {}
            found[name] = stressed(prepared, generator, home, **more)
        return found[name]

    return test_of


def stressed(prepared, generator, out, **options):
    run = run_stress(prepared, generator, out, system_options={"cache": False}, **options)
    keep_reports(run, prepared)
    return read_stress(run)


def means(test, bed, metric):
    curve = next(curve for curve in test.curves if (curve.bed, curve.metric) == (bed, metric))
    return [point.mean for point in curve.points]


def test_one_that_always_copies(tested):
    test = tested("copies")
    # Two positives at most: at the rates 0 to 0.5 both are there, at 0.75 one, at 1 none, where nobody can be right.
    assert means(test, "noise", "rgb.accuracy") == [1, 1, 1, 1, 0]
    assert test.main("noise").rates == (0, 0.25, 0.5, 0.75)
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
    assert means(found, "noise", "rgb.accuracy") == [1, 1, 0, 0]
    assert (found.main("noise").rates, found.main("noise").drop) == ((0.5, 0.75), 0)
    assert found.main("noise").robustness.value == pytest.approx(1)


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
    assert means(test, "integration", "rgb.accuracy") == [1, 1, 1]
    half = stressed(bed, lambda question, contexts: contexts[0].replace("five", "?").replace("5", "?"), tmp_path)
    assert means(half, "integration", "rgb.accuracy") == [0, 0, 0]


def test_a_curve_of_any_metric(tested):
    test = tested("copies")
    assert means(test, "noise", "token_f1") == [1, 1, 1, 1, 0]
    assert means(test, "rejection", "refusal") == [0]


def test_intervals_are_wilsons_over_questions(tested):
    point = tested("copies").main("noise").points[0]
    assert (point.low, point.high) == (pytest.approx(0.6756, abs=1e-4), 1.0)
    assert point.questions == 8


def test_failures_are_rows_with_a_reason(prepared, tmp_path):
    def fails(question, contexts):
        if "Maren" in question:
            raise ValueError("no luck")
        return copies(question, contexts)

    notes = []
    run = run_stress(prepared, fails, tmp_path, system_options={"cache": False}, note=notes.append)
    test = read_stress(run)
    assert [point.questions for point in test.main("noise").points] == [7] * 5
    assert [point.skipped for point in test.main("noise").points] == [1] * 5
    broken = [sample for sample in run.samples if sample.answer is None]
    assert len(broken) == 5 + 1 + 4
    assert all("raised ValueError: no luck" in sample.metadata["system_error"] for sample in broken)
    assert any("10 of 80 questions got no answer" in note for note in notes)
    assert test.main("noise").robustness.questions == 7


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


def test_an_ordinary_run_is_no_stress_test(tmp_path):
    import ragstone

    run = ragstone.evaluate([{"question": "a", "answer": "b", "references": ["b"]}], "token_f1", tmp_path)
    with pytest.raises(UsageError, match="is no stress test"):
        read_stress(run)


def test_a_generator_that_takes_no_passages(prepared):
    with pytest.raises(UsageError, match="takes a question only"):
        run_stress(prepared, lambda question: "x", system_options={"cache": False})
