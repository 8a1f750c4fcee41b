"""Rows about pairs of answers: which of two systems people prefer, and the scores of both.

Reads own columns, and those of MT-bench (`model_a`, `winner`, `judge`, `turn`) and RAGChecker's meta-evaluation (`model1`, `model2`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ragstone.formats.reports import Report
from ragstone.formats.sources import Source

_NAMES = {
    "sample_id": ("sample_id", "question_id", "instance_id"),
    "system_a": ("system_a", "model_a", "model1.model_name"),
    "system_b": ("system_b", "model_b", "model2.model_name"),
    "label": ("label", "preference", "winner"),
    "annotator": ("annotator", "judge"),
}
# A file with one of these columns is about pairs.
_PAIRED = {"system_a", "model_a", "model1", "preference", "winner"}
_MOST = 2.0
_TIES = ("tie", "tie (inconsistent)", "tie (bothbad)", "both", "both bad", "neither", "draw", "equal", "same", "[[c]]")
_BETTER = ("{}", "{} better", "{} is better", "{} slightly better", "model_{}", "system_{}", "[[{}]]")
_SIDES = (("a", -1.0), ("b", 1.0))
# Negative if A is better.
_WORDS = {form.format(side): value for side, value in _SIDES for form in _BETTER} | dict.fromkeys(_TIES, 0.0)
_WORDS |= {f"{side} {verb}much better": _MOST * value for side, value in _SIDES for verb in ("", "is ")}
_HINT = "A better, tie, B better, the better system, or a number from -2 (A) to 2 (B); define other words with --value"


class PairRow(NamedTuple):
    """One row; the systems are None if the file does not name them, the label if it is not given."""

    # The question, and the question with its turn.
    input: str
    sample_id: str
    system_a: str | None
    system_b: str | None
    label: float | None
    annotator: str | None
    # The scores of B minus those of A.
    scores: Mapping[str, float]


def is_paired(source: Source) -> bool:
    """Whether the rows are about pairs of answers."""
    return bool(source.keys() & _PAIRED)


def read_pair_rows(source: Source, words: Mapping[str, float], report: Report) -> Iterator[PairRow]:
    """The rows that can be read; problems are reported."""
    known = _WORDS | {word.casefold(): value for word, value in words.items()}
    for row in source.rows(report):
        flat = dict(_flatten(row.values))
        cells = (next((flat[name] for name in names if name in flat), None) for names in _NAMES.values())
        sample, one, other, label, annotator = map(_text, cells)
        if sample is None or (one is None) != (other is None) or (one is not None and one == other):
            what = f"must name a sample and two systems, got {sample}, {one} and {other}"
            report.problem(row.where, what, "sample_id, system_a, system_b", "fill in all three")
            continue
        sides = {one.casefold(): -1.0, other.casefold(): 1.0} if one and other else {}
        value = None if label is None else _number(label.casefold(), {**sides, **known}, _MOST)
        if label is not None and value is None:
            report.problem(row.where, f"cannot be read: {label!r}", "label", f"{_HINT} '{label}=1'")
        turn = _text(flat.get("turn"))
        turned = sample if turn in (None, "1") else f"{sample}/{turn}"
        yield PairRow(sample, turned, one, other, value, annotator, dict(_differences(flat)))


def _flatten(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        nested = isinstance(value, Mapping)
        yield from _flatten(value, f"{prefix}{name}.") if nested else ((f"{prefix}{name}", value),)


def _differences(flat: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The scores that both sides have: `f1_a` and `f1_b`, or `model1.f1` and `model2.f1`."""
    for name in flat:
        plain = name.removesuffix("_a").removeprefix("model1.")
        other = name[:-1] + "b" if name.endswith("_a") else f"model2.{plain}"
        ours, theirs = (_number(_text(flat.get(side)) or "") for side in (name, other))
        if plain != name and ours is not None and theirs is not None:
            yield plain, theirs - ours


def _text(cell: Any) -> str | None:
    """The cell as text; a judge of MT-bench is a list of its model and its prompt."""
    text = " ".join(map(str, cell)) if isinstance(cell, list) else "" if cell is None else str(cell).strip()
    return None if text in ("", "nan") else text


def _number(text: str, words: Mapping[str, float] | None = None, most: float = 1e300) -> float | None:
    try:
        value = float((words or {}).get(text, text))
    except ValueError:
        return None
    return value if abs(value) <= most else None
