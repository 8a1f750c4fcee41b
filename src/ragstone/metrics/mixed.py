"""Mixtures: weighted means of the scores of other metrics, as metrics `mixed.NAME`.

A mixture is a metric, not a judge: it reads the evidence that its parts need and makes no call of its own. `--judge` still
names the model behind its parts. `ragstone agree --mix` fits the weights; its file is plain TOML.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.columns import OK, SKIPPED, Cells
from ragstone.data.dataset import view_column
from ragstone.errors import Skip, UsageError
from ragstone.metrics import answer_match, ragchecker  # noqa: F401  (registers the parts of the packaged mixture)
from ragstone.registry import Metric, metric, parse_metric

FAMILY = "mixed"
_LAYOUT = 1
_MISLEADS = "Fitted weights reflect their labels. A part that can be gamed makes the mixture easier to game."


@dataclass(frozen=True)
class Mixture:
    """The name of a mixture and the weights of its parts, which are at least 0 and sum to 1."""

    name: str
    weights: Mapping[str, float]

    def combine(self, scores: Mapping[str, np.ndarray]) -> np.ndarray:
        """The weighted mean of scores as shares of their range, with 1 as the best; nan if one is missing."""
        total = sum(weight * goodness(part, scores[part]) for part, weight in self.weights.items())
        return np.asarray(total, dtype=np.float64)


def equal_mixture(name: str, parts: Sequence[str]) -> Mixture:
    """The plain mean of the parts."""
    return Mixture(name, {part: 1 / len(parts) for part in parts})


def goodness(part: str, scores: np.ndarray) -> np.ndarray:
    """Scores as shares of the range of their metric; reversed if lower is better."""
    spec = _find_part(part).spec
    low, high = spec.bounds
    shares = (np.asarray(scores, dtype=np.float64) - (low or 0.0)) / ((high or 0.0) - (low or 0.0))
    return 1 - shares if spec.better == "lower" else shares


def check_parts(parts: Sequence[str]) -> None:
    """Raise an error if a part cannot be mixed."""
    for part in parts:
        _find_part(part)


def _find_part(part: str) -> Metric:
    chosen = parse_metric(part)
    if None in chosen.spec.bounds or chosen.spec.better == "none":
        raise UsageError(f"{part} cannot be part of a mixture: it needs a lowest and a highest value and a direction")
    if chosen.is_of_all_rows or chosen.spec.family == FAMILY:
        kind = "a mixture" if chosen.spec.family == FAMILY else "a score of all rows together"
        raise UsageError(f"{part} cannot be part of a mixture: it is {kind}")
    return chosen


def write_mixture(mixture: Mixture, path: str | Path, remarks: Sequence[str] = ()) -> None:
    """Write a mixture as TOML with remarks as comments."""
    lines = [f"# {remark}" for remark in remarks]
    lines += [f"layout = {_LAYOUT}", f'name = "{mixture.name}"', "", "[weights]"]
    lines += [f"{json.dumps(part)} = {weight:.4f}" for part, weight in mixture.weights.items()]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_mixture(path: str | Path) -> Mixture:
    """Read the mixture of a TOML file; its weights are scaled to a sum of 1."""
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"the mixture {path} cannot be read: {error}") from error
    name, weights = data.get("name"), data.get("weights")
    if data.get("layout", _LAYOUT) != _LAYOUT:
        raise UsageError(f"the mixture {path} was written by another version of Ragstone. Fit it again.")
    if not isinstance(name, str) or not name.isidentifier() or name != name.lower():
        raise UsageError(f"{path}: `name` must be lower-case letters, digits and _, got {name!r}")
    if not isinstance(weights, dict) or not all(map(_is_weight, weights.values())) or not sum(weights.values()):
        raise UsageError(f'{path}: [weights] must give metrics numbers of 0 or more, for example "token_f1" = 0.5')
    total = math.fsum(weights.values())
    return Mixture(name, {str(_find_part(part)): weight / total for part, weight in weights.items()})


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def register_mixture(mixture: Mixture) -> str:
    """Register a mixture as a metric and return the name of the metric."""
    parts = [(_find_part(part), weight) for part, weight in mixture.weights.items() if weight]
    name = f"{FAMILY}.{mixture.name}"
    metric(
        name,
        family=FAMILY,
        judges=parts[0][0].spec.judges,
        against=parts[0][0].spec.against,
        source="weighted mean; weights equal or fitted (ragstone agree --mix)",
        misleads=_MISLEADS,
        columnar=True,
        slow=True,
        # Other weights or versions of parts give another signature.
        version=_stamp(parts),
    )(_make_function(mixture.name, parts))
    return name


def _stamp(parts: Sequence[tuple[Metric, float]]) -> int:
    text = ";".join(f"{part.signature}={weight:.6f}" for part, weight in parts)
    return int(hashlib.sha256(text.encode()).hexdigest()[:7], 16)


def _make_function(name: str, parts: Sequence[tuple[Metric, float]]) -> Callable[..., Cells]:
    needs = list(dict.fromkeys(need for part, _ in parts for need in part.spec.needs))

    def mix(**columns: Any) -> Cells:
        size = len(columns[needs[0]])
        mixed = Cells.all_ok(np.zeros(size))
        for part, weight in parts:
            cells = _score_part(part, columns, size)
            mixed.values += weight * goodness(str(part), cells.values)
            for row in np.flatnonzero((cells.status != OK) & (mixed.status == OK)).tolist():
                mixed.fail(row, f"{part}: {cells.reasons[row]}", int(cells.status[row]))
        mixed.values[mixed.status != OK] = 0.0
        return mixed

    formula = " + ".join(f"{weight:.3g} {part}" for part, weight in parts)
    mix.__name__ = mix.__qualname__ = f"mixed_{name}"
    mix.__doc__ = f"""A mixture of scores: {formula}.

    Parts count as shares of their range, reversed if lower is better. No call of its own; skipped if a part is.
    """
    mix.__annotations__ = {"return": Cells}
    parameters = [inspect.Parameter(need, inspect.Parameter.KEYWORD_ONLY) for need in needs]
    mix.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return mix


def _score_part(part: Metric, columns: Mapping[str, Any], size: int) -> Cells:
    settings, function = dict(part.settings), part.spec.function
    used = {need: columns[need] for need in part.spec.needs}
    if part.spec.columnar:
        scores = function(**used, **settings)
        return scores if isinstance(scores, Cells) else Cells.all_ok(scores)
    rows = {need: _row_values(need, column) for need, column in used.items()}
    cells = Cells.all_ok(np.zeros(size))
    for row in range(size):
        try:
            cells.values[row] = function(**{need: values[row] for need, values in rows.items()}, **settings)
        except Skip as reason:
            cells.fail(row, str(reason), SKIPPED)
    return cells


def _row_values(need: str, column: Any) -> Sequence[Any]:
    return view_column(need, column) if isinstance(column, pa.Array) else list(column)


# Needs no labels: a judge's claim F1 and the local estimate of it, with equal weights.
register_mixture(equal_mixture("equal", ("ragchecker.f1", "support_f1")))
