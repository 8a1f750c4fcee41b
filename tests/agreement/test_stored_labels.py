"""Which labels of a store stand for all rows: estimates stay right in random order and in rounds of unequal probabilities."""

import numpy as np
import pytest

from ragstone.agreement.stored_labels import ROUND_SIZE, choose_round, find_drawn
from ragstone.stats.ppi import Rows, powered_mean, powered_rounds
from ragstone.storage.label_rounds import LabelRound

ROWS, TIMES = 240, 100


def population(seed=1):
    """Scores of a judge and labels: most answers with an unclear score are wrong, most others right."""
    random = np.random.default_rng(seed)
    unclear = random.random(ROWS) < 0.2
    scores = np.where(unclear, random.uniform(0.3, 0.7, ROWS), random.choice([0.02, 0.98], ROWS))
    return scores, (random.random(ROWS) < np.where(unclear, 0.1, 0.9)).astype(float)


def label_in_rounds(scores, truth, seed, most):
    """The rounds, and the labels of a person who stops after so many."""
    labels, rounds = np.full(ROWS, np.nan), []
    while (done := int((~np.isnan(labels)).sum())) < most:
        rounds.append(choose_round(rounds, scores, labels, ~np.isnan(labels), seed + 1_000 * len(rounds)))
        rows = list(rounds[-1].rows)[: most - done]
        labels[rows] = truth[rows]
    return rounds, labels


def test_means_from_rounds_are_right_and_would_not_be_if_they_passed_for_random():
    scores, truth = population()
    told, naive = [], []
    for seed in range(TIMES):
        # The last round is half done.
        rounds, labels = label_in_rounds(scores, truth, seed, 50)
        known = ~np.isnan(labels)
        drawn = find_drawn(np.random.default_rng(seed).permutation(ROWS), rounds, known, known)
        assert (drawn.count, drawn.by_hand) == (50, 0)
        found = powered_rounds(Rows(scores, labels, drawn.rounds, drawn.chances))
        told.append((found.mean, found.interval.low <= truth.mean() <= found.interval.high))
        naive.append(powered_mean(labels[known], scores[known], scores[~known]).mean)
    means, covered = np.array(told).T
    error = means.std() / TIMES**0.5
    assert abs(means.mean() - truth.mean()) < 3 * error < 0.02
    assert covered.mean() > 0.9
    assert abs(np.mean(naive) - truth.mean()) > 0.02


def test_means_in_random_order_are_right_although_people_had_labelled_others_by_hand():
    """People labelled half of the wrong rows before. Leaving them out of the order, as if they were not there, is not random."""
    _, truth = population()
    means, without = [], []
    for seed in range(3 * TIMES):
        random = np.random.default_rng(seed)
        by_hand = (truth == 0) & (random.random(ROWS) < 0.5)
        order = random.permutation(ROWS)
        labelled = by_hand.copy()
        asked = [row for row in order if not by_hand[row]][:40]
        labelled[asked] = True
        drawn = find_drawn(order.tolist(), [], labelled, labelled)
        assert 40 <= drawn.count == labelled.sum() - drawn.by_hand
        means.append(truth[drawn.rounds == 0].mean())
        without.append(truth[asked].mean())
    assert abs(np.mean(means) - truth.mean()) < 3 * np.std(means) / (3 * TIMES) ** 0.5 < 0.02
    assert np.mean(without) - truth.mean() > 0.05


def test_a_round_counts_up_to_its_first_open_row():
    seen = np.zeros(60, dtype=bool)
    one = LabelRound((3, 1, 4, 5, 9), (0.5, 0.1, 0.2, 0.4, 0.3))
    seen[[3, 1, 5]] = True
    drawn = find_drawn(list(range(60)), [one], seen, seen)
    # Three labels are too few for a choice between those that were drawn and all.
    assert not drawn.is_drawn
    assert drawn.rounds[[3, 1, 5]].tolist() == [0, 0, 0]
    seen[:] = False
    seen[[3, 1]] = True
    drawn = find_drawn(list(range(60)), [one], seen, seen)
    assert (drawn.count, drawn.by_hand) == (2, 0)
    assert drawn.chances[[3, 1]] == pytest.approx([0.2, 0.04])
    # A skipped row is passed over.
    seen[4] = True
    said = seen & (np.arange(60) != 4)
    assert find_drawn(list(range(60)), [one], seen, said).chances[[3, 1]] == pytest.approx([0.2, 0.04])


def test_the_larger_of_two_draws_is_used_and_the_rest_left_out():
    labels = np.full(200, np.nan)
    rounds = []
    for number in range(2):
        rounds.append(choose_round(rounds, np.linspace(0, 1, 200), labels, ~np.isnan(labels), number))
        labels[list(rounds[-1].rows)] = 1.0
    known = ~np.isnan(labels)
    drawn = find_drawn(list(range(200)), rounds, known, known)
    assert (drawn.count, set(drawn.rounds[known])) == (2 * ROUND_SIZE, {1, 2})
    known[:100] = True
    drawn = find_drawn(list(range(200)), rounds, known, known)
    assert drawn.rounds[:100].tolist() == [0] * 100
    assert drawn.by_hand == int(known[100:].sum()) - drawn.count + 100
    assert drawn.rounds[150:].max() <= 0
