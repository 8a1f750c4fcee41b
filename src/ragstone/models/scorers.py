"""From names to language models that score texts here: `local`, `local/NAME` of the store, `hf/NAME` of the hub."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Protocol

from ragstone.errors import MissingExtraError, RagstoneError, UsageError
from ragstone.models.catalogue import MODELS
from ragstone.models.gathering import Gatherer
from ragstone.models.sessions import or_stop
from ragstone.models.store import Installed, Store

DEFAULT = "smollm2"
_LOCAL, _HUB = "local/", "hf/"
# Letters in one go: some seconds on one core, after which whoever stops a run is heard.
_LETTERS = 4_000


class LanguageModel(Protocol):
    """A model that knows how likely a text is."""

    @property
    def signature(self) -> str:
        """What identifies the model."""
        ...

    def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """For each text, after what stands before it, the natural logarithm of the probability of each of its tokens."""
        ...


class LocalScorer:
    """A scorer for evidence functions: one text after the other, in a thread; each is computed once."""

    def __init__(self, model: LanguageModel) -> None:
        self._gatherer: Gatherer[tuple[str, str], list[float]] = Gatherer(
            lambda pairs: or_stop(model.log_probabilities, pairs), letters=_LETTERS
        )
        self.name = self.signature = model.signature

    async def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """For each text the natural logarithm of the probability of each of its tokens."""
        return await self._gatherer.submit(pairs)


def is_local(name: str) -> bool:
    """Whether a scorer of that name runs here."""
    return name == "local" or name in MODELS or name.startswith((_LOCAL, _HUB))


def open_language_model(name: str, store: Store | None = None) -> LanguageModel:
    """The model of that name. It is loaded when it is first used; that it is there and whole is checked now."""
    store = store or Store()
    if name.startswith(_HUB):
        from ragstone.models.torch_scorer import Transformers  # noqa: PLC0415

        repository = name.removeprefix(_HUB)
        return Transformers(repository, store.find(repository))
    model = store.get(DEFAULT if name == "local" else name.removeprefix(_LOCAL))
    if any(file.endswith(".gguf") for file in model.files):
        return _open_llama(model)
    if "config.json" not in model.files:
        raise UsageError(f"'{model.name}' is no language model. The one for every machine: --scorer local/{DEFAULT}")
    from ragstone.models.torch_scorer import Transformers  # noqa: PLC0415

    return Transformers(model.name, model, model.signature)


def find_language_model(store: Store | None = None) -> LanguageModel | None:
    """The model that is used without being named, if it and its engine are there."""
    try:
        return open_language_model("local", store)
    except RagstoneError:
        return None


def _open_llama(model: Installed) -> LanguageModel:
    from ragstone.models.llama import Llama  # noqa: PLC0415

    if find_spec("xllamacpp") is None:
        raise MissingExtraError(f"the model '{model.name}'", "local")
    return Llama(model)
