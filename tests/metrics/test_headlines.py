"""What a metric declares about itself: its headline rank, the threshold of good and the advice."""

import io

import pytest
from rich.console import Console

from ragstone.analysis.diagnosis import diagnose
from ragstone.analysis.part_metrics import list_signs
from ragstone.engine.evaluate import evaluate
from ragstone.engine.metric_choice import is_headline, pick_headlines
from ragstone.errors import DefinitionError
from ragstone.registry import CATALOGUE, Threshold, declare, metric
from ragstone.report.run import run_summary
from ragstone.views.run import RunView

HEADLINES = [
    "fact_recall",
    "fact_precision",
    "recall",
    "ndcg",
    "mrr",
    "ragchecker.claim_recall",
    "ragchecker.context_precision",
    "answer_match",
    "token_f1",
    "token_recall",
    "k_precision",
    "semantic_similarity",
    "ragchecker.f1",
    "ragchecker.faithfulness",
    "ragchecker.hallucination",
    "ragchecker.context_utilization",
    "ragas.answer_correctness",
    "ragas.answer_relevancy",
    "refusal",
    "answerability_accuracy",
    "citation_recall",
    "system.latency",
    "citation_precision",
    "system.cost",
]
ROWS = [
    {"question": "Where is the light?", "answer": "On the mole. " * count, "references": ["On the mole."]}
    for count in (1, 1, 2, 1, 3, 1) * 2
]


@pytest.fixture
def own_metrics(monkeypatch):
    monkeypatch.setattr(CATALOGUE, "_metrics", dict(CATALOGUE._metrics))

    @metric("terse", judges="answer", headline=3, good=0.8, advice="Ask for shorter answers.")
    def terse(answer: str) -> float:
        return float(len(answer.split()) < 2)

    @metric("wordy", judges="answer")
    def wordy(answer: str) -> float:
        return float(len(answer.split()) > 4)


def test_the_headlines_of_the_library_and_their_order():
    assert CATALOGUE.headlines() == HEADLINES
    assert is_headline("ndcg@10")
    assert is_headline("system.latency(q=0.95)")
    assert not is_headline("system.latency(q=0.5)")
    assert not is_headline("rouge_l(stem=true)")


@pytest.mark.usefixtures("own_metrics")
def test_a_users_metric_can_be_a_headline(tmp_path):
    assert CATALOGUE.headlines()[:5] == ["fact_recall", "fact_precision", "recall", "terse", "ndcg"]
    assert pick_headlines(["terse", "token_f1", "token_recall", "refusal", "contains"]) == {
        *("terse", "token_f1", "token_recall", "refusal")
    }


@pytest.mark.usefixtures("own_metrics")
def test_a_users_metrics_are_always_shown_and_come_first(tmp_path):
    shipped = ["k_precision", "token_f1", "token_recall", "refusal", "contains", "rouge_l", "rouge_1", "rouge_2"]
    run = evaluate(ROWS, metrics=[*shipped, "terse", "wordy"], out=tmp_path)
    screen = io.StringIO()
    Console(file=screen, width=110).print(run_summary(RunView.of(run), diagnose(run)))
    names = [line.split()[0] for line in screen.getvalue().splitlines() if line[:1].islower()]
    assert names[names.index("metric") + 1 :][:3] == ["terse", "wordy", "token_f1"]
    assert "rouge_1" not in names


@pytest.mark.usefixtures("own_metrics")
def test_a_users_metric_takes_part_in_the_diagnosis(tmp_path):
    diagnosis = diagnose(evaluate(ROWS, metrics=["terse", "wordy"], out=tmp_path))
    assert [(reading.sign.metric, reading.sign.part, reading.state) for reading in diagnosis.readings] == [
        ("terse", "generator", "bad")
    ]
    assert diagnosis.limits == "generator"
    assert [advice.text for advice in diagnosis.advice] == ["Ask for shorter answers."]


def test_a_metric_gives_way_to_a_better_one_of_the_diagnosis():
    by_name = {sign.metric: sign for sign in list_signs()}
    assert by_name["recall"].unless == ("ragchecker.claim_recall", "fact_recall", "ragas.context_recall")
    assert not by_name["fact_precision"].decides
    assert by_name["ragchecker.hallucination"].better == "lower"


def test_the_threshold_must_be_within_the_bounds(monkeypatch):
    monkeypatch.setattr(declare, "CATALOGUE", type(CATALOGUE)())
    with pytest.raises(DefinitionError, match="good"):
        metric("mine", good=80)(lambda answer: 1.0)
    with pytest.raises(DefinitionError, match="good"):
        metric("mine", judges="ranking", good=Threshold(-1))(lambda answer: 1.0)
