"""What people said: labels from a CSV, JSONL or Parquet file, each for one sample of one system by one annotator."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragstone.errors import InputError, Problem, UnknownNameError, UsageError
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source

# Words that mean the same everywhere; others are given by the user.
WORDS: Mapping[str, float] = {
    word: value
    for value, words in (
        (1.0, ("yes", "y", "good", "true", "right", "correct", "pass", "passed")),
        (0.0, ("no", "n", "bad", "false", "wrong", "incorrect", "fail", "failed")),
    )
    for word in words
}


@dataclass(frozen=True)
class Label:
    """One judgement. Where rows were picked by `--label-next`: in which round, and how likely this one was to be picked."""

    sample_id: str
    value: float
    system: str | None = None
    annotator: str | None = None
    chance: float | None = None
    round: int = 0


@dataclass(frozen=True)
class Labels:
    """All labels of a file, and how many rows of it have none yet, in all and of each round that was picked."""

    source: str
    labels: tuple[Label, ...]
    empty: int
    pending: Mapping[int, int] = field(default_factory=dict)


def read_human(
    source: str | os.PathLike[str] | Any,
    words: Mapping[str, float] | None = None,
    renames: Mapping[str, str] | None = None,
) -> Labels:
    """The labels of a file or table; `words` say what labels such as 'ok' are worth, `renames` map columns to ours."""
    opened = Source(source, {theirs: ours for ours, theirs in (renames or {}).items()})
    _check_columns(opened, renames or {})
    worth = {word.casefold(): value for word, value in {**WORDS, **(words or {})}.items()}
    report, found, empty = Report(), [], []
    for row in opened.rows(report):
        label = _read_row(row.values, row.where, worth, report)
        if label is None:
            empty.append(_round(row.values))
        else:
            found.append(label)
    report.raise_problems(opened.name)
    _check_twice(opened.name, found)
    return Labels(opened.name, tuple(found), len(empty), {number: empty.count(number) for number in set(empty) - {0}})


def merge_labels(parts: Sequence[Labels]) -> Labels:
    """Several files as one."""
    labels = [label for part in parts for label in part.labels]
    source = ", ".join(part.source for part in parts)
    _check_twice(source, labels)
    pending: Counter[int] = Counter()
    for part in parts:
        pending.update(part.pending)
    return Labels(source, tuple(labels), sum(part.empty for part in parts), pending)


def _check_columns(source: Source, renames: Mapping[str, str]) -> None:
    for name in ("sample_id", "label"):
        if renames.get(name, name) not in source.columns:
            raise UnknownNameError(
                "column",
                renames.get(name, name),
                source.columns,
                f"{source.name} has {', '.join(sorted(source.columns))}; it needs sample_id and label, for several runs "
                f"also system. Map other names: --map {name}=THEIRS.",
            )


def _read_row(row: Mapping[str, Any], where: str, worth: Mapping[str, float], report: Report) -> Label | None:
    sample, cell = _text(row.get("sample_id")), row.get("label")
    if _text(cell) is None:
        return None
    if sample is None:
        report.problem(where, "is empty", "sample_id", "name the sample that the label is for")
        return None
    value, chance = _number(cell, worth), _number(row.get("chance"), {})
    if value is None:
        hint = f"a number, or one of {', '.join(worth)}; for another word say what it is worth: --value {cell}=0.5"
        report.problem(where, f"cannot be read: {cell!r}", "label", hint)
        return None
    if chance is not None and not 0 < chance <= 1:
        report.problem(where, f"must be above 0 and at most 1, got {chance}", "chance", "leave it as it was written")
        return None
    return Label(sample, value, _text(row.get("system")), _text(row.get("annotator")), chance, _round(row))


def _round(row: Mapping[str, Any]) -> int:
    """The round in which a row was picked; 0 where nobody says how likely it was."""
    number = _number(row.get("round"), {})
    return 0 if _text(row.get("chance")) is None else int(number) if number is not None and number >= 1 else 1


def _text(cell: Any) -> str | None:
    text = "" if cell is None else str(cell).strip()
    return None if not text or text == "nan" else text


def _number(cell: Any, worth: Mapping[str, float]) -> float | None:
    text = _text(cell)
    if text is None:
        return None
    if text.casefold() in worth:
        return worth[text.casefold()]
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def _check_twice(source: str, labels: list[Label]) -> None:
    """The same annotator cannot mean two things by one row."""
    seen: set[tuple[str | None, str, str]] = set()
    problems = []
    for label in labels:
        key = (label.system, label.sample_id, label.annotator or "")
        if label.annotator is not None and key in seen:
            of = f" of {label.system}" if label.system else ""
            problems.append(Problem(f"{label.annotator} has labelled sample {label.sample_id}{of} twice"))
        seen.add(key)
    if problems:
        raise InputError(source, problems)


def parse_words(pairs: list[str]) -> dict[str, float]:
    """`ok=0.5` pairs as a mapping."""
    return dict(_parse_word(pair) for pair in pairs)


def _parse_word(pair: str) -> tuple[str, float]:
    word, equals, text = pair.rpartition("=")
    value = _number(text, {})
    if not equals or not word.strip() or value is None:
        raise UsageError(f"--value {pair}: write it as WORD=NUMBER, for instance --value ok=0.5")
    return word.strip(), value
