"""ROUGE against Google's rouge-score 0.1.2 (`RougeScorer(...).score(reference, answer)`) on seeded random English-like text."""

import random

import pytest
from rouge_score.rouge_scorer import RougeScorer

from ragstone.data.types import Sample
from tests.metrics.scoring import score

KINDS = {
    "rouge1": "rouge_1",
    "rouge2": "rouge_2",
    "rouge4": "rouge_n(n=4{})",
    "rougeL": "rouge_l",
    "rougeLsum": "rouge_lsum",
}
PARTS = {"precision": "precision", "recall": "recall", "fmeasure": "f1"}


def texts(seed, count=120):
    """Words that share stems, punctuation, numbers and line breaks; some texts are empty or only punctuation."""
    chance = random.Random(seed)
    words = [
        "running",
        "runs",
        "ran",
        "ferries",
        "ferry",
        "the",
        "a",
        "boat",
        "boats",
        "easily",
        "9",
        "21:40",
        "it's",
        "...",
        "sailing",
    ]
    for _ in range(count):
        yield chance.choice([" ", " ", "\n", ". "]).join(chance.choices(words, k=chance.randrange(0, 14)))


def metric(kind, part, stem):
    settings = [f"score={part}"] if part != "f1" else []
    settings += ["stem=true"] if stem else []
    if kind == "rouge4":
        return "rouge_n(" + ", ".join(["n=4", *settings]) + ")"
    return KINDS[kind] + (f"({', '.join(settings)})" if settings else "")


@pytest.mark.parametrize("stem", [False, True], ids=["words", "stems"])
@pytest.mark.parametrize("kind", KINDS)
def test_equal_to_rouge_score(kind, stem):
    scorer = RougeScorer([kind], use_stemmer=stem)
    answers, references = list(texts(1)), list(texts(2))
    rows = [
        Sample(str(number), answer=answer, references=[reference])
        for number, (answer, reference) in enumerate(zip(answers, references, strict=True))
    ]
    expected = [scorer.score(reference, answer)[kind] for answer, reference in zip(answers, references, strict=True)]
    for theirs, ours in PARTS.items():
        (cells,) = score(rows, metric(kind, ours, stem)).values()
        assert [cell.value for cell in cells] == pytest.approx([getattr(one, theirs) for one in expected], abs=1e-9)


def test_several_references_take_the_best_or_the_mean():
    scorer = RougeScorer(["rougeL"])
    references = ["the boat sails at nine", "a ferry leaves"]
    row = Sample("1", answer="the ferry leaves at nine", references=references)
    each = [scorer.score(reference, row.answer)["rougeL"].fmeasure for reference in references]
    found = score([row], "rouge_l", "rouge_l(references=mean)")
    assert found["rouge_l"][0].value == pytest.approx(max(each))
    assert found["rouge_l(references=mean)"][0].value == pytest.approx(sum(each) / 2)
