"""Gates: pass, fail or cannot tell by the interval; conditions as they are written; early verdicts."""

from importlib import resources

import numpy as np
import pytest
from benchmarks.cases import coverage

from ragstone.analysis.comparison import compare_runs
from ragstone.analysis.differences import Settings, measure
from ragstone.analysis.gate_conditions import Check, decide, parse_checks, read_checks
from ragstone.analysis.gates import check_gate, judge_drops
from ragstone.engine import evaluate as evaluation
from ragstone.errors import UnknownNameError, UsageError
from ragstone.stats.intervals import Interval
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.scores import Scores
from tests.analysis.scored import declare, make_run, noise


@pytest.fixture(autouse=True)
def metrics(catalogue):
    declare(catalogue)


@pytest.mark.parametrize(
    ("kind", "limit", "ends", "outcome"),
    [
        ("min", 0.8, (0.8, 0.9), "passes"),
        ("min", 0.8, (0.7, 0.9), "cannot tell"),
        ("min", 0.8, (0.6, 0.79), "fails"),
        ("max", 0.2, (0.1, 0.2), "passes"),
        ("max", 0.2, (0.1, 0.3), "cannot tell"),
        ("max", 0.2, (0.21, 0.3), "fails"),
        ("max-drop", 0.02, (-0.02, 0.1), "passes"),
        ("max-drop", 0.02, (-0.03, 0.1), "cannot tell"),
        ("max-drop", 0.02, (-0.2, -0.03), "fails"),
    ],
)
def test_the_whole_interval_decides(kind, limit, ends, outcome):
    assert decide(Check(kind, "m", limit), Interval(*ends)) == outcome


def one(run, kind, text, against=None, **options):
    return check_gate(run, parse_checks(kind, [text]), against, **options).checks[0]


def test_a_mean(tmp_path):
    run = make_run(tmp_path, "a", quality=noise(1, 100, 0.1, 0.7))
    assert one(run, "min", "quality=0.6").outcome == "passes"
    assert one(run, "min", "quality=0.8").outcome == "fails"
    unsure = one(run, "min", f"quality={run.summary()['quality'].mean + 0.005}")
    assert unsure.outcome == "cannot tell"
    assert "100 rows are too few; about 1," in unsure.why
    assert one(run, "max", "quality=0.8").outcome == "passes"
    summary = run.summary()["quality"]
    assert unsure.interval == pytest.approx((summary.ci_low, summary.ci_high))


def test_a_drop(tmp_path):
    before = noise(1, 60, 0.1, 0.7)
    base = make_run(tmp_path, "base", quality=before)
    same = make_run(tmp_path, "same", quality=before)
    little = make_run(tmp_path, "little", quality=before - 0.01 + noise(2, 60, 0.02, 0.0))
    much = make_run(tmp_path, "much", quality=before - 0.2)
    assert one(same, "max-drop", "quality=0.02", base).outcome == "passes"
    assert one(little, "max-drop", "0.05", base).outcome == "passes"
    assert one(much, "max-drop", "0.05", base).outcome == "fails"
    assert one(base, "max-drop", "0", much).outcome == "passes"


def test_a_drop_of_what_should_be_low_is_a_rise(tmp_path):
    before = noise(1, 60)
    base, slow = (make_run(tmp_path, name, ["delay"], delay=before + more) for name, more in (("base", 0), ("slow", 1)))
    assert one(slow, "max-drop", "delay=0.5", base).outcome == "fails"
    assert one(base, "max-drop", "delay=0.5", slow).outcome == "passes"
    with pytest.raises(UsageError, match="a gate needs a condition"):
        check_gate(slow, [], base)


def test_one_number_is_for_metrics_from_0_to_1(tmp_path):
    names = ["quality", "right", "delay", "size"]
    runs = [
        make_run(tmp_path, name, names, quality=noise(1, 20), right=[1.0] * 20, delay=noise(2, 20), size=noise(3, 20))
        for name in "ab"
    ]
    found = check_gate(runs[0], [*parse_checks("max-drop", ["0.02", "right=0.1"])], runs[1])
    assert [(item.check.metric, item.check.limit) for item in found.checks] == [("quality", 0.02), ("right", 0.1)]


def test_one_number_is_not_for_what_was_never_measured(tmp_path):
    """A metric that no row of either run can have must not keep the gate shut for ever; one that was lost must."""
    runs = [make_run(tmp_path, name, ["quality", "right"], quality=noise(1, 20), right=[None] * 20) for name in "ab"]
    found = check_gate(runs[0], [*parse_checks("max-drop", ["0.02"])], runs[1])
    assert [item.check.metric for item in found.checks] == ["quality"]
    assert found.outcome == "passes"
    sized = make_run(tmp_path, "e", ["size"], size=noise(3, 20))
    with pytest.raises(UsageError, match="share no metric"):
        check_gate(make_run(tmp_path, "d", ["size"], size=noise(3, 20)), parse_checks("max-drop", ["0.02"]), sized)
    had = make_run(tmp_path, "c", ["quality", "right"], quality=noise(1, 20), right=[1.0] * 20)
    lost = check_gate(runs[0], [*parse_checks("max-drop", ["0.02"])], had)
    assert {item.check.metric: item.outcome for item in lost.checks} == {"quality": "passes", "right": "cannot tell"}


def test_one_number_is_not_for_what_the_baseline_never_had(tmp_path):
    """Facts that came with the new run have nothing to drop from."""
    old = make_run(tmp_path, "old", ["quality", "right"], quality=noise(1, 20), right=[None] * 20)
    new = make_run(tmp_path, "new", ["quality", "right"], quality=noise(1, 20), right=[1.0] * 20)
    found = check_gate(new, [*parse_checks("max-drop", ["0.02"])], old)
    assert [item.check.metric for item in found.checks] == ["quality"]


def test_one_number_is_for_the_headlines(tmp_path):
    """A clearly better system passes; a variant for which its rows are too few counts only if it is named."""
    names = ["recall", "mrr", "ndcg@3", "token_f1", "refusal", "precision", "rouge_l", "ari"]
    with resources.as_file(resources.files("ragstone.examples") / "harbour") as folder:
        old, new = (evaluation.evaluate(folder / f"{name}.jsonl", names, tmp_path) for name in ("worse", "better"))
    found = check_gate(new, parse_checks("max-drop", ["0.02"]), old)
    assert {item.check.metric for item in found.checks} == {"recall", "mrr", "ndcg@3", "token_f1"}
    assert found.outcome == "passes"
    assert set(found.left_out) == {"precision", "rouge_l"}
    assert check_gate(old, parse_checks("max-drop", ["0.02"]), new).outcome == "fails"
    named = check_gate(new, parse_checks("max-drop", ["0.02", "precision=0.02"]), old)
    assert [item.check.metric for item in named.checks if item.outcome == "cannot tell"] == ["precision"]
    assert named.left_out == ("rouge_l",)
    assert check_gate(new, parse_checks("max-drop", ["recall=0.02"]), old).left_out == ()


def test_the_number_of_samples_that_got_worse(tmp_path):
    base = make_run(tmp_path, "base", quality=[1.0] * 6 + [0.0] * 2)
    worse = make_run(tmp_path, "worse", quality=[1.0] * 4 + [0.5] * 2 + [0.0, 1.0])
    found = one(worse, "max-worse", "quality=1", base)
    assert (found.outcome, found.value, found.interval, found.rows) == ("fails", 2, None, 8)
    assert found.why == "s4, s5"
    assert found.condition == "samples worse in quality ≤ 1"
    assert one(worse, "max-worse", "quality=2", base).outcome == "passes"
    assert one(base, "max-worse", "quality=0", base).outcome == "passes"
    all_worse = one(make_run(tmp_path, "bad", quality=[0.5] * 6 + [0.0] * 2), "max-worse", "quality=0", base)
    assert all_worse.why == "s0, s1, s2, s3, s4 and 1 more"
    slow = make_run(tmp_path, "slow", ["delay"], delay=[1, 2, 3])
    assert one(make_run(tmp_path, "slower", ["delay"], delay=[1, 2, 4]), "max-worse", "delay=0", slow).why == "s2"


def test_a_sample_without_a_value_may_be_worse(tmp_path):
    base = make_run(tmp_path, "base", quality=[1.0] * 4)
    for lost in ("broken", None):
        run = make_run(tmp_path, f"{lost}", quality=[1.0, 1.0, 1.0, lost])
        found = one(run, "max-worse", "quality=0", base)
        assert (found.outcome, found.why) == (
            "cannot tell",
            "1 of the baseline's samples have no value now: they may be worse",
        )
        assert one(run, "max-worse", "quality=1", base).outcome == "passes"
    none = make_run(tmp_path, "none", quality=["broken"] * 4)
    assert one(none, "max-worse", "quality=4", base).outcome == "cannot tell"


def test_samples_that_left_are_said_and_may_be_worse(tmp_path):
    base = make_run(tmp_path, "base", quality=[1.0] * 10)
    run = make_run(tmp_path, "some", quality=[1.0] * 6)
    gate = check_gate(run, parse_checks("max-worse", ["quality=0", "quality=4"]), base)
    assert [(item.outcome, item.lost) for item in gate.checks] == [("cannot tell", 4), ("passes", 4)]
    assert gate.remarks == ("4 of 10 samples are only in base: s6, s7, s8 and 1 more",)
    asked = [f"question {row}" for row in range(10)]
    other = make_run(tmp_path, "edited", quality=[1.0] * 10, questions=["another one", *asked[1:]])
    assert one(other, "max-worse", "quality=0", base).outcome == "cannot tell"


def test_a_drop_is_not_judged_by_the_samples_that_are_left(tmp_path):
    base = make_run(tmp_path, "base", quality=[1.0] * 60)
    run = make_run(tmp_path, "lossy", quality=[1.0] * 25 + [None] * 35)
    found = one(run, "max-drop", "quality=0.02", base)
    assert (found.outcome, found.lost) == ("cannot tell", 35)
    assert found.why.startswith("35 of 60 samples have a value in the baseline and none now")
    worse = make_run(tmp_path, "worse", quality=[0.0] * 25 + [None] * 35)
    assert one(worse, "max-drop", "quality=0.02", base).outcome == "fails", "the rows that are left fail it"
    few = make_run(tmp_path, "few", quality=[1.0] * 58 + [None] * 2)
    assert one(few, "max-drop", "quality=0.02", base).outcome == "passes"


@pytest.mark.parametrize("metric", ["exact_match", "recall"])
def test_a_mean_is_not_judged_by_the_rows_with_an_answer(tmp_path, metric):
    row = {"question": "q", "answer": "a", "references": ["a"], "contexts": [{"text": "t", "id": "1"}]}
    rows = [{**row, "id": str(n), "relevance": {"1": 1}} for n in range(60)]
    lossy = [
        *rows[:25],
        *({key: one[key] for key in ("id", "question", "references", "relevance")} for one in rows[25:]),
    ]
    good, bad = (evaluation.evaluate(data, [metric], tmp_path) for data in (rows, lossy))
    assert one(good, "min", f"{metric}=0.8").outcome == "passes"
    found = one(bad, "min", f"{metric}=0.8")
    assert (found.outcome, found.why.split(";")[0]) == ("cannot tell", "35 of 60 rows have no answer")


def test_few_conversations_are_no_pass(tmp_path):
    before = noise(1, 20, 0.1, 0.5)
    talks = {"talk": ["a"] * 10 + ["b"] * 10}
    base = make_run(tmp_path, "base", quality=before, more=talks)
    run = make_run(tmp_path, "new", quality=before + 0.1 + noise(2, 20, 0.01, 0.0), more=talks)
    found = one(run, "max-drop", "quality=0.02", base, settings=Settings(cluster="talk"))
    assert (found.outcome, found.why) == ("cannot tell", "20 rows of 2 conversations or groups: too few to decide")


def test_a_share_fails_only_by_the_exact_interval(tmp_path):
    run = make_run(tmp_path, "a", ["right"], right=[1] * 16 + [0])
    assert one(run, "min", "right=0.99").outcome == "cannot tell", "Wilson's interval ends at 0.9895"
    assert one(run, "min", "right=0.999").outcome == "fails"


def test_a_score_of_all_rows_has_no_samples_that_get_worse(tmp_path):
    rows = [{"id": str(n), "question": "q", "answer": "a b c d", "references": ["a b c e"]} for n in range(8)]
    run = evaluation.evaluate(rows, ["bleu"], tmp_path)
    with pytest.raises(UsageError, match="bleu is a score of all rows"):
        one(run, "max-worse", "bleu=0", run)


def test_ids_stay_on_one_line(tmp_path):
    ids = ["a\n::error::b", *"cdefg"]
    base = make_run(tmp_path, "base", ids=ids, quality=[1.0] * 6)
    assert one(make_run(tmp_path, "new", ids=ids, quality=[0.0] + [1.0] * 5), "max-worse", "quality=0", base).why == (
        "a ::error::b"
    )


def test_a_count_is_no_part_of_the_correction(tmp_path):
    before = noise(1, 30, 0.1, 0.7)
    base, run = make_run(tmp_path, "base", quality=before), make_run(tmp_path, "new", quality=before - 0.2)
    drop = parse_checks("max-drop", ["quality=0.02"])
    both = check_gate(run, [*drop, *parse_checks("max-worse", ["quality=30"] * 40)], base)
    assert both.checks[0] == check_gate(run, drop, base).checks[0]
    assert {item.outcome for item in both.checks[1:]} == {"passes"}
    headlines = check_gate(run, [*parse_checks("max-drop", ["0.02"]), *parse_checks("max-worse", ["quality=0"])], base)
    assert [item.check.kind for item in headlines.checks] == ["max-drop", "max-worse"]


def test_failed_cells_are_no_pass(tmp_path):
    run = make_run(tmp_path, "a", quality=[0.9] * 50 + ["broken"] * 5)
    found = one(run, "min", "quality=0.5")
    assert (found.outcome, found.rows, found.failed) == ("cannot tell", 50, 5)
    assert found.why.startswith("5 of 55 cells failed")
    assert one(run, "min", "quality=0.5", most_failed=0.1).outcome == "passes"


def test_few_rows_are_no_pass(tmp_path):
    run = make_run(tmp_path, "a", quality=[0.9] * 5)
    assert one(run, "min", "quality=0.5").why.startswith("5 rows with a value")


def test_the_worst_condition_decides(tmp_path):
    run = make_run(tmp_path, "a", quality=noise(1, 100, 0.1, 0.7))
    unsure = f"quality={run.summary()['quality'].mean}"
    for conditions, outcome, code in (
        (["quality=0.5"], "passes", 0),
        (["quality=0.5", unsure], "cannot tell", 4),
        (["quality=0.5", unsure, "quality=0.9"], "fails", 3),
    ):
        found = check_gate(run, parse_checks("min", conditions))
        assert (found.outcome, found.exit_code) == (outcome, code)


def test_a_metric_that_was_not_computed_cannot_tell(tmp_path):
    run = evaluation.evaluate([{"question": "q", "answer": "a"}] * 8, ["token_f1", "ari"], tmp_path)
    found = one(run, "min", "token_f1=0.5")
    assert found.outcome == "cannot tell"
    assert found.why.startswith("not computed: ")


def test_an_unknown_metric(tmp_path):
    run = make_run(tmp_path, "a", quality=noise(1, 10))
    with pytest.raises(UnknownNameError, match=r"unknown metric of this run 'qualty'. Did you mean quality\?"):
        one(run, "min", "qualty=0.5")


def test_another_yardstick_cannot_tell(tmp_path):
    rows = [
        {"id": str(n), "question": "q", "contexts": ["The boat leaves."], "facts": ["boat leaves"]} for n in range(8)
    ]
    first, second = (
        evaluation.evaluate(rows, ["fact_recall"], tmp_path, matcher=name) for name in ("citation", "fuzzy")
    )
    found = one(first, "max-drop", "0.02", second)
    assert found.outcome == "cannot tell"
    assert "made in different ways" in found.why


def test_clusters_widen_the_interval(tmp_path):
    scores = np.repeat(noise(1, 10, 0.2, 0.7), 10)
    run = make_run(tmp_path, "a", quality=scores, more={"document": np.repeat(np.arange(10), 10).tolist()})
    plain, clustered = (one(run, "min", "quality=0.5", settings=Settings(cluster=name)) for name in (None, "document"))
    widths = [item.interval.high - item.interval.low for item in (plain, clustered)]
    assert widths[1] > 2.5 * widths[0]


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("min", "0.5", "--min 0.5: write it as METRIC=VALUE"),
        ("min", "=0.5", "write it as METRIC=VALUE"),
        ("min", "recall=high", "'high' is not a number"),
        ("max", "recall=nan", "'nan' is not a number"),
        ("max-drop", "-0.1", "a drop is 0 or more"),
        ("max-worse", "0", "--max-worse 0: write it as METRIC=COUNT, for instance --max-worse recall@5=0"),
        ("max-worse", "recall=0.5", "the number of samples is a whole number"),
        ("max-worse", "recall=-1", "the number of samples is a whole number"),
        ("max-worse", "recall=5%", "the number of samples is a whole number"),
    ],
)
def test_conditions_that_cannot_be_understood(kind, text, words):
    with pytest.raises(UsageError, match=words):
        parse_checks(kind, [text])


def test_a_metric_with_settings_keeps_its_equals_sign():
    assert parse_checks("min", ["k_precision(aggregate=max)=0.5"]) == [Check("min", "k_precision(aggregate=max)", 0.5)]


def test_what_belongs_together(tmp_path):
    run = make_run(tmp_path, "a", quality=noise(1, 10))
    for checks, against, words in (
        ([], None, "a gate needs a condition"),
        (parse_checks("max-drop", ["0.1"]), None, "--max-drop needs a baseline: --against RUN or --baseline BRANCH"),
        (parse_checks("min", ["quality=0.1"]), run, "--against needs --max-new-failures"),
    ):
        with pytest.raises(UsageError, match=words):
            check_gate(run, checks, against)


def test_the_table_of_the_settings_file():
    table = {"min": {"recall@5": 0.8}, "max": {"refusal": 0.1}, "max-drop": 0.02, "against": "main"}
    assert read_checks(table, "f") == [
        Check("min", "recall@5", 0.8),
        Check("max", "refusal", 0.1),
        Check("max-drop", "*", 0.02),
    ]
    assert read_checks({"max-drop": {"recall": 0.1}}, "f") == [Check("max-drop", "recall", 0.1)]
    with pytest.raises(UnknownNameError, match=r"unknown entry of .gate. in f 'mni'. Did you mean min"):
        read_checks({"mni": {}}, "f")
    with pytest.raises(UsageError, match="min must be a table of metrics and numbers"):
        read_checks({"min": 0.5}, "f")


def test_failing_is_corrected_for_all_conditions():
    """A drop that is just significant alone does not fail a gate with many conditions; a clear one does."""
    names = [f"m{number}" for number in range(20)]
    random = np.random.default_rng(4)
    changes = random.normal(0, 0.1, (40, 20))
    changes -= changes.mean(axis=0) + 0.05
    changes[:, 0] -= 2.3 * changes[:, 0].std(ddof=1) / 40**0.5
    for clear, alone, together in ((0.0, "fails", "cannot tell"), (0.1, "fails", "fails")):
        changes[:, 0] -= clear
        found = [decide_drops(names[:count], changes[:, :count])[0].outcome for count in (1, 20)]
        assert found == [alone, together]


def decide_drops(names, changes):
    metrics = [MetricInfo.declare(name, bounds=(None, None)) for name in names]
    scores = [
        {name: Scores(side[:, at], np.zeros(len(side))) for at, name in enumerate(names)}
        for side in (0 * changes, changes)
    ]
    items = measure(metrics, *scores, Settings())
    checks = [Check("max-drop", name, 0.05) for name in names]
    return judge_drops(checks, items, changes, None, Settings(), len(checks))


def test_failing_means_are_corrected_too(tmp_path):
    run = make_run(tmp_path, "a", ["quality", "right"], quality=noise(1, 100, 0.1, 0.7), right=[1.0] * 100)
    limit = run.summary()["quality"].ci_high + 0.002
    assert one(run, "min", f"quality={limit}").outcome == "fails"
    both = check_gate(run, parse_checks("min", [f"quality={limit}", *["right=0.5"] * 9]))
    assert both.checks[0].outcome == "cannot tell"
    assert "10 conditions" in both.checks[0].why
    assert both.checks[0].interval == one(run, "min", f"quality={limit}").interval


def test_differences_have_the_sign_of_compare(tmp_path):
    before = noise(1, 60)
    base, slow = (make_run(tmp_path, name, ["delay"], delay=before + more) for name, more in (("base", 0), ("slow", 1)))
    found, compared = one(slow, "max-drop", "delay=0.5", base), compare_runs(base, slow)["delay"]
    assert (found.value, *found.interval) == (compared.difference, compared.low, compared.high)
    assert found.value == pytest.approx(1)
    assert found.gain == pytest.approx(-1)
    assert found.condition == "delay rise ≤ 0.5"


def test_a_value_at_the_limit_up_to_rounding(tmp_path):
    run = make_run(tmp_path, "a", quality=noise(1, 20))
    found = one(run, "min", f"quality={run.summary()['quality'].mean + 1e-16}")
    assert found.outcome == "cannot tell"
    assert "at the limit" in found.why


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.02, 0.0])
@pytest.mark.parametrize("metrics", coverage.GATE_METRICS)
def test_identical_systems_rarely_fail(metrics, limit):
    assert coverage.false_failures(metrics, 200, limit) <= coverage.MOST_FALSE_FAILURES
