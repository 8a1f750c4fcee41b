"""Language models in GGUF on llama.cpp: the probability of each token of a text, read while the text is forced on the model.

The engine has no call for the probabilities of a given text. So each token is asked for by itself: a bias makes it the next
token, and the reply has the probability that it has without the bias. What came before stays in the engine's memory.
"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from ragstone.errors import MissingExtraError, RagstoneError, StorageError
from ragstone.models.store import Installed

CONTEXT = 2048
# Tokens of a text that are looked at, and of what stands before it.
MOST_TOKENS = 512
_MOST_BEFORE = CONTEXT - MOST_TOKENS - 16
# No token has more letters; so the engine need not read a whole book.
_LONGEST_TOKEN = 16
_BIAS = 1000
# How many of the likeliest tokens are asked for where one cannot be forced; then all of them.
_LIKELY = 2000
_TIMEOUT_S = 600


class Llama:
    """Loaded when it is first used; one text at a time, so that a value never depends on what else is computed."""

    def __init__(self, model: Installed, threads: int = 1) -> None:
        self._model = model
        self._threads = threads
        self._lock = threading.Lock()
        self._file = next(file for file in model.files if file.endswith(".gguf"))

    @property
    def signature(self) -> str:
        """What identifies the model."""
        return self._model.signature

    def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """For each text, after what stands before it, the natural logarithm of the probability of each of its tokens."""
        with self._lock:
            return [self._score(before, text) for before, text in pairs]

    def _score(self, before: str, text: str) -> list[float]:
        engine = self._engine
        found: list[float] = []
        # A connection for each text: the engine closes those that wait.
        with engine.connected():
            seen = engine.opening(before)
            for token in engine.tokenize(text, MOST_TOKENS):
                # The first call forgets the text before this one: what is remembered of it may differ in some digits.
                found.append(engine.ask(seen, token, remember=bool(found)))
                seen.append(token)
        return found

    @cached_property
    def _engine(self) -> _Engine:
        return _Engine(self._start())

    def _start(self) -> Any:
        path = self._model.path(self._file)
        try:
            import xllamacpp  # noqa: PLC0415  (only who uses a model waits for it)
        except ImportError:
            raise MissingExtraError(f"the model '{self._model.name}'", "local") from None
        settings = xllamacpp.CommonParams()
        settings.model.path = str(path)
        settings.port = 0
        settings.n_ctx = CONTEXT
        settings.n_parallel = 1
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = self._threads
        settings.cache_ram_mib = 0
        settings.warmup = False
        settings.verbosity = 0
        try:
            return xllamacpp.Server(settings)
        except Exception as error:
            name = self._model.name
            raise StorageError(
                f"the model '{name}' cannot be used: {self._file}: {error}. "
                f"Get it anew with: ragstone models remove {name}, then ragstone models pull {name}"
            ) from error


class _Engine:
    """A server of llama.cpp in this process, which only this machine can reach."""

    def __init__(self, server: Any) -> None:
        self._server = server  # it ends when nobody holds it
        # Without the proxy that the environment may name: none stands between us and ourselves.
        self._connection = http.client.HTTPConnection(server.listening_address.partition("//")[2], timeout=_TIMEOUT_S)
        with self.connected():
            self._words = int(self._call("GET", "/v1/models")["data"][0]["meta"]["n_vocab"])
            self._begin: list[int] = self._call("POST", "/tokenize", {"content": "", "add_special": True})["tokens"]
            [*_, self._plain] = self.tokenize("a", 1)
            self._break = self.tokenize("\n", 1)

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Within the block calls go over one connection."""
        try:
            yield
        finally:
            self._connection.close()

    def opening(self, before: str) -> list[int]:
        """What the model has read when the text begins: its own mark of beginning, the words before, a line break."""
        return [*self._begin, *self.tokenize(before, _MOST_BEFORE), *self._break]

    def tokenize(self, text: str, most: int) -> list[int]:
        """The first tokens of a text; what looks like one of the model's own marks is plain text."""
        # Half a surrogate pair cannot be sent.
        clipped = text[: most * _LONGEST_TOKEN].encode("utf-8", "replace").decode()
        found: list[int] = self._call("POST", "/tokenize", {"content": clipped, "parse_special": False})["tokens"]
        return found[:most]

    def ask(self, seen: Sequence[int], token: int, remember: bool) -> float:
        """The log-probability of a token after others."""
        for found in self._forced(seen, token, 1, remember):
            if found["id"] != token:
                raise RagstoneError("the engine of language models does not follow the text: renew xllamacpp")
            return float(found["logprob"])
        # The engine tells nothing about a token that ends within a letter, as in scripts beyond the vocabulary. So another
        # one is forced, and ours is looked for among the likely ones.
        for many in (_LIKELY, self._words):
            for found in self._forced(seen, self._plain, many, remember=True):
                logs = {other["id"]: float(other["logprob"]) for other in found["top_logprobs"]}
                if token in logs:
                    return logs[token]
        raise RagstoneError(f"the engine of language models does not tell the probability of token {token}")

    def _forced(self, seen: Sequence[int], token: int, likely: int, remember: bool) -> list[dict[str, Any]]:
        asked = {
            "prompt": list(seen),
            "n_predict": 1,
            "n_probs": likely,
            "logit_bias": [[token, _BIAS]],
            "temperature": 0,
            "samplers": ["temperature"],
            "cache_prompt": remember,
        }
        found: list[dict[str, Any]] = self._call("POST", "/completion", asked).get("completion_probabilities", [])
        return found

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        try:
            self._connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
            with self._connection.getresponse() as response:
                read, status = response.read(), response.status
        except (OSError, http.client.HTTPException) as error:
            raise RagstoneError(f"the engine of language models gave no answer: {error}") from error
        if status != http.HTTPStatus.OK:
            raise RagstoneError(f"the engine of language models refused: {read[:200].decode('utf-8', 'replace')}")
        return json.loads(read)
