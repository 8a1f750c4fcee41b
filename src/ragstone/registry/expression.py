"""Metrics as values: `parse_metric(str(m)) == m` for every metric and every parameter."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ragstone.errors import UnknownNameError, UsageError
from ragstone.registry.catalogue import CATALOGUE, Catalogue, Preset
from ragstone.registry.foreign_names import Meaning, look_up
from ragstone.registry.specs import MetricSpec

_NAME = re.compile(r"\s*(\w[^(@]*)")
_WORD = re.compile(r"[A-Za-z_][\w.\-]*")
_WORDS = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Metric:
    """A metric with its parameters set; only those that differ from their defaults are kept."""

    spec: MetricSpec
    settings: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        settings = dict(self.settings)
        k = settings.pop("k", None)
        text = self.spec.name
        if settings:
            text += "(" + ", ".join(f"{name}={_print_value(value)}" for name, value in settings.items()) + ")"
        return f"{text}@{k}" if k is not None else text

    @property
    def quantile(self) -> float | None:
        """The quantile of the rows that is the score of a run; None if it is their mean or a corpus-level score."""
        value = dict(self.settings).get("q")
        return value if isinstance(value, float) else None

    @property
    def is_of_all_rows(self) -> bool:
        """Whether the score of a run is not the mean of its rows."""
        return self.spec.corpus is not None or self.quantile is not None

    @property
    def signature(self) -> str:
        """The metric's own part of a score's signature."""
        return f"{self}|v{self.spec.version}"


def make_metric(spec: MetricSpec, **settings: Any) -> Metric:
    """A metric with checked parameters, in the order of declaration."""
    known = [parameter.name for parameter in spec.parameters]
    for name in settings:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise UnknownNameError(f"parameter of {spec.name}", name, known, f"It takes: {listed}.")
    kept = []
    for parameter in spec.parameters:
        if parameter.name in settings:
            value = parameter.accept(settings[parameter.name], spec.name)
            if value != parameter.default:
                kept.append((parameter.name, value))
    return Metric(spec, tuple(kept))


def parse_metric(text: str, catalogue: Catalogue = CATALOGUE, *, stored: bool = False) -> Metric:
    """`recall@5`, `retrieval.recall@5`, `k_precision(aggregate=max)`, `ndcg(gain=exponential)@10`, and names of other systems.

    A `stored` name is one that a run has: it may be a user's metric that is not loaded, so it means only what is written.
    """
    match = _NAME.match(text)
    if not match:
        raise UsageError(f"'{text}' is not a metric: it must start with a name, as in recall@5")
    name = match[1].strip()
    spec, preset = catalogue.metric(name) if stored else catalogue.find(name) or _understand(name, catalogue)
    return make_metric(spec, **{**preset, **_parse_settings(text, match.end())})


def _understand(name: str, catalogue: Catalogue) -> Preset:
    """The metric that a name of another spelling or system means; raises unless it is the same number."""
    meaning = look_up(name, catalogue)
    if meaning.kind == "same" and (members := catalogue.sets().get(meaning.metrics[0])):
        meaning = Meaning(name, "choice", tuple(sorted(preset.spec.name for preset in members)))
    if meaning.kind != "same":
        ask = f" `ragstone metrics {shlex.quote(name)}` shows them." if meaning.kind == "choice" else ""
        raise UsageError(meaning.sentence + ask)
    metric = parse_metric(meaning.metrics[0], catalogue)
    return Preset(metric.spec, dict(metric.settings))


def resolve_metrics(
    texts: Iterable[str],
    catalogue: Catalogue = CATALOGUE,
    out_of_reach: Callable[[MetricSpec], bool] = lambda _: False,
    pointless: Callable[[MetricSpec], bool] = lambda _: False,
) -> list[Metric]:
    """Metric strings, names of sets, `all` and `quick` as metrics, each once.

    `quick` leaves out slow metrics and those that are out of reach, for example because no judge is named. `quick` and `all`
    leave out metrics that are pointless for the data.
    """
    chosen_metrics: dict[str, Metric] = {}
    sets = catalogue.sets()
    texts = list(texts)
    names = split_metrics(texts)
    if texts and not names:
        raise UsageError("no metric is named; `ragstone metrics` lists them")
    for text in names:
        if text == "all":
            chosen = [metric for spec in catalogue.metrics() if not pointless(spec) for metric in _with_variants(spec)]
        elif text == "quick":
            quick = (spec for spec in catalogue.metrics() if not (spec.slow or out_of_reach(spec)))
            chosen = [metric for spec in quick if not pointless(spec) for metric in _with_variants(spec)]
        else:
            named = look_up(text, catalogue) if text not in sets and _NAME.fullmatch(text) else None
            members = sets.get(named.metrics[0] if named and named.kind == "same" else text, ())
            chosen = [metric for spec, settings in members for metric in _with_variants(spec, **settings)]
            chosen = chosen or [parse_metric(text, catalogue)]
        chosen_metrics.update({str(metric): metric for metric in chosen})
    return list(chosen_metrics.values())


def _with_variants(spec: MetricSpec, **settings: Any) -> list[Metric]:
    return [make_metric(spec, **{**settings, **variant}) for variant in ({}, *spec.variants)]


def split_metrics(texts: Iterable[str]) -> list[str]:
    """The parts of comma-separated lists; commas inside brackets do not separate."""
    return [part for text in texts for part in _split(text)]


def _parse_settings(text: str, start: int) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    rest = text[start:].strip()
    while rest:
        if cut := re.match(r"@\s*([^\s(@]+)\s*", rest):
            if not re.fullmatch(r"\d{1,4300}", cut[1]):
                raise UsageError(f"'{text}': the cut-off after @ must be a whole number, got '{cut[1]}'")
            pairs, end = [("k", int(cut[1]))], cut.end()
        elif rest[0] == "(" and (end := next((at + 1 for depth, at, _ in _walk(rest) if depth == 0), 0)):
            pairs = [_parse_pair(pair, text) for pair in _split(rest[1 : end - 1])]
        else:
            raise UsageError(f"'{text}': cannot read '{rest}'; write name@k or name(param=value)")
        for name, value in pairs:
            if name in settings:
                raise UsageError(f"'{text}': {name} is given twice")
            settings[name] = value
        rest = rest[end:].strip()
    return settings


def _parse_pair(pair: str, text: str) -> tuple[str, Any]:
    name, equals, value = pair.partition("=")
    if not equals or not _WORD.fullmatch(name.strip()):
        raise UsageError(f"'{text}': write parameters as name=value, not '{pair}'")
    return name.strip(), _parse_value(value.strip(), text)


def _parse_value(value: str, text: str) -> Any:
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    if _WORD.fullmatch(value):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise UsageError(f"'{text}': cannot read the value '{value}'; put text in quotes") from None


def _print_value(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, str) and _WORD.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return repr(value)


def _split(text: str) -> list[str]:
    parts, start = [], 0
    for depth, position, character in _walk(text):
        if depth == 0 and character == ",":
            parts.append(text[start:position])
            start = position + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def _walk(text: str) -> Iterator[tuple[int, int, str]]:
    """(depth after it, position, character) of each character outside quotes."""
    depth, quote, escaped = 0, "", False
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote and not escaped else quote
            escaped = character == "\\" and not escaped
            continue
        if character in "'\"":
            quote = character
        depth += (character in "([{") - (character in ")]}")
        yield depth, position, character
