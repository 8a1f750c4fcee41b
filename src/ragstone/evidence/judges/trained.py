"""A judge that was trained on a user's own labels, as a tool; and the models on this machine that it stands on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragstone.errors import Skip, UsageError
from ragstone.evidence.judges.features import FeatureReader, Looked
from ragstone.models.trained import PREFIX, Trained


class TrainedJudge:
    """Says what the people on whose labels it was trained would say."""

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
        found = await self._reader.read(Looked(question or "", answer, contexts, references))
        return self._judge.predict(question or "", np.array([found[name] for name in self._judge.card.features]))


def open_reader(uses: Sequence[str], wanted: Sequence[str] | None = None) -> tuple[FeatureReader, dict[str, str]]:
    """Who reads features here, and the signatures of the models under it; with `wanted`, just these must be there."""
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
    """The judge with the very models that it was trained over; an error that says which are missing or others."""
    reader, models = open_reader(judge.card.uses, list(judge.card.models))
    for name, signature in judge.card.models.items():
        if models.get(name) != signature:
            have = f"there is {models[name]}" if name in models else "it is not there"
            advice = "ragstone models pull minilm" if name == "minilm" else "pip install 'ragstone[local]'"
            raise UsageError(
                f"the judge {PREFIX}{judge.card.name} stands on {signature}, and {have}. Get it with: {advice}; "
                "or train the judge again."
            )
    return TrainedJudge(judge, reader)
