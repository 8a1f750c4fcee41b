"""All metrics and kinds of evidence, by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ragstone.data.types import Sample
from ragstone.errors import DefinitionError, UnknownNameError
from ragstone.registry.specs import EvidenceSpec, FunctionSpec, MetricSpec


class Preset(NamedTuple):
    """A metric and the settings of a name."""

    spec: MetricSpec
    settings: dict[str, Any]


class Closure(NamedTuple):
    """All that some names depend on.

    `evidence` maps each piece to its function. `tools` are the names that are neither fields nor evidence. `order` has the
    pieces to make, each after the pieces that it needs. `cycle` is a path of evidence that needs itself, if there is one.
    """

    fields: tuple[str, ...]
    evidence: Mapping[str, EvidenceSpec]
    tools: tuple[str, ...]
    order: tuple[str, ...]
    cycle: tuple[str, ...] = ()


class Catalogue:
    """Metrics and evidence functions by name."""

    def __init__(self) -> None:
        self._metrics: dict[str, MetricSpec] = {}
        self._evidence: dict[str, EvidenceSpec] = {}
        # Grows with every declaration, so that others can cache what they derive from the metrics.
        self.version = 0
        # Functions that were passed to a call as metrics; they are in no set.
        self._passed: dict[str, MetricSpec] = {}
        # Names of the metrics other than their ids, kept because each new metric looks them up.
        self._names = _Names({})

    def add_metric(self, spec: MetricSpec) -> None:
        """Add a metric; the same definition again (a notebook cell run twice) replaces it."""
        _refuse_other(self._metrics.get(spec.name), spec, "metric")
        for name in (spec.name, *(alias for alias, _ in spec.aliases)):
            other = self._find(name)
            if other and other.spec.name != spec.name:
                raise DefinitionError(f"metric '{spec.name}': the name '{name}' already means '{other.spec.name}'")
            if name in ("all", "quick") or name in self._other_names().sets:
                raise DefinitionError(f"metric '{spec.name}': '{name}' is the name of a set of metrics")
        if spec.name in self._metrics:
            self._names = _Names({})
        else:
            self._other_names().add(spec)
        self._metrics[spec.name] = spec
        self.version += 1

    def add_passed(self, spec: MetricSpec) -> None:
        """Take in a function that was passed as a metric; it replaces an earlier one of its name."""
        if spec.name in ("all", "quick") or spec.name in self._other_names().sets:
            raise DefinitionError(f"the function '{spec.name}' has the name of a set of metrics; rename it")
        known = self._metrics.get(spec.name) or getattr(self._other_names().presets.get(spec.name), "spec", None)
        if known:
            raise DefinitionError(
                f"the function '{spec.name}' has the name of a metric in {'.'.join(known.home)}; rename it"
            )
        self._passed[spec.name] = spec

    def name_of(self, function: Any) -> str | None:
        """The name of the metric that a decorated function is; None for other functions."""
        return next((spec.name for spec in self._metrics.values() if spec.function is function), None)

    def add_evidence(self, spec: EvidenceSpec) -> None:
        """Add an evidence function under each piece that it yields."""
        for piece in spec.yields:
            _refuse_other(self._evidence.get(piece), spec, "evidence")
        for piece in spec.yields:
            self._evidence[piece] = spec

    def with_evidence(self, spec: EvidenceSpec) -> Catalogue:
        """A copy in which this function makes its pieces."""
        other = Catalogue()
        other._metrics, other._passed = dict(self._metrics), dict(self._passed)
        other._evidence = {**self._evidence, **dict.fromkeys(spec.yields, spec)}
        return other

    def metrics(self) -> Iterator[MetricSpec]:
        """All metrics, by family and name."""
        yield from sorted(self._metrics.values(), key=lambda spec: (spec.family, spec.name))

    def headlines(self) -> list[str]:
        """The metrics that are shown first, by rank."""
        ranked = [(spec.headline, spec.name) for spec in self._metrics.values() if spec.headline is not None]
        return [name for _, name in sorted(ranked)]

    def evidence(self, name: str) -> EvidenceSpec | None:
        """The function that makes a piece of evidence, or None."""
        return self._evidence.get(name)

    def all_evidence(self) -> Iterator[EvidenceSpec]:
        """Every evidence function once."""
        yield from {spec.home: spec for spec in self._evidence.values()}.values()

    def replacements(self) -> dict[str, str]:
        """The fields that evidence replaces, and the piece that does."""
        return {spec.replaces: piece for piece, spec in self._evidence.items() if spec.replaces}

    def closure(
        self, names: Iterable[str], given: Collection[str] = (), replaced: Mapping[str, str] | None = None
    ) -> Closure:
        """All that these names depend on; evidence that is given depends on nothing.

        A field in `replaced` depends on the evidence that replaces it.
        """
        pieces = replaced or {}
        fields: dict[str, None] = {}
        tools: dict[str, None] = {}
        evidence: dict[str, EvidenceSpec] = {}
        order: dict[str, None] = {}
        cycle: tuple[str, ...] = ()

        def visit(name: str, path: tuple[str, ...]) -> None:
            nonlocal cycle
            if name in path:
                cycle = cycle or (*path, name)
            spec = self._evidence.get(name)
            if name in Sample.__dataclass_fields__:
                fields[name] = None
                if name in pieces and pieces[name] not in path:
                    visit(pieces[name], path)
            elif spec is None:
                tools[name] = None
            elif name not in evidence:
                evidence[name] = spec
                for need in spec.needs_of([name]) if name not in given else ():
                    visit(need, (*path, name))
                if name not in given:
                    order[name] = None

        for name in names:
            visit(name, ())
        return Closure(tuple(fields), evidence, tuple(tools), tuple(order), cycle)

    def sets(self) -> dict[str, list[Preset]]:
        """Named sets of metrics: families, and the sets that metrics declare."""
        found: dict[str, list[Preset]] = {}
        for spec in self.metrics():
            for name, settings in {spec.family: (), **dict(spec.sets)}.items():
                found.setdefault(name, []).append(Preset(spec, dict(settings)))
        return found

    def metric(self, name: str) -> Preset:
        """The metric of a name as stored runs have it: `find`, or the last part of an id if only one has it."""
        if preset := self.find(name):
            return preset
        own = [spec for spec in self._metrics.values() if spec.name.rpartition(".")[2] == name.lower()]
        if len(own) != 1:
            raise UnknownNameError("metric", name, ())
        return Preset(own[0], {})

    def find(self, name: str) -> Preset | None:
        """The metric of an id, `family.name` or an alias, in any case."""
        preset = self._find(name.strip().lower())
        return Preset(preset.spec, dict(preset.settings)) if preset else None

    def _find(self, name: str) -> Preset | None:
        if (spec := self._metrics.get(name)) is None and (preset := self._other_names().presets.get(name)):
            return preset
        spec = spec or self._passed.get(name)
        return Preset(spec, {}) if spec else None

    def _other_names(self) -> _Names:
        if self._names.metrics is not self._metrics or self._names.size != len(self._metrics):
            self._names = _Names(self._metrics)
        return self._names


class _Names:
    """Families and sets, and the presets of `family.name` and of aliases."""

    def __init__(self, metrics: dict[str, MetricSpec]) -> None:
        self.metrics = metrics
        self.size = 0
        self.sets: set[str] = set()
        self.presets: dict[str, Preset] = {}
        for spec in metrics.values():
            self.add(spec)

    def add(self, spec: MetricSpec) -> None:
        """Add the names of a metric."""
        self.size += 1
        self.sets |= {spec.family, *dict(spec.sets)}
        self.presets[f"{spec.family}.{spec.name}"] = Preset(spec, {})
        self.presets |= {alias: Preset(spec, dict(settings)) for alias, settings in spec.aliases}


def _refuse_other(known: FunctionSpec | None, spec: FunctionSpec, kind: str) -> None:
    if known and known.home != spec.home:
        raise DefinitionError(f"{kind} '{spec.name}' is already defined in {'.'.join(known.home)}; choose another name")


CATALOGUE = Catalogue()
