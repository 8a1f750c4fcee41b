"""The settings of a run, without the data: what is computed, with which tools, and how the run describes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragstone._version import __version__
from ragstone.data.schema import GIVEN_EVIDENCE
from ragstone.data.signature import Signature
from ragstone.engine.execute import run_to_end
from ragstone.engine.ingest import Profile
from ragstone.engine.plan import Plan, make_plan
from ragstone.evidence_functions.fact_matches import with_matcher
from ragstone.registry import CATALOGUE, resolve_metrics
from ragstone.registry.declare import metric_names
from ragstone.text.matchers import Matcher
from ragstone.tools.calibrations import MATCH
from ragstone.tools.judging_options import DEFAULT_CONCURRENCY, JudgingOptions
from ragstone.tools.open_tools import TOOLS, ToolFactory, open_matcher
from ragstone.tools.protocols import Tool
from ragstone.tools.roles import LOCAL_ROLES

# Names of metrics and sets, and functions.
Metrics = str | Callable[..., Any] | Sequence[str | Callable[..., Any]]
ROWS_IN_BATCHES = 50_000
# Default local models take some seconds for this many rows, the local judge some minutes: 1 to 8 on two cores, by processor
# and length of the chunks. For more rows, their metrics must be named.
MOST_ROWS_UNNAMED = 1_000
MOST_ROWS_JUDGED = 500
_UNMEASURED = (
    "metrics of local models are left out for more than {:,} rows; name them, as in -m quick,semantic_similarity"
)
_UNJUDGED = "metrics of the local judge are left out for more than {:,} rows; ask for them with --judge local"


@dataclass(frozen=True)
class RunRequest:
    """The settings of a run, without the data."""

    metrics: Sequence[str]
    matcher: Matcher
    # The user's choice: a name can be sent to another process, an open model cannot.
    chosen_matcher: str | Matcher
    judging: ToolFactory
    name: str = ""
    concurrency: int = DEFAULT_CONCURRENCY
    params: Mapping[str, Any] = field(default_factory=dict)
    backend: str = "local"
    workers: int | None = None
    # How to resume the run, for the viewer.
    command: str = ""
    # The name of the run's folder; a new one by default.
    run_id: str | None = None
    # The commit and the branch of the evaluated code.
    code: Mapping[str, Any] | None = None

    @property
    def rows_at_once(self) -> int:
        """The number of rows that wait for a model at a time. A batch should have the requests of many rows."""
        return max(self.concurrency, ROWS_IN_BATCHES) if self.judging.options.get("batch") else self.concurrency

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools with their signatures, for planning."""
        return {"matcher": self.matcher, **self.judging.tools}

    def plan(self, profile: Profile | None = None) -> Plan:
        """The plan for the data; without a profile, a plan that only checks names and definitions."""
        present: Collection[str] = profile.present if profile else ()
        given = present if profile else GIVEN_EVIDENCE.keys()
        absent = TOOLS.keys() - self.tools.keys()
        if profile:
            absent |= self.left_out(profile).keys()
        catalogue = with_matcher(self.tools)
        # The default set leaves out metrics whose tools are absent.
        chosen = resolve_metrics(
            self.metrics,
            out_of_reach=lambda spec: not absent.isdisjoint(catalogue.closure(spec.needs, given).tools),
            pointless=lambda spec: profile is not None and profile.lacks(spec) is not None,
        )
        return profile.plan(chosen, self.tools) if profile else make_plan(chosen, present, self.tools, catalogue)

    def left_out(self, profile: Profile) -> dict[str, str]:
        """The default tools that are too slow for this many rows, each with the note for the user."""
        if "quick" not in self.metrics:
            return {}
        notes = {}
        for tool in self.judging.unnamed:
            most, words = (MOST_ROWS_JUDGED, _UNJUDGED) if tool in LOCAL_ROLES else (MOST_ROWS_UNNAMED, _UNMEASURED)
            if profile.rows > most:
                notes[tool] = words.format(most)
        return notes

    def close(self) -> None:
        """Close the tools if nothing used them."""
        run_to_end(self.judging.close(), waits=self.judging.is_open)

    def describe_tools(self, plan: Plan) -> dict[str, str]:
        """The signature of each tool that was named or is needed."""
        return {"matcher": self.matcher.signature, **self.judging.describe(plan.needs)}

    def describe(self, plan: Plan) -> dict[str, Any]:
        """The part of run.json that depends on the request."""
        # The languages that the local judge was measured on, if any metric uses it.
        used = any(Signature.parse(step.signature).uses_local_judge for step in plan.metrics)
        card = self.judging.card if used else None
        return {
            **({"name": self.name} if self.name else {}),
            "params": dict(self.params),
            "code": self.code,
            "tools": self.describe_tools(plan),
            "judge": self.judging.describe(plan.needs) or None,
            **self._describe_errors(plan),
            **({"judge_languages": list(card.languages)} if card else {}),
        }

    def _describe_errors(self, plan: Plan) -> dict[str, Any]:
        """The measured error of each metric of a judge."""
        card, known = self.judging.card, {}
        for step in plan.metrics:
            signature, name = Signature.parse(step.signature), step.metric.spec.name
            if signature.llms or signature.is_local:
                found = self.judging.calibrations.error_of(name, step.signature, self.tools.get("checker"))
                by_card = card.error_of(name) if card and signature.is_local else None
                if error := found or (by_card and by_card.as_dict()):
                    known[step.name] = error
        # The judge whose probabilities labels of this run can calibrate.
        grader: Any = self.tools.get("grader") if "grader" in plan.needs else None
        judge = (
            {"judge": grader.uncalibrated, "prompts": grader.token_prompts} if hasattr(grader, "token_prompts") else {}
        )
        return {"judge_error": known or None, "token_judges": {MATCH: judge} if judge else None}

    def identity(self, profile: Profile, plan: Plan) -> dict[str, Any]:
        """The settings that must be equal for an interrupted run to be resumed."""
        return {
            "fingerprint": profile.fingerprint,
            "metrics": [*(step.signature for step in plan.metrics), *plan.skipped],
            "waits": plan.waits,
            "tools": self.describe_tools(plan),
            "ragstone": __version__,
        }


def make_request(
    metrics: Metrics | None,
    matcher: str | Matcher,
    name: str,
    concurrency: int,
    judging: JudgingOptions,
    dry_run: bool = False,
    large: bool = False,
) -> RunRequest:
    """A checked request. `large`: runs may use the large judge by default; single rows would wait for it to be loaded."""
    chosen = metric_names(metrics) if metrics else ["quick"]
    concurrency, opened, wanted = max(1, concurrency), open_matcher(matcher), None
    if all(judging.get(tool) is None for tool in TOOLS):
        # Without a named model, only the default tools of these metrics are opened.
        catalogue, replaced = with_matcher({"matcher": opened}), CATALOGUE.replacements()
        needs = {need for one in resolve_metrics(chosen) for need in (*one.spec.needs, *one.spec.optional)}
        wanted = catalogue.closure(needs, replaced=replaced).tools
    models = ToolFactory(judging, concurrency, dry_run, wanted, large)
    models.tools  # noqa: B018  (a wrong name or a missing key raises an error before the data is read)
    return RunRequest(chosen, opened, matcher, models, name, concurrency)
