"""Files with one row per passage: the rows of one question and answer become one sample.

Such exports repeat the question in every row and give the answer in the first row or in all. Answers to a question that was
asked repeatedly, or of several systems, look similar and stay apart. If the content does not decide, reading stops.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ragstone.data.usage import REPEAT_OF, number_of
from ragstone.errors import UsageError
from ragstone.formats.base import Draft
from ragstone.formats.column_names import read_name
from ragstone.formats.common_fields import ABSENT, unpack
from ragstone.formats.reports import Report

APART = "none"
_ROWS_LOOKED_AT = 200
_LEAST_SHARE = 0.5
# From this many empty answers on, rows with their own ids may be passages.
_MANY = 3
# Names of columns about the passage of a row. Those under "" are no part of a chunk.
_ABOUT = "passage|chunk|context|ctx|doc|document|segment|node|text"
_PARTS = {
    "rank": re.compile(r"(?:.*_)?(?:rank|position|pos|order)"),
    "score": re.compile(r"(?:.*_)?(?:score|similarity|distance)"),
    "id": re.compile(rf"(?:{_ABOUT}|p)_?(?:id|no|key|number)"),
    "source": re.compile(r"(?:.*_)?(?:source|url|uri|file|filename|title|doc|document)"),
    "": re.compile(rf"(?:{_ABOUT})s?_.*|id|row|index|row_id|row_number|line|page|column \d+"),
}
Rows = list[Draft]
# The rows of each sample, by the key and the answer that they share.
Groups = dict[str, dict[str, Rows]]


def group_passages(
    read: Callable[[Report], Iterator[Draft]], by: str | None, names: Mapping[str, str], report: Report
) -> Iterator[Draft]:
    """The drafts that `read` returns, with rows of one passage each put together.

    `by` are the columns that the user named, if any. `names` maps the columns of the file to our fields.
    """
    columns = [name.strip() for name in (by or "").split(",") if name.strip()]
    if by == APART or not (columns or _may_be_passages(read)):
        return read(report)
    rows = list(read(report))
    if unknown := next((name for name in columns if not any(_cell(row, name, names) for row in rows)), None):
        raise UsageError(f"no row has a value in the column '{unknown}' of --map group={by}")
    groups = _group(rows, columns, names)
    samples = [found for answers in groups.values() for found in answers.values()]
    if len(samples) == len(rows) or (not columns and not _are_passages(groups, samples, names, report)):
        return iter(rows)
    report.note(
        f"{len(rows):,} rows with one passage each are read as {len(samples):,} samples, one per question and answer. "
        f"--map group={APART} keeps the rows apart"
    )
    named = columns or _id_columns(samples)
    return (_merge(found, named, names) for found in samples)


def _may_be_passages(read: Callable[[Report], Iterator[Draft]]) -> bool:
    """Whether most rows have one chunk and none has several, and ids or questions repeat. Only hashes are kept."""
    first = list(itertools.islice(read(Report()), _ROWS_LOOKED_AT))
    counts = [len(_contexts(row)) for row in first]
    is_other = any({REPEAT_OF, "conversation"} & _about(row).keys() or row.values.get("history") for row in first)
    if is_other or max(counts, default=0) != 1 or sum(counts) <= _LEAST_SHARE * len(counts):
        return False
    # A list of one chunk is a sample, unless answers are missing or ids repeat.
    is_listed = any(isinstance(unpack(row.values.get("contexts")), list | tuple) for row in first)
    is_listed = is_listed and all(_text(row.values.get("answer")) for row in first)
    seen: set[int] = set()
    for row in read(Report()):
        names = ("id",) if is_listed else ("id", "question")
        keys = {hash((name, text)) for name in names if (text := _text(row.values.get(name)))}
        if is_listed and not keys:
            return False
        if not keys or not seen.isdisjoint(keys):
            return True
        seen |= keys
    return False


def _group(rows: Rows, columns: Sequence[str], names: Mapping[str, str]) -> Groups:
    """Rows with the same key and answer. The key is in the named columns, else the id if ids repeat, else the question.

    A row without a key belongs to the row above it, as in a spreadsheet. One without an answer belongs to the last answer.
    """
    ids = [text for row in rows if (text := _text(row.values.get("id")))]
    own = "id" if len(set(ids)) < len(ids) else "question"
    groups: Groups = {}
    key = ""
    for row in rows:
        cells = [_text(_cell(row, name, names)) for name in columns] or [_text(row.values.get(own))]
        key = "\0".join(cells) if any(cells) else key
        answers = groups.setdefault(key, {})
        answer = _text(row.values.get("answer"))
        if answer and "" in answers:
            answers[answer] = answers.pop("")  # the answer follows its first passages
        last = next(reversed(answers), "")
        answers.setdefault(answer or last, []).append(row)
    return groups


def _are_passages(groups: Groups, samples: Sequence[Rows], names: Mapping[str, str], report: Report) -> bool:
    """Whether the grouped rows are passages of one answer each; a UsageError if the content does not decide."""
    several = [found for found in samples if len(found) > 1]
    rows = [row for found in several for row in found]
    if len(rows) <= _LEAST_SHARE * sum(map(len, samples)) or any(map(_differ_otherwise, several)):
        return False
    blanks = sum(not _text(row.values.get("answer")) for row in rows)
    is_answered = blanks < len(rows)
    if not (blanks and is_answered) and any(len(answers) > 1 for answers in groups.values()):
        return False  # the question was answered repeatedly
    varying = sorted({name for found in several for name in _varying(found)})
    others = [name for name in varying if not _part_of(name)]
    ids = [row.values.get("id") for row in rows]
    if not others and (len(set(map(str, ids))) < len(ids) if None not in ids else blanks or varying):
        return True
    question = [theirs for theirs, ours in names.items() if ours == "question"][-1]
    text = f"{len(rows):,} rows repeat a question with the same answer or none and other contexts"
    if None not in ids and not (is_answered and blanks >= _MANY):
        report.note(f"{text}; they are separate samples. If each row is one passage, add --map group={question}")
        return False
    finer = f" (or --map group={question},{others[0]})" if others else ""
    raise UsageError(
        f"{text}{f', and differ in {others[0]}' if others else ''}. If each row is one passage of a sample, add "
        f"--map group={question}{finer}; if each row is a sample, add --map group={APART}"
    )


def _differ_otherwise(rows: Rows) -> bool:
    """Whether the rows have equal chunks, or more than one reference: then they are not passages of one sample."""
    chunks = [str(unpack(row.values.get("contexts"))) for row in rows]
    truths = {str(truth) for row in rows if (truth := row.values.get("references"))}
    return len(set(chunks)) == 1 or len(truths) > 1


def _varying(rows: Rows) -> set[str]:
    """The columns that are not fields and differ in these rows."""
    every = {name for row in rows for name in _about(row)}
    values = {name: {text for row in rows if (text := _text(_about(row).get(name)))} for name in every}
    return {name for name, found in values.items() if len(found) > 1}


def _id_columns(samples: Sequence[Rows]) -> list[str]:
    """The column that names the samples: its name means an id, and every sample has its own value."""
    for name in _about(samples[0][0]):
        found = {frozenset(_text(_about(row).get(name)) for row in rows) - {""} for rows in samples}
        named = read_name(name)
        if named and named.field == "id" and len(found) == len(samples) and all(len(one) == 1 for one in found):
            return [name]
    return []


def _merge(rows: Rows, columns: Sequence[str], names: Mapping[str, str]) -> Draft:
    """One draft of several rows: all their chunks by rank, and the first value of everything else."""
    varying = _varying(rows)
    parts = {part: name for name in sorted(varying) if (part := _part_of(name))}
    rank = parts.pop("rank", None)
    if rank and all(number_of(_about(row).get(rank)) is not None for row in rows):
        rows = sorted(rows, key=lambda row: number_of(_about(row)[rank]) or 0.0)
    values: dict[str, Any] = {}
    for row in rows:
        values |= {name: value for name, value in row.values.items() if not _text(values.get(name))}
    values["contexts"] = [chunk for row in rows for chunk in _chunks(row, parts)]
    dropped = {*parts.values(), *([rank] if rank else [])}
    about = {name: value for row in reversed(rows) for name, value in _about(row).items() if _text(value)}
    values["metadata"] = {name: value for name, value in about.items() if name not in dropped} or None
    ids = {_text(row.values.get("id")) for row in rows} - {""}
    named = "-".join(_text(_cell(rows[0], name, names)) for name in columns)
    values["id"] = named or (next(iter(ids)) if len(ids) == 1 else None)
    return Draft(rows[0].where, values, rows[0].names)


def _chunks(row: Draft, parts: Mapping[str, str]) -> Iterator[Any]:
    """The chunks of a row with the parts that other columns give."""
    given = {part: _about(row)[name] for part, name in parts.items() if _text(_about(row).get(name))}
    for chunk in _contexts(row):
        yield {**given, **chunk} if isinstance(chunk, Mapping) else {"text": chunk, **given}


def _contexts(row: Draft) -> Sequence[Any]:
    contexts = unpack(row.values.get("contexts"))
    return contexts if isinstance(contexts, list | tuple) else [contexts] if _text(contexts) else ()


def _part_of(name: str) -> str | None:
    """The part of a chunk that a column names: rank, score, id, source, or another one (empty); None if it names none."""
    folded = re.sub(r"\W+", "_", name.lower())
    part = next((part for part, pattern in _PARTS.items() if pattern.fullmatch(folded)), None)
    return "other" if part == "" else part


def _cell(row: Draft, name: str, names: Mapping[str, str]) -> Any:
    found = row.values.get(names.get(name, name))
    return _about(row).get(name) if found is None else found


def _about(row: Draft) -> Mapping[str, Any]:
    metadata = row.values.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def _text(value: Any) -> str:
    return "" if value is None or value == ABSENT else str(value).strip()
