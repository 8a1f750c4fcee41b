"""The local judge: a small cross-encoder on onnxruntime that reads two texts together.

It has three heads: whether an answer matches a reference, whether evidence supports a claim, and which share of a text is
supported. Each pair is computed by itself, one per core, so that results do not depend on batch composition.

`card.json` describes it:
version       part of the signature: local-judge/2
files         name: {"bytes", "sha256"} of model.onnx and tokenizer.json
max_length    tokens of a pair; second_limit: task: tokens of its second text
templates     match: [first, second] with {question}, {reference}, {answer}; support: {evidence}, {claim}; fraction: {evidence}, {text}
match         scale, bias, overlap: probability = sigmoid(scale × logit + overlap × covered words + bias); threshold;
              long_scale, long_bias: the same for the mean of the readings of a long answer
support       the same for the log-odds of supported; contradiction: least probability of a contradiction; unsure: [low, high],
              probabilities between which a verdict is unsure; coverage_weight: weight of word coverage in what a claim counts
              between answer and reference; unrelated: probability of support by a text that is not read; window: words read per text and claim
contradicted  scale, bias, overlap for the log-odds of contradicted against silent: probability if the claim is not supported
fraction      scale, bias; overlap: weight of token overlap in the mean
languages     two-letter codes of the languages that it was measured on, ["en"] by default; other texts are skipped
ladder        task: [{"agreement", "confidence", "share"}]: agreement of decisions with at least this confidence, and their share;
              by domain left out, agreement never falls as confidence rises
figures       measurements: [{"task", "data", "rows", "measure", "judge", "low", "high", "overlap", "cosine"}]; answer match
              also has "contained": lexical match
error         kind of mean: {"metrics", "accepted", "refused", "covariance", "coverage", "spread"}: ragstone.stats.judge_error, with the
              check of it; metrics: metric: evidence with its verdicts
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ragstone.errors import MissingExtraError, RagstoneError, Skip, StorageError, UsageError
from ragstone.models.runtime import Gatherer, cores, open_session, or_stop
from ragstone.models.store import Installed, Store
from ragstone.models.word_pieces import WordPieces
from ragstone.stats.judge_error import JudgeError
from ragstone.text.clock_times import with_times_of
from ragstone.text.languages import foreign_language
from ragstone.text.overlap import covered

CARD = "card.json"


@dataclass(frozen=True)
class Reading:
    """How the output of a head becomes a probability: a logistic function of it and of the shared words."""

    scale: float = 1.0
    bias: float = 0.0
    overlap: float = 0.0
    threshold: float = 0.5
    # Of the log-odds of a long answer, see `LocalGrader`.
    long_scale: float = 1.0
    long_bias: float = 0.0


@dataclass(frozen=True)
class Card:
    """The content of card.json."""

    version: str
    files: Mapping[str, tuple[int, str]]
    max_length: int
    second_limit: Mapping[str, int]
    templates: Mapping[str, tuple[str, str]]
    readings: Mapping[str, Reading]
    contradiction: float = 0.9
    unsure: tuple[float, float] = (0.35, 0.65)
    coverage_weight: float = 0.5
    unrelated: float = 0.02
    window: int = 200
    ladder: Mapping[str, list[tuple[float, float]]] = field(default_factory=dict)
    figures: tuple[Mapping[str, Any], ...] = ()
    what: str = ""
    limits: tuple[str, ...] = ()
    languages: tuple[str, ...] = ("en",)
    error: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def error_of(self, metric: str) -> JudgeError | None:
        """The measured error of this metric's means; None if it was not measured."""
        part = next((part for part in self.error.values() if metric in part["metrics"]), None)
        evidence = str(part["metrics"][metric]) if part and isinstance(part["metrics"], Mapping) else ""
        return replace(JudgeError.from_json(part), weight=self.coverage_weight, evidence=evidence) if part else None

    def check_language(self, *texts: str) -> None:
        """Skip if one of the texts is surely in a language that the judge was not measured on."""
        if not self.reads(*texts):
            english = "the text is not English (the local judge's only language)"
            raise Skip(
                english if self.languages == ("en",) else f"the local judge reads only {', '.join(self.languages)}"
            )

    def reads(self, *texts: str) -> bool:
        """Whether no text is surely in another language."""
        return not any(foreign_language(text, self.languages) for text in texts)

    def known(self, references: Sequence[str]) -> list[str]:
        """The references that the judge reads: an alias in another language is dropped. Skip if it reads none."""
        found = [reference for reference in references if self.reads(reference)]
        if not found:
            self.check_language(*references)
        return found

    def confidence_for(self, task: str, agreement: float) -> float:
        """Return the confidence from which on local decisions reach this agreement with people.

        Agreement was measured on domains left out of the fit and rises with confidence.
        """
        steps = self.ladder.get(task, [(1.0, agreement)])
        return min((confidence for reached, confidence in steps if reached >= agreement), default=1.0)


def read_card(folder: Path) -> Card:
    """Read the card in a folder; errors name its path."""
    path = folder / CARD
    try:
        return _parse(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise StorageError(f"the local judge has no {CARD} in {folder}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StorageError(f"the local judge's card cannot be read: {path}: {type(error).__name__} {error}") from error


def _parse(data: Mapping[str, Any]) -> Card:
    return Card(
        version=str(data["version"]),
        files={name: (int(facts["bytes"]), str(facts["sha256"])) for name, facts in data["files"].items()},
        max_length=int(data["max_length"]),
        second_limit={task: int(limit) for task, limit in data["second_limit"].items()},
        templates={task: (str(first), str(second)) for task, (first, second) in data["templates"].items()},
        readings={
            task: Reading(
                **{one.name: float(data[task][one.name]) for one in fields(Reading) if one.name in data.get(task, ())}
            )
            for task in ("match", "support", "fraction", "contradicted")
        },
        contradiction=float(data["support"].get("contradiction", 0.9)),
        unsure=_band(data["support"].get("unsure", Card.unsure)),
        coverage_weight=float(data["support"].get("coverage_weight", Card.coverage_weight)),
        unrelated=float(data["support"].get("unrelated", Card.unrelated)),
        window=int(data["support"].get("window", Card.window)),
        ladder={
            task: [(float(step["agreement"]), float(step["confidence"])) for step in steps]
            for task, steps in data.get("ladder", {}).items()
        },
        figures=tuple(data.get("figures", ())),
        what=str(data.get("what", "")),
        limits=tuple(map(str, data.get("limits", ()))),
        languages=tuple(map(str, data.get("languages", Card.languages))),
        error={kind: _error(part) for kind, part in data.get("error", {}).items()},
    )


def _error(part: Mapping[str, Any]) -> Mapping[str, Any]:
    JudgeError.from_json(part)
    metrics = part["metrics"]
    return {**part, "metrics": metrics if isinstance(metrics, Mapping) else tuple(map(str, metrics))}


def _band(ends: Sequence[Any]) -> tuple[float, float]:
    low, high = map(float, ends)
    if not 0.0 <= low <= high <= 1.0:
        raise ValueError(f"unsure must be [low, high] within 0 and 1, got {ends}")
    return low, high


NAME = "local-judge"
# Folder of another judge with the same files; `off` disables the default judge.
VARIABLE = "RAGSTONE_LOCAL_JUDGE"
_MEND = f"Reinstall ragstone, or set {VARIABLE} to a folder with another judge"
_MODEL, _TOKENIZER = "model.onnx", "tokenizer.json"
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_OUTPUTS = ("match", "support", "fraction")
# Texts are cut before tokenizing; much longer than the window.
_MAX_CHARACTERS = 8_000


class Pair(NamedTuple):
    """Two texts that are read together, and the head."""

    task: str
    first: str
    second: str


class Support(NamedTuple):
    """The probabilities of support and contradiction; the rest is that of silence."""

    supported: float
    contradicted: float


class LocalJudge:
    """The model and its card. Loaded at first use; thread-safe."""

    def __init__(self, model: Installed, card: Card) -> None:
        self._model = model
        self.card = card
        self.name = f"{NAME}/{card.version}"
        self.signature = f"{self.name}#{card.files[_MODEL][1][:8]}"
        self._lock = threading.Lock()

    def run(self, pairs: Sequence[Pair]) -> list[np.ndarray]:
        """Return the outputs of all heads per pair: match, supported, not in evidence, contradicted, fraction."""
        with self._lock:
            session, tokenizer, pool = self._loaded
        tokens = self._tokenise(tokenizer, pairs)
        # Longest first, so that no thread is left with a long pair at the end.
        order = sorted(range(len(pairs)), key=lambda index: -len(tokens[index][0]))
        outputs = dict(zip(order, pool.map(lambda index: _compute(session, *tokens[index]), order), strict=True))
        return [outputs[index] for index in range(len(pairs))]

    def _tokenise(self, tokenizer: WordPieces, pairs: Sequence[Pair]) -> list[tuple[list[int], int]]:
        """Return [CLS] first [SEP] second [SEP] and the start of the second text; long texts are truncated."""
        ids = {text: tokenizer.encode(text) for text in {text[:_MAX_CHARACTERS] for pair in pairs for text in pair[1:]}}
        begin, end = (tokenizer.ids[mark] for mark in ("[CLS]", "[SEP]"))
        made = []
        for task, first_text, second_text in pairs:
            second = ids[second_text[:_MAX_CHARACTERS]][: self.card.second_limit[task]]
            first = ids[first_text[:_MAX_CHARACTERS]][: self.card.max_length - 3 - len(second)]
            made.append(([begin, *first, end, *second, end], len(first) + 2))
        return made

    @cached_property
    def _loaded(self) -> tuple[Any, WordPieces, ThreadPoolExecutor]:
        try:
            self._model.check(thoroughly=True)
        except StorageError as error:
            raise StorageError(f"{error}{_MEND}") from error
        tokenizer = WordPieces.open(self._model)
        session = open_session(self._model, _MODEL, threads=1)
        inputs, outputs = ({item.name for item in items} for items in (session.get_inputs(), session.get_outputs()))
        if not inputs >= set(_INPUTS) or not outputs >= set(_OUTPUTS):
            raise StorageError(
                f"{self._model.folder / _MODEL} is not a judge: it must have the inputs {_INPUTS} and outputs {_OUTPUTS}"
            )
        return session, tokenizer, ThreadPoolExecutor(cores(), thread_name_prefix="local-judge")

    def read_match(self, outputs: np.ndarray, reference: str, answer: str) -> float:
        """Return the probability that the answer matches the reference."""
        return self._probability("match", float(outputs[0]), covered(reference, answer))

    def read_support(self, outputs: np.ndarray, evidence: str, claim: str) -> Support:
        """Return the probabilities of support and contradiction."""
        yes, absent, no = (float(value) for value in outputs[1:4])
        shared = covered(claim, evidence)
        supported = self._probability("support", yes - float(np.logaddexp(absent, no)), shared)
        # Not clipped: the share of what is not supported.
        return Support(supported, (1.0 - supported) * self._probability("contradicted", no - absent, shared))

    def read_fraction(self, outputs: np.ndarray, evidence: str, text: str) -> float:
        """Return the supported share of a text: the weighted mean of the model's estimate and the covered words."""
        reading = self.card.readings["fraction"]
        share = _sigmoid(reading.scale * float(outputs[4]) + reading.bias)
        return (1.0 - reading.overlap) * share + reading.overlap * covered(text, evidence)

    def _probability(self, task: str, odds: float, shared: float) -> float:
        reading = self.card.readings[task]
        return _sigmoid(reading.scale * odds + reading.overlap * shared + reading.bias)


class Judgements:
    """Runs the judge in micro-batches; no pair is computed twice. `run` may remember pairs of earlier runs."""

    def __init__(self, judge: LocalJudge, run: Callable[[Sequence[Pair]], list[np.ndarray]] | None = None) -> None:
        self.judge = judge
        self._gatherer: Gatherer[Pair, np.ndarray] = Gatherer(lambda pairs: or_stop(run or judge.run, pairs), most=64)

    async def match(self, question: str, references: Sequence[str], answer: str) -> list[float]:
        """Return the probability of a match per reference."""
        answers = [with_times_of(answer, text) for text in references]
        texts = list(zip(references, answers, strict=True))
        pairs = [self._pair("match", question=question, reference=text, answer=said) for text, said in texts]
        outputs = await self._gatherer.submit(pairs)
        return [self.judge.read_match(out, *pair) for out, pair in zip(outputs, texts, strict=True)]

    async def support(self, evidence_and_claims: Sequence[tuple[str, str]]) -> list[Support]:
        """Return the probabilities of support and contradiction per pair (evidence, claim)."""
        texts = [(evidence, with_times_of(claim, evidence)) for evidence, claim in evidence_and_claims]
        outputs = await self._gatherer.submit([self._pair("support", evidence=one, claim=two) for one, two in texts])
        return [self.judge.read_support(out, *pair) for out, pair in zip(outputs, texts, strict=True)]

    async def fraction(self, evidence_and_texts: Sequence[tuple[str, str]]) -> list[float]:
        """Return the supported share of the text per pair (evidence, text)."""
        texts = [(evidence, with_times_of(text, evidence)) for evidence, text in evidence_and_texts]
        outputs = await self._gatherer.submit([self._pair("fraction", evidence=one, text=two) for one, two in texts])
        return [self.judge.read_fraction(out, *pair) for out, pair in zip(outputs, texts, strict=True)]

    def _pair(self, task: str, **texts: str) -> Pair:
        first, second = self.judge.card.templates[task]
        plain = {name: text.strip() for name, text in texts.items()}
        return Pair(task, first.format(**plain), second.format(**plain))


def open_local_judge() -> LocalJudge:
    """Open the shipped judge, or the one in the folder RAGSTONE_LOCAL_JUDGE. Loaded at first use."""
    if find_spec("onnxruntime") is None:
        raise MissingExtraError("the local judge (onnxruntime is not installed)", "local")
    chosen = os.environ.get(VARIABLE, "")
    shipped = Store().find(NAME) if chosen in ("", "off") else None
    folder = shipped.folder if shipped else Path(chosen).expanduser()
    if shipped is None and (not chosen or chosen == "off"):
        raise UsageError(
            f"this installation has no weights of the local judge. Set {VARIABLE} to a folder with {_MODEL}, "
            f"{_TOKENIZER} and {CARD}, or choose a language model with --judge"
        )
    card = read_card(folder)
    model = Installed(NAME, folder, str(folder), dict(card.files))
    try:
        model.check()
    except StorageError as error:
        raise StorageError(f"{error}{_MEND}") from error
    return LocalJudge(model, card)


def find_local_judge() -> LocalJudge | None:
    """Return the default judge, or None if it or its runtime is missing."""
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
