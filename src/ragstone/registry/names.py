"""What a name means: a metric of ours in another spelling, or a name that a paper or another tool gives to a metric.

The names of others are in `foreign_names.toml`. Only a name with the same number is computed; every other name is refused
with the metrics or commands to choose from.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib import resources
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

from ragstone.errors import LONGEST_NAME, UnknownNameError, nearest
from ragstone.registry.catalogue import Catalogue

Kind = Literal["same", "near", "choice", "command", "absent"]
_IGNORED = re.compile(r"[\s\-_./:‐‑–—'’]+")
# MLflow's results have a version and an aggregation: `faithfulness/v1/mean`.
_VERSION = re.compile(r"^(?:mlflow\W)?(.*)/v\d+(?:/\w+)?$", re.IGNORECASE)
_CUT = re.compile(r"(.+?)(?:[\s._-]+at)?[\s._-]+(\d+|k|n)", re.IGNORECASE)
_SIGNS: dict[str, Kind] = {"~": "near", "!": "absent", "$": "command"}
_MOST_SUGGESTED = 3
# The shortest part of a name that suggests the names which contain it.
_SHORTEST_PART = 4


class Meaning(NamedTuple):
    """The metrics, sets or commands that a name leads to, and whether the first of them is the same number."""

    name: str
    kind: Kind
    targets: tuple[str, ...]
    note: str = ""
    system: str = ""
    labels: tuple[str, ...] = ()

    @property
    def commands(self) -> list[str]:
        """The targets that are command lines."""
        return [target for target in self.targets if target.startswith("ragstone ")]

    @property
    def metrics(self) -> list[str]:
        """The targets that are metrics or sets of metrics."""
        return [target for target in self.targets if not target.startswith("ragstone ")]

    @property
    def sentence(self) -> str:
        """What the user must know before choosing; empty if the name is a spelling of ours."""
        of_system = f" of {self.system}" if self.system and not fold(self.name).startswith(fold(self.system)) else ""
        name, listed, note = f"'{self.name}'{of_system}", " or ".join(self.metrics), self.note
        if self.kind == "same":
            return f"{name} is {listed} here." if fold(listed) != fold(self.name) else ""
        if self.kind == "near":
            return f"{name}: ours is {listed}, which differs: {note}."
        if self.kind == "absent":
            return f"{name} is not computed: {note}." + (f" The nearest is {listed}." if listed else "")
        if self.kind == "command":
            more = (f" ({note})" if note else "") + (f"; its metrics: {', '.join(self.metrics)}" if listed else "")
            return f"{name} is a command, not a metric: {' or '.join(f'`{one}`' for one in self.commands)}{more}."
        labels = self.labels or ("",) * len(self.targets)
        choices = (f"{one} ({label})" if label else one for one, label in zip(self.targets, labels, strict=True))
        explained = f" ({note})" if note else ""
        return f"metric '{self.name}' is ambiguous: say which of {', '.join(choices)}{explained}."


class System(NamedTuple):
    """The names of a paper or tool, folded; one that starts with a prefix of the system can mean nothing else."""

    prefixes: Sequence[str]
    names: Mapping[str, list[Meaning]]

    def find(self, folded: str) -> list[Meaning]:
        """The meanings of a name that starts with a prefix of this system; the first that is available counts."""
        for rest in (folded.removeprefix(prefix) for prefix in self.prefixes if folded.startswith(prefix)):
            spellings = (rest, f"{rest}metric", f"{rest}evaluator", f"{rest}score")
            patterns = (name for name in self.names if "*" in name and fnmatchcase(rest, name))
            for name in (*spellings, *patterns):
                if name in self.names:
                    return self.names[name]
        return []


@functools.lru_cache(maxsize=8_192)
def fold(name: str) -> str:
    """A name without case, hyphens, spaces, underscores and dots."""
    return _IGNORED.sub("", _VERSION.sub(r"mlflow\g<1>", name.strip())).casefold()


@functools.cache
def read_systems() -> dict[str, System]:
    """The names of other systems by the title of the system; those under "any" belong to the field."""
    text = resources.files("ragstone.registry").joinpath("foreign_names.toml").read_text(encoding="utf-8")
    systems = {}
    for title, entry in tomllib.loads(text).items():
        names: dict[str, list[Meaning]] = {}
        for written, values in entry["names"].items():
            for name in written.split(" | "):
                system = "" if title == "any" else title
                listed = values if isinstance(values, list) else [values]
                names[fold(name)] = [_read_meaning(name, system, value) for value in listed]
        prefixes = [*entry.get("prefixes", ()), title] if title != "any" else []
        systems[title] = System(sorted(map(fold, prefixes), key=len, reverse=True), names)
    return systems


def _read_meaning(name: str, system: str, value: str) -> Meaning:
    """`metric`, `a | b` (a choice), `~ metric — difference`, `! nearest — reason` or `$ command | metric — remark`."""
    sign, text = (value[0], value[1:]) if value[0] in _SIGNS else ("", value)
    listed, _, note = text.partition("—")
    targets = tuple(target.strip() for target in listed.split(" | ") if target.strip())
    return Meaning(name, _SIGNS.get(sign) or ("choice" if len(targets) > 1 else "same"), targets, note.strip(), system)


class Index(NamedTuple):
    """Our own names by their folded spelling: whole, by their last part, by their first part; and the sets."""

    whole: dict[str, list[str]]
    last: dict[str, list[str]]
    first: dict[str, list[str]]
    sets: Collection[str]


_INDICES: WeakKeyDictionary[Catalogue, tuple[int, Index]] = WeakKeyDictionary()


def _index(catalogue: Catalogue) -> Index:
    version, index = _INDICES.get(catalogue, (-1, None))
    if index is None or version != catalogue.version:
        index = Index({}, {}, {}, frozenset(catalogue.sets()))
        for spec in catalogue.metrics():
            index.first.setdefault(fold(spec.name.partition(".")[0]), []).append(spec.name)
            for known in (spec.name, *(alias for alias, _ in spec.aliases), f"{spec.family}.{spec.name}"):
                index.whole.setdefault(fold(known), []).append(known)
                index.last.setdefault(fold(known.rpartition(".")[2]), []).append(known)
        for known in index.sets:
            index.whole.setdefault(fold(known), []).append(known)
        _INDICES[catalogue] = catalogue.version, index
    return index


def look_up(name: str, catalogue: Catalogue) -> Meaning:
    """What a name without settings means; raises with similar names if it means nothing."""
    if catalogue.find(name):
        return Meaning(name, "same", (name,))
    folded = fold(name)
    if folded and len(name) <= LONGEST_NAME:
        index = _index(catalogue)
        own, parts = index.whole.get(folded, []), index.last.get(folded, [])
        foreign = _find_foreign(name, folded, catalogue) if not own else None
        if foreign is None:
            found = _choose(name, own or parts or index.first.get(folded, []), catalogue)
        elif parts and foreign.kind != "command":
            found = _choose(name, [*foreign.metrics, *parts], catalogue, foreign)
        else:
            found = foreign
        if found := found or _read_cut(name, catalogue):
            return found
    raise UnknownNameError("metric", name, (), "`ragstone metrics` lists all of them.", _similar(folded, catalogue))


def _choose(name: str, known: Iterable[str], catalogue: Catalogue, foreign: Meaning | None = None) -> Meaning | None:
    """One meaning of several names: those of the same metric with the same settings count once."""
    labels = dict(zip(foreign.targets, foreign.labels, strict=False)) if foreign else {}
    different: dict[object, str] = {}
    for one in known:
        preset = catalogue.find(_head(one))
        key = (preset.spec.name, str(preset.settings), one.partition("(")[2]) if preset else one
        different.setdefault(key, one)
    targets = tuple(different.values())
    if foreign and len(targets) == len(foreign.metrics):
        # The last part of the only metric that is near: the short form of our own name.
        return foreign if len(targets) > 1 or foreign.kind != "near" else Meaning(name, "same", targets)
    if len(targets) < 2:
        return Meaning(name, "same", targets) if targets else None
    whose = ("like " if foreign.kind == "near" else "") + foreign.system if foreign and foreign.system else ""
    first = foreign.metrics if foreign and not labels else ()
    titles = tuple(labels.get(one, whose if one in first else "") for one in targets)
    note = foreign.note if foreign and foreign.kind == "choice" else ""
    return Meaning(name, "choice", targets, note, labels=titles)


def _head(expression: str) -> str:
    return re.split(r"[(@]", expression)[0]


def _find_foreign(name: str, folded: str, catalogue: Catalogue) -> Meaning | None:
    """What other systems mean by a name; a difference between them is a choice."""
    systems = read_systems()
    prefixed = (found for system in systems.values() if (found := system.find(folded)))
    hits = [next(prefixed, [])]
    if not hits[0]:
        hits = [system.names[folded] for system in systems.values() if folded in system.names]
    sets = _index(catalogue).sets
    meanings = []
    for alternatives in hits:
        for one in alternatives:
            here = [target for target in one.metrics if target in sets or catalogue.find(_head(target))]
            if here or one.kind in ("absent", "command"):
                kind: Kind = "same" if one.kind == "choice" and len(here) == 1 else one.kind
                meanings.append(one._replace(name=name, kind=kind, targets=(*one.commands, *here)))
                break
    general = [one for one in meanings if not one.system]
    same = [one for one in meanings if one.kind in ("same", "choice")]
    chosen = general[:1] or same or [one for one in meanings if one.kind == "near"] or meanings[:1]
    if len({one.targets for one in chosen}) < 2:
        titles = dict.fromkeys(one.system for one in chosen)
        return chosen[0]._replace(system=", ".join(titles)) if chosen else None
    labels: dict[str, str] = {}
    for one in chosen:
        for target in one.targets:
            labels.setdefault(target, one.system if same else f"like {one.system}")
    return Meaning(name, "choice", tuple(labels), labels=tuple(labels.values()))


def _read_cut(name: str, catalogue: Catalogue) -> Meaning | None:
    """`ndcg_cut.10`, `P_5` and `recall_at_3`; `precision_at_k` needs a number."""
    match = _CUT.fullmatch(name.strip())
    if not match:
        return None
    try:
        meaning = look_up(match[1], catalogue)
    except UnknownNameError:
        return None
    preset = catalogue.find(_head(meaning.targets[0])) if meaning.targets else None
    if meaning.kind != "same" or preset is None or preset.spec.parameter("k") is None:
        return meaning if meaning.kind in ("near", "absent") else None
    target = meaning.targets[0]
    if match[2].isdecimal():
        return meaning._replace(name=name, targets=(f"{target}@{match[2]}",))
    return Meaning(name, "choice", (target, f"{target}@5"), f"{match[2]} is a number")


def _similar(folded: str, catalogue: Catalogue) -> list[str]:
    """Our metrics and sets that have a name similar to a misspelled one; else those that a similar name of others means."""
    own: dict[str, list[str]] = {}
    index = _index(catalogue)
    for key, names in (*index.whole.items(), *index.last.items()):
        meaning = _choose(key, [*own.get(key, []), *names], catalogue)
        own[key] = list(meaning.targets) if meaning else []
    foreign: dict[str, list[str]] = {}
    for system in read_systems().values():
        for key, meanings in system.names.items():
            foreign.setdefault(key, []).extend(one for one in meanings[-1].metrics if catalogue.find(_head(one)))
    for homes in (own, foreign):
        parts = sorted((key for key in homes if len(folded) >= _SHORTEST_PART and folded in key), key=len)
        if keys := nearest(folded, homes, 5, cutoff=0.75) or parts:
            targets = (target for key in keys for target in sorted(homes[key], key=lambda one: fold(one) != key))
            return list(dict.fromkeys(targets))[:_MOST_SUGGESTED]
    return []
