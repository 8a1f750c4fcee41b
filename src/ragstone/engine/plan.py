"""Turns metric names into an ordered plan.

The parameter names of a function are its needs. A need is a field of the samples, a piece of evidence, or a tool.

- A field or a piece that at least one row of the data has is *present*. A present piece is not made; if only some rows
  have it (*partial*), it is made for the other rows.
- A function is called for the rows that have all its needs. With `either`, one of the named needs is enough, and the
  function gets None for the others.
- One function may make several pieces (`yields`). If `yields` maps a piece to needs, only that piece needs them. A parameter
  called `wanted` gets the set of pieces that the plan needs.
- Evidence may replace a field (`replaces`): a follow-up question is replaced by the completed one. This happens only if the
  data has what that evidence needs. A metric's `optional` needs are planned only if they can be made.
- `Catalogue.closure` finds all that a metric depends on. A metric is skipped if no row can have one of its needs.

A row without a value has one `Absence`: a status (skipped or failed) and a reason. It is passed on to everything that
depends on the value. A function raises `Skip` to skip a row; every other exception fails the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragstone.data.codec import arrow_type
from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE
from ragstone.data.signature import Signature
from ragstone.errors import DefinitionError, nearest
from ragstone.registry import CATALOGUE, Catalogue, EvidenceSpec, Metric
from ragstone.registry.specs import FunctionSpec
from ragstone.tools.open_tools import TOOLS
from ragstone.tools.protocols import Prompted, Tool


@dataclass(frozen=True)
class EvidenceStep:
    """Call one evidence function for the pieces that the plan needs; `spec` has only the needs of these pieces."""

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
    """Steps in order: each comes after the steps whose results it needs."""

    evidence: tuple[EvidenceStep, ...]
    metrics: tuple[MetricStep, ...]
    skipped: Mapping[str, str]
    # Fields that evidence replaces, and the piece that does.
    replaced: Mapping[str, str] = field(default_factory=dict)
    # The folder of the data, if chunks name image files.
    folder: str | None = None

    @property
    def waits(self) -> bool:
        """Whether a step is async, such as a call of a model."""
        return any(step.spec.is_async for step in self.evidence)

    @property
    def needs(self) -> set[str]:
        """Every name that evidence is made from: fields, other evidence, tools."""
        return {need for step in self.evidence for need in step.spec.needs}

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
    partial: Iterable[str] = (),
) -> Plan:
    """Close the metrics over their evidence; `present` are the columns that at least one row has.

    Evidence that the data gives for some rows only is in `partial` too; it is made for the other rows if possible.
    """
    return _Planner(frozenset(present), frozenset(partial), tools, catalogue).plan(metrics)


class _Planner:
    def __init__(
        self, present: frozenset[str], partial: frozenset[str], tools: Mapping[str, Tool], catalogue: Catalogue
    ) -> None:
        self._present = present
        self._given = present - (partial - FIELDS.keys())
        self._tools = tools
        self._catalogue = catalogue
        # By where they are defined: two files may call their functions the same.
        self._wanted: dict[tuple[str, str], dict[str, EvidenceSpec]] = {}
        self._replaced: dict[str, str] = {}
        self._replaced = {
            name: piece
            for name, piece in catalogue.replacements().items()
            if name in self._present and (piece in self._present or self._can_have(piece))
        }

    def _can_have(self, need: str) -> bool:
        """Whether any row has a piece of evidence or can have it."""
        spec = self._catalogue.evidence(need)
        if need in self._present or spec is None:
            return need in self._present
        return self._close(spec, spec.needs_of([need]), f"evidence '{spec.name}'")[1] is None

    def plan(self, metrics: Sequence[Metric]) -> Plan:
        steps: list[MetricStep] = []
        skipped: dict[str, str] = {}
        for named in metrics:
            # With the optional needs that can be made.
            more = tuple(need for need in named.spec.optional if self._can_have(need))
            metric = replace(named, spec=replace(named.spec, needs=(*named.spec.needs, *more))) if more else named
            chain, reason = self._close(metric.spec, metric.spec.needs, f"metric '{metric.spec.name}'")
            if reason:
                skipped[str(metric)] = reason
                continue
            for piece, spec in chain.items():
                self._wanted.setdefault(spec.home, {})[piece] = spec
            steps.append(MetricStep(metric, self._sign(metric.signature, chain)))
        return Plan(tuple(map(self._evidence_step, self._in_order())), tuple(steps), skipped, self._replaced)

    def _close(
        self, spec: FunctionSpec, needs: Sequence[str], owner: str
    ) -> tuple[dict[str, EvidenceSpec], str | None]:
        """The evidence that a function depends on, in the order to make it, and why the function cannot be called."""
        closure = self._catalogue.closure(needs, self._given, self._replaced)
        if closure.cycle:
            raise DefinitionError(f"evidence '{closure.cycle[-1]}' needs itself: {' → '.join(closure.cycle)}")
        absent: dict[str, str] = {}
        unmade: set[str] = set()
        for piece in closure.order:
            maker = closure.evidence[piece]
            _check_storable(maker, piece)
            reason = self._reason(maker, maker.needs_of([piece]), f"evidence '{maker.name}'", absent)
            if reason and piece in self._present:
                unmade.add(piece)  # given for some rows and cannot be made for the others
            elif reason:
                absent[piece] = reason
        reached = self._catalogue.closure(needs, self._given | unmade | absent.keys(), self._replaced)
        return {piece: reached.evidence[piece] for piece in reached.order}, self._reason(spec, needs, owner, absent)

    def _reason(self, spec: FunctionSpec, needs: Sequence[str], owner: str, absent: Mapping[str, str]) -> str | None:
        """Why a function cannot be called for any row; None if it can."""
        reasons = {need: reason for need in needs if (reason := self._absence(need, owner, absent))}
        if spec.either and reasons.keys() >= set(spec.either):
            return f"needs {' or '.join(spec.either)}, which no row has"
        return next((reason for need, reason in reasons.items() if need not in spec.either), None)

    def _absence(self, need: str, owner: str, absent: Mapping[str, str]) -> str | None:
        is_evidence = need not in FIELDS and self._catalogue.evidence(need) is not None
        if need in self._present:
            return None
        if is_evidence:
            return absent.get(need)
        if need in FIELDS or need in GIVEN_EVIDENCE:
            return f"needs {need}, which no row has"
        if need not in self._tools and need not in TOOLS:
            known = [*FIELDS, *(piece for spec in self._catalogue.all_evidence() for piece in spec.yields), *TOOLS]
            near = nearest(need, known)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise DefinitionError(f"{owner} needs '{need}', which is not a field, evidence or tool.{hint}")
        if owner.startswith("metric "):
            raise DefinitionError(f"{owner} asks for the tool '{need}': only evidence functions may use tools")
        if need not in self._tools:
            return f"needs {'an' if need[0] in 'aeiou' else 'a'} {need.replace('_', ' ')}: {TOOLS[need].how_to_get}"
        return None

    def _in_order(self) -> list[EvidenceSpec]:
        """The evidence functions, each after those that make what it needs."""
        ordered: dict[tuple[str, str], EvidenceSpec] = {}

        def visit(spec: EvidenceSpec, path: tuple[str, ...]) -> None:
            if spec.home in ordered:
                return
            if spec.name in path:
                raise DefinitionError(f"evidence '{spec.name}' needs a piece of itself: {' → '.join(path)}")
            for need in spec.needs_of(self._wanted[spec.home]):
                piece = self._replaced.get(need, need)
                below = self._catalogue.evidence(piece)
                if below and below.home != spec.home and piece in self._wanted.get(below.home, ()):
                    visit(below, (*path, spec.name))
            ordered[spec.home] = spec

        for pieces in self._wanted.values():
            visit(next(iter(pieces.values())), ())
        return list(ordered.values())

    def _evidence_step(self, spec: EvidenceSpec) -> EvidenceStep:
        pieces = tuple(self._wanted[spec.home])
        needs = spec.needs_of(pieces)
        chain, _ = self._close(spec, needs, f"evidence '{spec.name}'")
        fields = {
            need
            for part in (*chain.values(), spec)
            for need in part.needs_of(self._wanted[part.home])
            if need in self._present
        }
        signature = self._sign(spec.stamp, {**chain, spec.name: spec})
        # A row may lack what only some pieces need.
        own = {need for piece in pieces for need in spec.piece_needs.get(piece, ())}
        active = replace(spec, needs=needs, either=tuple(sorted(own)) or spec.either)
        return EvidenceStep(active, pieces, tuple(sorted(fields)), signature)

    def _sign(self, own: str, chain: Mapping[str, EvidenceSpec]) -> str:
        """The signature of a value: its function, the evidence under it, and their tools and prompts."""
        specs = {spec.home: spec for spec in chain.values()}
        tools = sorted({need for spec in specs.values() for need in spec.needs if need in self._tools})
        return str(
            Signature.build(
                own,
                evidence=[spec.stamp for spec in specs.values()],
                tools={tool: self._tools[tool].signature for tool in tools},
                # The tools know the hashes: a user may have replaced some prompts.
                prompts=[
                    (name, tool.prompt_hash(name))
                    for spec in specs.values()
                    for tool in (self._tools[need] for need in spec.needs if need in self._tools)
                    if isinstance(tool, Prompted)
                    for name in spec.prompts
                ],
            )
        )


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
