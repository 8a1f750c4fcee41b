"""From metric names to an ordered graph: what must be made, from what, and what cannot be, before any work is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from ragstone.data.codec import arrow_type
from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE
from ragstone.errors import DefinitionError, nearest
from ragstone.registry import CATALOGUE, Catalogue, EvidenceSpec, Metric
from ragstone.registry.specs import FunctionSpec

# What a run can be given as tools, and how: for the words of a skipped metric.
TOOLS = {
    "matcher": "choose one with --matcher",
    "judge": "name a language model with --judge; the local judge does not write questions or pick sentences",
    "extractor": "name a model with --judge or --extractor",
    "checker": "name a model with --judge or --checker",
    "grader": "name a model with --judge",
    "pair_judge": "name a language model with --judge",
    "rater": "name a language model with --judge; the local judge gives no grades",
    "trained_judge": "name one with --judge trained/NAME; `ragstone train` makes it from your own labels",
    "estimator": "it comes with the local judge: pip install 'ragstone[local]'",
    "embedder": "name one with --embedder, or get one for this machine with: ragstone models pull minilm",
    "token_embedder": "get one with: ragstone models pull minilm",
    "scorer": "name one with --scorer, or get one for this machine with: ragstone models pull smollm2",
    "reward_model": "get one with: ragstone models pull reward (and pip install torch transformers)",
    "toxicity_model": "get one with: ragstone models pull toxicity (and pip install torch transformers)",
}


class Tool(Protocol):
    """A capability that evidence functions may ask for."""

    @property
    def signature(self) -> str:
        """What goes into the signature of every score made with it."""
        ...


@runtime_checkable
class Prompted(Protocol):
    """A tool that asks a model with prompts from files."""

    def prompt_hash(self, name: str) -> str:
        """What identifies the wording of a prompt."""
        ...


@dataclass(frozen=True)
class EvidenceStep:
    """Make the pieces of evidence that somebody needs, with one function."""

    spec: EvidenceSpec
    pieces: tuple[str, ...]
    needs: tuple[str, ...]
    fields: tuple[str, ...]
    signature: str

    @property
    def active(self) -> EvidenceSpec:
        """The function with the needs of the wanted pieces only; of what single pieces need, a row may lack some."""
        own = {need for piece in self.pieces for need in self.spec.piece_needs.get(piece, ())}
        return replace(self.spec, needs=self.needs, either=tuple(sorted(own)) or self.spec.either)


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

    @property
    def needs(self) -> set[str]:
        """Every name that evidence is made from: fields, other evidence, tools."""
        return {need for step in self.evidence for need in step.needs}

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

    Given evidence that not all rows have stands in `partial` too: it is made for the others where that can be.
    """
    return _Planner(frozenset(present), frozenset(partial), tools, catalogue).plan(metrics)


class _Missing(Exception):  # noqa: N818  (caught here, never shown as an error)
    """Something that a metric needs is not there; the text says what."""


class _Planner:
    def __init__(
        self, present: frozenset[str], partial: frozenset[str], tools: Mapping[str, Tool], catalogue: Catalogue
    ) -> None:
        self._present = present
        self._partial = partial - FIELDS.keys()
        self._tools = tools
        self._catalogue = catalogue
        # By where they are defined: two files may call their functions the same.
        self._specs: dict[tuple[str, str], EvidenceSpec] = {}
        self._wanted: dict[tuple[str, str], list[str]] = {}

    def plan(self, metrics: Sequence[Metric]) -> Plan:
        steps: list[MetricStep] = []
        skipped: dict[str, str] = {}
        for metric in metrics:
            try:
                chain = self._close(metric.spec, metric.spec.needs, f"metric '{metric.spec.name}'", path=())
            except _Missing as missing:
                skipped[str(metric)] = str(missing)
                continue
            for piece, spec in chain.items():
                self._want(piece, spec)
            steps.append(MetricStep(metric, self._sign(metric.signature, chain)))
        return Plan(tuple(map(self._evidence_step, self._in_order())), tuple(steps), skipped)

    def _close(
        self, spec: FunctionSpec, needs: Sequence[str], who: str, path: tuple[str, ...]
    ) -> dict[str, EvidenceSpec]:
        """The evidence that a function rests on, in the order in which it must be made.

        What is absent is raised last: what is wrong with a definition shows whatever the data has.
        """
        chain: dict[str, EvidenceSpec] = {}
        missing: dict[str, _Missing] = {}
        for need in needs:
            try:
                chain.update(self._resolve(need, who, path))
            except _Missing as absence:
                missing[need] = absence
        if spec.either and missing.keys() >= set(spec.either):
            raise _Missing(f"needs {' or '.join(spec.either)}, which no row has")
        for need, reason in missing.items():
            if need not in spec.either:
                raise reason
        return chain

    def _resolve(self, need: str, who: str, path: tuple[str, ...]) -> dict[str, EvidenceSpec]:
        spec = self._catalogue.evidence(need)
        if need in self._present and (spec is None or need not in self._partial):
            return {}
        if need in FIELDS:
            raise _Missing(f"needs {need}, which no row has")
        if spec:
            try:
                return self._resolve_evidence(need, spec, path)
            except _Missing:
                if need in self._present:  # given for some rows, and nothing here can make it for the others
                    return {}
                raise
        if need in GIVEN_EVIDENCE:
            raise _Missing(f"needs {need}, which no row has")
        if need in self._tools or need in TOOLS:
            # Only evidence stands on the path: a metric may not use tools.
            self._check_tool(need, who, may_use_tools=bool(path))
            return {}
        raise self._unknown(need, who)

    def _resolve_evidence(self, need: str, spec: EvidenceSpec, path: tuple[str, ...]) -> dict[str, EvidenceSpec]:
        if need in path:
            raise DefinitionError(f"evidence '{need}' needs itself: {' → '.join((*path, need))}")
        _check_storable(spec, need)
        below = self._close(spec, spec.needs_of([need]), f"evidence '{spec.name}'", path=(*path, need))
        return {**below, need: spec}

    def _check_tool(self, need: str, who: str, may_use_tools: bool) -> None:
        if not may_use_tools:
            raise DefinitionError(f"{who} asks for the tool '{need}': a metric is pure, only evidence may use tools")
        if need not in self._tools:
            raise _Missing(f"needs {'an' if need[0] in 'aeiou' else 'a'} {need.replace('_', ' ')}: {TOOLS[need]}")

    def _unknown(self, need: str, who: str) -> DefinitionError:
        known = [*FIELDS, *(piece for spec in self._catalogue.all_evidence() for piece in spec.yields), *TOOLS]
        near = nearest(need, known)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        return DefinitionError(f"{who} needs '{need}', which is no field, no evidence and no tool.{hint}")

    def _want(self, piece: str, spec: EvidenceSpec) -> None:
        self._specs.setdefault(spec.home, spec)
        pieces = self._wanted.setdefault(spec.home, [])
        if piece not in pieces:
            pieces.append(piece)

    def _in_order(self) -> list[EvidenceSpec]:
        """Each function after those that make what it needs, for all the pieces that anybody wants of it."""
        ordered: dict[tuple[str, str], EvidenceSpec] = {}

        def visit(spec: EvidenceSpec, path: tuple[str, ...]) -> None:
            if spec.home in ordered:
                return
            if spec.name in path:
                raise DefinitionError(f"evidence '{spec.name}' needs a piece of itself: {' → '.join(path)}")
            for need in spec.needs_of(self._wanted[spec.home]):
                below = self._catalogue.evidence(need)
                if below and need in self._wanted.get(below.home, ()):
                    visit(below, (*path, spec.name))
            ordered[spec.home] = spec

        for spec in self._specs.values():
            visit(spec, ())
        return list(ordered.values())

    def _evidence_step(self, spec: EvidenceSpec) -> EvidenceStep:
        pieces = tuple(self._wanted[spec.home])
        needs = spec.needs_of(pieces)
        chain = self._close(spec, needs, f"evidence '{spec.name}'", path=(spec.name,))
        fields = {
            need
            for part in (*chain.values(), spec)
            for need in part.needs_of(self._wanted[part.home])
            if need in self._present
        }
        signature = self._sign(spec.stamp, {**chain, spec.name: spec})
        return EvidenceStep(spec, pieces, needs, tuple(sorted(fields)), signature)

    def _sign(self, own: str, chain: Mapping[str, EvidenceSpec]) -> str:
        """How a value was made: the thing itself, the evidence that it rests on, the tools and prompts that made that."""
        specs = {spec.home: spec for spec in chain.values()}
        parts = [spec.stamp for spec in specs.values()]
        tools = sorted({need for spec in specs.values() for need in spec.needs if need in self._tools})
        parts += [f"{tool}:{self._tools[tool].signature}" for tool in tools]
        parts += [stamp for spec in specs.values() for stamp in self._prompt_stamps(spec)]
        return "|".join(dict.fromkeys([own, *parts]))

    def _prompt_stamps(self, spec: EvidenceSpec) -> Iterator[str]:
        """The prompts that a function asks with, as whoever asks has them: a user may have put others in their place."""
        for tool in (self._tools[need] for need in spec.needs if need in self._tools):
            if isinstance(tool, Prompted):
                yield from (f"{name}:{tool.prompt_hash(name)}" for name in spec.prompts)


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
