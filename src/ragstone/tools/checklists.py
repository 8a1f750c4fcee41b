"""Checklists: items that an answer meets or not, from a user's TOML file or from the metadata of a sample."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ragstone.errors import Skip, UsageError
from ragstone.tools.aspects import is_checklist, read_entries, read_reason, read_shows
from ragstone.tools.decision_trees import DecisionTree, read_tree

YES, NO, NOT_APPLICABLE = "yes", "no", "not_applicable"
KEY = "checklist"
# More items do not fit a reply that can be trusted.
MOST_ITEMS = 50
_KEYS = {KEY, "shows", "reason"}
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Checklist:
    """A named list of items, what the judge sees next to the answer, and whether it writes a reason per item."""

    name: str
    items: tuple[str, ...]
    shows: tuple[str, ...] = ("question",)
    reasons: bool = False

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> Self:
        """The checklist in a sample's metadata."""
        if metadata.get(KEY) is None:
            raise Skip("the metadata has no checklist")
        items = as_items(metadata[KEY])
        if items is None:
            raise ValueError(f"metadata.checklist must be a list of 1 to {MOST_ITEMS} texts")
        return cls("own", items)

    @property
    def hash(self) -> str:
        """A hash of the wording, for signatures."""
        wording = json.dumps([self.name, self.items, self.shows, self.reasons])
        return hashlib.sha256(wording.encode()).hexdigest()[:12]


def read_checklists(path: str | Path) -> dict[str, Checklist | DecisionTree]:
    """The checklists and decision trees of a user's file of aspects."""
    entries = {name: entry for name, entry in read_entries(path).items() if is_checklist(entry)}
    return {name: _read_checklist(name, entry, f"{path}, [{name}]") for name, entry in entries.items()}


def _read_checklist(name: str, entry: Mapping[str, Any], where: str) -> Checklist | DecisionTree:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{where}: a name has lower-case letters, digits and '_' only.")
    if "tree" in entry:
        return read_tree(name, entry, where)
    if unknown := sorted(set(entry) - _KEYS):
        raise UsageError(f"{where}: unknown key '{unknown[0]}'. Choose from: {', '.join(sorted(_KEYS))}.")
    items = as_items(entry[KEY])
    if items is None:
        raise UsageError(f"{where}: 'checklist' must be a list of 1 to {MOST_ITEMS} texts.")
    return Checklist(name, items, read_shows(entry, where), read_reason(entry, where))


def as_items(value: Any) -> tuple[str, ...] | None:
    """The items of a list of texts, each once; None if it is not one, or is empty or too long."""
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        return None
    items = tuple(dict.fromkeys(item.strip() for item in value if item.strip()))
    return items if 0 < len(items) <= MOST_ITEMS else None
