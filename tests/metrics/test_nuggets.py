"""Nuggets by a perfect judge over HTTP, as JSON and by tokens: counts that follow from the world, and what was paid."""

import asyncio

import pytest

import ragstone
from ragstone.analysis.explain import explain_sample
from ragstone.data.types import Fact
from ragstone.data.verdict import Verdict
from ragstone.errors import InputError
from ragstone.metrics.nuggets import nugget_support
from tests.oracle.language import say
from tests.oracle.server import OracleServer
from tests.oracle.verdicts import verdict
from tests.oracle.world import make_samples, truth
from tests.tools.checking import Stub

SAMPLES = [sample for sample in make_samples(24, seed=5) if sample.language == "en"]


def nuggets_of(sample):
    """The truth about what is asked is vital, the truth about cargo and length in one nugget okay."""
    asked = [say("en", truth("en", sample.subject, name)).text for name in sample.asked]
    both = " ".join(say("en", truth("en", sample.subject, name)).text for name in ("cargo", "length"))
    vital = [{"text": text, "kind": "statement", "importance": "vital"} for text in asked]
    return [*vital, {"text": both, "kind": "statement", "importance": "okay"}]


ROWS = [{**sample.row(), "facts": nuggets_of(sample)} for sample in SAMPLES]


def expected(sample, strict):
    worths = [float(verdict(truth("en", sample.subject, name), sample.answer) == "entailment") for name in sample.asked]
    halves = [verdict(truth("en", sample.subject, name), sample.answer) for name in ("cargo", "length")]
    partly = "entailment" in halves and "contradiction" not in halves and not strict
    okay = 1.0 if halves == ["entailment"] * 2 else 0.5 if partly else 0.0
    return (sum(worths) + 0.5 * okay) / (len(worths) + 0.5)


def evaluate(tmp_path, rows=ROWS, metrics="nugget", **options):
    with OracleServer() as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "cache": False, **options}
        run = ragstone.evaluate(rows, metrics, tmp_path / "runs", **options)
    assert server.problems == []
    return run, server


def cells(run, metric):
    return {row["sample_id"]: row["value"] for row in run.scores.to_pylist() if row["metric"] == metric}


@pytest.mark.parametrize("verdicts", ["json", "tokens"])
def test_scores_are_those_of_the_world(tmp_path, verdicts):
    run, server = evaluate(tmp_path, verdicts=verdicts)
    for metric, strict in (("nugget.weighted", False), ("nugget.weighted_strict", True)):
        found = cells(run, metric)
        assert found == pytest.approx({sample.id: expected(sample, strict) for sample in SAMPLES})
    assert len(set(cells(run, "nugget.vital").values())) > 1
    labels = {word for row in run.evidence("nugget_support")["value"].to_pylist() for word in row}
    if verdicts == "json":
        assert labels == {"support", "partial_support", "not_support"}
        answered = [row for row in ROWS if row["answer"].strip()]
        assert server.replies == {"nuggets": len(answered)}, "one call per answer"
    else:
        assert {word.split()[0] for word in labels} == {"support", "partial_support", "not_support"}
        assert set(server.replies) == {"token_trial", "token_support", "token_part"}


def test_a_quote_counts_one_call_per_answer():
    estimate = ragstone.quote(ROWS, ["nugget.vital", "nugget.all"], judge="openai/oracle", verdicts="json")
    answered = [row for row in ROWS if row["answer"].strip()]
    assert estimate.total.calls == len(answered)


def test_nuggets_are_only_checked_where_they_are_named(tmp_path):
    run, server = evaluate(tmp_path, ROWS[:2], None)
    assert server.replies["nuggets"] == 0
    assert not any(row["metric"].startswith("nugget.") for row in run.scores.to_pylist())


def test_repeats_vote(tmp_path):
    _, server = evaluate(tmp_path, ROWS[:1], "nugget.vital", repeats=3)
    assert server.replies["nuggets"] == 3


def test_a_score_is_explained_nugget_by_nugget(tmp_path):
    run, _ = evaluate(tmp_path)
    for sample in SAMPLES:
        for metric in ("nugget.all", "nugget.vital_strict", "nugget.weighted"):
            working = explain_sample(run, sample.id, metric).working
            assert working.counts[0].value == pytest.approx(working.cell.value)
            assert working.counts[0].kind == "fact"


def test_labels_in_a_file_must_be_labels_one_per_fact(tmp_path):
    row = {"id": "1", "question": "q", "answer": "a", "facts": ["one", "two"]}
    with pytest.raises(InputError, match="must be one of support, partial_support, not_support"):
        ragstone.evaluate([{**row, "nugget_support": ["yes", "no"]}], "nugget", tmp_path)
    with pytest.raises(InputError, match="has 1 entries for the 2 of facts"):
        ragstone.evaluate([{**row, "nugget_support": ["support"]}], "nugget", tmp_path)


# Five nuggets: three vital, two okay. What an answer contains of them, and the six scores worked out by hand after
# Pradeep et al. 2024: support 1, partial support 1/2 (strict: 0); A over all 5, V over the 3 vital ones, W with okay ones
# by half: divided by 3 + 2/2 = 4.
S, P, N = "support", "partial_support", "not_support"
IMPORTANCE = ("vital", "vital", "okay", "vital", "okay")
BY_HAND = [
    # Everything.
    ((S, S, S, S, S), {"all": 1, "all_strict": 1, "vital": 1, "vital_strict": 1, "weighted": 1, "weighted_strict": 1}),
    # Vital S P N, okay S P: A = (1 + .5 + 1 + 0 + .5) / 5; V = 1.5 / 3; W = (1.5 + .5 · 1.5) / 4.
    (
        (S, P, S, N, P),
        {
            "all": 0.6,
            "all_strict": 0.4,
            "vital": 0.5,
            "vital_strict": 1 / 3,
            "weighted": 0.5625,
            "weighted_strict": 0.375,
        },
    ),
    # Only what is okay: V = 0, A = 2 / 5, W = 1 / 4.
    (
        (N, N, S, N, S),
        {"all": 0.4, "all_strict": 0.4, "vital": 0, "vital_strict": 0, "weighted": 0.25, "weighted_strict": 0.25},
    ),
    # Parts of all: half everywhere, and nothing if strict.
    (
        (P, P, P, P, P),
        {"all": 0.5, "all_strict": 0, "vital": 0.5, "vital_strict": 0, "weighted": 0.5, "weighted_strict": 0},
    ),
]


@pytest.mark.parametrize(("labels", "scores"), BY_HAND)
def test_scores_of_trec_rag_by_hand(labels, scores):
    """Labels that are given need no judge."""
    facts = [{"text": f"fact {at}", "importance": word} for at, word in enumerate(IMPORTANCE)]
    row = {"question": "q", "answer": "a", "facts": facts, "nugget_support": list(labels)}
    means = ragstone.evaluate([row], "nugget").summary()
    assert {name: means[f"nugget.{name}"].mean for name in scores} == pytest.approx(scores)


def test_differences_from_trec_rag():
    """Without a vital nugget TREC's script gives V = 0 and we give none; a nugget without importance is vital to us."""
    row = {"question": "q", "answer": "a", "nugget_support": [S, N]}
    okay = [{"text": text, "importance": "okay"} for text in "xy"]
    cells = {cell["metric"]: cell for cell in ragstone.evaluate([{**row, "facts": okay}], "nugget").scores.to_pylist()}
    assert (cells["nugget.all"]["value"], cells["nugget.weighted"]["value"]) == (0.5, 0.5)
    assert (cells["nugget.vital"]["status"], cells["nugget.vital"]["reason"]) == ("skipped", "no nugget is vital")
    assert ragstone.evaluate([{**row, "facts": ["x", "y"]}], "nugget.vital").summary()["nugget.vital"].mean == 0.5


class _Checker(Stub):
    async def labels(self, question, nuggets, answer):
        return [Verdict("support", 0.9, 0.0, counted=1.0) if nugget in answer else "not_support" for nugget in nuggets]


def test_evidence_has_a_label_per_fact():
    labels = asyncio.run(nugget_support("q", "an oak", [Fact("oak"), Fact("elm")], _Checker()))
    assert labels == ["support", "not_support"]
    assert labels[0].support == 0.9
