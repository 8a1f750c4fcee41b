"""Opens the scorer, reward model and toxicity model of a run: local or remote models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ragstone.tools.protocols import DryRunTool, Tool

# What classifiers are called in the catalogue of models.
_CLASSIFIERS = {"reward_model": "reward", "toxicity_model": "toxicity"}


class Scoring:
    """The options for these models: names or tools. Local models are loaded once."""

    def __init__(self, scorer: Any = None, reward_model: Any = None, toxicity_model: Any = None) -> None:
        self._named = {"scorer": scorer, "reward_model": reward_model, "toxicity_model": toxicity_model}
        self._models: dict[str, Any] = {}

    @property
    def unnamed(self) -> frozenset[str]:
        """The default tools, which no option names."""
        return frozenset(tool for tool, named in self._named.items() if named is None)

    @property
    def asks(self) -> bool:
        """Whether a model behind the gateway is named."""
        from ragstone.models.scorers import is_local  # noqa: PLC0415

        named = self._named["scorer"]
        return isinstance(named, str) and not is_local(named)

    def open(self, tool: str, open_remote: Callable[[str], Tool], dry_run: bool) -> Tool | None:
        """One of the three tools: the one that is named, or else the local model if it is installed."""
        named = self._named[tool]
        if named is not None and not isinstance(named, str):
            return named  # type: ignore[no-any-return]
        if tool == "scorer" and named is not None and self.asks:
            return open_remote(named)
        if tool not in self._models:
            self._models[tool] = _open_local(tool, named)
        model = self._models[tool]
        return DryRunTool(model.signature) if model and dry_run else _as_tool(tool, model)


def _open_local(tool: str, name: str | None) -> Any:
    """The model of that name, or else the default model if it is installed; only its files are read."""
    from ragstone.models.classifiers import find_classifier, open_classifier  # noqa: PLC0415
    from ragstone.models.scorers import find_language_model, open_language_model  # noqa: PLC0415

    if tool == "scorer":
        return find_language_model() if name is None else open_language_model(name)
    return find_classifier(_CLASSIFIERS[tool]) if name is None else open_classifier(name)


def _as_tool(tool: str, model: Any) -> Tool | None:
    from ragstone.models.classifiers import LocalRewarder, LocalToxicity  # noqa: PLC0415
    from ragstone.models.scorers import LocalScorer  # noqa: PLC0415

    kinds: dict[str, Any] = {"scorer": LocalScorer, "reward_model": LocalRewarder, "toxicity_model": LocalToxicity}
    return kinds[tool](model) if model else None
