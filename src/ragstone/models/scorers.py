"""Local language models that return token probabilities: `local`, `local/NAME` of the store, `hf/NAME` of the hub.

GGUF models run on llama.cpp, others on torch and transformers. llama.cpp has no call for the probabilities of a given text.
So each token is requested by itself: a logit bias forces it, and the reply contains its probability without the bias.
llama.cpp keeps the preceding tokens in its cache.
"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Protocol

from ragstone.errors import RagstoneError, StorageError, UsageError
from ragstone.models.catalogue import MODELS
from ragstone.models.llama_engine import require_engine, start_engine
from ragstone.models.runtime import Gatherer, load_transformer, or_stop, require_torch
from ragstone.models.store import Installed, Store

DEFAULT = "smollm2"
_LOCAL, _HUB = "local/", "hf/"
# Characters per batch: a few seconds on one core, so that a run can be stopped soon.
_LETTERS = 4_000


class LanguageModel(Protocol):
    """A model that returns the probabilities of tokens."""

    @property
    def signature(self) -> str:
        """The string that identifies the model."""
        ...

    def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Return the natural-log probability of each token of the text, per pair (preceding text, text)."""
        ...


class LocalScorer:
    """Scores texts one after the other in a thread; each text is computed once."""

    def __init__(self, model: LanguageModel) -> None:
        self._gatherer: Gatherer[tuple[str, str], list[float]] = Gatherer(
            lambda pairs: or_stop(model.log_probabilities, pairs), letters=_LETTERS
        )
        self.name = self.signature = model.signature

    async def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Return the natural-log probability of each token, one list per text."""
        return await self._gatherer.submit(pairs)


def is_local(name: str) -> bool:
    """Return whether a scorer runs on this machine."""
    return name == "local" or name in MODELS or name.startswith((_LOCAL, _HUB))


def open_language_model(name: str, store: Store | None = None) -> LanguageModel:
    """Open a model by name. Its files are checked now and loaded at first use."""
    store = store or Store()
    if name.startswith(_HUB):
        repository = name.removeprefix(_HUB)
        return Transformers(repository, store.find(repository))
    model = store.get(DEFAULT if name == "local" else name.removeprefix(_LOCAL))
    if any(file.endswith(".gguf") for file in model.files):
        require_engine(model.name)
        return Llama(model)
    if "config.json" not in model.files:
        raise UsageError(f"'{model.name}' is not a language model. The default one is --scorer local/{DEFAULT}")

    return Transformers(model.name, model, model.signature)


def find_language_model(store: Store | None = None) -> LanguageModel | None:
    """Return the default model, or None if it or its runtime is missing."""
    try:
        return open_language_model("local", store)
    except RagstoneError:
        return None


CONTEXT = 2048
# Tokens that are read of a text, and of what precedes it.
MOST_TOKENS = 512
_MOST_BEFORE = CONTEXT - MOST_TOKENS - 16
# Upper bound of characters per token, so that long texts are cut before tokenizing.
_LONGEST_TOKEN = 16
_BIAS = 1000
# Number of the most likely tokens that are requested if a token cannot be forced; after that, all of them.
_LIKELY = 2000
_TIMEOUT_S = 600


class Llama:
    """A GGUF model on llama.cpp, loaded at first use. One text at a time, so that results do not depend on other texts."""

    def __init__(self, model: Installed, threads: int = 1) -> None:
        self._model = model
        self.signature = model.signature
        self._threads = threads
        self._lock = threading.Lock()
        self._file = next(file for file in model.files if file.endswith(".gguf"))

    def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Return the natural-log probability of each token of the text, per pair (preceding text, text)."""
        with self._lock:
            return [self._score(before, text) for before, text in pairs]

    def _score(self, before: str, text: str) -> list[float]:
        engine = self._engine
        logs: list[float] = []
        # One connection per text, because the engine closes idle ones.
        with engine.connected():
            seen = engine.opening(before)
            for token in engine.tokenize(text, MOST_TOKENS):
                # The first call clears the engine's cache of the previous text, which may change some digits.
                logs.append(engine.ask(seen, token, remember=bool(logs)))
                seen.append(token)
        return logs

    @cached_property
    def _engine(self) -> _Engine:
        return _Engine(start_engine(self._model.name, self._model.path(self._file), CONTEXT, self._threads))


class _Engine:
    """A llama.cpp server in this process, reachable from this machine only."""

    def __init__(self, server: Any) -> None:
        self._server = server  # stops when it is garbage-collected
        # http.client ignores proxies from the environment.
        self._connection = http.client.HTTPConnection(server.listening_address.partition("//")[2], timeout=_TIMEOUT_S)
        with self.connected():
            self._words = int(self._call("GET", "/v1/models")["data"][0]["meta"]["n_vocab"])
            self._begin: list[int] = self._call("POST", "/tokenize", {"content": "", "add_special": True})["tokens"]
            [*_, self._plain] = self.tokenize("a", 1)
            self._break = self.tokenize("\n", 1)

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Use one connection for the calls in this block."""
        try:
            yield
        finally:
            self._connection.close()

    def opening(self, before: str) -> list[int]:
        """Return the tokens that precede the text: the start token, the preceding text and a line break."""
        return [*self._begin, *self.tokenize(before, _MOST_BEFORE), *self._break]

    def tokenize(self, text: str, most: int) -> list[int]:
        """Return the first tokens of a text. Special tokens in it are plain text."""
        # Lone surrogates cannot be sent.
        clipped = text[: most * _LONGEST_TOKEN].encode("utf-8", "replace").decode()
        tokens: list[int] = self._call("POST", "/tokenize", {"content": clipped, "parse_special": False})["tokens"]
        return tokens[:most]

    def ask(self, seen: Sequence[int], token: int, remember: bool) -> float:
        """Return the log-probability of a token after the given tokens."""
        for forced in self._forced(seen, token, 1, remember):
            if forced["id"] != token:
                raise RagstoneError("llama.cpp did not return the requested token: update xllamacpp")
            return float(forced["logprob"])
        # The engine returns nothing for a token that ends inside a character. So another token is forced, and this one is
        # searched among the most likely ones.
        for many in (_LIKELY, self._words):
            for forced in self._forced(seen, self._plain, many, remember=True):
                logs = {other["id"]: float(other["logprob"]) for other in forced["top_logprobs"]}
                if token in logs:
                    return logs[token]
        raise RagstoneError(f"llama.cpp did not return the probability of token {token}")

    def _forced(self, seen: Sequence[int], token: int, likely: int, remember: bool) -> list[dict[str, Any]]:
        body = {
            "prompt": list(seen),
            "n_predict": 1,
            "n_probs": likely,
            "logit_bias": [[token, _BIAS]],
            "temperature": 0,
            "samplers": ["temperature"],
            "cache_prompt": remember,
        }
        tokens: list[dict[str, Any]] = self._call("POST", "/completion", body).get("completion_probabilities", [])
        return tokens

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        try:
            self._connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
            with self._connection.getresponse() as response:
                read, status = response.read(), response.status
        except (OSError, http.client.HTTPException) as error:
            raise RagstoneError(f"llama.cpp does not answer: {error}") from error
        if status != http.HTTPStatus.OK:
            raise RagstoneError(f"llama.cpp refused the request: {read[:200].decode('utf-8', 'replace')}")
        return json.loads(read)


_LONGEST_TORCH_TOKEN = 32
_MOST_BEFORE_TORCH = 1500


class Transformers:
    """A model of the transformers library, causal or encoder-decoder. Loaded at first use from the store or the hub."""

    def __init__(self, name: str, stored: Installed | None = None, signature: str = "") -> None:
        require_torch(name, "Otherwise use --scorer local")
        self.signature = signature or f"hf/{name}"
        self._name = name
        self._stored = stored
        self._lock = threading.Lock()

    def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Return the natural-log probability of each token of the text, per pair (preceding text, text).

        In an encoder-decoder model the encoder reads the preceding text, and the end token is the last token, as in unitxt.
        """
        import torch  # noqa: PLC0415

        with self._lock, torch.inference_mode():
            tokenizer, model = self._loaded
            score = self._decode if model.config.is_encoder_decoder else self._continue
            return [score(tokenizer, model, before, text) for before, text in pairs]

    def _decode(self, tokenizer: Any, model: Any, before: str, text: str) -> list[float]:
        import torch  # noqa: PLC0415

        read = self._tokens(tokenizer, before, min(tokenizer.model_max_length, _MOST_BEFORE_TORCH), marks=True)
        wanted = self._tokens(tokenizer, text, MOST_TOKENS, marks=True)
        if not self._tokens(tokenizer, text, 1, marks=False):
            return []
        logits = model(input_ids=torch.tensor([read]), labels=torch.tensor([wanted])).logits[0]
        return _of(logits, wanted)

    def _continue(self, tokenizer: Any, model: Any, before: str, text: str) -> list[float]:
        import torch  # noqa: PLC0415

        wanted = self._tokens(tokenizer, text, MOST_TOKENS, marks=False)
        if not wanted:
            return []
        # Models without a start token were trained on texts separated by the end token.
        marks = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, 0)
        begin = next(mark for mark in marks if mark is not None)
        room = getattr(model.config, "max_position_embeddings", None) or _MOST_BEFORE_TORCH + MOST_TOKENS
        words = self._tokens(tokenizer, before, max(0, min(_MOST_BEFORE_TORCH, room - MOST_TOKENS - 8)), marks=False)
        seen = [begin, *words, *self._tokens(tokenizer, "\n", 8, marks=False)]
        logits = model(input_ids=torch.tensor([[*seen, *wanted]])).logits[0]
        return _of(logits[len(seen) - 1 : -1], wanted)

    def _tokens(self, tokenizer: Any, text: str, most: int, marks: bool) -> list[int]:
        clipped = text[: most * _LONGEST_TORCH_TOKEN]
        encoded = tokenizer(clipped, add_special_tokens=marks, truncation=True, max_length=max(1, most))
        tokens: list[int] = encoded["input_ids"]
        return tokens[:most]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        import transformers  # noqa: PLC0415

        source = str(self._stored.folder) if self._stored else self._name
        try:
            config = transformers.AutoConfig.from_pretrained(source, local_files_only=bool(self._stored))
        except Exception as error:  # transformers has many errors
            raise StorageError(f"{source} cannot be loaded: {' '.join(str(error).split())[:200]}") from error
        return load_transformer(
            source, "AutoModelForSeq2SeqLM" if config.is_encoder_decoder else "AutoModelForCausalLM"
        )


def _of(logits: Any, wanted: Sequence[int]) -> list[float]:
    import torch  # noqa: PLC0415

    logs = torch.log_softmax(logits.double(), dim=-1)
    chosen: list[float] = logs[torch.arange(len(wanted)), torch.tensor(wanted)].tolist()
    return chosen
