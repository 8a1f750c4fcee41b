"""The offline judge: a small cross-encoder that reads two texts together, on onnxruntime.

It has three heads: whether an answer says what the reference says, whether evidence supports a claim, and which share of a
text another one supports. Each pair is computed by itself, as many at a time as there are cores: its numbers do not depend on
the company that it came in, which with quantised weights they would, and larger batches were measured to be no quicker.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ragstone.errors import MissingExtraError, RagstoneError, StorageError, UsageError
from ragstone.models.gathering import Gatherer
from ragstone.models.judge_card import CARD, Card, read_card
from ragstone.models.sessions import cores, open_session, open_tokenizer, or_stop
from ragstone.models.store import Installed, Store
from ragstone.text.overlap import covered

NAME = "local-judge"
# The folder of another judge with the same files; `off`: none is used that nobody named.
VARIABLE = "RAGSTONE_LOCAL_JUDGE"
_MEND = f"Install ragstone anew, or set {VARIABLE} to a folder with another one"
_MODEL, _TOKENIZER = "model.onnx", "tokenizer.json"
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_OUTPUTS = ("match", "support", "fraction")
# Far more than the window holds; so the tokenizer need not read a whole book.
_MOST_LETTERS = 8_000


class Pair(NamedTuple):
    """Two texts that are read together, and for which head."""

    task: str
    first: str
    second: str


class Support(NamedTuple):
    """How likely evidence supports a claim, and how likely it contradicts it: two readings that need not add up to 1."""

    supported: float
    contradicted: float


class LocalJudge:
    """Loaded when it is first used; may be used from several threads."""

    def __init__(self, model: Installed, card: Card) -> None:
        self._model = model
        self.card = card
        self._lock = threading.Lock()

    @property
    def signature(self) -> str:
        """The version, and the beginning of the checksum of the weights."""
        return f"{NAME}/{self.card.version}#{self.card.files[_MODEL][1][:8]}"

    @property
    def name(self) -> str:
        """For people."""
        return f"{NAME}/{self.card.version}"

    def run(self, pairs: Sequence[Pair]) -> list[np.ndarray]:
        """For each pair the outputs of all heads: match, supported, not in evidence, contradicted, fraction."""
        with self._lock:
            session, tokenizer, pool = self._loaded
        tokens = self._tokenise(tokenizer, pairs)
        # The longest first, so that no thread is left with a long one at the end.
        order = sorted(range(len(pairs)), key=lambda place: -len(tokens[place][0]))
        found = dict(zip(order, pool.map(lambda place: _compute(session, *tokens[place]), order), strict=True))
        return [found[place] for place in range(len(pairs))]

    def _tokenise(self, tokenizer: Any, pairs: Sequence[Pair]) -> list[tuple[list[int], int]]:
        """[CLS] first [SEP] second [SEP], and where the second begins; what is too long is cut at its end."""
        texts = list(dict.fromkeys(text[:_MOST_LETTERS] for pair in pairs for text in pair[1:]))
        encoded = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        ids = {text: found.ids for text, found in zip(texts, encoded, strict=True)}
        begin, end = (tokenizer.token_to_id(mark) for mark in ("[CLS]", "[SEP]"))
        made = []
        for task, first_text, second_text in pairs:
            second = ids[second_text[:_MOST_LETTERS]][: self.card.second_limit[task]]
            first = ids[first_text[:_MOST_LETTERS]][: self.card.max_length - 3 - len(second)]
            made.append(([begin, *first, end, *second, end], len(first) + 2))
        return made

    @cached_property
    def _loaded(self) -> tuple[Any, Any, ThreadPoolExecutor]:
        try:
            self._model.check(thoroughly=True)
        except StorageError as error:
            raise StorageError(f"{error}{_MEND}") from error
        tokenizer = open_tokenizer(self._model, _TOKENIZER)
        tokenizer.encode_special_tokens = True  # marks in a user's text are plain text
        session = open_session(self._model, _MODEL, threads=1)
        given, made = ({item.name for item in items} for items in (session.get_inputs(), session.get_outputs()))
        if not given >= set(_INPUTS) or not made >= set(_OUTPUTS):
            raise StorageError(f"{self._model.folder / _MODEL} is no judge: it must turn {_INPUTS} into {_OUTPUTS}")
        return session, tokenizer, ThreadPoolExecutor(cores(), thread_name_prefix="local-judge")

    def read_match(self, outputs: np.ndarray, reference: str, answer: str) -> float:
        """The probability that the answer says what the reference says."""
        return self._probability("match", float(outputs[0]), covered(reference, answer))

    def read_support(self, outputs: np.ndarray, evidence: str, claim: str) -> Support:
        """The probabilities of support and of contradiction."""
        yes, absent, no = (float(value) for value in outputs[1:4])
        odds = yes - float(np.logaddexp(absent, no))
        supported = self._probability("support", odds, covered(claim, evidence))
        return Support(supported, float(np.exp(no - np.logaddexp(np.logaddexp(yes, absent), no))))

    def read_fraction(self, outputs: np.ndarray, evidence: str, text: str) -> float:
        """The share of a text that the evidence supports: the mean of the model's estimate and of the words covered."""
        reading = self.card.readings["fraction"]
        share = _sigmoid(reading.scale * float(outputs[4]) + reading.bias)
        return (1.0 - reading.overlap) * share + reading.overlap * covered(text, evidence)

    def _probability(self, task: str, odds: float, shared: float) -> float:
        reading = self.card.readings[task]
        return _sigmoid(reading.scale * odds + reading.overlap * shared + reading.bias)


class Judgements:
    """The judge for evidence functions: who waits at the same time is served together, and no pair is computed twice."""

    def __init__(self, judge: LocalJudge) -> None:
        self.judge = judge
        self._gatherer: Gatherer[Pair, np.ndarray] = Gatherer(lambda pairs: or_stop(judge.run, pairs), most=64)

    async def match(self, question: str, references: Sequence[str], answer: str) -> list[float]:
        """For each reference the probability that the answer says the same."""
        pairs = [self._pair("match", question=question, reference=text, answer=answer) for text in references]
        found = await self._gatherer.submit(pairs)
        return [self.judge.read_match(out, text, answer) for out, text in zip(found, references, strict=True)]

    async def support(self, evidence_and_claims: Sequence[tuple[str, str]]) -> list[Support]:
        """For each pair of evidence and claim how likely it is supported, and contradicted."""
        found = await self._gatherer.submit(
            [self._pair("support", evidence=evidence, claim=claim) for evidence, claim in evidence_and_claims]
        )
        return [self.judge.read_support(out, *pair) for out, pair in zip(found, evidence_and_claims, strict=True)]

    async def fraction(self, evidence_and_texts: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair the share of the text that the evidence supports."""
        found = await self._gatherer.submit(
            [self._pair("fraction", evidence=evidence, text=text) for evidence, text in evidence_and_texts]
        )
        return [self.judge.read_fraction(out, *pair) for out, pair in zip(found, evidence_and_texts, strict=True)]

    def _pair(self, task: str, **texts: str) -> Pair:
        first, second = self.judge.card.templates[task]
        plain = {name: text.strip() for name, text in texts.items()}
        return Pair(task, first.format(**plain), second.format(**plain))


def open_local_judge() -> LocalJudge:
    """The judge that is shipped, or the one in the folder that RAGSTONE_LOCAL_JUDGE names. Loaded when it is first used."""
    if missing := [package for package in ("onnxruntime", "tokenizers") if find_spec(package) is None]:
        raise MissingExtraError(f"the local judge ({missing[0]} is not installed)", "local")
    chosen = os.environ.get(VARIABLE, "")
    shipped = Store().find(NAME) if chosen in ("", "off") else None
    folder = shipped.folder if shipped else Path(chosen).expanduser()
    if shipped is None and (not chosen or chosen == "off"):
        raise UsageError(
            f"this copy of ragstone has no weights of the local judge. Set {VARIABLE} to a folder with {_MODEL}, "
            f"{_TOKENIZER} and {CARD}, or name a language model with --judge"
        )
    card = read_card(folder)
    model = Installed(NAME, folder, str(folder), dict(card.files))
    try:
        model.check()
    except StorageError as error:
        raise StorageError(f"{error}{_MEND}") from error
    return LocalJudge(model, card)


def find_local_judge() -> LocalJudge | None:
    """The judge that is used without being named, if it and its engine are there."""
    if os.environ.get(VARIABLE) == "off":
        return None
    try:
        return open_local_judge()
    except RagstoneError:
        return None


def _compute(session: Any, tokens: list[int], second: int) -> np.ndarray:
    ids = np.array([tokens], dtype=np.int64)
    segments = (np.arange(len(tokens))[None] >= second).astype(np.int64)
    feeds = dict(zip(_INPUTS, (ids, np.ones_like(ids), segments), strict=True))
    match, support, fraction = session.run(list(_OUTPUTS), feeds)
    return np.array([match[0], *support[0], fraction[0]], dtype=np.float64)


def _sigmoid(value: float) -> float:
    return float(1.0 / (1.0 + np.exp(-value))) if value >= 0 else float(np.exp(value) / (1.0 + np.exp(value)))
