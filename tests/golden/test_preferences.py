"""Published agreement with preferences: RAGChecker's meta-evaluation (Ru et al. 2024) and MT-bench (Zheng et al. 2023)."""

import json

import numpy as np
import pytest
from scipy import stats

from ragstone.agreement.metric_agreement import Settings, measure_agreement
from ragstone.agreement.preferences import join_preferences, read_preferences
from tests.shared_data import shared_data


# The figures of its script, which uses scipy; of the paper's table the overall ones.
@pytest.mark.parametrize("aspect", ["correctness", "completeness", "overall"])
def test_ragchecker(aspect):
    folder = shared_data("ragchecker_meta")
    files = [folder / "human_labeled_data.json", folder / "baseline_ragchecker.json"]
    read = read_preferences(files, renames={"label": f"{aspect}_label"})
    joined = join_preferences([], read, [f"ragchecker.{aspect}_label"])
    labels, sides = json.loads(files[0].read_text()), json.loads(files[1].read_text())
    scores = [[one[f"model{side}"]["ragchecker"][f"{aspect}_label"] for one in sides] for side in (1, 2)]
    difference = np.repeat(np.subtract(scores[1], scores[0]), 2)
    for coefficient, theirs, published in (("pearson", stats.pearsonr, 61.93), ("spearman", stats.spearmanr, 60.90)):
        (item,) = measure_agreement(joined, Settings(coefficient)).metrics
        value = item.correlations[coefficient, "label"].value
        assert value == pytest.approx(theirs(difference, [one[f"{aspect}_label"] for one in labels])[0], abs=1e-12)
        assert aspect != "overall" or round(100 * value, 2) == published


@pytest.mark.parametrize(
    ("turn", "judge", "people"),
    [
        (1, ((0.66, 1343), (0.85, 859)), ((0.63, 721), (0.81, 479))),
        (2, ((0.66, 1325), (0.85, 864)), ((0.67, 707), (0.82, 474))),
    ],
)
def test_mt_bench(turn, judge, people):
    folder = shared_data("mt_bench")
    files = [(folder / name).read_text().splitlines() for name in ("human.jsonl", "gpt4_pair.jsonl")]
    rows = [[one for one in map(json.loads, lines) if one["turn"] == turn] for lines in files]
    found = measure_agreement(join_preferences([], read_preferences(rows), ["gpt4_pair"], ["expert_*"]), Settings())
    verdicts = found.metrics[0].verdicts
    for name, ours, theirs in zip(("votes", "decided_votes"), judge, people, strict=True):
        assert (round(verdicts.measures[name].value, 2), verdicts.counts[name]) == ours
        votes = found.ceiling.votes[name]
        assert (round(votes.share.value, 2), votes.votes) == theirs
