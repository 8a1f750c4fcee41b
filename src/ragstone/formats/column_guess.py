"""Guesses which columns of a file are the question, the answer and so on, by their names and their content."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ragstone.formats.column_names import LIKELY, SURE, WEAK, fold, read_name
from ragstone.formats.column_profile import ColumnProfile
from ragstone.formats.loose_contexts import paths_of_texts
from ragstone.formats.values import lift

ROWS_PROFILED = 200
CORE = ("question", "answer", "contexts", "references")
GUESSED = (*CORE, "id", "reference_contexts")
_NUMBERED = re.compile(r"(?P<stem>.*?\D)(?P<number>\d{1,3})")
_LONG = 150
_LEAST_ALIKE = 0.12
# Chunks are longer than answers; answers have more words than most references.
_LONGER = 1.3
_SHORT, _MEDIUM = 3, 5.5
# In fewer rows, lengths and common words do not separate answers from chunks and references.
_LEAST_ROWS = 3


@dataclass(frozen=True)
class Guess:
    """Our fields to columns: those that can be applied, those that only look like it, and other columns that compete."""

    sure: dict[str, str] = field(default_factory=dict)
    likely: dict[str, str] = field(default_factory=dict)
    rivals: dict[str, list[str]] = field(default_factory=dict)

    @property
    def all(self) -> dict[str, str]:
        """Both, in the order of our fields."""
        both = {**self.sure, **self.likely}
        return {name: both[name] for name in GUESSED if name in both}


def map_options(columns: Mapping[str, str]) -> str:
    """The options of a command line, quoted for the shell: `--map question=prompt --map 'answer=my output'`."""
    return shlex.join(word for ours, theirs in columns.items() for word in ("--map", f"{ours}={theirs}"))


def numbered_columns(pattern: str, columns: Collection[str]) -> list[str]:
    """The columns that a name with a star means, in order: `context_*` is context_1, context_2 and so on."""
    before, star, after = pattern.partition("*")
    if not star:
        return []
    form = re.compile(f"{re.escape(before)}(\\d+){re.escape(after)}")
    found = [(int(match[1]), name) for name in columns if (match := form.fullmatch(name))]
    return [name for _, name in sorted(found)]


def guess_columns(
    rows: Sequence[Mapping[str, Any]],
    wanted: Collection[str],
    is_whole: bool,
    taken: Mapping[str, str] = MappingProxyType({}),
) -> Guess:
    """The columns of the wanted fields. `is_whole` if these rows are all that the file has; `taken` are known columns."""
    names = dict.fromkeys(str(key) for row in rows for key in row)
    profiles = [ColumnProfile(name, [row.get(name) for row in rows]) for name in names]
    profiles = _with_groups([profile for profile in profiles if profile.values], rows)
    candidates = sorted(_candidates(profiles, wanted), key=lambda one: -one[0])
    chosen = dict(taken)
    strengths = dict.fromkeys(taken, SURE)
    rivals: dict[str, list[str]] = {}
    for _, name, column, strength in candidates:
        if column in chosen.values():
            continue
        if name not in chosen:
            chosen[name], strengths[name] = column, strength
        elif strength >= LIKELY and name not in taken:
            rivals.setdefault(name, []).append(column)
    _add_system_answer(candidates, wanted, chosen, strengths)
    nested = _nested_lists(rows) if "contexts" in wanted and "contexts" not in chosen else []
    _add_by_content(profiles, nested, wanted, chosen, strengths)
    found = {name: column for name, column in chosen.items() if name not in taken}
    certain = {name for name in found if strengths[name] == SURE}
    # An id by its last word, as in `ticket_id`, is sure: that no value repeats is known.
    if fold(found.get("id", "")).endswith(" id"):
        certain.add("id")
    if not is_whole:
        certain.discard("id")
    sure = {name: column for name, column in found.items() if name in certain and name not in rivals}
    return Guess(sure, {name: column for name, column in found.items() if name not in sure}, rivals)


def _with_groups(profiles: list[ColumnProfile], rows: Sequence[Mapping[str, Any]]) -> list[ColumnProfile]:
    """Columns such as context_1 and context_2 as one column of lists, if they are chunks or references."""
    groups: dict[str, list[ColumnProfile]] = {}
    for profile in profiles:
        if match := _NUMBERED.fullmatch(profile.name):
            groups.setdefault(match["stem"], []).append(profile)
    for stem, members in groups.items():
        named = read_name(stem)
        is_chunk = named is None and all(one.has_texts and one.length > _LONG for one in members)
        if len(members) < 2 or not (is_chunk or (named and named.field in ("contexts", "references"))):
            continue
        if named and named.strength < LIKELY and not all(one.words > 3 for one in members):
            continue
        pattern = f"{stem}*"
        names = numbered_columns(pattern, [one.name for one in members])
        values = [[row[name] for name in names if row.get(name)] for row in rows]
        profiles = [one for one in profiles if one not in members]
        profiles.append(ColumnProfile(pattern, values))
    return profiles


def _nested_lists(rows: Sequence[Mapping[str, Any]]) -> list[ColumnProfile]:
    """The lists in mappings that may be the chunks, as columns such as `retrieval.hits`."""
    paths = Counter(path for row in rows for path in paths_of_texts(row, 3) if "." in path)
    # Keys that only few rows have are values, such as names of documents.
    common = [path for path, times in paths.items() if times * 4 >= len(rows)]
    found = (ColumnProfile(path, [lift(row, path).get(path) for row in rows]) for path in common)
    return [one for one in found if _may_be_chunks(one)]


def _may_be_chunks(profile: ColumnProfile) -> bool:
    named = read_name(profile.name.rpartition(".")[2])
    is_other = named is not None and named.strength > WEAK and named.field != "contexts"
    return not is_other and profile.marked_questions < 0.5 and _fit("contexts", profile) is not None


def _candidates(profiles: Sequence[ColumnProfile], wanted: Collection[str]) -> Iterator[tuple[float, str, str, float]]:
    """Score, field, column and strength of the name, for columns with a known name and matching content."""
    for profile in profiles:
        named = read_name(profile.name.removesuffix("*"))
        if named is None or named.field not in wanted or named.field not in GUESSED:
            continue
        fit = _fit(named.field, profile)
        if fit is not None and (named.strength > WEAK or fit >= 0.5):
            # A weak name with content that fits is worth a suggestion, not more.
            yield named.strength * 2 + fit, named.field, profile.name, named.strength


def _fit(name: str, profile: ColumnProfile) -> float | None:
    """How well the content fits a field, from 0 to 1; None if it cannot be that field."""
    if name == "id":
        return 1.0 if profile.looks_like_ids else None
    if profile.addresses > 0.5 or not (profile.texts or profile.lists or name in ("answer", "references")):
        return None
    if name == "question":
        if not profile.has_texts or profile.numbers > 0.5 or profile.length > 4_000:
            return None
        return profile.questions
    if name == "answer":
        if profile.has_lists or (profile.marked_questions > 0.6 and profile.distinct > 0.5):
            return None
        return min(1.0, profile.words / 4)
    if name == "references":
        return None if profile.marked_questions > 0.6 else 0.8 if profile.words < 60 else 0.4
    if not (profile.has_lists or profile.has_texts) or profile.numbers > 0.5:
        return None
    if profile.has_lists:
        return 1.0 if profile.words >= 3 else None
    return min(1.0, profile.length / _LONG) if profile.words >= 4 else None


def _add_system_answer(
    candidates: Sequence[tuple[float, str, str, float]],
    wanted: Collection[str],
    chosen: dict[str, str],
    strengths: dict[str, float],
) -> None:
    """With a text of the system, the answer of a person is the reference, as in `curator answer` and `bot says`."""
    if strengths.get("answer") != LIKELY or "references" in chosen or "references" not in wanted:
        return
    for _, name, column, strength in candidates:
        if name == "answer" and strength == WEAK and column not in chosen.values():
            chosen["references"], chosen["answer"] = chosen["answer"], column
            strengths["references"] = strengths["answer"] = WEAK
            return


def _add_by_content(
    profiles: Sequence[ColumnProfile],
    nested: Sequence[ColumnProfile],
    wanted: Collection[str],
    chosen: dict[str, str],
    strengths: dict[str, float],
) -> None:
    """Adds fields whose columns have unknown names, by their content alone; the chunks may be `nested` lists."""

    def free() -> list[ColumnProfile]:
        return [one for one in profiles if one.name not in chosen.values() and _may_be_ours(one)]

    def choose(name: str, options: Sequence[ColumnProfile]) -> None:
        if name in wanted and name not in chosen and options:
            chosen[name], strengths[name] = options[0].name, 0.0

    ask = [one for one in free() if one.has_texts and one.questions >= 0.5 and one.words >= 2 and one.distinct > 0.5]
    choose("question", sorted(ask, key=lambda one: -one.questions))
    lists = [one for one in free() if one.has_lists and one.words >= 5 and not one.addresses]
    choose("contexts", sorted([*nested, *lists], key=lambda one: -one.length))
    by_name = {one.name: one for one in profiles}
    texts = sorted((one for one in free() if _is_prose(one)), key=lambda one: -one.length)
    if len(texts) > 1 and texts[0].rows < _LEAST_ROWS:
        texts = []
    if answer := by_name.get(chosen.get("answer", "")):
        choose("contexts", [one for one in texts if one.length > _LONGER * answer.length and one.words >= _MEDIUM])
    elif len(texts) > 1 and texts[0].length > _LONGER * texts[1].length and texts[1].words >= _MEDIUM:
        # The second is too long for a reference, so it is the answer.
        choose("contexts", texts)
    texts = [one for one in texts if one.name not in chosen.values()]
    choose("answer", [one for one in texts if one.words >= _SHORT])
    if answer := by_name.get(chosen.get("answer", "")):
        rest = [one for one in texts if one.name not in chosen.values() and one.length <= _LONGER * answer.length]
        choose("references", [one for one in rest if one.shared_words(answer) >= _LEAST_ALIKE])
    choose("id", [one for one in free() if one.rows >= 3 and one.looks_like_ids and _counts_or_mixes(one)])


def _is_prose(profile: ColumnProfile) -> bool:
    return (
        profile.has_texts
        and profile.distinct > 0.5
        and profile.words >= 1.5
        and profile.marked_questions < 0.5
        and not profile.addresses
    )


def _may_be_ours(profile: ColumnProfile) -> bool:
    """Whether the name leaves it open: names of metadata such as `comment` do not, unless the content denies the name."""
    named = read_name(profile.name.removesuffix("*"))
    if named is None or named.strength <= WEAK:
        return True
    return named.field in CORE and _fit(named.field, profile) is None


def _counts_or_mixes(profile: ColumnProfile) -> bool:
    """Whether the values count up, or mix letters and digits as ids do; measurements do neither."""
    texts = [str(value).strip() for value in profile.values]
    if all(text.isdigit() for text in texts):
        numbers = [int(text) for text in texts]
        return numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return all(any(letter.isdigit() for letter in text) for text in texts)
