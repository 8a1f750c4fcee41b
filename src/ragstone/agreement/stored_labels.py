"""The labels of people in a store, for agreement and calibration, and as a CSV file that `agree --human` reads back.

Means of all rows are estimated from rows that were drawn: the start of the random order or of rounds with known
probabilities, whichever is larger. Each ends at its first row without a label. Rows that were labelled for another reason
before the order came to them belong to it, or the rest would not be like all rows. If few were drawn, all labels are used.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from ragstone.agreement.labels import BY_HAND, NOT_DRAWN, Joined, Label, Labels, join
from ragstone.errors import UsageError
from ragstone.formats.file_rows import guarded
from ragstone.stats.ppi import LEAST_LABELS, Rows, choose_rows
from ragstone.storage.human_labels import HumanLabel, answer_keys, answer_labels, label_hash, labels_of, mean_label
from ragstone.storage.label_rounds import LabelRound, random_order, read_rounds, write_round
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_ids

SOURCE = "the labels of the store"
COLUMNS = ("sample_id", "system", "label", "annotator", "note", "time", "round", "chance", "question", "answer")
# Rows of a round: with more, the next rows use the labels of the last ones later.
ROUND_SIZE = 20


@dataclass(frozen=True)
class Drawn:
    """For each row of a run the round in which it was drawn (0 at random, -1 not at all), and its probability there.

    `by_hand` is the number of labelled rows outside of the draw. If `is_drawn` is false, all labelled rows are in round 0.
    """

    rounds: np.ndarray
    chances: np.ndarray
    by_hand: int = 0
    is_drawn: bool = True

    @property
    def count(self) -> int:
        """The number of drawn rows with a label."""
        return int((self.rounds >= 0).sum()) if self.is_drawn else 0


def find_drawn(order: Sequence[int], rounds: Sequence[LabelRound], seen: np.ndarray, said: np.ndarray) -> Drawn:
    """The drawn rows among those that are labelled (`said`); `seen` rows may also be skipped, and are then left out."""
    begun = [row for row in takewhile(seen.__getitem__, order) if said[row]]
    random = Drawn(np.full(len(said), NOT_DRAWN), np.full(len(said), np.nan))
    random.rounds[begun] = 0
    larger = max(random, _in_rounds(rounds, seen, said), key=lambda one: one.count)
    by_hand = int(said.sum()) - larger.count
    if by_hand and larger.count < LEAST_LABELS:
        return Drawn(np.where(said, 0, NOT_DRAWN), random.chances, by_hand, is_drawn=False)
    return replace(larger, by_hand=by_hand)


def _in_rounds(rounds: Sequence[LabelRound], seen: np.ndarray, said: np.ndarray) -> Drawn:
    marks, chances = np.full(len(said), NOT_DRAWN), np.full(len(said), np.nan)
    for number, one in enumerate(rounds, 1):
        begun = takewhile(lambda pair: seen[pair[0]], zip(one.rows, one.chances, strict=True))
        # A skipped row may come again in a later round.
        done = [(row, chance) for row, chance in begun if said[row] and marks[row] == NOT_DRAWN]
        for row, chance in done:
            # The rows of a round are in random order: so much smaller is the probability of those at its start.
            marks[row], chances[row] = number, chance * len(done) / len(one.rows)
    return Drawn(marks, chances)


def drawn_rows(run: Run) -> Drawn:
    """The drawn rows of a run."""
    seen, labels = _labelled(run)
    return find_drawn(random_order(run), read_rounds(run), seen, ~np.isnan(labels))


def _labelled(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Whether each row was seen by a person, and the mean of its labels; nan without any."""
    known = labels_of(run)
    keys = answer_keys(run)
    said = [mean_label(known.of_answer(key)) for key in keys]
    labels = np.array([np.nan if one is None else one for one in said])
    return np.array([key in known.by_key for key in keys], dtype=bool), labels


def draw_round(run: Run, right: Sequence[float | None]) -> LabelRound:
    """Draw and store the next round; `right` are the probabilities that the answers are right. Empty if no row is left."""
    before = read_rounds(run)
    seen, labels = _labelled(run)
    known = [*right, *[None] * (len(labels) - len(right))]
    # Rows without a judgement can be anything.
    scores = np.array([0.5 if one is None else one for one in known])
    found = choose_round(before, scores, labels, seen, int(label_hash(run.id, str(len(before))), 16))
    if found.rows:
        write_round(run, len(before) + 1, found)
    return found


def choose_round(
    before: Sequence[LabelRound], scores: np.ndarray, labels: np.ndarray, seen: np.ndarray, seed: int
) -> LabelRound:
    """Choose the rows of the next round among all that no earlier round has labelled; `labels` are nan if there is none."""
    drawn = _in_rounds(before, seen, ~np.isnan(labels))
    rows, chances = choose_rows(Rows(scores, labels, drawn.rounds, drawn.chances), (0.0, 1.0), ROUND_SIZE, seed)
    return LabelRound(tuple(rows.tolist()), tuple(chances.tolist()))


def read_stored(runs: Sequence[Run]) -> Labels:
    """The labels of the answers of these runs with their rounds; authors are annotators."""
    places = _places(runs)
    labels = (
        Label(one.sample_id, float(one.score), one.run, one.author, *places[one.run, one.sample_id])
        for one in labels_of_runs(runs)
        if one.score is not None
    )
    return Labels(SOURCE, tuple(labels), 0)


def _places(runs: Iterable[Run]) -> dict[tuple[str, str], tuple[float | None, int]]:
    """The probability and the round of each sample, by run and id."""
    found = {}
    for run in runs:
        drawn = drawn_rows(run)
        for name, number, chance in zip(read_ids(run), drawn.rounds.tolist(), drawn.chances.tolist(), strict=True):
            found[run.id, name] = (None if np.isnan(chance) else chance, number)
    return found


def join_stored(runs: Sequence[Run], metrics: Sequence[str] = ()) -> Joined:
    """The labels of the store joined with the scores of these runs."""
    labels = read_stored(runs)
    if not labels.labels:
        raise UsageError(
            "there are no labels of these runs. Label some answers in the viewer (`ragstone view`), or name a file of labels: "
            "--human labels.csv"
        )
    joined = join(runs, labels, metrics)
    return replace(joined, remarks=(*joined.remarks, *chosen_by_hand(runs)))


def chosen_by_hand(runs: Sequence[Run]) -> list[str]:
    """A remark if people chose rows themselves: means of all rows need rows that were drawn."""
    found = [drawn_rows(run) for run in runs]
    others, used = sum(one.by_hand for one in found), all(one.is_drawn for one in found)
    rows = sum(int((one.rounds >= 0).sum()) + one.by_hand * one.is_drawn for one in found)
    if not others:
        return []
    words = "estimated means leave them out" if used else "estimated means of all rows may be off"
    return [f"{others} of {rows} labelled rows were not chosen at random; {words}. Choose random order in the viewer."]


def labels_csv(labels: Sequence[HumanLabel], runs: Iterable[Run] = ()) -> bytes:
    """The labels of answers, one line each, without skipped ones and without those of claims.

    Estimates need the round of each row in these runs, and its probability.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    given = {one.run for one in labels}
    places = _places(run for run in runs if run.id in given)
    for one in labels:
        if one.score is not None:
            chance, number = places.get((one.run, one.sample_id), (None, 0))
            drawn = (BY_HAND if number < 0 else str(number or ""), "" if chance is None else repr(chance))
            cells = (one.sample_id, one.run, f"{one.score:g}", one.author, one.note, one.time, *drawn)
            writer.writerow(map(guarded, (*cells, one.question, one.answer)))
    return text.getvalue().encode("utf-8", "replace")


def labels_of_runs(runs: Sequence[Run]) -> list[HumanLabel]:
    """The labels of the answers of these runs, each with the run and sample that it applies to."""
    found = ((run, read_ids(run), answer_labels(run)) for run in runs)
    return [
        replace(one, run=run.id, run_name=run.name, sample_id=ids[row])
        for run, ids, rows in found
        for row, some in rows.items()
        for one in some
    ]
