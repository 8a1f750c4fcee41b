"""What is shown of a comparison: the rows that a new version fixes and breaks, headline metrics, and causes."""

import pytest

from ragstone.analysis.cause_texts import RowLabel
from ragstone.analysis.comparison import compare_runs
from ragstone.analysis.row_moves import kind_of_move
from ragstone.engine.evaluate import evaluate
from ragstone.views import comparison as views
from ragstone.views.comparison import CauseChanges, ComparisonView, headline
from ragstone.web.pair_index import PairIndex
from tests.report.runs import harbour


def labelled(cause, wrong):
    return [RowLabel(cause, one) for one in wrong]


def find_moves(comparison):
    return ComparisonView.diagnosed(comparison).moves


def test_failing_pairs_are_named_by_side(tmp_path, monkeypatch):
    worse, better = harbour("worse", tmp_path), harbour("better", tmp_path)
    moves = find_moves(compare_runs(worse, better))
    back = find_moves(compare_runs(better, worse))
    assert moves.fixed
    assert set(moves.fixed) <= {sample.id for sample in better.samples}
    assert (moves.fixed, moves.newly_failing, moves.still_failing) == (
        back.newly_failing,
        back.fixed,
        back.still_failing,
    )
    monkeypatch.setattr(views, "MOST_DIAGNOSED", 24)
    unknown = ComparisonView.diagnosed(compare_runs(worse, better))
    assert (unknown.causes, unknown.moves, unknown.moved) == (None, None, ())


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (0.04, 0.92, "newly failing"),
        (0.92, 0.04, "fixed"),
        (0.3, 0.9, "newly failing"),
        (0.9, 0.85, "still failing"),
        (0.8, 0.5, "still failing"),
        # A good answer in other words.
        (0.02, 0.1, None),
        (0.03, 0.3, "unclear"),
        (0.45, 0.75, "still failing"),
        (0.03, 0.6, "unclear"),
        (0.03, 0.65, "newly failing"),
        (0.3, 0.01, "unclear"),
    ],
)
def test_a_row_moves_only_if_its_probability_changes_clearly(before, after, kind):
    assert kind_of_move(before, after) == kind


def test_rows_come_first_with_both_answers(tmp_path):
    worse, better = harbour("worse", tmp_path), harbour("better", tmp_path)
    comparison = compare_runs(better, worse)
    pairs = len(comparison.pairs)
    was, now = [0.02] * pairs, [0.02] * pairs
    now[:7], was[7], now[8], was[9] = [0.9] * 7, 0.8, None, None
    view = ComparisonView.of(comparison, (labelled("", was), labelled("misread", now)))
    assert view.headline == (
        f"1 fixed, 7 newly failing, 0 still failing of {pairs - 2} judged rows ({pairs} in all; p = 0.070)."
    )
    assert view.lines()[0] == headline(comparison)
    assert [row.kind for row in view.moved] == ["newly failing"] * 7 + ["fixed"]
    assert [row.kind for row in view.listed(2)] == ["newly failing", "newly failing", "fixed"]
    first = view.moved[0]
    answers = [next(one.answer for one in run.samples if one.id == first.id) for run in (better, worse)]
    assert first.answers == tuple(answers)
    assert (first.wrong, first.causes, first.tone) == ((0.02, 0.9), ("", "misread"), "bad")
    assert len(view.moves.lost) == 1
    few = ComparisonView.of(comparison, (labelled("", was[:1]), labelled("", now[:1])))
    assert few.headline == headline(comparison)
    assert few.lines()[0].startswith("0 fixed, 1 newly failing")


def test_the_headline_agrees_with_its_table(tmp_path):
    worse, better = harbour("worse", tmp_path), harbour("better", tmp_path)
    view = ComparisonView.of(compare_runs(worse, better))
    better_ones = sum(row.verdict == "better" for row in view.headlines)
    assert view.counts["better"] == better_ones
    assert f"better than harbour-worse in {better_ones} headline metric" in view.headline


def test_each_failing_pair_counts_once(tmp_path):
    worse, better = harbour("worse", tmp_path), harbour("better", tmp_path)
    old = [
        *labelled("missing chunk", [0.9, 0.9]),
        RowLabel("misread", 0.4),
        RowLabel("", 0.1),
        RowLabel("not examined"),
    ]
    new = [RowLabel("", 0.1), *labelled("misread", [0.9, 0.4]), RowLabel("", 0.1)]
    comparison = compare_runs(worse, better)
    causes = CauseChanges.of(comparison, (old, new))
    # The fifth pair is not diagnosed in B.
    assert causes.known == 4
    assert [(row.name, *row[3:]) for row in causes.rows] == [("missing chunk", 2, 0, 0, 0), ("misread", 0, 1, 1, 1)]
    assert str(causes) == (
        "Main causes of failures, A → B: missing chunk 2 → 0, misread 0 → 1; of rows to look at: misread 1 → 1."
    )
    look = labelled("misread", [0.4])
    assert str(CauseChanges.of(comparison, (look, look))) == "Main causes of rows to look at, A → B: misread 1 → 1."


def test_unclear_rows_are_counted_and_those_that_rose_are_named(tmp_path):
    comparison = compare_runs(harbour("better", tmp_path), harbour("worse", tmp_path))
    was, now = ([0.02] * len(comparison.pairs) for _ in range(2))
    was[0], now[0], now[1], now[2] = 0.6, 0.1, 0.3, 0.6
    view = ComparisonView.of(comparison, (labelled("", was), labelled("", now)))
    ids = [comparison.after.samples[int(comparison.pairs.after[pair])].id for pair in (2, 1, 0)]
    assert view.moves.unclear == ids, "the largest rise first"
    first = f"3 rows are unclear; look at {ids[0]}, {ids[1]}: perhaps wrong now; {ids[2]}: perhaps fixed"
    assert view.lines()[0] == f"{first}."
    assert view.lines("--full lists them")[0] == f"{first}; --full lists them."
    assert [row.id for row in view.listed(2, full=True)] == ids[:2]
    assert view.listed(2) == []


def test_labels_of_one_run_only_are_remarked(tmp_path):
    comparison = compare_runs(harbour("better", tmp_path), harbour("worse", tmp_path))
    plain, theirs = RowLabel("", 0.06), RowLabel("", 0.97, "Ana", 0.06)
    before, after = [theirs, theirs, plain], [plain, theirs]
    [note] = set(ComparisonView.of(comparison, (before, after)).cautions) - set(comparison.remarks)
    label = "h01: labelled in one run only; label the other answer, too: ragstone labels --run"
    assert note == f"{label} {comparison.after.name} --set h01=right (or =wrong)"
    # The first row is labelled in B alone, another one in A alone.
    mixed = ([plain, plain, theirs], [theirs, plain, plain])
    [note] = set(ComparisonView.of(comparison, mixed).cautions) - set(comparison.remarks)
    assert f"--run {comparison.before.name} --set h01=right" in note
    both = (after, after)
    assert ComparisonView.of(comparison, both).cautions == comparison.remarks


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        # The judge was not sure of the first answer: without that label, it would not be called fixed.
        (RowLabel("", 0.97, "Ana", 0.4), RowLabel("", 0.06, "", 0.06), "unclear"),
        (RowLabel("", 0.97, "Ana", 0.9), RowLabel("", 0.06, "", 0.06), "fixed"),
        # The judge is wrong about the same answer twice.
        (RowLabel("", 0.03, "Ana", 0.8), RowLabel("", 0.8, "", 0.8), "still failing"),
        # The person agrees with the judge about the other answer: nothing changed.
        (RowLabel("", 0.03, "Ana", 0.93), RowLabel("", 0.06, "", 0.06), None),
        (RowLabel("", 0.97, "Ana", 0.06), RowLabel("", 0.86, "", 0.86), "still failing"),
        (RowLabel("", 0.97, "Ana", None), RowLabel("", 0.86, "", 0.86), "still failing"),
        # A person decides about the second answer, and about both.
        (RowLabel("", 0.06, "", 0.06), RowLabel("", 0.97, "Ana", 0.06), "newly failing"),
        (RowLabel("", 0.97, "Ana", 0.4), RowLabel("", 0.03, "Ana", 0.06), "fixed"),
    ],
)
def test_a_label_of_the_first_answer_alone_moves_no_row(tmp_path, old, new, kind):
    comparison = compare_runs(harbour("better", tmp_path), harbour("worse", tmp_path))
    view = ComparisonView.of(comparison, ([old], [new]))
    assert [row.kind for row in view.moves.rows] == ([kind] if kind else [])
    index = PairIndex(comparison, None, None, None)
    assert index.move(0, ([old], [new])) == (kind or "")


def test_headline_metrics_come_first_by_part(tmp_path):
    names = ["token_f1", "rouge_l", "recall", "refusal", "ndcg", "exact_match"]
    worse, better = (harbour(system, tmp_path, names) for system in ("worse", "better"))
    view = ComparisonView.of(compare_runs(worse, better))
    assert [row.metric for row in view.headlines] == ["token_f1", "refusal", "recall", "ndcg"]
    assert {row.metric for row in view.others} == {"rouge_l", "exact_match"}
    assert view.others_text.startswith("2 explored metrics: ")
    assert [group["name"] for group in view.groups()] == ["answer", "retrieval"]
    brief = [row.metric for row in view.brief(full=False)]
    assert brief == [row.metric for row in view.headlines]
    assert view.as_dict()["headlines"] == ["token_f1", "refusal", "recall", "ndcg"]


def test_a_sample_that_was_not_examined_is_neither_fixed_nor_broken(tmp_path, monkeypatch):
    """By the shipped judge, which reads English."""
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    row = {
        "question": "When does the last boat leave?",
        "contexts": ["The last boat leaves at nine in the evening."],
        "references": ["The last boat leaves at nine in the evening."],
    }
    wrong = "The last boat leaves at four in the afternoon."
    german = "Das letzte Boot fährt um neun Uhr am Abend vom Hafen ab, und die Karten sind an Bord zu haben."
    one, two = (
        evaluate([row | {"id": "a", "answer": first}, row | {"id": "b", "answer": wrong}], "ragchecker", tmp_path)
        for first in (wrong, german)
    )
    for before, after in ((one, two), (two, one)):
        moves = find_moves(compare_runs(before, after))
        assert (moves.fixed, moves.newly_failing, [move.id for move in moves.rows]) == ([], [], ["b"])
        assert (moves.judged, moves.pairs, moves.lost) == (1, 2, ("a",) if after is two else ())
