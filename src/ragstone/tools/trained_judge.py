"""A judge trained on a user's labels, as a tool. Its features are word overlap, local judge scores and embeddings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.errors import Skip, UsageError
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.models.trained import PREFIX, Trained
from ragstone.text.overlap import covered
from ragstone.text.refusals import find_refusal
from ragstone.tools.local_judges import LocalEstimator

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
    """Computes the features of rows; which ones depends on the installed models and on the fields in `uses`."""

    def __init__(self, uses: Sequence[str], judgements: Judgements | None, embedder: LocalEmbedder | None) -> None:
        self._uses = uses
        self._judgements = judgements
        self._embedder = embedder
        self._estimator = LocalEstimator(judgements, "") if judgements else None

    async def read(self, row: Looked) -> dict[str, float]:
        """The features by name."""
        parts = await gather_or_cancel([self._judged(row), self._embedded(row)])
        return {**self._counted(row), **parts[0], **parts[1]}

    def _counted(self, row: Looked) -> dict[str, float]:
        features = {
            "length": math.log1p(len(row.answer.split())),
            "refuses": float(find_refusal(row.answer) is not None),
            "answer_in_question": covered(row.answer, row.question),
        }
        if "contexts" in self._uses:
            joined = "\n".join(row.contexts)
            features["answer_in_contexts"] = covered(row.answer, joined)
            features["numbers_in_contexts"] = _numbers(row.answer, joined)
            features["question_in_contexts"] = covered(row.question, joined)
        if "references" in self._uses:
            features["answer_in_reference"] = _best(lambda text: covered(row.answer, text), row.references)
            features["reference_in_answer"] = _best(lambda text: covered(text, row.answer), row.references)
            features["numbers_in_reference"] = _best(lambda text: _numbers(row.answer, text), row.references)
            features["reference_numbers"] = _best(lambda text: _numbers(text, row.answer), row.references)
        return features

    async def _judged(self, row: Looked) -> dict[str, float]:
        if self._judgements is None or self._estimator is None:
            return {}
        features = {}
        if "references" in self._uses:
            matches = await self._judgements.match(row.question, row.references, row.answer)
            shares = await self._estimator.shares(row.question, row.answer, row.references)
            features["match"] = max(matches, default=0.0)
            features["answer_supported"] = max(shares[0], default=0.0)
            features["reference_supported"] = max(shares[1], default=0.0)
        if "contexts" in self._uses:
            shares = await self._estimator.shares(row.question, row.answer, ["\n".join(row.contexts)])
            features["answer_supported_by_contexts"] = shares[0][0]
        return features

    async def _embedded(self, row: Looked) -> dict[str, float]:
        if self._embedder is None:
            return {}
        texts = [row.question, row.answer, *row.references, *row.contexts]
        vectors = np.asarray(await self._embedder.embed(texts), dtype=np.float64)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(float).tiny)
        question, answer = vectors[:2]
        near = vectors @ answer
        features = {"near_question": float(near[0])}
        split = 2 + len(row.references)
        if "references" in self._uses:
            features["near_reference"] = float(near[2:split].max(initial=-1.0))
        if "contexts" in self._uses:
            features["near_contexts"] = float(near[split:].max(initial=-1.0))
        both = np.concatenate([answer, question * answer * len(answer) ** 0.5])
        return {**features, **{f"{EMBEDDED}.{place}": float(value) for place, value in enumerate(both)}}


def _best(measure: Callable[[str], float], texts: Sequence[str]) -> float:
    return max((measure(text) for text in texts), default=0.0)


def _numbers(text: str, by: str) -> float:
    """The share of a text's numbers that are in another text; 1 if it has none."""
    wanted, there = _NUMBER.findall(text), set(_NUMBER.findall(by))
    return sum(number in there for number in wanted) / len(wanted) if wanted else 1.0


class TrainedJudge:
    """Predicts the labels of the people on whose labels it was trained."""

    def __init__(self, judge: Trained, reader: FeatureReader) -> None:
        self._judge = judge
        self._reader = reader
        self.name = f"{PREFIX}{judge.card.name}"
        self.signature = judge.signature

    async def judge(
        self, question: str | None, answer: str, contexts: Sequence[str] | None, references: Sequence[str] | None
    ) -> float:
        """The label that is expected, as a share of the scale of labels."""
        for name, given in (("contexts", contexts), ("references", references)):
            if name in self._judge.card.uses and not given:
                raise Skip(f"the judge {self.name} was trained on rows with {name}, and this one has none")
        features = await self._reader.read(Looked(question or "", answer, contexts, references))
        return self._judge.predict(question or "", np.array([features[name] for name in self._judge.card.features]))


def open_reader(uses: Sequence[str], wanted: Sequence[str] | None = None) -> tuple[FeatureReader, dict[str, str]]:
    """The feature reader and the signatures of its local models; `wanted` restricts the models."""
    from ragstone.models.embedders import LocalEmbedder, find_minilm  # noqa: PLC0415  (only their files are looked at)
    from ragstone.models.local_judge import Judgements, find_local_judge  # noqa: PLC0415

    local = find_local_judge() if wanted is None or "local_judge" in wanted else None
    minilm = find_minilm() if wanted is None or "minilm" in wanted else None
    models = {
        name: model.signature for name, model in (("local_judge", local), ("minilm", minilm)) if model is not None
    }
    reader = FeatureReader(uses, Judgements(local) if local else None, LocalEmbedder(minilm) if minilm else None)
    return reader, models


def make_tool(judge: Trained) -> TrainedJudge:
    """The judge with the models that it was trained with; raises an error if one of them is missing."""
    reader, models = open_reader(judge.card.uses, list(judge.card.models))
    for model, signature in judge.card.models.items():
        if models.get(model) != signature:
            have = f"{models[model]} is installed" if model in models else "it is not installed"
            advice = "ragstone models pull minilm" if model == "minilm" else "pip install 'ragstone[local]'"
            raise UsageError(
                f"the judge {PREFIX}{judge.card.name} was trained with {signature}, and {have}. Get it with: {advice}; "
                "or train the judge again."
            )
    return TrainedJudge(judge, reader)
