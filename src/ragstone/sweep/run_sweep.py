"""Runs a sweep: collects the answers of every setting and evaluates them; settings that cannot win stop early.

All settings get the same questions in the same order. A setting that raises, has a wrong parameter or whose endpoint fails
is left out with its reason; the others continue. What is stored is never asked for again, also after `kill -9`.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ragstone.data.dataset import Dataset, samples_table
from ragstone.data.types import Sample
from ragstone.engine.ask_system import describe_system
from ragstone.engine.backends.ray import kept_workers
from ragstone.engine.evaluate import check_backend, evaluate, unheard
from ragstone.engine.progress import Progress, Report, silent
from ragstone.errors import InterruptedRunError, RagstoneError, StopRunError, UsageError
from ragstone.formats import read_dataset
from ragstone.llm.budget import parse_budget
from ragstone.storage.places import open_place
from ragstone.storage.runs import Run, finished_runs, open_run, write_table
from ragstone.storage.scores import read_scores
from ragstone.sweep.elimination import Race, Stop, look_ends
from ragstone.sweep.plan import Setting, SweepPlan
from ragstone.sweep.sweep_folder import (
    RecordedBudget,
    SweepFolder,
    label_questions,
    read_questions,
    shuffle_questions,
    system_options,
)
from ragstone.tools.model_options import ModelOptions
from ragstone.truth.collect import ERROR, collect
from ragstone.truth.join import read_with_truth

# If all of the first questions fail, the setting fails and no further question is asked.
PROBED = 3
USAGE_METRICS = ("system.latency", "system.cost", "system.output_tokens")
# Changes of these options do not change any score.
_NOT_IDENTITY = ("budget", "timeout_s", "deadline_s", "requests_per_minute", "tokens_per_minute", "cache", "base_url")


@dataclass
class SweepResult:
    """The outcome of a setting: `finished` on all questions, `stopped` after some of them, or `failed`."""

    setting: Setting
    questions: int = 0
    failure: str | None = None
    stop: Stop | None = None
    run: Run | None = None

    @property
    def status(self) -> str:
        """The state in one word."""
        return "failed" if self.failure is not None else "stopped" if self.stop else "finished"


@dataclass
class Sweep:
    """A sweep whose settings all have a run or a reason why not."""

    plan: SweepPlan
    folder: SweepFolder
    questions: list[Sample]
    outcomes: list[SweepResult]
    # The conversation of each question; None if rows are independent.
    clusters: np.ndarray | None = None
    spent_usd: float | None = None


def run_sweep(
    plan: SweepPlan, root: str, resume: bool = False, progress: Report = silent, note: Callable[[str], object] = unheard
) -> Sweep:
    """Run all settings, or continue the newest sweep with the same plan; returns the settings with their runs."""
    check_backend(plan.backend, plan.workers)
    plan, questions = read_questions(plan, root)
    outcomes, signatures = _describe(plan)
    place = open_place(root)
    identity = _identity(plan, questions, signatures)
    folder = SweepFolder.find(place, identity) if resume else None
    if resume and folder is None:
        note("there is no interrupted sweep with this plan, data and system; starting a new one")
    if folder is None:
        folder = SweepFolder.create(place, identity, shuffle_questions(plan, questions))
    with folder.owned(), kept_workers():
        try:
            return _Work(plan, root, folder, outcomes, progress, note).run()
        except (KeyboardInterrupt, InterruptedRunError):
            raise InterruptedRunError(f"stopped; {_kept(folder)}") from None
        except StopRunError as error:
            raise StopRunError(f"{_first_line(error)}\n{_kept(folder)}") from None


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _kept(folder: SweepFolder) -> str:
    return f"what is finished is kept in {folder.place}.\nRepeat the command with --resume to continue."


def _describe(plan: SweepPlan) -> tuple[list[SweepResult], list[str]]:
    """One outcome per setting, already failed if its system cannot be opened; and the signature of each system."""
    outcomes, signatures = [], []
    for setting in plan.settings:
        outcome, signature = SweepResult(setting), ""
        try:
            _, signature = describe_system(plan.target, **system_options(plan, setting))
        except RagstoneError as error:
            outcome.failure = _first_line(error)
        outcomes.append(outcome)
        signatures.append(signature)
    if all(outcome.failure is not None for outcome in outcomes):
        raise UsageError(f"no setting can be opened: {outcomes[0].failure}")
    return outcomes, signatures


def _identity(plan: SweepPlan, questions: Sequence[Sample], signatures: Sequence[str]) -> dict[str, Any]:
    models = {name: str(value) for name, value in sorted(plan.models.items()) if name not in _NOT_IDENTITY}
    return {
        "name": plan.name,
        "target": plan.target,
        "objective": plan.objective,
        "metrics": list(plan.metrics),
        "settings": [
            {"name": setting.name, "parameters": dict(setting.parameters), "system": signature}
            for setting, signature in zip(plan.settings, signatures, strict=True)
        ],
        "halving": asdict(plan.halving) if plan.halving else None,
        "seed": plan.seed,
        "models": models,
        "truth": plan.truth,
        "questions": Dataset.from_samples(questions).fingerprint,
    }


def objective_values(plan: SweepPlan, run: Run, samples: Sequence[Sample]) -> np.ndarray:
    """The metric that decides, one value per sample of the run; nan if there is none.

    A question that the system failed to answer counts as the worst value, so that failures do not help a setting.
    """
    found = read_scores(run, [plan.objective])[plan.objective].values
    values = found.copy() if len(found) else np.full(len(samples), np.nan)
    low, high = plan.metric.spec.bounds
    worst = low if plan.metric.spec.better == "higher" else high
    unanswered = np.array([sample.answer is None and ERROR in sample.metadata for sample in samples], dtype=bool)
    if worst is not None:
        values[unanswered] = worst
    return values


class _Work:
    """A running sweep."""

    def __init__(
        self,
        plan: SweepPlan,
        root: str,
        folder: SweepFolder,
        outcomes: list[SweepResult],
        progress: Report,
        note: Callable[[str], object],
    ) -> None:
        self.plan, self.root, self.folder = plan, root, folder
        self.outcomes, self.progress, self.note = outcomes, progress, note
        self.questions = list(read_dataset(str(folder.questions), "ragstone"))
        self.clusters = label_questions(self.questions)
        self.models = ModelOptions(**plan.models)
        limit = None if self.models.budget is None else parse_budget(self.models.budget).limit_usd
        self.budget = None if limit is None else RecordedBudget(limit, f"{folder.work}/spent")
        self._end = None if self.models.deadline_s is None else time.monotonic() + self.models.deadline_s

    def run(self) -> Sweep:
        """Collect with looks in between, then evaluate every setting that did not fail."""
        if self.folder.is_finished:
            self._restore()
        else:
            self._collect_all()
        for number, outcome in enumerate(self.outcomes):
            if outcome.failure is None:
                self.progress(Progress("evaluating", number, len(self.outcomes)))
                outcome.run = self._final_run(number, outcome)
        self.progress(Progress("evaluating", len(self.outcomes), len(self.outcomes)))
        spent = self.budget.spent_usd if self.budget else None
        return Sweep(self.plan, self.folder, self.questions, self.outcomes, self.clusters, spent)

    def _restore(self) -> None:
        """The outcomes of a finished sweep."""
        for number, outcome in enumerate(self.outcomes):
            outcome.failure = self.folder.read("failed", number)
            outcome.questions = len(self.questions)
            if stop := self.folder.read("stops", number):
                outcome.questions, outcome.stop = stop["questions"], Stop(*stop["stop"])

    def _collect_all(self) -> None:
        total, halving = len(self.questions), self.plan.halving
        # The number of questions per conversation; 1 for single questions.
        sizes = [1] * total if self.clusters is None else list(Counter(self.clusters.tolist()).values())
        looks = look_ends(sizes, halving.first, halving.growth) if halving else [total]
        ends = sorted({*looks, *([PROBED] if looks[0] > PROBED else [])})
        low, high = self.plan.metric.spec.bounds
        span = float(high - low) if low is not None and high is not None else 1.0
        race = Race(len(self.outcomes), span, halving.alpha if halving else 1.0)
        for number, outcome in enumerate(self.outcomes):
            if outcome.failure is not None:
                self._fail(number, outcome.failure, race)
        start = looked = 0
        for end in ends:
            for number in list(race.active):
                self._collect_block(number, start, end, race)
            start = end
            if end in looks and end < total and race.active:
                self._look(looked, end, race)
                looked = end

    def _collect_block(self, number: int, start: int, end: int, race: Race) -> None:
        outcome = self.outcomes[number]
        if (reason := self.folder.read("failed", number)) is not None:
            self._fail(number, reason, race)
            return
        samples = self.folder.read_answers(number, end)
        if samples is None:
            try:
                samples = self._ask(number, start, end)
            except (UsageError, StopRunError) as error:
                self._check_limits()
                self._fail(number, _first_line(error), race)
                return
            self._check_limits()
            self.folder.write_answers(number, end, samples)
            # Not earlier: the answers must always be in one of the two files.
            os.remove(self.folder.journal(number, end))
        outcome.questions = end
        reasons = Counter(str(sample.metadata.get(ERROR)) for sample in samples if sample.answer is None)
        if start == 0 and sum(reasons.values()) == len(samples):
            self._fail(number, reasons.most_common(1)[0][0], race)

    def _ask(self, number: int, start: int, end: int) -> list[Sample]:
        done = sum(outcome.questions for outcome in self.outcomes)
        total = sum(one.questions if one.status != "finished" else len(self.questions) for one in self.outcomes)
        options = system_options(self.plan, self.outcomes[number].setting)
        options["deadline_s"] = self._seconds_left()
        options["budget"] = self.budget
        collected = collect(
            self.questions[start:end],
            self.plan.target,
            journal=self.folder.journal(number, end),
            resume=True,
            keep_journal=True,
            progress=lambda step: self.progress(Progress("asking", done + step.done, total)),
            **options,
        )
        return collected.samples

    def _seconds_left(self) -> float | None:
        return None if self._end is None else max(self._end - time.monotonic(), 0.001)

    def _check_limits(self) -> None:
        """Stop the sweep if the budget or the time is used up: answers and scores are incomplete then."""
        if self.budget is not None and self.budget.is_spent:
            raise StopRunError(
                f"the budget of {self.budget.limit_usd:g} usd for all settings is spent: {self.budget.spent_usd:.4f} usd "
                "so far. A larger --budget continues."
            )
        if self._end is not None and time.monotonic() > self._end:
            raise StopRunError(f"the deadline of {self.models.deadline_s:g} s has passed.")

    def _fail(self, number: int, reason: str, race: Race) -> None:
        outcome = self.outcomes[number]
        outcome.failure, outcome.questions = reason, 0
        race.leave(number)
        if self.folder.read("failed", number) is None:
            self.folder.write("failed", reason, number)
            self.note(f"{outcome.setting.name} failed: {reason}")

    def _look(self, start: int, end: int, race: Race) -> None:
        values = np.full((len(self.outcomes), end - start), np.nan)
        for number in race.active:
            values[number] = self._values(number, start, end)
        if self.clusters is not None:
            labels = self.clusters[start:end]
            units = [values[:, labels == unit] for unit in dict.fromkeys(labels.tolist())]
            values = np.column_stack([_row_means(unit) for unit in units])
        for stop in race.look(-values if self.plan.metric.spec.better == "lower" else values):
            outcome = self.outcomes[stop.setting]
            outcome.stop = stop
            if self.folder.read("stops", stop.setting) is None:
                self.folder.write("stops", {"questions": end, "stop": list(stop)}, stop.setting)
                better = self.outcomes[stop.against].setting.name
                self.note(f"{outcome.setting.name} is stopped after {end} questions: {better} is better")

    def _values(self, number: int, start: int, end: int) -> list[float]:
        """The metric that decides for the questions of a look; nan if there is none."""
        stored = self.folder.read("values", number, end)
        if stored is None:
            samples = self._answers(number, end)[start:]
            label = f"{number}-{end}"
            done = (run for run in finished_runs(self.folder.looks) if run.name == label)
            run = next(done, None) or self._evaluate(
                Dataset.from_samples(samples), [self.plan.objective], str(self.folder.looks), name=label, resume=True
            )
            values = objective_values(self.plan, run, samples)
            stored = [None if np.isnan(value) else float(value) for value in values]
            self.folder.write("values", stored, number, end)
        return [np.nan if value is None else value for value in stored]

    def _answers(self, number: int, end: int) -> list[Sample]:
        """The answers of a setting to the first questions, in the order of the questions."""
        samples: list[Sample] = []
        for block in self.folder.block_ends(number):
            if block <= end:
                samples += self.folder.read_answers(number, block) or []
        return samples

    def _final_run(self, number: int, outcome: SweepResult) -> Run:
        """The run of a setting on all its answers, with all metrics."""
        known = self.folder.read("runs", number)
        if known is not None:
            return open_run(f"{self.root}/runs/{known}")
        place, run = self.folder.all_answers(number), None
        # It exists if the process was killed while this run was computed, or before it was recorded.
        was_begun = place.exists()
        if was_begun:
            done = finished_runs(open_place(self.root))
            run = next((one for one in done if one.info["dataset"]["path"] == str(place)), None)
        else:
            write_table(place, samples_table(self._answers(number, outcome.questions)))
        if run is None:
            metrics = [*(self.plan.metrics or ["quick"]), self.plan.objective, *USAGE_METRICS]
            name, params = f"{self.plan.name} {outcome.setting.name}", outcome.setting.parameters
            run = self._evaluate(str(place), metrics, self.root, name=name, params=params, resume=was_begun)
        self.folder.write("runs", run.id, number)
        return run

    def _evaluate(self, data: Any, metrics: list[str], out: str, **more: Any) -> Run:
        options = {**self.models.keywords(), **more}
        options |= {"budget": self.budget, "deadline_s": self._seconds_left()}
        options |= {"backend": self.plan.backend, "workers": self.plan.workers}
        source = data if self.plan.truth is None else read_with_truth(data, self.plan.truth, self.root, "ragstone")
        run = evaluate(source, metrics, out, format="ragstone", **options)
        try:
            self._check_limits()
        except StopRunError:
            run.folder.discard()  # its cells are incomplete
            raise
        return run


def _row_means(values: np.ndarray) -> np.ndarray:
    """The mean of each row over its values; nan if it has none."""
    counts = np.count_nonzero(~np.isnan(values), axis=1)
    return np.asarray(np.divide(np.nansum(values, axis=1), counts, out=np.full(len(values), np.nan), where=counts > 0))
