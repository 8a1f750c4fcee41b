"""Rows that moved: what changed in them, and counts that agree between headline, lists, slices and JSON."""

import random
import re

import pytest

from ragstone.analysis.cause_texts import RowLabel
from ragstone.analysis.comparison import compare_runs
from ragstone.report.html.comparison_page import comparison_data
from ragstone.text.word_diff import DiffPiece
from ragstone.views.comparison import ComparisonView
from ragstone.views.moved_rows import MovedRow
from tests.report.runs import harbour

KINDS = ("fixed", "newly failing", "still failing", "unclear")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    root = tmp_path_factory.mktemp("moved")
    return compare_runs(harbour("worse", root), harbour("better", root))


def random_rows(draw, count):
    """Probabilities as a judge gives them: clear, doubtful, missing, or of the first rows only."""
    missing = draw.choice((0, 0, 0.2))
    wrong = [
        None if draw.random() < missing else draw.choice((0.02, 0.3, 0.5, 0.9, draw.random())) for _ in range(count)
    ]
    known = count if draw.random() < 0.8 else draw.randint(1, count)
    return [RowLabel("" if (one or 0) < 0.5 else "misread", one) for one in wrong[:known]]


@pytest.mark.parametrize("seed", range(60))
def test_headline_lists_slices_and_json_agree(comparison, seed):
    draw = random.Random(seed)
    count = len(comparison.pairs)
    view = ComparisonView.of(comparison, (random_rows(draw, count), random_rows(draw, count)))
    if view.moves is None:
        return
    data, stored = comparison_data(view), view.as_dict()
    counts = {kind: len(view.moves.having(kind)) for kind in KINDS}
    said = next((line for line in (view.headline, *view.lines()) if "newly failing" in line), "")
    for kind in KINDS:
        assert [int(number) for number in re.findall(rf"(\d+) {kind}", said)] in ([counts[kind]], [])
        assert sum(row.kind == kind for row in view.moved) == counts[kind]
        assert len(stored["failing"][kind.replace(" ", "_")]) == counts[kind]
        assert [move["count"] for move in data["moves"] if move["name"] == kind] in ([counts[kind]], [])
    assert bool(said) is bool(view.moves.rows)
    for part in data["slices_failing"]:
        assert sum(row["rows"] for row in part["rows"]) == view.moves.judged
        assert sum(row["fixed"] for row in part["rows"]) == counts["fixed"]
        assert sum(row["newly_failing"] for row in part["rows"]) == counts["newly failing"]
        assert sum(row["before"] for row in part["rows"]) == counts["fixed"] + counts["still failing"]
        assert sum(row["after"] for row in part["rows"]) == counts["newly failing"] + counts["still failing"]
        shares = [row["after"] / row["rows"] for row in part["rows"]]
        assert shares == sorted(shares, reverse=True)
    assert len(stored["failing_slices"]) == sum(len(part["rows"]) for part in data["slices_failing"])


def test_slices_say_the_failing_share(comparison):
    count = len(comparison.pairs)
    was, now = [0.9] * count, [0.02] * count
    view = ComparisonView.of(comparison, ([RowLabel("", one) for one in was], [RowLabel("", one) for one in now]))
    lines = [str(part) for part in view.slices]
    assert "easy n 13: 100 % → 0 %" in lines
    assert {part.key for part in view.slices if part.column == "difficulty"} == {
        f"difficulty={level}" for level in ("easy", "medium", "hard")
    }


def test_the_chunks_and_words_that_changed_are_named(comparison):
    count = len(comparison.pairs)
    view = ComparisonView.of(comparison, ([RowLabel("", 0.9)] * count, [RowLabel("misread", 0.02)] * count))
    samples = [{one.id: one for one in run.samples} for run in (comparison.before, comparison.after)]
    for row in view.moved:
        old, new = ({chunk.id for chunk in side[row.id].contexts or ()} for side in samples)
        assert set(row.chunks_lost) == old - new
        assert set(row.chunks_gained) == new - old
        assert row.statuses == ("wrong", "fine")
        for side, kind in enumerate(("gone", "new")):
            if row.words:
                assert "".join(piece.text for piece in row.words if piece.kind in ("same", kind)) == row.answers[side]


@pytest.mark.parametrize(
    ("answers", "words", "lost", "said"),
    [
        (("ten", "ten"), (DiffPiece("same", "ten"),), (), "same answer; same chunks"),
        (("at ten", "at nine"), (DiffPiece("same", "at "), DiffPiece("gone", "ten"), DiffPiece("new", "nine")), ("a",), "1 word changed; chunks lost: a"),
        (("ten", "I do not know."), (), ("a", "b"), "another answer; chunks lost: a, b"),
    ],
)  # fmt: skip
def test_the_change_in_a_few_words(answers, words, lost, said):
    row = MovedRow("a", 1, "?", "newly failing", (0, 1), ("fine", "wrong"), answers, ("", "misread"), words, lost, ())
    assert row.what_changed == said
