"""The meaning of a name: a metric of ours in another spelling, or the name that a paper or another tool gives to a metric.

The names of others are in `foreign_names.toml`. Only a name with the same number is computed; every other name is refused
with the metrics or commands to choose from.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib import resources
from typing import Literal, NamedTuple

from ragstone.errors import LONGEST_NAME, UnknownNameError, nearest
from ragstone.registry.catalogue import Catalogue

Kind = Literal["same", "near", "choice", "command", "absent"]
_SIGNS: dict[str, Kind] = {"~": "near", "!": "absent", "$": "command"}
_IGNORED = re.compile(r"[\s\-_./:‐‑–—'’]+")
# MLflow's results have a version and an aggregation: `faithfulness/v1/mean`.
_VERSION = re.compile(r"^(?:mlflow\W)?(.*)/v\d+(?:/\w+)?$", re.IGNORECASE)
_CUT = re.compile(r"(.+?)(?:[\s._-]+at)?[\s._-]+(\d+|k|n)", re.IGNORECASE)
_MOST_SUGGESTED = 3
# The shortest part of a name that suggests the names which contain it.
_SHORTEST_PART = 4


class Meaning(NamedTuple):
    """The metrics, sets and commands that a name leads to; each metric may have the label of a system."""

    name: str
    kind: Kind
    metrics: tuple[str, ...]
    commands: tuple[str, ...] = ()
    note: str = ""
    system: str = ""
    labels: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The facts that the user needs before choosing; empty if the name is a spelling of ours."""
        of_system = f" of {self.system}" if self.system and not fold(self.name).startswith(fold(self.system)) else ""
        name, listed = f"'{self.name}'{of_system}", " or ".join(self.metrics)
        if self.kind == "same":
            return f"{name} is {listed} here." if fold(listed) != fold(self.name) else ""
        if self.kind == "near":
            return f"{name}: ours is {listed}, which differs: {self.note}."
        if self.kind == "absent":
            return f"{name} is not computed: {self.note}." + (f" The nearest is {listed}." if listed else "")
        explained = f" ({self.note})" if self.note else ""
        if self.kind == "command":
            commands = " or ".join(f"`{command}`" for command in self.commands)
            more = f"; its metrics: {', '.join(self.metrics)}" if listed else ""
            return f"{name} is a command, not a metric: {commands}{explained}{more}."
        pairs = zip(self.metrics, self.labels or ("",) * len(self.metrics), strict=True)
        choices = ", ".join(f"{one} ({label})" if label else one for one, label in pairs)
        return f"metric '{self.name}' is ambiguous: say which of {choices}{explained}."


class System(NamedTuple):
    """The folded names of a paper or tool, each with its meanings: the first that is available counts."""

    prefixes: Sequence[str]
    names: Mapping[str, list[Meaning]]

    def find(self, folded: str) -> list[Meaning]:
        """The meanings of a name that starts with a prefix of this system, and so cannot be another's."""
        for rest in (folded.removeprefix(prefix) for prefix in self.prefixes if folded.startswith(prefix)):
            patterns = (name for name in self.names if "*" in name and fnmatchcase(rest, name))
            for name in (rest, f"{rest}metric", f"{rest}evaluator", f"{rest}score", *patterns):
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
        prefixes = map(fold, [*entry.get("prefixes", ()), title] if title != "any" else [])
        names = {
            fold(name): [_read_meaning(name, title, value) for value in ([given] if isinstance(given, str) else given)]
            for written, given in entry["names"].items()
            for name in written.split(" | ")
        }
        systems[title] = System(sorted(prefixes, key=len, reverse=True), names)
    return systems


def _read_meaning(name: str, title: str, value: str) -> Meaning:
    """`metric`, `a | b` (a choice), `~ metric — difference`, `! nearest — reason` or `$ command | metric — remark`."""
    listed, _, note = value.lstrip("".join(_SIGNS)).partition("—")
    targets = [target.strip() for target in listed.split(" | ") if target.strip()]
    kind = _SIGNS.get(value[0]) or ("choice" if len(targets) > 1 else "same")
    metrics = tuple(target for target in targets if not target.startswith("ragstone "))
    commands = tuple(target for target in targets if target.startswith("ragstone "))
    return Meaning(name, kind, metrics, commands, note.strip(), "" if title == "any" else title)


@functools.lru_cache(maxsize=4)
def _index(catalogue: Catalogue, version: int) -> tuple[dict[str, list[str]], dict[str, list[str]]]:  # noqa: ARG001
    """Our names and sets by their folded spelling, and our names by their last part; made again for a new version."""
    whole: dict[str, list[str]] = {fold(name): [name] for name in catalogue.sets()}
    last: dict[str, list[str]] = {}
    for spec in catalogue.metrics():
        for known in (spec.name, *(alias for alias, _ in spec.aliases), f"{spec.family}.{spec.name}"):
            whole.setdefault(fold(known), []).append(known)
            last.setdefault(fold(known.rpartition(".")[2]), []).append(known)
    return whole, last


def look_up(name: str, catalogue: Catalogue) -> Meaning:
    """The meaning of a name without settings; raises with similar names if it means nothing."""
    if catalogue.find(name):
        return Meaning(name, "same", (name,))
    folded = fold(name)
    if folded and len(name) <= LONGEST_NAME:
        whole, last = _index(catalogue, catalogue.version)
        own, parts = whole.get(folded, []), last.get(folded, [])
        found = _find_foreign(name, folded, catalogue) if not own else None
        if found is None:
            found = _choose(name, own or parts, catalogue)
        elif parts and found.kind != "command":
            found = _choose(name, [*found.metrics, *parts], catalogue, found)
        if found := found or _read_cut(name, catalogue):
            return found
    raise UnknownNameError("metric", name, (), "`ragstone metrics` lists all of them.", _similar(folded, catalogue))


def _choose(name: str, known: Iterable[str], catalogue: Catalogue, foreign: Meaning | None = None) -> Meaning | None:
    """One meaning of several names: those of the same metric with the same settings count once."""
    different: dict[object, str] = {}
    for one in known:
        preset = catalogue.find(_head(one))
        different.setdefault((preset.spec.name, str(preset.settings), one.partition("(")[2]) if preset else one, one)
    metrics = tuple(different.values())
    if foreign and len(metrics) == len(foreign.metrics):
        # The last part of the only metric that is near: the short form of our own name.
        return foreign if len(metrics) > 1 or foreign.kind != "near" else Meaning(name, "same", metrics)
    if len(metrics) < 2:
        return Meaning(name, "same", metrics) if metrics else None
    labels = dict(zip(foreign.metrics, foreign.labels, strict=True)) if foreign else {}
    note = foreign.note if foreign and foreign.kind == "choice" else ""
    return Meaning(name, "choice", metrics, (), note, labels=tuple(labels.get(one, "") for one in metrics))


def _head(expression: str) -> str:
    return re.split(r"[(@]", expression)[0]


def _find_foreign(name: str, folded: str, catalogue: Catalogue) -> Meaning | None:
    """The metrics that other systems mean by a name; a difference between systems is a choice."""
    systems, (whole, _) = read_systems().values(), _index(catalogue, catalogue.version)
    prefixed = next((found for system in systems if (found := system.find(folded))), None)
    hits = [prefixed] if prefixed else [system.names[folded] for system in systems if folded in system.names]
    meanings: dict[str, Meaning] = {}
    for one in (one for alternatives in hits for one in alternatives):
        here = tuple(target for target in one.metrics if fold(_head(target)) in whole)
        if here or one.kind in ("absent", "command"):
            kind: Kind = "same" if one.kind == "choice" and len(here) == 1 else one.kind
            labels = (f"like {one.system}" if kind == "near" and one.system else one.system,) * len(here)
            meanings.setdefault(one.system, one._replace(name=name, kind=kind, metrics=here, labels=labels))
    same = [one for one in meanings.values() if one.kind in ("same", "choice")]
    near = [one for one in meanings.values() if one.kind == "near"]
    chosen = [meanings[""]] if "" in meanings else same or near or list(meanings.values())[:1]
    if len({one.metrics for one in chosen}) < 2:
        return chosen[0]._replace(system=", ".join(one.system for one in chosen)) if chosen else None
    titles: dict[str, str] = {}
    for metric, label in (pair for one in chosen for pair in zip(one.metrics, one.labels, strict=True)):
        titles.setdefault(metric, label)
    return Meaning(name, "choice", tuple(titles), labels=tuple(titles.values()))


def _read_cut(name: str, catalogue: Catalogue) -> Meaning | None:
    """`ndcg_cut.10`, `P_5` and `recall_at_3`; `precision_at_k` needs a number."""
    match = _CUT.fullmatch(name.strip())
    try:
        meaning = look_up(match[1], catalogue) if match else None
    except UnknownNameError:
        return None
    if not match or not meaning or meaning.kind != "same":
        return meaning if meaning and meaning.kind in ("near", "absent") else None
    [metric], preset = meaning.metrics, catalogue.find(_head(meaning.metrics[0]))
    if preset is None or preset.spec.parameter("k") is None:
        return None
    if match[2].isdecimal():
        return meaning._replace(name=name, metrics=(f"{metric}@{match[2]}",))
    return Meaning(name, "choice", (metric, f"{metric}@5"), (), f"{match[2]} is a number")


def _similar(folded: str, catalogue: Catalogue) -> list[str]:
    """Our metrics and sets that have a name similar to a misspelled one; else those that a similar name of others means."""
    whole, last = _index(catalogue, catalogue.version)
    foreign: dict[str, list[str]] = {}
    for key, meanings in (pair for system in read_systems().values() for pair in system.names.items()):
        foreign.setdefault(key, []).extend(one for one in meanings[-1].metrics if fold(_head(one)) in whole)
    for homes in ({key: [*whole.get(key, ()), *last.get(key, ())] for key in (*whole, *last)}, foreign):
        parts = sorted((key for key in homes if len(folded) >= _SHORTEST_PART and folded in key), key=len)
        keys = nearest(folded, homes, 5, cutoff=0.75) or parts
        names = (name for key in keys for name in sorted(homes[key], key=lambda one: fold(one) != key))
        if meaning := _choose(folded, names, catalogue):
            return list(meaning.metrics[:_MOST_SUGGESTED])
    return []
