"""Files with other column names: columns with well-known names are read, for others the fitting `--map` is named."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from ragstone.data.schema import FIELDS
from ragstone.data.types import Chunk
from ragstone.data.usage import USAGE
from ragstone.errors import UnknownColumnsError, UnknownNameError, UsageError
from ragstone.formats.base import Format, RowFormat
from ragstone.formats.column_guess import (
    CORE,
    GUESSED,
    ROWS_PROFILED,
    Guess,
    guess_columns,
    map_options,
    numbered_columns,
)
from ragstone.formats.column_names import SURE, read_name
from ragstone.formats.column_profile import ColumnProfile
from ragstone.formats.loose_contexts import OneTexts, parse_list
from ragstone.formats.reports import Report
from ragstone.formats.sources import GROUP, Source

# Formats whose rows are the samples; the others find their fields themselves.
COMPLETED = ("ragstone", "ragas", "ragas_legacy")
_LEAST_SURE = 2
_IN_MS = re.compile(r"(?:_|\b)(?:ms|msec|millis|milliseconds)$|[a-z0-9](?:Ms|MS|Millis|Milliseconds)$")
_NEEDED = ("question", "answer", "contexts")
_LONG_DOCUMENT = 20
_MOST_SHOWN = 12
# Columns with fewer words per cell are labels, ids and the like.
_LEAST_WORDS = 1.5


def check_map(renames: Mapping[str, str], *more: str) -> dict[str, str]:
    """The names of `--map` from theirs to ours. Only fields, and `more` names, can be mapped, and each column once."""
    parts = (f"contexts.{one.name}" for one in dataclasses.fields(Chunk))
    known = (*FIELDS, "messages", "role", "assistant", *more, *parts, *USAGE, GROUP)
    for name in renames:
        if name not in known:
            raise UnknownNameError("field", name, known, f"The fields are: {', '.join(known)}.")
    # The name of a column shows whether it is in milliseconds.
    back = {
        theirs: ours[:-1] + "ms" if _IN_MS.search(theirs) and ours in USAGE else ours
        for ours, theirs in renames.items()
    }
    if len(back) < len(renames):
        raise UsageError("--map maps one column to two fields; map each column once")
    return back


def absent_columns(source: Source) -> dict[str, str]:
    """The mapped columns that a source does not have, and the fields to which they are mapped."""
    names = [name for name in source.renames if name not in source.columns]
    return {name: source.renames[name] for name in names if not numbered_columns(name, source.columns)}


def map_columns(source: Source) -> None:
    """Reads a file without any of our names, if its names are well known; otherwise raises the `--map` that would fit."""
    taken = _mapped(source)
    guess = _guess(source, [name for name in GUESSED if name not in taken], taken)
    # A file that is read in part gives a poor result; one command with all columns is better.
    known = sum(name in CORE for name in {**taken, **guess.sure})
    if known < _LEAST_SURE or not guess.likely.keys().isdisjoint(_NEEDED):
        raise _explain(source, guess, taken)
    _apply(source, guess)


def note_columns(sources: Sequence[Source], format: Format) -> None:
    """Completes a file of a known format: well-known names of absent fields are read, others are suggested."""
    if len(sources) != 1 or format.name not in COMPLETED or not isinstance(format, RowFormat):
        return
    [source] = sources
    keys = source.keys()
    known = {key for key in keys if key in format.columns or key in source.mapped} - {"metadata"}  # may have the chunks
    taken = {format.columns.get(key, key): key for key in known}
    absent = [name for name in GUESSED if name not in taken]
    if not absent:
        return
    is_known = keys <= set(taken.values())
    taken |= _mapped(source)
    guess = Guess() if is_known else _guess(source, absent, taken)
    # Most files have unique columns that are not ids, and a file with ids of its own is rare.
    likely = {name: column for name, column in guess.likely.items() if name != "id"}
    guess = Guess(guess.sure, likely, guess.rivals)
    _apply(source, guess)
    source.remarks += _doubts(source, taken, guess)


def _mapped(source: Source) -> dict[str, str]:
    """Our fields and the columns to which the user mapped them."""
    return {ours: theirs for theirs, ours in source.renames.items()}


def _guess(source: Source, wanted: Sequence[str], taken: dict[str, str]) -> Guess:
    rows = source.head(ROWS_PROFILED)
    return guess_columns(rows, wanted, len(rows) < ROWS_PROFILED, taken)


def _apply(source: Source, guess: Guess) -> None:
    """Read the sure columns and suggest the likely ones."""
    notes = source.remarks
    if guess.sure:
        source.guess(guess.sure)
        read = ", ".join(f"{ours}={theirs}" for ours, theirs in guess.sure.items())
        notes.append(
            f"columns read by their names: {read}. Use --map for another choice; --format ragstone turns this off"
        )
    for ours, theirs in guess.likely.items():
        option = map_options({ours: theirs})
        if ours in guess.rivals:
            names = ", ".join([theirs, *guess.rivals[ours]])
            notes.append(f"several columns could be the {ours}: {names}. Choose one: {option}")
        else:
            notes.append(f"column '{theirs}' is kept as metadata. If it is the {ours}, add {option}")


def _doubts(source: Source, taken: dict[str, str], guess: Guess) -> list[str]:
    """Columns with our names that may mean something else: right answers called `answer`, chunks called `documents`."""
    notes = []
    if taken.get("answer") == "answer" and "references" not in {**taken, **guess.all}:
        for name in sorted(source.columns - set(taken.values())):
            named = read_name(name)
            if named is not None and named.field == "answer" and named.strength == SURE:
                swap = map_options({"answer": name, "references": "answer"})
                notes.append(f"there are columns 'answer' and '{name}'. If 'answer' is the right answer, add {swap}")
                break
    if taken.get("documents") == "documents" and "contexts" not in {**taken, **guess.all}:
        profile = ColumnProfile("documents", [row.get("documents") for row in source.head(ROWS_PROFILED)])
        if profile.words >= _LONG_DOCUMENT:
            notes.append(
                "the documents are texts, not names. If they are the retrieved chunks, add --map contexts=documents"
            )
    return notes


def _explain(source: Source, guess: Guess, taken: Mapping[str, str]) -> UnknownColumnsError:
    shown = listed(sorted(source.columns))
    text = f"cannot detect the format of {source}. Its columns are {shown}; ours are question, answer, contexts, references and more."
    list(islice(source.rows(report := Report()), ROWS_PROFILED))
    text += "".join(f" {one.where} {one.message}." for one in report.problems[:1])
    if not guess.all:
        return UnknownColumnsError(f"{text} Name the columns: --map question=COLUMN --map answer=COLUMN")
    for ours, names in guess.rivals.items():
        text += f" Several columns could be the {ours}: {', '.join([guess.all[ours], *names])}."
    found = {**taken, **guess.all}
    rest = _other_texts(source, set(found.values()))
    # Samples without answer and chunks have nothing to measure, but right answers alone may be ground truth.
    is_usable = "answer" in found or "contexts" in found or ("references" in found and not rest)
    options = map_options(guess.all)
    text += f" A guess by names and content, to be checked: {options}{'' if is_usable else ' --map answer=COLUMN'}"
    if rest:
        text += f". Not mapped: {listed(rest)}"
    return UnknownColumnsError(text, [*shlex.split(options), *_splitting(source, found)] if is_usable else ())


def _splitting(source: Source, found: Mapping[str, str]) -> list[str]:
    """The option for the text between chunks of one cell, if most cells have one and the user named none."""
    texts = OneTexts()
    for row in [] if source.separator or "contexts" not in found else source.head(ROWS_PROFILED):
        if isinstance(cell := row.get(found["contexts"]), str) and parse_list(cell) is None:
            texts.add(cell)
    return texts.options


def listed(names: Sequence[str]) -> str:
    """The first names and the number of the others."""
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return ", ".join(names[:_MOST_SHOWN]) + more


def _other_texts(source: Source, used: Collection[str]) -> list[str]:
    """The columns with texts or lists that no field uses, in the order of the file."""
    rows = source.head(ROWS_PROFILED)
    joined = {name for pattern in used for name in numbered_columns(pattern, source.columns)}
    names = [name for name in dict.fromkeys(key for row in rows for key in row) if name not in {*used, *joined}]
    profiles = [ColumnProfile(name, [row.get(name) for row in rows]) for name in names]
    return [one.name for one in profiles if one.words >= _LEAST_WORDS and not one.addresses]
