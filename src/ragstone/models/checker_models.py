"""Runs the field's checkers in this process: encoders on onnxruntime or transformers, T5 models with numpy."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from ragstone.errors import StorageError, UsageError
from ragstone.models.bert_graph import read_safetensors
from ragstone.models.checker_facts import CHAT, SPANS, T5, FieldChecker, recognise
from ragstone.models.runtime import load_transformer, open_session, open_tokenizer, or_stop, require_torch
from ragstone.models.store import Installed, Store
from ragstone.models.t5_reader import T5Reader

_TOKENIZER = "tokenizer.json"
# The first tokens of the replies 0 and 1 of T5 models.
_NO, _YES = 3, 209
# Most characters per token; tokens that frame an input.
_CHARACTERS_PER_TOKEN, _SPECIAL = 20, 4
# Goes up if another input or another score comes out.
VERSION = 1


class Read(NamedTuple):
    """The probabilities that a text supports and that it contradicts a claim."""

    support: float
    contradiction: float = 0.0


class CheckerModel:
    """A checker whose weights are in the store. They are loaded at first use; calls are thread-safe."""

    def __init__(self, facts: FieldChecker, stored: Installed) -> None:
        if facts.runner != T5 and not _onnx_file(stored):
            require_torch(
                f"the checker '{facts.name}' with these weights", "Or export it to ONNX and pull that folder."
            )
        self.facts = facts
        self._stored = stored
        self._lock = threading.Lock()
        checksum = stored.signature.partition("#")[2]
        self.signature = f"checker/{facts.name}#{checksum};form={VERSION}"

    def read_all(self, items: list[tuple[str, ...]]) -> list[Read]:
        """Read items of question, claim and the passages of a text."""
        with self._lock:
            return or_stop(lambda all_items: [self.read(*item) for item in all_items], items)

    def read(self, question: str, claim: str, *passages: str) -> Read:
        """Join the parts of a text, and the sentences of a claim, as the authors of the checker do."""
        # A claim is at most half of the input.
        claim = self._cut(claim, self.facts.most_tokens // 2)
        if self.facts.runner == SPANS:
            return Read(1.0 - max(self._spans(question, claim, passages)))
        windows = self.facts.windows("\n".join(passages), self.count_tokens)
        by_sentence = []
        for part in self.facts.claim_parts(claim):
            reads = [self._pair(question, part, window) for window in windows]
            by_sentence.append(Read(*(max(values) for values in zip(*reads, strict=True))))
        join = fmean if self.facts.sentences == "mean" else min
        support = join([read.support for read in by_sentence])
        return Read(support, min(max(read.contradiction for read in by_sentence), 1.0 - support))

    def count_tokens(self, text: str) -> int:
        """The number of tokens without special ones."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _cut(self, text: str, tokens: int) -> str:
        """The beginning of a text. A window is longer than its size if it is one long word."""
        text = text[: tokens * _CHARACTERS_PER_TOKEN]
        ends = [end for _, end in self._tokenizer.encode(text, add_special_tokens=False).offsets]
        return text if len(ends) <= tokens else text[: ends[tokens - 1]]

    def _pair(self, question: str, claim: str, text: str) -> Read:
        facts = self.facts
        room = facts.most_tokens - _SPECIAL - self.count_tokens(facts.fill(question, claim, "") or claim)
        text = self._cut(text, room)
        both = (facts.fill(question, claim, text),) if facts.template else (text, claim)
        encoded = self._tokenizer.encode(*both)
        logits = self._t5_logits(encoded.ids) if facts.runner == T5 else self._logits(encoded)[0]
        if logits.shape != (facts.classes,):
            raise StorageError(
                f"the checker '{facts.name}' cannot be used: its weights return {logits.shape} numbers, not {facts.classes}"
            )
        likely = _softmax(logits)
        contradicted = 0.0 if facts.contradiction is None else float(likely[facts.contradiction])
        return Read(float(likely[facts.support]), contradicted)

    def _spans(self, question: str, claim: str, passages: Sequence[str]) -> list[float]:
        """For each token of the claim the highest probability, over all groups of passages, that it is unsupported."""
        found = []
        for group in self._groups(question, claim, passages):
            room = self.facts.most_tokens - _SPECIAL - self.count_tokens(claim)
            encoded = self._tokenizer.encode(self._cut(self._prompt(question, group), room), claim)
            own = [at for at, part in enumerate(encoded.sequence_ids) if part == 1]
            logits = self._logits(encoded)
            if logits.ndim != 3 or logits.shape[2] != self.facts.classes:
                raise StorageError(
                    f"the checker '{self.facts.name}' cannot be used: its weights do not classify tokens"
                )
            found.append(_softmax(logits[0, own])[:, 1])
        return [float(value) for value in np.max(found, axis=0)] or [0.0]

    def _prompt(self, question: str, passages: Sequence[str]) -> str:
        lines = "\n".join(f"passage {number}: {passage}" for number, passage in enumerate(passages, start=1))
        if not question.strip():
            return f"Summarize the following text:\n{lines}\noutput:"
        return self.facts.fill(question, "", f"{len(passages)} passages:\n{lines}")

    def _groups(self, question: str, claim: str, passages: Sequence[str]) -> list[list[str]]:
        """Passages that fit into one input together."""
        room = self.facts.most_tokens - 3 - self.count_tokens(claim) - self.count_tokens(self._prompt(question, [""]))
        groups: list[list[str]] = [[]]
        used = 0
        for passage in passages:
            size = self.count_tokens(f"passage {len(groups[-1]) + 1}: {passage}") + bool(groups[-1])
            if groups[-1] and used + size > room:
                groups.append([])
                used = 0
            groups[-1].append(passage)
            used += size
        return groups

    @cached_property
    def _tokenizer(self) -> Any:
        if (self._stored.folder / _TOKENIZER).is_file():
            tokenizer = open_tokenizer(self._stored)
        elif self.facts.runner != T5 and not _onnx_file(self._stored):
            tokenizer = self._torch[0].backend_tokenizer
            tokenizer.no_padding()
        else:
            return self._stored.path(_TOKENIZER)  # raises
        tokenizer.no_truncation()  # it keeps what it cuts off in all combinations of both texts
        return tokenizer

    def _logits(self, encoded: Any) -> np.ndarray:
        columns = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        if self._session is None:
            import torch  # noqa: PLC0415

            wanted = {name: torch.tensor([columns[name]]) for name in ("input_ids", "attention_mask")}
            if getattr(self._torch[1].config, "type_vocab_size", 0) > 1:
                wanted["token_type_ids"] = torch.tensor([columns["token_type_ids"]])
            with torch.inference_mode():
                return np.asarray(self._torch[1](**wanted).logits, dtype=np.float64)
        names = {item.name for item in self._session.get_inputs()}
        if unknown := sorted(names - columns.keys()):
            raise StorageError(f"the checker '{self.facts.name}' cannot be used: it needs the input {unknown[0]}")
        feeds = {name: np.array([columns[name]], dtype=np.int64) for name in names}
        return np.asarray(self._session.run(None, feeds)[0], dtype=np.float64)

    @cached_property
    def _session(self) -> Any:
        file = _onnx_file(self._stored)
        return open_session(self._stored, file) if file else None

    @cached_property
    def _torch(self) -> tuple[Any, Any]:
        kind = "AutoModelForTokenClassification" if self.facts.runner == SPANS else "AutoModelForSequenceClassification"
        folder = self._stored.folder
        return load_transformer(str(folder), kind, tokenizes=not (folder / _TOKENIZER).is_file())

    def _t5_logits(self, tokens: list[int]) -> np.ndarray:
        if self._t5.is_classifier:
            return self._t5.classify(tokens)
        return self._t5.first_token(tokens)[[_NO, _YES]]

    @cached_property
    def _t5(self) -> T5Reader:
        weights: dict[str, np.ndarray] = {}
        for file in self._stored.files:
            if file.endswith(".safetensors"):
                weights |= read_safetensors(self._stored.path(file))
        return T5Reader(weights)


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(np.asarray(logits, dtype=np.float64) - np.max(logits, axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _onnx_file(stored: Installed) -> str | None:
    return next((file for file in sorted(stored.files) if file.endswith(".onnx")), None)


def _is_of(name: str, facts: FieldChecker) -> bool:
    with suppress(UsageError):
        return recognise(name) == facts
    return False


def open_checker_model(facts: FieldChecker, spelled: str, store: Store | None = None) -> CheckerModel:
    """Open the installed weights of a checker: those of that revision, else those of its name in the catalogue."""
    store = store or Store()
    if facts.runner == CHAT:
        raise UsageError(f"{facts.name} runs on a server: {facts.how_to_get}")
    known = [model for model in store.installed() if _is_of(model.name, facts)]
    exact = [model for model in known if model.name == spelled]
    if "@" in spelled and not exact:
        raise UsageError(f"{spelled} is not installed. Get it with: ragstone models pull {spelled}")
    if not known:
        how = facts.how_to_get or f"Get it with: ragstone models pull {facts.name}"
        raise UsageError(f"the checker '{facts.name}' is not installed. {how}")
    stored = store.get((exact or known)[0].name)
    return CheckerModel(facts, stored)
