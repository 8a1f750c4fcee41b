"""Against unitxt: `expected_cases.json` has inputs and expected values recorded from unitxt's metric definitions.

Instance values there are rounded to two digits. One difference is on purpose: where no chunk is relevant unitxt has
0, Ragstone skips the row, since nothing could have been found.
"""

import json

import pytest

from ragstone.data.types import Chunk, Sample
from tests.metrics.scoring import chunks, score
from tests.shared_data import shared_data

CUTS = (1, 3, 5, 10, 20, 40)
NO_RELEVANCE = (None, "no relevance and no reference contexts")


@pytest.fixture(scope="module")
def cases():
    return json.loads(shared_data("unitxt/expected_cases.json").read_text())


def pipelines(cases, family, metric):
    """The cases of one of unitxt's RAG metrics; there is one for each of its pipelines."""
    found = [case for case in cases[family] if case["metric"]["kwargs"]["metric"].endswith(metric)]
    assert found
    return found


def targets(case, name):
    return [target[name] for target in case["instance_targets"]]


def ours(samples, metric):
    (cells,) = score(samples, metric).values()
    return [(None, cell.reason) if cell.value is None else round(cell.value, 2) for cell in cells]


def ranked(retrieved, relevant):
    relevance = {str(name): 1.0 for name in relevant}
    return Sample("", contexts=chunks([str(name) for name in retrieved]), relevance=relevance)


def skip_without_relevant(samples, expected):
    """What we expect where unitxt has a polite zero."""
    for sample, value in zip(samples, expected, strict=True):
        assert sample.relevance or value == 0
    return [value if sample.relevance else NO_RELEVANCE for sample, value in zip(samples, expected, strict=True)]


def of_ids(case):
    return [ranked(ids, relevant) for ids, (relevant,) in zip(case["predictions"], case["references"], strict=True)]


def test_mrr(cases):
    for case in cases["mrr"]:
        samples = of_ids(case)
        assert ours(samples, "mrr") == skip_without_relevant(samples, targets(case, "mrr"))


def test_map(cases):
    for case in cases["map"]:
        samples = of_ids(case)
        assert ours(samples, "map(over=retrieved)") == skip_without_relevant(samples, targets(case, "map"))


@pytest.mark.parametrize("k", CUTS)
def test_retrieval_at_k(cases, k):
    for case in cases["retrieval"]:
        check_retrieval(case, of_ids(case), k, "")


@pytest.mark.parametrize("k", CUTS)
def test_context_correctness_at_k(cases, k):
    for case in pipelines(cases, "rag_context_correctness", "retrieval_at_k"):
        check_retrieval(case, of_task(case), k, "context_correctness_")


def check_retrieval(case, samples, k, prefix):
    for name, metric in (("precision", f"precision(over=retrieved)@{k}"), ("recall", f"recall@{k}")):
        expected = skip_without_relevant(samples, targets(case, f"{prefix}{name}_at_{k}"))
        assert ours(samples, metric) == expected
    expected = skip_without_relevant(samples, targets(case, f"{prefix}match_at_{k}"))
    assert ours(samples, f"context_correctness.match@{k}") == expected


def of_task(case):
    return [ranked(row["context_ids"], row["ground_truths_context_ids"]) for row in case["task_data"]]


def test_context_correctness(cases):
    for case in pipelines(cases, "rag_context_correctness", ".mrr"):
        assert ours(of_task(case), "unitxt.context_correctness") == targets(case, "context_correctness_mrr")


def test_context_correctness_by_all_relevant(cases):
    for case in pipelines(cases, "rag_context_correctness", ".map"):
        assert ours(of_task(case), "unitxt.context_correctness.map") == targets(case, "context_correctness_map")


def of_texts(case):
    pairs = zip(case["predictions"], case["references"], strict=True)
    return [Sample("", answer=prediction, references=references) for prediction, references in pairs]


def test_squad(cases):
    for case in cases["squad"]:
        assert ours(of_texts(case), "squad.f1") == targets(case, "f1")
        assert ours(of_texts(case), "squad.exact_match") == targets(case, "exact_match")


def test_string_containment(cases):
    """unitxt compares the raw texts; these cases are the same after normalisation."""
    plain = [case for case in cases["string_containment"] if case["metric"]["class"] == "StringContainment"]
    for case in plain:
        assert ours(of_texts(case), "contains") == targets(case, "string_containment")
    assert plain


def test_answer_correctness(cases):
    for case in pipelines(cases, "rag_answer_correctness", "token_recall"):
        samples = [Sample("", answer=row["answer"], references=row["ground_truths"]) for row in case["task_data"]]
        for part, metric in (
            ("recall", "unitxt.answer_correctness"),
            ("precision", "token_precision"),
            ("f1", "token_f1"),
        ):
            assert ours(samples, metric) == targets(case, f"answer_correctness_token_recall_{part}")


def test_faithfulness(cases):
    for case in pipelines(cases, "rag_faithfulness", "token_k_precision"):
        samples = [
            Sample("", answer=row["answer"], contexts=[Chunk(text) for text in row["contexts"]])
            for row in case["task_data"]
        ]
        expected = targets(case, "faithfulness_token_k_precision_precision")
        assert ours(samples, "unitxt.faithfulness") == expected
        assert ours(samples, "k_precision(aggregate=max)") == expected
