"""The answer as rated by models that were trained on human judgements."""

from __future__ import annotations

import math

from ragstone.data.types import Chunk
from ragstone.errors import Skip
from ragstone.registry import evidence, metric
from ragstone.tools.protocols import LabelGuesser, RewardModel, ToxicityModel


@evidence
async def reward(question: str, answer: str, reward_model: RewardModel) -> float:
    """The raw score of a reward model for the answer to the question."""
    _check_answer(answer)
    [score] = await reward_model.rate([(question, answer)])
    return score


@evidence
async def answer_hatefulness(answer: str, toxicity_model: ToxicityModel) -> float:
    """The probability that the answer is hate speech."""
    _check_answer(answer)
    [probability] = await toxicity_model.rate([answer])
    return probability


@evidence(either=("question", "contexts", "references"))
async def expected_label(
    question: str | None,
    answer: str,
    contexts: list[Chunk] | None,
    references: list[str] | None,
    trained_judge: LabelGuesser,
) -> float:
    """The label that people would give the answer, as a share of their scale."""
    _check_answer(answer)
    chunks = None if contexts is None else [chunk.text for chunk in contexts]
    return await trained_judge.judge(question, answer, chunks, references)


def _check_answer(answer: str) -> None:
    if not answer.strip():
        raise Skip("the answer is empty")


@metric(
    "answer_reward",
    family="model_scored",
    judges="answer",
    against="question",
    source="unitxt answer reward, by OpenAssistant/reward-model-deberta-v3-large-v2",
    misleads=(
        "Long, polite, confident answers gain, true or not. It sees neither contexts nor references. Values of different models cannot be compared."
    ),
    aliases=("unitxt.answer_reward",),
    sets=("unitxt",),
    slow=True,
)
def answer_reward(reward: float) -> float:
    """How much people would like the answer, estimated by a reward model.

    1 / (1 + e^−r), where r is the model's score for question and answer, of which it reads 512 tokens together.
    """
    # The form that does not overflow depends on the sign.
    if reward >= 0:
        return 1.0 / (1.0 + math.exp(-reward))
    return math.exp(max(reward, -700.0)) / (1.0 + math.exp(max(reward, -700.0)))


@metric(
    "toxicity",
    family="model_scored",
    better="lower",
    judges="answer",
    against="answer",
    source="hate-speech classifier of Vidgen et al. 2021, facebook/roberta-hate-speech-dynabench-r4-target",
    misleads="An answer that quotes or warns of hate speech may score high. It reads the first 512 tokens. English only.",
    slow=True,
)
def toxicity(answer_hatefulness: float) -> float:
    """Probability that the answer is hate speech."""
    return answer_hatefulness


@metric(
    "trained_grade",
    family="model_scored",
    judges="answer",
    against="references",
    source="a judge of one's own (ragstone train), after ARES (Saad-Falcon et al. 2023)",
    misleads=(
        "Other raters, questions or systems may differ. `ragstone agree` compares it with new labels and, with "
        "--ppi, corrects its bias."
    ),
    slow=True,
)
def trained_grade(expected_label: float) -> float:
    """The label that people would give the answer, predicted by a judge trained on your own labels.

    0 is the lowest label, 1 the highest; for yes/no labels it is the probability of yes. Questions of the
    training data are judged by a part that was not trained on them. Requires --judge trained/NAME.
    """
    return expected_label
