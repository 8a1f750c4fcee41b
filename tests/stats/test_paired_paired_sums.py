"""Scores of all rows together: for a plain mean the same as the paired tests, for BLEU the same as sacrebleu's."""

import numpy as np
import pytest
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from ragstone.metrics.translation import bleu_of
from ragstone.stats.bootstrap import bootstrap_means
from ragstone.stats.paired import compare_rows, compare_sums, sign_flip_test

RANDOM = np.random.default_rng(8)


def mean(sums):
    return sums[..., 0] / sums[..., 1]


def test_a_mean_is_compared_as_means_are():
    before, after = RANDOM.random((2, 60))
    found = compare_sums(*(np.column_stack([side, np.ones(60)]) for side in (before, after)), mean)
    assert found.interval == pytest.approx(bootstrap_means(after - before)[0], abs=0.01)
    assert found.p == pytest.approx(sign_flip_test(after - before)[0], abs=0.02)


def test_equal_runs_and_single_rows():
    rows = np.column_stack([RANDOM.random(20), np.ones(20)])
    found = compare_sums(rows, rows, mean)
    assert found.interval == (0, 0)
    assert found.p == 1
    assert compare_sums(rows[:1], rows[:1], mean) is None


def test_clusters_stay_together():
    before = np.column_stack([np.repeat([0.1, 0.4, 0.2, 0.3], 25), np.ones(100)])
    after = before + np.array([0.2, 0.0])
    clusters = np.repeat(np.arange(4), 25)
    assert compare_sums(before, after, mean).p < 0.01
    assert compare_sums(before, after, mean, clusters).p > 0.05


def test_bleu_is_tested_as_sacrebleu_does():
    words = ["the", "boat", "leaves", "quay", "at", "nine", "comes", "back", "noon", "every", "day", "in", "winter"]
    references = [" ".join(RANDOM.choice(words, 9)) for _ in range(80)]

    def spoilt(text, share):
        return " ".join(word if RANDOM.random() > share else "fog" for word in text.split())

    first, second = ([spoilt(text, share) for text in references] for share in (0.2, 0.24))
    theirs = PairedTest(
        [("a", first), ("b", second)], {"bleu": BLEU()}, [references], test_type="ar", n_samples=5000
    )()[1]["BLEU"]
    metric = BLEU()
    kept = [
        np.array(
            [
                metric._extract_corpus_statistics([text], [[truth]])[0]
                for text, truth in zip(side, references, strict=True)
            ]
        )
        for side in (first, second)
    ]
    found = compare_sums(*(side.astype(float) for side in kept), bleu_of)
    assert found.p == pytest.approx(theirs[1].p_value, abs=0.03)


def test_scores_of_rows_by_the_jackknife():
    before, after = RANDOM.random((2, 200))
    found = compare_rows(list(before[:, None]), list(after[:, None]), lambda rows: float(np.concatenate(rows).mean()))
    assert found.interval == pytest.approx(bootstrap_means(after - before)[0], abs=0.02)
    assert found.p == pytest.approx(sign_flip_test(after - before)[0], abs=0.05)
    assert compare_rows(list(before[:, None]), list(before[:, None]), lambda rows: float(len(rows))).p == 1
