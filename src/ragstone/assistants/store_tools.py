"""The questions of a coding assistant about a store: runs, scores, worst samples, one sample, comparisons and gates. All is read only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import islice
from typing import Any

from ragstone.analysis.diagnosis import Diagnosis, diagnose
from ragstone.api.functions import compare, gate
from ragstone.api.public_run import Run
from ragstone.errors import UnknownNameError, UsageError
from ragstone.report.json_parts import pick_fields
from ragstone.storage.human_labels import labels_of
from ragstone.storage.places import open_place
from ragstone.storage.runs import NEWEST, finished_runs
from ragstone.views.diagnosis import DiagnosisView
from ragstone.views.run import RunView, listed_run
from ragstone.views.worst import worst_views
from ragstone.web.navigation import is_inside

MOST_LISTED = 50
# More samples take too long while an assistant waits: to find the causes of, and to compare row by row with a baseline.
MOST_DIAGNOSED = 2_000
MOST_GATED = 5_000
_METRIC = (
    *("metric", "part", "better", "shown", "interval", "is_estimate"),
    *("mean", "low", "high", "ok", "skipped", "failed"),
)
_DIAGNOSIS = (
    *("headline", "statuses", "looked_at", "causes.name", "causes.part", "causes.meaning", "causes.main"),
    *("causes.look", "causes.examples", "advice.text", "notes"),
)
_CHANGE = ("metric", "better", "pairs", "before", "after", "difference", "low", "high", "corrected_p", "verdict")


class StoreTools:
    """The runs of one store. Runs are found by id or name only: no path or URL leads out of it."""

    def __init__(self, root: str) -> None:
        self._root = open_place(root)
        # By run and labels: people may label answers while the server runs.
        self._diagnoses = lru_cache(maxsize=4)(lambda run_id, _stamp: diagnose(self._find(run_id), MOST_DIAGNOSED))

    def list_runs(self, top: int = 20) -> dict[str, Any]:
        """List the stored runs, the newest first: names, ids, numbers of rows."""
        return {"runs": [listed_run(run) for run in islice(self._runs(), max(1, min(top, MOST_LISTED)))]}

    def show_run(self, run: str = "latest", all_metrics: bool = False) -> dict[str, Any]:
        """Show the verdict on a run: rows by status, causes of failures, advice, and the headline metrics or all of them."""
        found = self._find(run)
        view, diagnosis = RunView.of(found), DiagnosisView.of(self._diagnosis(found), found.info)
        shown = [metric for metric in view.metrics if metric.headline or all_metrics]
        return {
            "run": listed_run(found),
            "judges": list(view.judged),
            "judge_failure": view.failure,
            "diagnosis": pick_fields(asdict(diagnosis), _DIAGNOSIS, strict=False),
            "metrics": [{name: getattr(metric, name) for name in _METRIC} for metric in shown],
            "not_computed": dict(view.absent),
        }

    def worst_samples(self, run: str = "latest", top: int = 5) -> dict[str, Any]:
        """List the rows that are most probably wrong, with cause and reason. `word` names a row for explain_sample."""
        found = self._find(run)
        views = worst_views(found, self._diagnosis(found), max(1, min(top, MOST_LISTED)))
        return {"run": found.name, "samples": [asdict(view) for view in views]}

    def explain_sample(self, sample: str, run: str = "latest", metric: str = "") -> dict[str, Any]:
        """Show one sample with its chunks, claims, verdicts and scores; with a metric, how that score was computed."""
        explained = self._find(run).explain(sample, metric or None).as_dict()
        return {name: value for name, value in explained.items() if name not in ("evidence", "calls")}

    def compare_runs(self, before: str, after: str, metrics: Sequence[str] = ()) -> dict[str, Any]:
        """Test whether `after` is better than `before`: rows fixed and newly failing, paired differences with intervals."""
        found = compare(self._find(before), self._find(after), list(metrics)).as_dict()
        wanted = set(metrics) or set(found["headlines"])
        changes = [change for change in found["metrics"] if change["metric"] in wanted]
        same = ("headline", "summary", "pairs", "remarks")
        return {
            "before": found["before"]["name"],
            "after": found["after"]["name"],
            **{name: found[name] for name in same},
            "rows": found.get("failing"),
            "metrics": pick_fields(changes, _CHANGE),
        }

    def check_gate(
        self,
        run: str = "latest",
        against: str = "",
        minimum: Mapping[str, float] | None = None,
        maximum: Mapping[str, float] | None = None,
        max_new_failures: int | None = None,
    ) -> dict[str, Any]:
        """Decide whether a run passes: by minimum or maximum means of metrics, or against a baseline run. Nothing is stored."""
        if not (against or minimum or maximum):
            raise UsageError("a gate needs a condition: minimum={'recall@5': 0.8}, maximum={…}, or against='RUN'")
        found, baseline = self._find(run), self._find(against) if against else None
        if baseline and (rows := max(found.info.rows, baseline.info.rows)) > MOST_GATED:
            raise UsageError(f"{rows:,} rows take too long here: ragstone gate {found.id} --against {baseline.id}")
        decision = gate(found, min=minimum, max=maximum, against=baseline, max_new_failures=max_new_failures)
        return {name: value for name, value in decision.as_dict().items() if name not in ("run", "left_out")}

    def _find(self, wanted: str) -> Run:
        """The finished run of that id or name inside the store; `latest` is the newest."""
        known: list[str] = []
        for run in self._runs():
            if wanted in NEWEST or wanted in (run.id, run.name):
                return run
            known.append(run.name)
        if not known:
            raise UsageError("this store has no finished run; `ragstone run DATA -o ROOT` makes one")
        raise UnknownNameError("run", wanted[:100], known, "list_runs lists them; paths are not accepted.")

    def _runs(self) -> Iterator[Run]:
        return (Run(run.folder) for run in finished_runs(self._root) if is_inside(self._root, run.folder.place))

    def _diagnosis(self, run: Run) -> Diagnosis:
        return self._diagnoses(run.id, labels_of(run).stamp)
