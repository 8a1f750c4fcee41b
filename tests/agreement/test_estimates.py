"""What people would say of all rows: of runs, slices and differences, also with rows that were picked to be labelled."""

import csv

import numpy as np
import pytest

from ragstone.agreement.estimates import choose_next, estimate_means, write_next
from ragstone.agreement.labels import Label, Labels, join, merge_labels, read_human
from ragstone.agreement.metric_agreement import Settings, measure_agreement
from ragstone.errors import InputError, UsageError
from ragstone.stats.intervals import wilson_interval
from ragstone.stats.ppi import powered_mean
from tests.analysis.scored import declare, make_run

ROWS = 200
NOTHING = Labels("", (), 0)


def make_truth(seed, shift):
    random = np.random.default_rng(seed)
    hidden = np.random.default_rng(0).normal(size=ROWS)
    return (hidden + shift + 0.3 * random.normal(size=ROWS) > 0).astype(float)


@pytest.fixture
def truth():
    return {"old": make_truth(1, 0.2), "new": make_truth(2, 0.6)}


@pytest.fixture
def runs(tmp_path, catalogue, truth):
    """A judge that sees most of the truth and is too kind; two topics."""
    declare(catalogue)
    random = np.random.default_rng(3)
    return [
        make_run(
            tmp_path,
            name,
            ("quality", "size"),
            quality=np.clip(0.25 + 0.6 * said + 0.12 * random.normal(size=ROWS), 0, 1),
            size=[None, *random.normal(size=ROWS - 1)],
            more={"topic": ["boats", "fares"] * (ROWS // 2)},
        )
        for name, said in truth.items()
    ]


def say(truth, rows, systems=("old", "new"), **more):
    return Labels("l", tuple(Label(f"s{row}", truth[name][row], name, **more) for name in systems for row in rows), 0)


def test_a_run_by_the_formula(runs, truth):
    joined = join(runs[:1], say(truth, range(40), ("old",)), ["quality"])
    (part,) = estimate_means(joined, "quality").runs
    scores = joined.everything["quality"][0]
    assert part.found == powered_mean(truth["old"][:40], scores[:40], scores[40:])
    assert (part.labels, part.rows, part.few) == (40, ROWS, False)
    assert part.found.judge_mean == pytest.approx(scores.mean())
    assert part.found.labels_interval == wilson_interval(int(truth["old"][:40].sum()), 40)
    assert part.found.worth > 80


def test_the_difference_of_two_runs_is_that_of_pairs(runs, truth):
    found = estimate_means(join(runs, say(truth, range(60)), ["quality"]), "quality")
    change = truth["new"] - truth["old"]
    assert found.difference.found.labels_mean == pytest.approx(change[:60].mean())
    low, high = found.difference.found.interval
    assert low < change.mean() < high
    assert found.difference.found.tuning > 0
    assert [part.name for part in found.runs] == ["old", "new"]


def test_changes_of_shares_are_no_shares(runs, truth):
    """Where no pair fell the differences are all 0 and 1, and yet -1 is possible."""
    kept = np.flatnonzero(truth["new"] >= truth["old"])[:40]
    found = estimate_means(join(runs, say(truth, kept), ["size"]), "size").difference.found
    share = wilson_interval(int((truth["new"] - truth["old"])[kept].sum()), 40)
    assert found.interval.low < share.low


def test_samples_labelled_for_one_system_only_are_left_out_of_the_difference(runs, truth):
    labels = merge_labels([say(truth, range(40)), say(truth, range(40, 50), ("old",))])
    found = estimate_means(join(runs, labels, ["quality"]), "quality")
    assert (found.difference.labels, found.difference.rows) == (40, ROWS - 10)
    assert found.runs[0].labels == 50
    assert any("10 samples are labelled for only one" in text for text in found.remarks)


def test_slices_and_rows_without_a_score(runs, truth):
    found = estimate_means(join(runs[:1], say(truth, range(40), ("old",)), ["size"]), "size", ("topic",))
    assert found.remarks[-1].startswith(f"old: 1 of {ROWS} rows have no size")
    assert [(column, part.name, part.labels, part.rows) for column, part in found.slices] == [
        ("topic", "boats", 19, 99),
        ("topic", "fares", 20, 100),
    ]
    assert all(part.few for _, part in found.slices)


def test_too_few_labels_give_no_estimate_but_a_reason(runs, truth):
    (part,) = estimate_means(join(runs[:1], say(truth, [3], ("old",)), ["quality"]), "quality").runs
    assert part.found is None
    assert part.reason.startswith("1 labelled rows")


def test_rows_to_label_next_go_out_and_come_back(runs, truth, tmp_path):
    first = say(truth, range(30), ("old",))
    rows = choose_next(join(runs[:1], first, ["quality"]), "quality", 25)
    assert len(rows) == 25
    assert not {row.sample_id for row in rows} & {f"s{place}" for place in range(30)}
    assert {(row.system, row.round) for row in rows} == {("old", 1)}
    write_next(rows, str(tmp_path / "todo.csv"))
    with (tmp_path / "todo.csv").open() as file:
        written = list(csv.DictReader(file))
    assert written[0]["question"] == f"question {rows[0].sample_id[1:]}"
    for row in written[:20]:
        row["label"] = "yes" if truth["old"][int(row["sample_id"][1:])] else "no"
    with (tmp_path / "done.csv").open("w") as file:
        writer = csv.DictWriter(file, written[0])
        writer.writeheader()
        writer.writerows(written)
    back = read_human(tmp_path / "done.csv")
    assert (len(back.labels), back.empty, dict(back.pending)) == (20, 5, {1: 5})
    joined = join(runs[:1], merge_labels([first, back]), ["quality"])
    # Four of five picked rows are labelled: so much smaller was the chance of each.
    place = joined.places.tolist().index(int(rows[0].sample_id[1:]))
    assert joined.chances[place] == pytest.approx(rows[0].chance * 0.8)
    assert joined.rounds.tolist().count(1) == 20
    (part,) = estimate_means(joined, "quality").runs
    assert part.labels == 50
    assert part.found.interval.low < truth["old"].mean() < part.found.interval.high
    assert choose_next(joined, "quality", 5)[0].round == 2


def test_without_any_label_the_unsure_rows_have_the_better_chance(runs):
    joined = join(runs[:1], NOTHING, ["quality"])
    rows = choose_next(joined, "quality", 150)
    scores = joined.everything["quality"][0]
    unsure = np.array([abs(scores[int(row.sample_id[1:])] - 0.5) for row in rows])
    chances = np.array([row.chance for row in rows])
    assert np.corrcoef(unsure, chances)[0, 1] < -0.8
    with pytest.raises(UsageError, match="no labels yet"):
        measure_agreement(joined, Settings())


def test_two_runs_are_labelled_in_pairs(runs, truth):
    rows = choose_next(join(runs, NOTHING, ["quality"]), "quality", 10)
    assert len(rows) == 20
    assert [row.sample_id for row in rows[::2]] == [row.sample_id for row in rows[1::2]]
    assert [row.system for row in rows[:2]] == ["old", "new"]
    labels = Labels(
        "l",
        tuple(
            Label(row.sample_id, truth[row.system][int(row.sample_id[1:])], row.system, None, row.chance, row.round)
            for row in rows
        ),
        0,
    )
    assert estimate_means(join(runs, labels, ["quality"]), "quality").difference.labels == 10


def test_nothing_left_to_label(runs, truth):
    with pytest.raises(UsageError, match="already labelled"):
        choose_next(join(runs[:1], say(truth, range(ROWS), ("old",)), ["quality"]), "quality", 5)


def test_a_row_that_two_files_label_is_told(truth):
    once = say(truth, [1], ("old",), annotator="ann")
    with pytest.raises(InputError, match="ann has labelled sample s1 of old twice"):
        merge_labels([once, once])


def test_questions_cannot_act_as_formulas(runs, tmp_path, truth):
    rows = choose_next(join(runs[:1], NOTHING, ["quality"]), "quality", 1)
    write_next([rows[0].__class__("@s1", "+old", 1, 0.5, "=1+1", "-5 degrees")], str(tmp_path / "t.csv"))
    with (tmp_path / "t.csv").open() as file:
        row = next(csv.DictReader(file))
    assert (row["question"], row["answer"]) == ("'=1+1", "'-5 degrees")
    assert (row["sample_id"], row["system"], row["chance"]) == ("'@s1", "'+old", "0.5")
