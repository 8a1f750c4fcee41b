"""What a trained judge looks at: words in common, the local judge's readings, and how near texts are by their embeddings."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.evidence.judges.local_grader import LocalEstimator
from ragstone.text.overlap import covered
from ragstone.text.refusals import find_refusal

if TYPE_CHECKING:
    from ragstone.models.embedders import LocalEmbedder
    from ragstone.models.local_judge import Judgements

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
EMBEDDED = "embedding"


class Looked:
    """One row as a judge sees it."""

    def __init__(self, question: str, answer: str, contexts: Sequence[str] | None, references: Sequence[str] | None):
        self.question = question
        self.answer = answer
        self.contexts = list(contexts or ())
        self.references = list(references or ())


class FeatureReader:
    """Reads features; what there is of them depends on the models on this machine and on what rows have."""

    def __init__(self, uses: Sequence[str], judgements: Judgements | None, embedder: LocalEmbedder | None) -> None:
        self._uses = uses
        self._judgements = judgements
        self._embedder = embedder
        self._estimator = LocalEstimator(judgements, "") if judgements else None

    async def read(self, row: Looked) -> dict[str, float]:
        """The features by name."""
        parts = await asyncio.gather(self._judged(row), self._embedded(row))
        return {**self._counted(row), **parts[0], **parts[1]}

    def _counted(self, row: Looked) -> dict[str, float]:
        found = {
            "length": math.log1p(len(row.answer.split())),
            "refuses": float(find_refusal(row.answer) is not None),
            "answer_in_question": covered(row.answer, row.question),
        }
        if "contexts" in self._uses:
            joined = "\n".join(row.contexts)
            found["answer_in_contexts"] = covered(row.answer, joined)
            found["numbers_in_contexts"] = _numbers(row.answer, joined)
            found["question_in_contexts"] = covered(row.question, joined)
        if "references" in self._uses:
            found["answer_in_reference"] = _best(lambda text: covered(row.answer, text), row.references)
            found["reference_in_answer"] = _best(lambda text: covered(text, row.answer), row.references)
            found["numbers_in_reference"] = _best(lambda text: _numbers(row.answer, text), row.references)
            found["reference_numbers"] = _best(lambda text: _numbers(text, row.answer), row.references)
        return found

    async def _judged(self, row: Looked) -> dict[str, float]:
        if self._judgements is None or self._estimator is None:
            return {}
        found = {}
        if "references" in self._uses:
            matches = await self._judgements.match(row.question, row.references, row.answer)
            shares = await self._estimator.shares(row.question, row.answer, row.references)
            found["match"] = max(matches, default=0.0)
            found["answer_supported"] = max(shares[0], default=0.0)
            found["reference_supported"] = max(shares[1], default=0.0)
        if "contexts" in self._uses:
            shares = await self._estimator.shares(row.question, row.answer, ["\n".join(row.contexts)])
            found["answer_supported_by_contexts"] = shares[0][0]
        return found

    async def _embedded(self, row: Looked) -> dict[str, float]:
        if self._embedder is None:
            return {}
        texts = [row.question, row.answer, *row.references, *row.contexts]
        vectors = np.asarray(await self._embedder.embed(texts), dtype=np.float64)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(float).tiny)
        question, answer = vectors[:2]
        near = vectors @ answer
        found = {"near_question": float(near[0])}
        split = 2 + len(row.references)
        if "references" in self._uses:
            found["near_reference"] = float(near[2:split].max(initial=-1.0))
        if "contexts" in self._uses:
            found["near_contexts"] = float(near[split:].max(initial=-1.0))
        both = np.concatenate([answer, question * answer * len(answer) ** 0.5])
        return {**found, **{f"{EMBEDDED}.{place}": float(value) for place, value in enumerate(both)}}


def _best(measure: Callable[[str], float], texts: Sequence[str]) -> float:
    return max((measure(text) for text in texts), default=0.0)


def _numbers(text: str, by: str) -> float:
    """The share of a text's numbers that stand in another; 1 where it has none."""
    wanted, there = _NUMBER.findall(text), set(_NUMBER.findall(by))
    return sum(number in there for number in wanted) / len(wanted) if wanted else 1.0
