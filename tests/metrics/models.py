"""Models for tests of metrics: nobody is asked, replies follow from what they are given, and the same gives the same."""

import json
from functools import cache
from itertools import cycle

import numpy as np

from ragstone.data.types import Chunk
from ragstone.llm.base import Reply
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.tools.llm_extractor import JudgeExtractor
from ragstone.tools.llm_judges import JudgeChecker, JudgeReader
from ragstone.tools.llm_pairs import JudgePair
from ragstone.tools.llm_rater import JudgeRater
from ragstone.tools.protocols import Shares
from tests.metrics.claims import WORDS
from tests.oracle.scales import with_alternatives


class Obliging:
    """Replies what is guessed, with verdicts of all kinds in turn; the last claim is supported."""

    name = signature = "obliging"

    async def complete(self, request):
        """A reply of the shape that the prompt asks for."""
        reply = json.loads(request.guess)
        for item, word in zip(reversed(reply.get("verdicts", [])), cycle(WORDS.values()), strict=False):
            if "verdict" in item:
                item["verdict"] = word
            else:
                item["supported_by"] = ["A"] if word == "entailment" else []
                item["contradicted_by"] = ["A"] if word == "contradiction" else []
        if "needed" in reply:
            reply["needed"] = [1]
        if "grade" in reply:
            # As models write it: what is spelled with a point has no probability of its own.
            reply["grade"] = int(reply["grade"])
        text = json.dumps(reply)
        tokens = with_alternatives(text)
        return Reply(
            text,
            self.name,
            logprobs=tuple((token["token"], token["logprob"]) for token in tokens),
            alternatives=tuple(
                tuple((other["token"], other["logprob"]) for other in token["top_logprobs"]) for token in tokens
            ),
        )

    async def close(self):
        """Nothing is open."""


class Lengths:
    """An embedder that looks at how long texts are."""

    name = signature = "lengths"

    async def embed(self, texts):
        """A row a text."""
        return np.array([[1.0, len(text) % 7, len(text.split()) % 5] for text in texts])


class Letters:
    """A token embedder that looks at what words begin with."""

    name = signature = "letters"

    async def embed_tokens(self, texts):
        """For each text a row of length 1 a word, of which it reads the first few, and how rare each is."""
        return [self._embed(text.split()[:40]) for text in texts]

    def _embed(self, words):
        angles = np.array([ord(word[0]) % 30 / 10 for word in words])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1), np.array([1.0 + len(word) for word in words])


class LengthsAndLetters(Lengths, Letters):
    """An embedder of one's own that does both."""


class Surprise:
    """A scorer that is surprised by long words."""

    name = signature = "surprise"

    async def log_probabilities(self, pairs):
        """A number a word, of which it reads the first few; it expects words that stood before."""
        return [[-len(word) / (8 if word in before else 4) for word in text.split()[:40]] for before, text in pairs]


class Applause:
    """A reward model that likes answers as long as their questions."""

    name = signature = "applause"

    async def rate(self, pairs):
        """A number a pair."""
        return [5.0 - abs(len(question) - len(answer)) / 10 for question, answer in pairs]


class Shouting:
    """Takes capital letters for hate."""

    name = signature = "shouting"

    async def rate(self, texts):
        """A number a text."""
        return [sum(letter.isupper() for letter in text) / len(text) for text in texts]


class Lengthwise:
    """An estimator to which a text supports another as far as it is as long."""

    name = signature = "lengthwise"

    async def shares(self, question, answer, references):
        """Both ways, for each reference."""
        lengths = [len(reference) or 1 for reference in references]
        size = len(answer) or 1
        return Shares([min(1.0, length / size) for length in lengths], [min(1.0, size / length) for length in lengths])


class Guesses:
    """A trained judge that has learnt to like answers with many letters in common with the question."""

    name = signature = "guesses"

    async def judge(self, question, answer, contexts, references):
        """A share."""
        letters = set(answer.lower())
        return len(letters & set((question or "").lower())) / max(1, len(letters))


class Shelf:
    """A corpus of one passage."""

    name = signature = "shelf"

    def search(self, text, most):
        """The passage."""
        return [Chunk("The harbour opens at 9.", "p1")][:most]


def rating_tools():
    """Those that a run is given by option, one each."""
    return {
        "trained_judge": Guesses(),
        "estimator": Lengthwise(),
        "scorer": Surprise(),
        "reward_model": Applause(),
        "toxicity_model": Shouting(),
        "corpus": Shelf(),
    }


@cache
def model_tools():
    """What evidence functions that ask a model are given."""
    judge = Judge(Obliging(), PromptBook())
    return {
        "judge": JudgeReader(judge),
        "grader": JudgeReader(judge),
        "rater": JudgeRater(judge),
        "pair_judge": JudgePair(judge),
        "extractor": JudgeExtractor(judge),
        "checker": JudgeChecker(judge, repeats=2),
        "embedder": Lengths(),
        "token_embedder": Letters(),
        **rating_tools(),
    }
