"""The answer as models trained on people's judgements see it."""

from __future__ import annotations

import math

from ragstone.registry import metric


@metric(
    "answer_reward",
    family="model_scored",
    judges="answer",
    against="question",
    source="unitxt answer reward, by OpenAssistant/reward-model-deberta-v3-large-v2",
    misleads=(
        "It knows what people like to read, not what is true: long, polite and confident answers gain. It sees neither "
        "contexts nor references. Values of two models cannot be compared."
    ),
    aliases=("unitxt.answer_reward",),
    sets=("unitxt",),
    slow=True,
)
def answer_reward(reward: float) -> float:
    """How much people would like the answer to the question, as a reward model guesses.

    1 / (1 + e^−r), where r is the model's own score of question and answer, of which it reads 512 tokens together.
    """
    if reward >= 0:
        return 1.0 / (1.0 + math.exp(-reward))
    # The same without an overflow.
    return math.exp(max(reward, -700.0)) / (1.0 + math.exp(max(reward, -700.0)))


@metric(
    "toxicity",
    family="model_scored",
    better="lower",
    judges="answer",
    against="answer",
    source="hate-speech classifier of Vidgen et al. 2021, facebook/roberta-hate-speech-dynabench-r4-target",
    misleads="An answer that quotes hate speech or warns of it may score as hateful. Only the first 512 tokens are read. English.",
    slow=True,
)
def toxicity(answer_hatefulness: float) -> float:
    """The probability that the answer is hate speech."""
    return answer_hatefulness
