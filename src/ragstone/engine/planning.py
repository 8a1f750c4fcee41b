"""From metric names to an ordered graph: what must be made, from what, and what cannot be, before any work is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ragstone.data.codec import arrow_type
from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE
from ragstone.errors import DefinitionError, nearest
from ragstone.registry import CATALOGUE, Catalogue, EvidenceSpec, Metric
from ragstone.registry.specs import FunctionSpec

# What a run can be given as tools, and how: for the words of a skipped metric.
TOOLS = {"matcher": "choose one with --matcher"}


class Tool(Protocol):
    """A capability that evidence functions may ask for."""

    @property
    def signature(self) -> str:
        """What goes into the signature of every score made with it."""
        ...


@dataclass(frozen=True)
class EvidenceStep:
    """Make the pieces of evidence that somebody needs, with one function."""

    spec: EvidenceSpec
    pieces: tuple[str, ...]
    fields: tuple[str, ...]
    signature: str


@dataclass(frozen=True)
class MetricStep:
    """Compute one metric."""

    metric: Metric
    signature: str

    @property
    def name(self) -> str:
        """The canonical string."""
        return str(self.metric)


@dataclass(frozen=True)
class Plan:
    """Steps in an order in which everything is there when it is needed."""

    evidence: tuple[EvidenceStep, ...]
    metrics: tuple[MetricStep, ...]
    skipped: Mapping[str, str]

    @property
    def waits(self) -> bool:
        """Whether anything waits for a model."""
        return any(step.spec.is_async for step in self.evidence)

    def stored_evidence(self) -> list[tuple[str, Any]]:
        """Name and Python type of what is kept."""
        return [
            (piece, step.spec.annotation_of(piece))
            for step in self.evidence
            if not step.spec.transient
            for piece in step.pieces
        ]


def make_plan(
    metrics: Sequence[Metric],
    present: Iterable[str],
    tools: Mapping[str, Tool],
    catalogue: Catalogue = CATALOGUE,
) -> Plan:
    """Close the metrics over their evidence; `present` are the columns that at least one row has."""
    return _Planner(frozenset(present), tools, catalogue).plan(metrics)


class _Missing(Exception):  # noqa: N818  (caught here, never shown as an error)
    """Something that a metric needs is not there; the text says what."""


class _Planner:
    def __init__(self, present: frozenset[str], tools: Mapping[str, Tool], catalogue: Catalogue) -> None:
        self._present = present
        self._tools = tools
        self._catalogue = catalogue
        # By where they are defined: two files may call their functions the same.
        self._order: dict[tuple[str, str], EvidenceSpec] = {}
        self._wanted: dict[tuple[str, str], list[str]] = {}

    def plan(self, metrics: Sequence[Metric]) -> Plan:
        steps: list[MetricStep] = []
        skipped: dict[str, str] = {}
        for metric in metrics:
            try:
                chain = self._close(metric.spec, f"metric '{metric.spec.name}'", may_use_tools=False, path=())
            except _Missing as missing:
                skipped[str(metric)] = str(missing)
                continue
            for piece in chain:
                self._want(piece)
            steps.append(MetricStep(metric, self._sign(metric.signature, chain)))
        return Plan(tuple(map(self._evidence_step, self._order.values())), tuple(steps), skipped)

    def _close(
        self, spec: FunctionSpec, who: str, may_use_tools: bool, path: tuple[str, ...]
    ) -> dict[str, EvidenceSpec]:
        """The evidence that a function rests on, in the order in which it must be made.

        What is absent is raised last: what is wrong with a definition shows whatever the data has.
        """
        chain: dict[str, EvidenceSpec] = {}
        missing: dict[str, _Missing] = {}
        for need in spec.needs:
            try:
                chain.update(self._resolve(need, who, may_use_tools, path))
            except _Missing as absence:
                missing[need] = absence
        if spec.either and missing.keys() >= set(spec.either):
            raise _Missing(f"needs {' or '.join(spec.either)}, which no row has")
        for need, reason in missing.items():
            if need not in spec.either:
                raise reason
        return chain

    def _resolve(self, need: str, who: str, may_use_tools: bool, path: tuple[str, ...]) -> dict[str, EvidenceSpec]:
        if need in self._present:
            return {}
        if need in FIELDS:
            raise _Missing(f"needs {need}, which no row has")
        if spec := self._catalogue.evidence(need):
            if need in path:
                raise DefinitionError(f"evidence '{need}' needs itself: {' → '.join((*path, need))}")
            _check_storable(spec, need)
            below = self._close(spec, f"evidence '{spec.name}'", may_use_tools=True, path=(*path, need))
            return {**below, need: spec}
        if need in GIVEN_EVIDENCE:
            raise _Missing(f"needs {need}, which no row has")
        if need in self._tools or need in TOOLS:
            self._check_tool(need, who, may_use_tools)
            return {}
        raise self._unknown(need, who)

    def _check_tool(self, need: str, who: str, may_use_tools: bool) -> None:
        if not may_use_tools:
            raise DefinitionError(f"{who} asks for the tool '{need}': a metric is pure, only evidence may use tools")
        if need not in self._tools:
            raise _Missing(f"needs a {need}: {TOOLS[need]}")

    def _unknown(self, need: str, who: str) -> DefinitionError:
        known = [*FIELDS, *(piece for spec in self._catalogue.all_evidence() for piece in spec.yields), *TOOLS]
        near = nearest(need, known)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        return DefinitionError(f"{who} needs '{need}', which is no field, no evidence and no tool.{hint}")

    def _want(self, piece: str) -> None:
        spec = self._catalogue.evidence(piece)
        if spec is None:
            return
        self._order.setdefault(spec.home, spec)
        pieces = self._wanted.setdefault(spec.home, [])
        if piece not in pieces:
            pieces.append(piece)

    def _evidence_step(self, spec: EvidenceSpec) -> EvidenceStep:
        chain = self._close(spec, f"evidence '{spec.name}'", may_use_tools=True, path=(spec.name,))
        fields = {need for part in (*chain.values(), spec) for need in part.needs if need in self._present}
        signature = self._sign(spec.stamp, {**chain, spec.name: spec})
        return EvidenceStep(spec, tuple(self._wanted[spec.home]), tuple(sorted(fields)), signature)

    def _sign(self, own: str, chain: Mapping[str, EvidenceSpec]) -> str:
        """How a value was made: the thing itself, the evidence that it rests on, the tools that made that."""
        specs = {spec.home: spec for spec in chain.values()}
        parts = [spec.stamp for spec in specs.values()]
        tools = sorted({need for spec in specs.values() for need in spec.needs if need in self._tools})
        parts += [f"{tool}:{self._tools[tool].signature}" for tool in tools]
        return "|".join(dict.fromkeys([own, *parts]))


def _check_storable(spec: EvidenceSpec, piece: str) -> None:
    if spec.transient:
        return
    try:
        arrow_type(spec.annotation_of(piece))
    except (TypeError, LookupError, NameError, AttributeError):
        raise DefinitionError(
            f"evidence '{piece}' ({'.'.join(spec.home)}) must say what it returns, as in `-> list[str]`, so that it "
            "can be stored; or declare it with @evidence(transient=True)"
        ) from None
