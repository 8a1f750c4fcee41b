"""What models trained on people's judgements say of the answer: how good it is, whether it is hateful."""

from __future__ import annotations

from ragstone.errors import Skip
from ragstone.evidence.tools import RewardModel, ToxicityModel
from ragstone.registry import evidence


@evidence
async def reward(question: str, answer: str, reward_model: RewardModel) -> float:
    """A reward model's own number for the answer to the question."""
    if not answer.strip():
        raise Skip("the answer is empty")
    [found] = await reward_model.rate([(question, answer)])
    return found


@evidence
async def answer_hatefulness(answer: str, toxicity_model: ToxicityModel) -> float:
    """The probability that the answer is hate speech."""
    if not answer.strip():
        raise Skip("the answer is empty")
    [found] = await toxicity_model.rate([answer])
    return found
