"""The settings of a run, without the data: what is computed, with which tools, and how the run describes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragstone._version import __version__
from ragstone.data.schema import GIVEN_EVIDENCE
from ragstone.data.signature import Signature
from ragstone.engine.execute import run_to_end
from ragstone.engine.ingest import Profile
from ragstone.engine.plan import Plan, make_plan
from ragstone.evidence.fact_matches import with_matcher
from ragstone.registry import resolve_metrics
from ragstone.text.matchers import Matcher
from ragstone.tools.calibrations import MATCH
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.open_tools import TOOLS, Judging, open_matcher
from ragstone.tools.protocols import Tool
from ragstone.tools.roles import LOCAL_ROLES

DEFAULT_CONCURRENCY = 16
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
class Request:
    """The settings of a run, without the data."""

    metrics: Sequence[str]
    matcher: Matcher
    # As it was chosen: a name can be sent to another process, a model that is open cannot.
    chosen_matcher: str | Matcher
    judging: Judging
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
        """For planning: what can be used, and how it signs."""
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
            pointless=profile.is_pointless if profile else lambda _: False,
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
        """Its part of the manifest of a run."""
        return {
            **({"name": self.name} if self.name else {}),
            "params": dict(self.params),
            "code": self.code,
            "tools": self.describe_tools(plan),
            "judge": self.judging.describe(plan.needs) or None,
            **self.describe_errors(plan),
            **self._describe_languages(plan),
        }

    def _describe_languages(self, plan: Plan) -> dict[str, Any]:
        """The languages that the local judge was measured on, if any metric uses it."""
        used = any(Signature.parse(step.signature).uses_local_judge for step in plan.metrics)
        card = self.judging.card if used else None
        return {"judge_languages": list(card.languages)} if card else {}

    def describe_errors(self, plan: Plan) -> dict[str, Any]:
        """The measured error of each metric of a judge, and of the causes that the local judge finds."""
        card, known = self.judging.card, {}
        for step in plan.metrics:
            signature, name = Signature.parse(step.signature), step.metric.spec.name
            if signature.llms or signature.is_local:
                found = self.judging.calibrations.error_of(name, step.signature, self.tools.get("checker"))
                by_card = card.error_of(name) if card and signature.is_local else None
                if error := found or (by_card and by_card.as_dict()):
                    known[step.name] = error
        is_local = any(Signature.parse(step.signature).is_local for step in plan.metrics)
        rates = dict(card.cause_rates) if card and is_local else {}
        return {"judge_error": known or None, "cause_rates": rates or None, "token_judges": self._token_judges(plan)}

    def _token_judges(self, plan: Plan) -> dict[str, Any] | None:
        """The judge whose probabilities labels of this run can calibrate."""
        grader: Any = self.tools.get("grader") if "grader" in plan.needs else None
        if not hasattr(grader, "token_prompts"):
            return None
        return {MATCH: {"judge": grader.uncalibrated, "prompts": grader.token_prompts}}

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
    metrics: str | Sequence[str] | None,
    matcher: str | Matcher,
    name: str,
    concurrency: int,
    judging: JudgingOptions,
    dry_run: bool = False,
) -> Request:
    """A checked request."""
    chosen = [metrics] if isinstance(metrics, str) else list(metrics) if metrics else ["quick"]
    concurrency = max(1, concurrency)
    models = Judging(judging, concurrency, dry_run)
    models.tools  # noqa: B018  (a wrong name or a missing key raises an error before the data is read)
    return Request(chosen, open_matcher(matcher), matcher, models, name, concurrency)
