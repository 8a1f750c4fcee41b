"""Labels of people in a store: whether an answer is right, and whether a verdict of the judge on a claim is.

Each label is a small JSON file, `<store>/labels/<author>/<key>.json`, replaced as a whole. So people and processes cannot
overwrite each other's labels, and a killed process loses none. The key is a hash of what was judged (what the user said before,
question and answer; for a claim also the claim and the texts it is checked against), not of the run: a label applies to the same
answer in every run of the store. An author has one label per key; a new one replaces it. RAGSTONE_LABELS, or `label-folder` in
ragstone.toml, names another folder for new labels, such as one of a repository; those of the store are still read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal

import pyarrow as pa
from pyarrow import fs

from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NEUTRAL
from ragstone.errors import RagstoneError, UsageError
from ragstone.storage.places import Place, open_place
from ragstone.storage.runs import Run, read_table

VERSION = 1
VARIABLE = "RAGSTONE_LABELS"
MAX_AUTHOR, MAX_NOTE = 80, 2_000
# Enough of a question, answer or claim to show what was judged. The key is a hash of the whole text.
_MAX_TEXT = 2_000
_MAX_BYTES = 100_000
SKIPPED = "skipped"
# Labels of answers and their numbers; a skipped answer has none.
ANSWER_VALUES: Mapping[str, float | None] = {"right": 1.0, "partly": 0.5, "wrong": 0.0, SKIPPED: None}
CLAIM_VALUES = (ENTAILMENT, CONTRADICTION, NEUTRAL)
Kind = Literal["answer", "claim"]
_ENDING = ".json"
# A file that was changed this recently may change again without another time or size.
_SETTLED_S = 2.0
_READERS = 16
_MAX_CACHED = 200_000


@dataclass(frozen=True)
class HumanLabel:
    """A label of one person: of an answer (`right`, `partly`, `wrong`, `skipped`), or the right verdict on a claim."""

    key: str
    kind: Kind
    author: str
    value: str
    # The key of the answer that a claim belongs to.
    about: str = ""
    note: str = ""
    # UTC, ISO 8601.
    time: str = ""
    run: str = ""
    run_name: str = ""
    sample_id: str = ""
    question: str = ""
    answer: str = ""
    claim: str = ""
    # What a claim is checked against: `reference`, `answer` or `chunks`; and the verdict of the judge.
    against: str = ""
    judged: str = ""

    @property
    def score(self) -> float | None:
        """1 for a right answer, 0.5 for a partly right one, 0 for a wrong one; None if it was skipped, and for claims."""
        return ANSWER_VALUES.get(self.value) if self.kind == "answer" else None


@dataclass(frozen=True)
class HumanLabels:
    """All labels of a store by author and time, and the files that cannot be read."""

    labels: tuple[HumanLabel, ...] = ()
    damaged: tuple[str, ...] = ()

    @cached_property
    def by_key(self) -> dict[str, tuple[HumanLabel, ...]]:
        """The labels of each answer or claim."""
        found: dict[str, list[HumanLabel]] = {}
        for label in self.labels:
            found.setdefault(label.key, []).append(label)
        return {key: tuple(some) for key, some in found.items()}

    @cached_property
    def has_claims(self) -> bool:
        """Whether a claim is labelled."""
        return any(label.kind == "claim" for label in self.labels)

    @cached_property
    def stamp(self) -> str:
        """A hash that changes with every label; empty without labels."""
        return label_hash(*(f"{one.key} {one.author} {one.value}" for one in self.labels)) if self.labels else ""

    def of_answer(self, key: str) -> tuple[HumanLabel, ...]:
        """The labels of an answer by its key, without those of people who skipped it."""
        return tuple(label for label in self.by_key.get(key, ()) if label.score is not None)


def answer_key(question: str | None, answer: str | None, turns: Sequence[str] = ()) -> str:
    """The key of the labels of an answer; `turns` are what the user said before. Other answers before it may change."""
    return label_hash("answer", question or "", answer or "", *turns)


def label_hash(*parts: str) -> str:
    """The key of what these texts identify."""
    text = json.dumps(parts, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def check_author(name: str) -> str:
    """A name with single spaces; a UsageError if it is empty, too long or has control characters."""
    plain = " ".join(unicodedata.normalize("NFC", name).split())
    if not plain:
        raise UsageError("a label needs the name of its author. Fill in the field Your name.")
    if len(plain) > MAX_AUTHOR:
        raise UsageError(f"the name of the author has {len(plain):,} characters; at most {MAX_AUTHOR} are allowed")
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Cn") for letter in plain):
        raise UsageError("the name of the author contains control characters or marks of writing direction")
    return plain


def check_note(note: str) -> str:
    """A note without outer spaces; a UsageError if it is too long."""
    if len(note) > MAX_NOTE:
        raise UsageError(f"the note has {len(note):,} characters; at most {MAX_NOTE:,} are allowed")
    return "".join(c for c in note if c == "\n" or unicodedata.category(c) not in ("Cc", "Cs")).strip()


def store_of(run: Run) -> Place | None:
    """The store that contains a run; None for a run outside of a store."""
    place = run.folder.place
    path, folder, _ = place.path.rstrip("/").rsplit("/", 2)
    url = path if place.is_local else place.url.rstrip("/").rsplit("/", 2)[0]
    return Place(place.files, path, url, place.private) if folder == "runs" else None


def write_label(root: Place, label: HumanLabel) -> HumanLabel:
    """Store a label, in place of the author's earlier one of the same key. Returns it as it was stored."""
    known: Iterable[str] = ANSWER_VALUES if label.kind == "answer" else CLAIM_VALUES
    if label.value not in known:
        raise UsageError(f"'{label.value[:40]}' is not a label. Choose from: {', '.join(known)}.")
    about = label.about or (label.key if label.kind == "answer" else "")
    cut = {name: getattr(label, name)[:_MAX_TEXT] for name in ("question", "answer", "claim")}
    stored = {
        **asdict(label),
        **cut,
        "about": about,
        "author": check_author(label.author),
        "note": check_note(label.note),
    }
    stored["time"] = label.time or datetime.now(UTC).isoformat(timespec="milliseconds")
    place = _places(root, stored["author"], label.key)[0]
    # Lone surrogates of broken data are escaped.
    place.write_bytes(json.dumps({"version": VERSION, **stored}, ensure_ascii=True, indent=1).encode())
    _CACHE.pop(_cache_key(place), None)
    return HumanLabel(**stored)


def remove_label(root: Place, author: str, key: str) -> None:
    """Remove the author's label of a key, if there is one."""
    for place in _places(root, check_author(author), key):
        place.remove()


def _places(root: Place, author: str, key: str) -> list[Place]:
    if not re.fullmatch(r"[0-9a-f]{32}", key):
        raise UsageError("the key of the label is not valid")
    return [folder / _author_folder(author) / f"{key}{_ENDING}" for folder in _folders(root)]


def _folders(root: Place) -> list[Place]:
    """The folders of labels, by rank: the named one, which gets the new labels, and that of the store."""
    named = os.environ.get(VARIABLE)
    return [*([open_place(named)] if named else []), root.as_private() / "labels"]


def _author_folder(author: str) -> str:
    """A safe name that no two authors share; the case of letters makes no difference."""
    plain = author.casefold()
    readable = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40]
    return f"{readable or 'author'}-{label_hash(plain)[:10]}"


# Labels by file, time of change and size. Only reading a directory is repeated.
_CACHE: dict[tuple[str, str], tuple[tuple[int, int], HumanLabel]] = {}


def _cache_key(place: Place) -> tuple[str, str]:
    return place.files.type_name, place.path


def read_human_labels(root: Place) -> HumanLabels:
    """All labels of a store, by time. A damaged file is reported in the result. Without labels, this is one listing."""
    found: dict[tuple[str, str], HumanLabel] = {}
    damaged: list[str] = []
    for folder in _folders(root):
        selector = fs.FileSelector(folder.path, allow_not_found=True, recursive=True)
        try:
            infos = [one for one in folder.files.get_file_info(selector) if one.is_file and one.path.endswith(_ENDING)]
        except OSError as error:
            damaged.append(f"the labels cannot be listed: {error}")
            continue
        for item in _read_all(folder, infos):
            if isinstance(item, HumanLabel):
                found.setdefault((item.author.casefold(), item.key), item)
            else:
                damaged.append(item)
    labels = sorted(found.values(), key=lambda one: (one.time, one.author, one.key))
    return HumanLabels(tuple(labels), tuple(damaged))


def _read_all(folder: Place, infos: Sequence[fs.FileInfo]) -> Iterator[HumanLabel | str]:
    start = len(folder.path.strip("/")) + 1
    places = [(folder / info.path.lstrip("/")[start:], info) for info in infos]
    if folder.is_local:
        yield from (_read(place, info) for place, info in places)
    elif places:
        with ThreadPoolExecutor(_READERS) as pool:
            yield from pool.map(lambda pair: _read(*pair), places)


def _read(place: Place, info: fs.FileInfo) -> HumanLabel | str:
    changed, key = (info.mtime_ns or 0, info.size or 0), _cache_key(place)
    kept = _CACHE.get(key)
    if kept and kept[0] == changed:
        return kept[1]
    try:
        if changed[1] > _MAX_BYTES:
            return f"{place}: the file is too large"
        label = _parse(place.read_bytes())
    except (RagstoneError, ValueError) as error:
        return f"{place}: {error}"
    if time.time() - changed[0] / 1e9 > _SETTLED_S:
        if len(_CACHE) >= _MAX_CACHED:
            _CACHE.clear()
        _CACHE[key] = (changed, label)
    return label


def _parse(content: bytes) -> HumanLabel:
    stored = json.loads(content)
    if not isinstance(stored, dict) or stored.get("version") != VERSION:
        raise ValueError("it is not a label of this version")
    names = [one.name for one in fields(HumanLabel)]
    texts = {name: stored.get(name, "") for name in names}
    known = ANSWER_VALUES if texts["kind"] == "answer" else CLAIM_VALUES if texts["kind"] == "claim" else ()
    if not all(isinstance(text, str) for text in texts.values()) or texts["value"] not in known or not texts["author"]:
        raise ValueError("it lacks a part of the label, or a part is not valid")
    return HumanLabel(**texts)


def labels_of(run: Run) -> HumanLabels:
    """All labels of the store of a run; none for a run outside of a store."""
    root = store_of(run)
    return read_human_labels(root) if root else HumanLabels()


def answer_labels(run: Run, labels: HumanLabels | None = None) -> dict[int, tuple[HumanLabel, ...]]:
    """The labels of the answers of a run by row number from 0, without those of people who skipped it."""
    known = labels_of(run) if labels is None else labels
    if not any(label.kind == "answer" for label in known.labels):
        return {}
    rows = ((row, known.of_answer(key)) for row, key in enumerate(answer_keys(run)))
    return {row: some for row, some in rows if some}


def answer_keys(run: Run) -> list[str]:
    """The key of each answer of a run."""
    table = read_table(run.folder.samples, ["question", "answer", "history"])
    said = [[turn["text"] for turn in turns or () if turn["role"] == "user"] for turns in _column(table, "history")]
    return [answer_key(*row) for row in zip(_column(table, "question"), _column(table, "answer"), said, strict=True)]


def _column(table: pa.Table, name: str) -> list[Any]:
    return table[name].to_pylist() if name in table.column_names else [None] * table.num_rows


def mean_label(labels: Iterable[HumanLabel]) -> float | None:
    """The mean of the labels of an answer; None without any."""
    scores = [label.score for label in labels if label.score is not None]
    return sum(scores) / len(scores) if scores else None
