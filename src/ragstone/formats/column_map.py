"""Files with other column names: columns with well-known names are read, for others the fitting `--map` is named."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ragstone.errors import UnknownColumnsError
from ragstone.formats.base import Format, RowFormat
from ragstone.formats.column_guess import CORE, GUESSED, ROWS_PROFILED, Guess, guess_columns, map_options
from ragstone.formats.column_names import SURE, read_name
from ragstone.formats.column_profile import ColumnProfile
from ragstone.formats.sources import Source

# Formats whose rows are the samples; the others find their fields themselves.
COMPLETED = ("ragstone", "ragas", "ragas_legacy")
_LEAST_SURE = 2
_NEEDED = ("question", "answer", "contexts")
_LONG_DOCUMENT = 20


def map_columns(source: Source) -> None:
    """Reads a file without any of our names, if its names are well known; otherwise raises the `--map` that would fit."""
    guess = _guess(source, GUESSED, {})
    # A file that is read in part gives a poor result; one command with all columns is better.
    if sum(name in CORE for name in guess.sure) < _LEAST_SURE or not guess.likely.keys().isdisjoint(_NEEDED):
        raise _explain(source, guess)
    source.guess(guess.sure)
    source.remarks += [*_applied(guess), *_suggestions(guess)]


def note_columns(sources: Sequence[Source], format: Format) -> None:
    """Completes a file of a known format: well-known names of absent fields are read, others are suggested."""
    if len(sources) != 1 or format.name not in COMPLETED or not isinstance(format, RowFormat):
        return
    [source] = sources
    keys = source.keys()
    taken = {format.columns.get(key, key): key for key in keys if key in format.columns or key in source.mapped}
    absent = [name for name in GUESSED if name not in taken]
    if not absent:
        return
    is_known = keys <= set(taken.values())
    guess = Guess() if is_known else _guess(source, absent, taken)
    # Most files have unique columns that are not ids, and a file with ids of its own is rare.
    likely = {name: column for name, column in guess.likely.items() if name != "id"}
    guess = Guess(guess.sure, likely, guess.rivals)
    if guess.sure:
        source.guess(guess.sure)
        source.remarks += _applied(guess)
    source.remarks += [*_suggestions(guess), *_doubts(source, taken, guess)]


def _guess(source: Source, wanted: Sequence[str], taken: dict[str, str]) -> Guess:
    rows = source.head(ROWS_PROFILED)
    return guess_columns(rows, wanted, len(rows) < ROWS_PROFILED, taken)


def _applied(guess: Guess) -> list[str]:
    read = ", ".join(f"{ours}={theirs}" for ours, theirs in guess.sure.items())
    return [f"columns read by their names: {read}. Use --map for another choice; --format ragstone turns this off"]


def _suggestions(guess: Guess) -> list[str]:
    notes = []
    for ours, theirs in guess.likely.items():
        if ours in guess.rivals:
            names = ", ".join([theirs, *guess.rivals[ours]])
            notes.append(f"several columns could be the {ours}: {names}. Choose one: {map_options({ours: theirs})}")
        else:
            notes.append(
                f"column '{theirs}' is kept as metadata. If it is the {ours}, add {map_options({ours: theirs})}"
            )
    return notes


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


def _explain(source: Source, guess: Guess) -> UnknownColumnsError:
    columns = sorted(source.columns)
    shown = ", ".join(columns[:12]) + (f" and {len(columns) - 12} more" if len(columns) > 12 else "")
    text = f"cannot detect the format of {source}. Its columns are {shown}; ours are question, answer, contexts, references and more."
    if not guess.all:
        return UnknownColumnsError(f"{text} Name the columns: --map question=COLUMN --map answer=COLUMN")
    for ours, names in guess.rivals.items():
        text += f" Several columns could be the {ours}: {', '.join([guess.all[ours], *names])}."
    options = map_options(guess.all)
    return UnknownColumnsError(f"{text} By names and content, this fits: {options}", shlex.split(options))
