"""Who says in a run how likely a text is, how good an answer, how hateful: models on this machine, or behind the gateway."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragstone.engine.planning import Tool

if TYPE_CHECKING:
    from ragstone.models.classifiers import Classifier
    from ragstone.models.scorers import LanguageModel

_TOOLS = ("scorer", "reward_model", "toxicity_model")
# What classifiers are called in the catalogue of models.
_CLASSIFIERS = {"reward_model": "reward", "toxicity_model": "toxicity"}


class Scoring:
    """What a run was told about such models: a name, or a tool of one's own. Models on this machine are shared by all who open tools."""

    def __init__(self, scorer: Any = None, reward_model: Any = None, toxicity_model: Any = None) -> None:
        self._named = dict(zip(_TOOLS, (scorer, reward_model, toxicity_model), strict=True))

    @property
    def unnamed(self) -> frozenset[str]:
        """The tools that are there though nobody named them."""
        return frozenset(tool for tool, named in self._named.items() if named is None)

    @property
    def asks(self) -> bool:
        """Whether a model behind the gateway is named."""
        from ragstone.models.scorers import is_local  # noqa: PLC0415

        named = self._named["scorer"]
        return isinstance(named, str) and not is_local(named)

    def open(self, open_remote: Callable[[str], Tool], quoting: bool) -> Iterator[tuple[str, Tool]]:
        """The tools that there are."""
        for tool, named in self._named.items():
            if named is not None and not isinstance(named, str):
                yield tool, named
            elif tool == "scorer" and named is not None and self.asks:
                yield tool, open_remote(named)
            elif model := self._models[tool]:
                yield tool, Unrated(model.signature) if quoting else _as_tool(tool, model)

    @cached_property
    def _models(self) -> dict[str, Any]:
        """The models on this machine, of which only the files are looked at."""
        return {"scorer": self._language_model(), **{tool: self._classifier(tool) for tool in _CLASSIFIERS}}

    def _language_model(self) -> LanguageModel | None:
        from ragstone.models.scorers import find_language_model, open_language_model  # noqa: PLC0415

        named = self._named["scorer"]
        if named is None:
            return find_language_model()
        return open_language_model(named) if isinstance(named, str) and not self.asks else None

    def _classifier(self, tool: str) -> Classifier | None:
        from ragstone.models.classifiers import find_classifier, open_classifier  # noqa: PLC0415

        named = self._named[tool]
        if named is None:
            return find_classifier(_CLASSIFIERS[tool])
        return open_classifier(named) if isinstance(named, str) else None


def _as_tool(tool: str, model: Any) -> Tool:
    from ragstone.models.classifiers import LocalRewarder, LocalToxicity  # noqa: PLC0415
    from ragstone.models.scorers import LocalScorer  # noqa: PLC0415

    if tool == "scorer":
        return LocalScorer(model)
    return LocalRewarder(model) if tool == "reward_model" else LocalToxicity(model)


class Unrated:
    """Stands for a local model while a run is only quoted: it costs nothing, and nothing is computed."""

    def __init__(self, signature: str) -> None:
        self.name = self.signature = signature

    async def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """One token a text."""
        return [[-1.0] for _ in pairs]

    async def rate(self, items: Sequence[Any]) -> list[float]:
        """The same for all."""
        return [0.5 for _ in items]
