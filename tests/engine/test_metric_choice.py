"""Metrics of stored runs by the names that users type."""

import pytest

import ragstone
from ragstone.engine.metric_choice import choose_metrics, find_metric, is_headline, pick_headlines, say_more
from ragstone.errors import UnknownNameError, UsageError

ROWS = [{"id": "1", "answer": "at nine", "references": ["nine"]}]


@pytest.fixture(scope="module")
def runs():
    return [ragstone.evaluate(ROWS, names) for names in (["token_f1", "token_recall"], ["token_recall", "contains"])]


def test_common_metrics(runs):
    assert [metric["metric"] for metric in choose_metrics(runs, [])] == ["token_recall"]
    assert [metric["metric"] for metric in choose_metrics(runs[:1], "token_f1")] == ["token_f1"]
    assert len(choose_metrics(runs[:1], "lexical")) == 2


def test_a_metric_of_one_run_only(runs):
    with pytest.raises(UnknownNameError, match=runs[0].name):
        choose_metrics(runs, "token_f1")


def test_runs_without_a_common_metric(runs):
    with pytest.raises(UsageError, match="no metric in common"):
        choose_metrics([runs[0], ragstone.evaluate(ROWS, ["contains"])], [])


def test_names():
    assert str(find_metric("recall@5")) == "recall@5"
    assert find_metric("not_a_metric") is None


def test_headlines():
    assert is_headline("ndcg(gain=exponential)@10")
    assert not is_headline("rouge_l")
    names = ["recall@5", "ndcg@5", "mrr", "token_f1", "rouge_l"]
    assert pick_headlines(names) == set(names[:4])
    assert pick_headlines(names[2:]) == set(names[2:])
    assert (say_more(1), say_more(2)) == ("1 more metric with --full", "2 more metrics with --full")
