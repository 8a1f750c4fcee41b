"""Agreement of runs with people: labels find their rows, the better metric comes first, and what is missing is said."""

import numpy as np
import pytest
from scipy import stats

from ragstone.agreement.labels import Label, Labels, join
from ragstone.agreement.metric_agreement import (
    Settings,
    measure_agreement,
    measure_ceiling,
    natural_coefficient,
    tell_scale,
)
from ragstone.errors import UsageError
from ragstone.stats.correlation import LEVELS
from ragstone.stats.rater_agreement import majority_grade, make_macro
from ragstone.stats.resampled_measures import best_chances, take_measure
from tests.analysis.scored import declare, make_run

COUNT, SYSTEMS = 60, 3


@pytest.fixture
def truth():
    """What people say of each system's answers: it differs by system, and by input."""
    random = np.random.default_rng(5)
    return np.clip(0.5 + 0.1 * np.arange(SYSTEMS)[:, None] + 0.2 * random.normal(size=(SYSTEMS, COUNT)), 0, 1)


@pytest.fixture
def runs(tmp_path, catalogue, truth):
    """Quality goes with people, delay against them, size with nothing, and right has a gap."""
    declare(catalogue)
    random = np.random.default_rng(6)
    return [
        make_run(
            tmp_path,
            f"system{place}",
            ("quality", "delay", "size", "right"),
            quality=np.clip(labels + 0.05 * random.normal(size=COUNT), 0, 1),
            delay=10 - 5 * labels + random.normal(size=COUNT),
            size=random.normal(size=COUNT),
            right=[None, *(labels[1:] + 0.3 * random.normal(size=COUNT - 1) > 0.6).astype(float)],
        )
        for place, labels in enumerate(truth)
    ]


def make_labels(truth, annotators=(None,), noise=0.0):
    random = np.random.default_rng(7)
    return Labels(
        "labels.csv",
        tuple(
            Label(f"s{row}", float(value + noise * random.normal()), f"system{place}", annotator)
            for annotator in annotators
            for place, values in enumerate(truth)
            for row, value in enumerate(values)
        ),
        0,
    )


def test_the_metric_that_agrees_most_comes_first_and_others_are_told_from_it(runs, truth):
    found = measure_agreement(join(runs, make_labels(truth)), Settings())
    assert [item.metric for item in found.metrics] == ["quality", "delay", "right", "size"]
    best, delay, _, size = found.metrics
    scores = join(runs, make_labels(truth)).scores["delay"]
    assert found.main(delay).value == pytest.approx(-stats.spearmanr(scores, truth.ravel())[0], abs=1e-9)
    assert found.main(best).interval.low > 0.9
    assert best.p_best > 0.5
    assert delay.p_best < 0.01
    assert size.p_best < 0.01
    low, high = found.main(size).interval
    assert low < 0 < high


def test_every_level_and_coefficient_when_all_are_asked_for(runs, truth):
    found = measure_agreement(join(runs, make_labels(truth), ["quality"]), Settings(full=True))
    (item,) = found.metrics
    assert len(item.correlations) == 24
    table = join(runs, make_labels(truth)).scores["quality"].reshape(SYSTEMS, COUNT)
    within = np.mean([stats.kendalltau(*pair)[0] for pair in zip(table.T, truth.T, strict=True)])
    assert item.correlations["kendall", "sample"].value == pytest.approx(within, abs=1e-9)
    between = stats.pearsonr(table.mean(axis=1), truth.mean(axis=1))[0]
    assert item.correlations["pearson", "system"].value == pytest.approx(between, abs=1e-9)
    assert {level for _, level in item.correlations} == set(LEVELS)


def test_rows_without_a_score_are_left_out_and_counted(runs, truth):
    found = measure_agreement(join(runs, make_labels(truth), ["right"]), Settings())
    assert found.metrics[0].rows == SYSTEMS * (COUNT - 1)


def test_yes_and_no_give_verdicts(runs, truth):
    labels = make_labels((truth > 0.6).astype(float))
    found = measure_agreement(join(runs, labels, ["quality", "delay"]), Settings(threshold=0.6))
    quality, delay = sorted(found.metrics, key=lambda item: item.metric, reverse=True)
    scores = join(runs, labels).scores["quality"]
    said = scores >= 0.6
    assert quality.verdicts.measures["accuracy"].value == pytest.approx(np.mean(said == (truth.ravel() > 0.6)))
    assert quality.verdicts.measures["roc_auc"].value > 0.9
    assert "calibration_error" not in delay.verdicts.measures
    assert delay.verdicts.measures["roc_auc"].value > 0.7


def test_verdicts_of_several_people_go_by_majority_and_even_splits_are_left_out(runs, truth):
    votes = Labels(
        "l.csv",
        tuple(
            Label(f"s{row}", vote, "system0", name)
            for row, both in enumerate([(1, 1), (0, 0), (1, 0), (1, 1), (0, 0)])
            for name, vote in zip("ab", map(float, both), strict=True)
        ),
        0,
    )
    (item,) = measure_agreement(join(runs, votes, ["quality"]), Settings()).metrics
    assert item.verdicts.tied == 1


def test_labels_on_the_steps_of_the_metric_give_weighted_kappa(tmp_path, catalogue):
    declare(catalogue)
    stars = [1.0, 2, 3, 4, 5, 5, 4, 3, 2, 1]
    run = make_run(tmp_path, "stars", ("size",), size=stars)
    shifted = [1.0, 3, 3, 4, 5, 4, 4, 3, 2, 2]
    labels = Labels("l", tuple(Label(f"s{row}", value) for row, value in enumerate(shifted)), 0)
    (item,) = measure_agreement(join([run], labels), Settings()).metrics
    assert item.verdicts.measures["accuracy"].value == 0.7
    assert item.verdicts.measures["weighted_kappa"].value > item.verdicts.measures["kappa"].value > 0


def test_people_among_themselves_are_the_ceiling(runs, truth):
    labels = make_labels(truth, ("ann", "bo", "cy"), noise=0.1)
    joined = join(runs, labels)
    found = measure_agreement(joined, Settings()).ceiling
    assert (found.annotators, found.shared, found.scale) == (3, SYSTEMS * COUNT, "interval")
    ratings = joined.ratings
    expected = np.mean([stats.spearmanr(ratings[:, at], np.delete(ratings, at, 1).mean(axis=1))[0] for at in range(3)])
    assert found.correlation == pytest.approx(expected, abs=1e-9)
    assert 0.6 < found.alpha < 0.95
    assert joined.labels == pytest.approx(ratings.mean(axis=1))
    assert measure_ceiling(ratings[:, :1], joined.inputs, "spearman") is None


def test_labels_without_names_are_several_annotators_all_the_same(runs, truth):
    assert join(runs, make_labels(truth, (None, None))).annotators == ("annotator 1", "annotator 2")


@pytest.mark.parametrize(
    ("values", "scale"),
    [([0, 1], "nominal"), ([1, 2, 5], "ordinal"), ([0.5, 1, 2], "interval"), (range(40), "interval")],
)
def test_the_scale_is_told_by_the_labels(values, scale):
    assert tell_scale(np.array([list(values)], dtype=float)) == scale


def test_the_worst_disagreements_are_those_between_ranks(runs, truth):
    turned = truth.copy()
    turned[1, 7] = 0.0 if truth[1, 7] > 0.5 else 1.0
    labels = make_labels(turned)
    first = measure_agreement(join(runs, labels, ["quality"]), Settings(), show=2).disagreements[0]
    assert (first.sample_id, first.system) == ("s7", "system1")
    assert first.question == "question 7"
    assert first.apart > 0.3


def test_what_both_put_at_the_same_end_is_no_disagreement(tmp_path, catalogue):
    declare(catalogue)
    run = make_run(tmp_path, "tied", ("right",), right=[0.0] * 5 + [1.0] * 5)
    labels = Labels("l", tuple(Label(f"s{row}", float(row >= 4)) for row in range(10)), 0)
    found = measure_agreement(join([run], labels), Settings(), show=5).disagreements
    assert [(item.sample_id, item.label, item.score) for item in found] == [("s4", 1.0, 0.0)]


def test_what_does_not_join_is_said(runs, truth):
    odd = (Label("s1", 1.0, "elsewhere"), Label("nowhere", 1.0, "system0"), Label("s1", 1.0, runs[1].id, "by id"))
    found = join(runs, Labels("labels.csv", (*make_labels(truth[:1]).labels, *odd), 4))
    assert found.remarks == (
        "system2 has no labels",
        "4 rows of labels.csv have no label yet",
        "1 labels are for 'elsewhere', which is not one of these runs",
        "1 labels are for samples that their run does not have: nowhere",
    )


def test_labels_of_nobody_and_of_no_system_are_refused(runs, truth):
    with pytest.raises(UsageError, match=r"no label matches .*1 labels are for 'x'"):
        join(runs, Labels("l", (Label("s1", 1.0, "x"),), 0))
    with pytest.raises(UsageError, match="Add a column system with system0 or system1 or system2"):
        join(runs, Labels("l", (Label("s1", 1.0),), 0))
    assert len(join(runs[:1], Labels("l", (Label("s1", 1.0),), 0)).inputs) == 1


def test_metrics_that_do_not_vary_say_so(tmp_path, catalogue):
    declare(catalogue)
    run = make_run(tmp_path, "flat", ("quality", "size"), quality=[0.5] * 6, size=range(6))
    labels = Labels("l", tuple(Label(f"s{row}", float(row)) for row in range(6)), 0)
    found = measure_agreement(join([run], labels), Settings())
    assert found.lacking == {"quality": "scores or labels do not vary"}
    assert [item.metric for item in found.metrics] == ["size"]


def test_yes_and_no_are_sorted_by_a_measure_that_ties_do_not_fool(runs, truth):
    assert natural_coefficient(join(runs, make_labels(truth))) == "spearman"
    assert natural_coefficient(join(runs, make_labels((truth > 0.5).astype(float), ("a", "b")))) == "somers"


def test_graded_labels_go_by_majority_and_by_median_on_ties(tmp_path, catalogue):
    """0, 2, 2 is 2 and not 1, which nobody said."""
    declare(catalogue)
    ratings = [(0, 2, 2), (2, 0, 0), (0, 1, 2), (1, 1, 2), (2, 2, 2), (0, 0, 1)]
    run = make_run(tmp_path, "stars", ("size",), size=[2.0, 0, 1, 1, 2, 0])
    given = [
        Label(f"s{row}", float(vote), None, "abc"[at])
        for row, votes in enumerate(ratings)
        for at, vote in enumerate(votes)
    ]
    found = measure_agreement(join([run], Labels("l", tuple(given), 0)), Settings())
    measures = found.metrics[0].verdicts.measures
    assert [measures[name].value for name in ("accuracy", "macro_f1", "kappa")] == [1, 1, 1]
    assert majority_grade(np.array([[0.0, 2.0, np.nan], [np.nan] * 3])).tolist() == pytest.approx(
        [0, np.nan], nan_ok=True
    )


def test_pairs_of_annotators_have_cohens_kappa():
    from sklearn.metrics import cohen_kappa_score

    table = np.random.default_rng(1).integers(0, 3, (40, 3)).astype(float)
    ceiling = measure_ceiling(table, np.arange(40), "spearman")
    wanted = {pair: cohen_kappa_score(*table[:, pair].T) for pair in ((0, 1), (0, 2), (1, 2))}
    assert {pair: kappa for pair, (_, kappa) in ceiling.kappas.items()} == pytest.approx(wanted)
    assert ceiling.mean_kappa == pytest.approx(np.mean(list(wanted.values())))


def test_residuals_given_the_system_as_in_frank(runs, truth):
    joined = join(runs, make_labels(truth), ["quality"])
    (item,) = measure_agreement(joined, Settings(level="residual")).metrics
    rows = joined.scored("quality")
    left = [column.reshape(SYSTEMS, COUNT) for column in (rows.scores, rows.labels)]
    wanted = stats.spearmanr(*((part - part.mean(axis=1, keepdims=True)).ravel() for part in left)).statistic
    assert item.correlations["spearman", "residual"].value == pytest.approx(wanted, abs=1e-6)


def test_macro_averages_are_those_of_scikit_learn():
    from sklearn.metrics import precision_recall_fscore_support

    labels, verdicts = np.random.default_rng(2).integers(0, 4, (2, 50)).astype(float)
    found = [take_measure(measure, 50) for measure in make_macro(labels, verdicts).values()]
    assert found == pytest.approx(precision_recall_fscore_support(labels, verdicts, average="macro")[:3])


def test_one_measure_without_values_does_not_stop_the_test_of_the_others():
    drawn = np.random.default_rng(3).normal([0.9, 0.2, 0.5], 0.05, (500, 3))
    drawn[:300, 2] = np.nan
    drawn[::9, 1] = np.nan
    p = best_chances([0.9, 0.2, 0.5], drawn)
    assert p[0] > 0.5
    assert p[1] < 0.01
    assert np.isnan(p[2])
