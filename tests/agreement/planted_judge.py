"""A planted judge with token probabilities: it knows the truth, is not sure of it, and is far too kind."""

import hashlib
import math
import re

import numpy as np

from ragstone.llm.base import Reply
from ragstone.tools.judge_exam import load_items

# What it adds to the log-odds of the truth.
KINDNESS = 3.0


class PlantedJudge:
    """Says yes with log-odds of ±2 (by the truth), noise of its own, and `kindness`."""

    def __init__(self, kindness=KINDNESS, name="planted"):
        self.name = f"fake/{name}"
        self.signature = f"{self.name},temperature=0"
        self.kindness = kindness
        self.supported = {
            (one.data["claim"], one.data["text"]) for one in load_items() if one.data.get("right") == "entailment"
        }
        for one in load_items():
            if one.kind == "grid":
                pairs = zip(one.data["claims"], one.data["right"], strict=True)
                self.supported |= {(claim, one.data["chunks"][right - 1]) for claim, right in pairs}

    async def complete(self, request):
        if request.max_tokens != 1:
            return Reply("not for me", self.name)
        data = dict(re.findall(r"<(\w+)>\n(.*?)\n</", request.messages[-1].content, re.DOTALL))
        if request.prompt == "token_match":
            right = data["answer"].startswith("Right")
        else:
            right = (data["claim"], data["evidence"]) in self.supported
        seed = hashlib.blake2b(repr(sorted(data.items())).encode(), digest_size=4).digest()
        noise = np.random.default_rng(int.from_bytes(seed)).normal(0.0, 1.0)
        odds = (2.0 if right else -2.0) + noise + (self.kindness if request.prompt != "token_contradiction" else 0.0)
        likely = 1 / (1 + math.exp(-odds))
        words = ("false", "unknown") if request.prompt == "token_contradiction" else ("yes", "no")
        pairs = ((words[0], math.log(likely)), (words[1], math.log(1 - likely)))
        return Reply(words[0], self.name, logprobs=pairs[:1], alternatives=(pairs,))

    async def close(self):
        """Nothing is open."""


def answered(count, share, start=0):
    """Rows whose answers are right in this share, and their labels."""
    rows, labels = [], {}
    for number in range(start, start + count):
        right = (number * 7919 % 1000) < 1000 * share
        labels[f"q{number}"] = right
        word = "Right" if right else "Wrong"
        rows.append({
            "id": f"q{number}", "question": f"What is number {number}?", "answer": f"{word} answer {number}.",
            "references": [f"Number {number} is known."],
        })  # fmt: skip
    return rows, labels
