"""Preferences between two systems: read in several forms, compared with differences of scores, checked against scipy."""

import numpy as np
import pytest
from scipy import stats

from ragstone.agreement.metric_agreement import Settings, measure_agreement
from ragstone.agreement.preferences import join_preferences, read_preferences
from ragstone.errors import InputError, UsageError
from tests.analysis.scored import declare, make_run


def row(sample="q1", label="b", one="old", other="new", **more):
    return {"sample_id": sample, "system_a": one, "system_b": other, "label": label, **more}


def world(random, pairs=60, slope=1.0, noise=1.0):
    """Pairs with a score of both sides and the labels of two annotators, who share an opinion and err apart."""
    difference, opinion = random.normal(size=(2, pairs))
    opinion = slope * difference + opinion
    said = np.clip(np.round(opinion[:, None] + noise * random.normal(size=(pairs, 2))), -2, 2)
    rows = [
        row(f"q{at}", said[at, who], annotator=f"p{who}", f1_a=0.0, f1_b=difference[at])
        for at in range(pairs)
        for who in (0, 1)
    ]
    return rows, difference, said


def agree(rows, metrics=(), **settings):
    return measure_agreement(join_preferences([], read_preferences([rows]), metrics), Settings(**settings))


def test_correlations_are_those_of_scipy_and_accuracy_is_of_decided_pairs():
    rows, difference, said = world(np.random.default_rng(1))
    found = agree(rows, full=True)
    (item,) = found.metrics
    for coefficient, theirs in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        value = item.correlations[coefficient, "dataset"].value
        assert value == pytest.approx(theirs(difference, said.mean(axis=1))[0], abs=1e-12)
        value = item.correlations[coefficient, "label"].value
        assert value == pytest.approx(theirs(np.repeat(difference, 2), said.ravel())[0], abs=1e-12)
    mean = said.mean(axis=1)
    decided = mean != 0
    assert item.verdicts.tied == (~decided).sum() > 0
    assert item.verdicts.measures["accuracy"].value == pytest.approx(
        (np.sign(difference) == np.sign(mean))[decided].mean()
    )
    both = (said != 0).all(axis=1)
    equal = np.sign(said[:, 0]) == np.sign(said[:, 1])
    assert found.ceiling.votes["votes"].share.value == pytest.approx(equal.mean())
    assert found.ceiling.votes["decided_votes"][1] == both.sum()
    assert found.ceiling.votes["decided_votes"].share.value == pytest.approx(equal[both].mean())
    assert found.ceiling.correlation == pytest.approx(stats.spearmanr(*said.T)[0], abs=1e-12)


@pytest.mark.slow
def test_intervals_contain_the_truth_as_often_as_they_say():
    random = np.random.default_rng(2)
    _, difference, said = world(random, 400_000)
    mean, single = said.mean(axis=1), said[:, 0]
    decided = mean != 0
    truth = [
        stats.pearsonr(difference, mean)[0],
        stats.pearsonr(difference, single)[0],
        (np.sign(difference) == np.sign(mean))[decided].mean(),
    ]
    inside = np.zeros((80, 3))
    for trial in inside:
        (item,) = agree(world(random)[0], coefficient="pearson").metrics
        intervals = [item.correlations["pearson", level].interval for level in ("dataset", "label")]
        intervals.append(item.verdicts.measures["accuracy"].interval)
        trial[:] = [interval.low <= value <= interval.high for interval, value in zip(intervals, truth, strict=True)]
    # 95 of 100; three standard errors of 80 trials are 0.073.
    assert (inside.mean(axis=0) > 0.877).all(), inside.mean(axis=0)


def test_the_order_of_the_two_systems_does_not_matter():
    rows, _, _ = world(np.random.default_rng(3))
    turned = [
        row(
            one["sample_id"],
            -one["label"],
            "new",
            "old",
            annotator=one["annotator"],
            f1_a=one["f1_b"],
            f1_b=one["f1_a"],
        )
        if one["annotator"] == "p1"
        else one
        for one in rows
    ]
    one, other = (agree(given).metrics[0] for given in (rows, turned))
    assert one.correlations["spearman", "label"].value == pytest.approx(other.correlations["spearman", "label"].value)
    assert one.verdicts.measures["accuracy"].value == pytest.approx(other.verdicts.measures["accuracy"].value)


def test_words_systems_and_numbers_are_labels():
    words = ["A better", "a is much better", "tie", "B better", "new", "OLD", "model_b", "[[C]]", -2, "0.5", ""]
    given = read_preferences([[row(f"q{at}", word) for at, word in enumerate(words)]])
    assert [one.label for one in given.rows] == [-1, -2, 0, 1, 1, -1, 1, 0, -2, 0.5, None]


def test_equal_scores_count_half_and_are_counted():
    rows = [row(f"q{at}", "b", f1_a=0, f1_b=at % 2) for at in range(4)] + [
        row("q4", "tie", f1_a=0, f1_b=1),
        row("q5", "a", f1_a=1, f1_b=0),
    ]
    (item,) = agree(rows).metrics
    assert item.verdicts.measures["accuracy"].value == pytest.approx((2 + 2 * 0.5 + 1) / 5)
    assert (item.verdicts.tied, item.verdicts.equal_scores, item.verdicts.counts["accuracy"]) == (1, 2, 5)


def test_mt_bench_rows_a_judge_among_the_annotators_and_turns():
    votes = [
        (81, 1, "model_a", "model_a"),
        (81, 2, "model_b", "tie (inconsistent)"),
        (82, 1, "tie", "model_b"),
        (83, 1, "model_b", "model_b"),
    ]
    rows = [
        {"question_id": question, "model_a": "x", "model_b": "y", "turn": turn, "winner": winner, "judge": judge}
        for question, turn, person, model in votes
        for judge, winner in (("expert_1", person), (["gpt-4", "pair-v2"], model), ("author_0", "tie"))
    ]
    joined = join_preferences([], read_preferences([rows]), ["gpt-4 pair-v2"], ["expert_*"])
    assert joined.annotators == ("expert_1",)
    assert [pair[0] for pair in joined.pairs] == ["81", "81/2", "82", "83"]
    assert len(set(joined.inputs)) == 3  # both turns of a question are drawn together
    (item,) = measure_agreement(joined, Settings()).metrics
    assert (item.metric, item.verdicts.measures["votes"].value) == ("gpt-4 pair-v2", 0.5)
    assert (item.verdicts.counts["decided_votes"], item.verdicts.measures["decided_votes"].value) == (2, 1.0)


def test_ragchecker_rows_labels_and_scores_in_two_files():
    def one(at, **more):
        sides = {f"model{side}": {"model_name": f"s{side}", "ragchecker": {"f1": at * side}} for side in (1, 2)}
        return {"instance_id": at, **sides, **more}

    labels = [
        {**one(at, overall=label), "model1": {"model_name": "s1"}} for at in range(3) for label in (at - 1, at - 1)
    ]
    read = read_preferences([labels, [one(at) for at in range(3)]], renames={"label": "overall"})
    joined = join_preferences([], read, ["ragchecker.f1"])
    assert joined.scores["ragchecker.f1"].tolist() == [0, 1, 2]
    assert joined.ratings.tolist() == [[-1, -1], [0, 0], [1, 1]]


@pytest.fixture
def runs(tmp_path, catalogue):
    declare(catalogue)
    return [
        make_run(tmp_path, name, ("quality", "delay"), quality=[0.2, 0.4, 0.6, 0.8], delay=delay)
        for name, delay in (("old", [4, 4, 4, 4]), ("new", [3, 5, 2, 1]))
    ]


def test_differences_of_runs_are_reversed_where_lower_is_better(runs):
    labels = [{"sample_id": f"s{at}", "preference": word} for at, word in enumerate("baab")]
    joined = join_preferences(runs, read_preferences([labels]), ["delay"])
    assert joined.scores["delay"].tolist() == [-1, 1, -2, -3]
    (item,) = measure_agreement(joined, Settings()).metrics
    assert item.verdicts.measures["accuracy"].value == 0.75


def test_labels_without_a_pair_are_counted_and_unknown_ones_refused(runs):
    rows = [row("s0"), row("s1", "a"), row("s2"), row("s9"), row("s3", other="newer")]
    joined = join_preferences(runs, read_preferences([rows]))
    assert len(joined.pairs) == 3
    assert "2 labels are for what these runs do not have: sample s9, newer" in joined.remarks
    with pytest.raises(UsageError, match=r"no label that can be used: 1 labels .* sample s9"):
        join_preferences(runs, read_preferences([[row("s9")]]))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row(label="5")], "cannot be read: '5'.*-2 .A. to 2 .B."),
        ([row(label="nice")], "cannot be read: 'nice'"),
        ([row(other="old")], "must name a sample and two systems, got q1, old and old"),
        ([row(sample="")], "must name a sample and two systems"),
        ([row()], "no scores .f1_a and f1_b.: name the runs"),
        ([row(label=None, f1_a=1, f1_b=2)], "no label that can be used"),
        ([{"sample_id": "q1", "preference": "a"}], "do not name system_a and system_b"),
    ],
)
def test_what_cannot_be_used(rows, words):
    with pytest.raises((InputError, UsageError), match=words):
        join_preferences([], read_preferences([rows]))


def test_one_run_and_two_kinds_of_labels_are_refused(runs):
    with pytest.raises(UsageError, match="compares two systems: name the runs of both"):
        join_preferences(runs[:1], read_preferences([[row("s0")]]))
    with pytest.raises(UsageError, match="use one kind"):
        read_preferences([[row()], [{"sample_id": "q1", "label": 1}]])
    assert read_preferences([[{"sample_id": "q1", "label": 1}]]) is None
    with pytest.raises(UsageError, match=r"unknown score or annotator 'f2'.* has f1"):
        join_preferences([], read_preferences([[row(f1_a=1, f1_b=2)]]), ["f2"])


def test_labels_that_never_prefer_one_side_get_a_remark():
    (remark,) = join_preferences([], read_preferences([[row(label=1, f1_a=0, f1_b=1), row("q2", 0)]])).remarks
    assert "no label says that A is better" in remark
