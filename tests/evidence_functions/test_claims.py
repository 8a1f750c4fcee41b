"""How many calls the claim metrics take: the formula of docs/judge-calls.md, held against what is really asked."""

import json
from collections import Counter
from math import ceil

import numpy as np
import pytest

import ragstone
from ragstone.llm.base import Reply

CLAIMS_PER_CALL, CHUNKS_PER_CALL = 25, 10


class Counting:
    """A model that says as many claims as it is told to, and otherwise what was guessed; it counts what it is asked."""

    name = signature = "counting"

    def __init__(self, answer_claims, reference_claims):
        self.asked = Counter()
        self._claims = {"claims": answer_claims, "claims_and_entities": reference_claims}

    async def complete(self, request):
        self.asked[request.prompt] += 1
        reply = json.loads(request.guess)
        if request.prompt in self._claims:
            reply["claims"] = [
                f"It leaves at eight, says claim {number} of {request.prompt}."
                for number in range(self._claims[request.prompt])
            ]
        return Reply(json.dumps(reply), self.name)

    async def close(self):
        pass


class Flat:
    """An embedder to which all texts are alike."""

    signature = "flat"

    async def embed(self, texts):
        return np.ones((len(texts), 2))


def count(metrics, answer=5, reference=4, chunks=5, **options):
    """The prompts that are asked for one sample, each with its number."""
    row = {
        "question": "When does the ferry leave?",
        "answer": "It leaves at eight.",
        "references": ["At eight."],
        "contexts": [f"Chunk {number}. It says little." for number in range(chunks)],
    }
    model = Counting(answer, reference)
    run = ragstone.evaluate([row], metrics, judge=model, embedder=Flat(), cache=False, **options)
    assert all(score.n_failed == 0 for score in run.summary())
    return model.asked


def formula(a, r, c, n=CLAIMS_PER_CALL, m=CHUNKS_PER_CALL):
    return 1 + 1 + ceil(a / n) + ceil(r / n) + ceil((a + r) / n) * ceil(c / m) + 1 + 1 + 1


def test_eight_calls_for_both_systems_together():
    asked = count(["ragchecker", "ragas"])
    assert asked == dict.fromkeys(
        ("claims", "claims_and_entities", "context_verdicts", "questions", "needed_sentences", "usefulness"), 1
    ) | {"verdicts": 2}
    assert asked.total() == formula(5, 4, 5) == 8


@pytest.mark.parametrize(
    ("a", "r", "c"), [(1, 1, 1), (25, 25, 10), (26, 4, 5), (13, 12, 11), (60, 30, 25), (3, 26, 21)]
)
def test_the_formula(a, r, c):
    assert count(["ragchecker", "ragas"], a, r, c).total() == formula(a, r, c)


def test_fewer_claims_and_chunks_a_call():
    asked = count(["ragchecker", "ragas"], 5, 4, 5, claims_per_call=2, chunks_per_call=3)
    assert asked.total() == formula(5, 4, 5, n=2, m=3)


def test_triplets_cost_one_call_more():
    assert count(["ragchecker", "ragas"], claims="triplets").total() == formula(1, 1, 5) + 1


def test_repeats_ask_for_the_verdicts_again():
    once, thrice = count(["ragchecker", "ragas"]), count(["ragchecker", "ragas"], repeats=3)
    verdicts = {"verdicts", "context_verdicts"}
    assert thrice == {name: number * (3 if name in verdicts else 1) for name, number in once.items()}


@pytest.mark.parametrize(
    ("metrics", "calls"),
    [
        ("ragchecker", 5),
        ("ragchecker.overall", 4),
        ("ragchecker.retriever", 2),
        ("ragas.faithfulness", 2),
        ("ragas.context_precision", 1),
        ("ragas.answer_relevancy", 1),
        ("semantic_similarity", 0),
        ("triad", 4),
    ],
)
def test_only_what_the_metrics_need_is_asked(metrics, calls):
    assert count(metrics).total() == calls


def test_the_page_has_the_formula():
    from tests.docs.test_docs import ROOT

    assert "5 + ⌈a/n⌉ + ⌈r/n⌉ + ⌈(a+r)/n⌉ · ⌈c/m⌉" in " ".join((ROOT / "docs/judge-calls.md").read_text().split())


class Torn(Counting):
    """A model whose verdict on all chunks denies what it says about one of them."""

    async def complete(self, request):
        reply = await super().complete(request)
        if request.prompt != "context_verdicts":
            return reply
        said = json.loads(reply.text)
        entries = [{**entry, "supported_by": ["A"], "together": "contradiction"} for entry in said["verdicts"]]
        return Reply(json.dumps({"verdicts": entries}), self.name)


def test_two_systems_agree_on_what_one_reply_says():
    """Of one reply, `ragchecker.faithfulness` was 0.889 and `ragas.faithfulness` 0.000."""
    row = {"question": "When does the ferry leave?", "answer": "It leaves at eight.", "contexts": ["It says at eight."]}
    names = ["ragchecker.faithfulness", "ragas.faithfulness"]
    run = ragstone.evaluate([{**row, "references": ["At eight."]}], names, judge=Torn(3, 2), cache=False)
    assert [score.mean for score in run.summary()] == [1.0, 1.0]
