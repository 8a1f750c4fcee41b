"""Metric cards for `ragstone metrics`, and the check of a dataset for `ragstone validate`."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from ragstone.data.columns import OK
from ragstone.data.schema import FIELDS
from ragstone.engine.batch import evaluate_batch
from ragstone.engine.execute import run_to_end
from ragstone.engine.ingest import Profile, Profiler
from ragstone.engine.metric_choice import is_headline
from ragstone.engine.plan import Plan
from ragstone.formats import open_reader
from ragstone.registry import CATALOGUE, MetricSpec, parse_metric, resolve_metrics
from ragstone.registry.foreign_names import Meaning, look_up
from ragstone.text.matchers import make_matcher
from ragstone.tools.open_tools import TOOLS, ToolFactory
from ragstone.tools.protocols import Tool

# Fields that a user can add as one column.
_ADDABLE = ("question", "answer", "contexts", "references", "facts", "relevance")
# Rows of a small file, whose metrics without models are computed by `check`.
_MOST_TRIED = 1_000
_DIRECTION = {"higher": "higher is better", "lower": "lower is better", "none": "no direction"}


@dataclass(frozen=True)
class MetricCard:
    """The documentation of a metric."""

    name: str
    usage: str
    family: str
    meaning: str
    details: str
    range: str
    direction: str
    needs: list[str]
    evidence: list[str]
    tools: list[str]
    judges: str
    against: str
    source: str
    misleads: str
    aliases: list[str]
    sets: list[str]
    slow: bool
    version: int

    def lines(self) -> Iterator[tuple[str, str]]:
        """The facts as label and text, those that are known."""
        pairs = [
            ("write", self.usage),
            ("range", f"{self.range}, {self.direction}"),
            ("judges", f"{self.judges} against {self.against}" if self.judges else ""),
            ("needs", ", ".join(self.needs)),
            ("evidence", ", ".join(self.evidence)),
            ("asks", ", ".join(self.tools)),
            ("misleads", self.misleads),
            ("source", self.source),
            ("aliases", ", ".join(self.aliases)),
            ("sets", ", ".join(self.sets)),
            ("computed", "only by name or with -m all" if self.slow else ""),
        ]
        return (pair for pair in pairs if pair[1])


def cards(name: str | None = None) -> list[MetricCard]:
    """All metrics, those of a set, or those that a name leads to: also a name of another system, and an ambiguous one."""
    if name is None:
        return [_card(spec) for spec in CATALOGUE.metrics()]
    sets, specs = CATALOGUE.sets(), []
    for target in explain_name(name).metrics:
        specs += [preset.spec for preset in sets[target]] if target in sets else [parse_metric(target).spec]
    return [_card(spec) for spec in {spec.name: spec for spec in specs}.values()]


def explain_name(name: str) -> Meaning:
    """The metrics, sets or commands that a name leads to; `recall@k` is recall. Raises with similar names if there are none."""
    text = re.sub(r"@\s*[kn]\s*$", "", name, flags=re.IGNORECASE)
    head = re.split(r"[(@]", text)[0]
    meaning = look_up(head.strip(), CATALOGUE)
    return Meaning(name, "same", (str(parse_metric(text)),)) if head != text and meaning.kind == "same" else meaning


def missing_tools(card: MetricCard) -> list[str]:
    """The options that name the tools of a metric which are not on this machine."""
    flags = (TOOLS[name].flag for name in card.tools if name not in _default_tools())
    return [
        word
        for flag in dict.fromkeys(filter(None, flags))
        for word in (flag, "PATH" if flag == "--corpus" else "MODEL")
    ]


def set_names() -> list[str]:
    """The names that `-m` takes for several metrics at once."""
    return sorted(CATALOGUE.sets())


def _card(spec: MetricSpec) -> MetricCard:
    closure = CATALOGUE.closure(spec.needs)
    either = {need: " or ".join(one.either) for one in closure.evidence.values() for need in one.either}
    return MetricCard(
        name=spec.name,
        usage=_usage(spec),
        family=spec.family,
        meaning=spec.meaning,
        details=spec.details,
        range=_range(spec.bounds),
        direction=_DIRECTION[spec.better],
        needs=list(dict.fromkeys(either.get(name, name) for name in FIELDS if name in closure.fields)),
        evidence=list(closure.evidence),
        tools=[name for name in TOOLS if name in closure.tools and name != "matcher"],
        judges=spec.judges,
        against=spec.against,
        source=spec.source,
        misleads=spec.misleads,
        aliases=[
            f"{name} ({', '.join(f'{key}={value}' for key, value in settings)})" if settings else name
            for name, settings in spec.aliases
        ],
        sets=list(dict.fromkeys([spec.family, *(name for name, _ in spec.sets)])),
        slow=spec.slow,
        version=spec.version,
    )


def _usage(spec: MetricSpec) -> str:
    """How the metric is written: its name, the cut-off and the choices that it takes."""
    settings = [
        f"{parameter.name}={'|'.join(map(str, parameter.choices)) or parameter.default}"
        for parameter in spec.parameters
        if parameter.name != "k"
    ]
    return spec.name + ("[@k]" if spec.parameter("k") else "") + (f" ({', '.join(settings)})" if settings else "")


def _range(bounds: tuple[float | None, float | None]) -> str:
    low, high = bounds
    if low is None and high is None:
        return "any number"
    return f"{'−∞' if low is None else f'{low:g}'} to {'∞' if high is None else f'{high:g}'}"


@dataclass(frozen=True)
class MoreColumn:
    """A field that the data does not have, and the metrics that it would add; headline metrics first."""

    field: str
    meaning: str
    metrics: list[str]

    @property
    def text(self) -> str:
        """The gain in a line."""
        count = f"{len(self.metrics)} metric{'s' if len(self.metrics) != 1 else ''}"
        return f"a column {self.field} ({self.meaning}) would add {count}, for example {', '.join(self.metrics[:2])}"


def more_columns(profile: Profile, fields: Sequence[str] = _ADDABLE) -> list[MoreColumn]:
    """The absent fields, of these, that would add metrics; those that add most first."""
    tools = _default_tools()
    every = [metric for metric in resolve_metrics(["all"]) if not profile.lacks(metric.spec)]
    possible = {step.name for step in profile.plan(every, tools).metrics}
    found = []
    for name in (name for name in fields if name not in profile.present):
        plan = replace(profile, present={**profile.present, name: profile.rows}).plan(every, tools)
        added = sorted(
            (step.name for step in plan.metrics if step.name not in possible), key=lambda name: not is_headline(name)
        )
        if added:
            found.append(MoreColumn(name, FIELDS[name].meaning, added))
    return sorted(found, key=lambda one: -len(one.metrics))


def _default_tools() -> dict[str, Tool]:
    """The tools that can be used without being named, with the models on this machine."""
    return {"matcher": make_matcher("citation"), **ToolFactory({}, concurrency=1, dry_run=True).tools}


@dataclass(frozen=True)
class Checked:
    """A summary of valid data and of the metrics that it allows."""

    profile: Profile
    possible: list[str]
    impossible: dict[str, list[str]]
    notes: list[str]
    more: list[MoreColumn]
    # Those of `possible` that have values only as far as a model finds what they need.
    judged: list[str]
    # Options of a command line that seem to fit the data.
    options: list[str]


def check(data: Any, *how: Any, **named: Any) -> Checked:
    """Read everything, raise all problems together, and say which metrics the data allows. The arguments are those of `open_reader`."""
    reader = open_reader(data, *how, **named)
    profiler = Profiler(reader)
    tried: list[pa.RecordBatch] = []
    for batch in profiler.batches():
        if sum(one.num_rows for one in tried) <= _MOST_TRIED:
            tried.append(batch)
    profile = profiler.profile()
    tools = _default_tools()
    every = resolve_metrics(["all"])
    pointless = {
        str(metric): f"needs {lack}, which no row has" for metric in every if (lack := profile.lacks(metric.spec))
    }
    plan = profile.plan([metric for metric in every if str(metric) not in pointless], tools)
    models = {
        step.name
        for step in plan.metrics
        if {*CATALOGUE.closure(step.metric.spec.needs, profile.present).tools} - {"matcher"}
    }
    plain = profile.plan([step.metric for step in plan.metrics if step.name not in models], tools)
    empty = _find_empty(plain, tried, tools) if profile.rows <= _MOST_TRIED else {}
    impossible: dict[str, list[str]] = {}
    for name, reason in {**plan.skipped, **pointless, **empty}.items():
        impossible.setdefault(reason, []).append(name)
    notes = [*reader.report.notes, *filter(None, [profile.advice])]
    possible = [step.name for step in plan.metrics if step.name not in empty]
    judged = [name for name in possible if name in models]
    return Checked(profile, possible, impossible, notes, more_columns(profile), judged, [*reader.report.options])


def _find_empty(plan: Plan, batches: Sequence[pa.RecordBatch], tools: Mapping[str, Tool]) -> dict[str, str]:
    """The metrics without models that have a value in no row, each with the most common reason: they are computed to know it."""
    reasons: dict[str, Counter[str]] = {step.name: Counter() for step in plan.metrics}
    for batch in batches:
        cells = run_to_end(evaluate_batch(plan, batch, tools, asyncio.Semaphore(1)), waits=plan.waits).cells
        for name in list(reasons):
            if OK in cells[name].status:
                del reasons[name]
            else:
                reasons[name].update(cells[name].reasons.values())
    return {name: found.most_common(1)[0][0] for name, found in reasons.items() if found}
