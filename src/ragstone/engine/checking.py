"""A look at data without evaluating it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.engine.judging import Judging
from ragstone.engine.planning import make_plan
from ragstone.engine.profiling import Profile, Profiler
from ragstone.formats import open_reader
from ragstone.registry import resolve_metrics
from ragstone.text.matchers import make_matcher


@dataclass(frozen=True)
class Checked:
    """What is known about data that has no problems."""

    profile: Profile
    possible: list[str]
    impossible: dict[str, list[str]]
    notes: list[str]


def check(
    data: Any, format: str | None = None, columns: Mapping[str, str] | None = None, limit: int | None = None
) -> Checked:
    """Read everything, raise all problems together, and say which metrics the data allows."""
    reader = open_reader(data, format, columns, limit)
    profiler = Profiler(reader)
    for _ in profiler.batches():
        pass
    profile = profiler.profile()
    # With the models on this machine too: those that can be used without being named.
    tools = {"matcher": make_matcher("citation"), **Judging({}, concurrency=1, quoting=True).tools}
    plan = make_plan(resolve_metrics(["all"]), profile.present, tools)
    impossible: dict[str, list[str]] = {}
    for name, reason in plan.skipped.items():
        impossible.setdefault(reason, []).append(name)
    return Checked(profile, [step.name for step in plan.metrics], impossible, list(reader.report.notes))
