"""The results of a sweep: leaderboard, main effects, and quality against cost and latency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from ragstone.analysis.leaderboard import Panel, Point, find_tradeoffs, group_letters
from ragstone.errors import StorageError
from ragstone.stats.bootstrap import clustered_interval
from ragstone.stats.intervals import Interval, mean_interval
from ragstone.stats.paired import flip_signs
from ragstone.storage.durable import from_fields
from ragstone.storage.places import read_json
from ragstone.storage.scores import read_ids, read_scores
from ragstone.sweep.effects import Conditions, LevelEffect, ParameterEffect, main_effects
from ragstone.sweep.run_sweep import Sweep, objective_values
from ragstone.sweep.sweep_folder import SweepFolder

LEVEL = 0.95
# With fewer questions no difference is tested.
_LEAST_QUESTIONS = 6
_LATENCY, _COST = "system.latency", "system.cost"
# Costs that differ by fewer standard errors count as equal.
_ERRORS = 2.0


@dataclass(frozen=True)
class Standing:
    """A setting on the leaderboard. Settings with a common letter do not differ significantly.

    `mean` is over `questions` questions. A setting that was stopped has no rank; `rival` is the mean of the setting that beat it,
    on the same questions.
    """

    label: str
    name: str
    parameters: Mapping[str, Any]
    status: str
    questions: int = 0
    # Questions that the system failed to answer; they count as the worst value.
    unanswered: int = 0
    mean: float | None = None
    interval: Interval | None = None
    rank: int | None = None
    group: str = ""
    latency_s: float | None = None
    cost_usd: float | None = None
    # No other setting is better in one of quality, latency and price and at least as good in the others.
    undominated: bool = False
    beaten_by: str = ""
    rival: float | None = None
    evidence: float | None = None
    reason: str = ""
    run: str = ""


@dataclass(frozen=True)
class SweepResults:
    """All results; `standings` has the best setting first, then the stopped ones, then the failed ones."""

    name: str
    id: str
    objective: str
    better: str
    bounds: tuple[float | None, float | None]
    questions: int
    parameters: tuple[str, ...]
    standings: tuple[Standing, ...]
    effects: tuple[ParameterEffect, ...]
    effect_questions: int
    effects_are_sequential: bool
    alpha: float | None
    asked: int
    spent_usd: float | None
    remarks: tuple[str, ...]
    panels: tuple[Panel, ...] = field(default=())

    @property
    def has_values(self) -> bool:
        """Whether a setting was scored."""
        return any(one.mean is not None for one in self.standings)

    def as_dict(self) -> dict[str, Any]:
        """The results as JSON."""
        return {"schema": "ragstone.sweep", "version": 1, **asdict(self)}


def read_results(folder: SweepFolder) -> SweepResults:
    """The stored results of a finished sweep."""
    try:
        return _from_dict(read_json(folder.results))
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise StorageError(f"{folder.results} does not have the results of a sweep: {error}") from None


def _from_dict(stored: Mapping[str, Any]) -> SweepResults:
    lists: dict[str, Any] = {
        "bounds": tuple(stored["bounds"]),
        "parameters": tuple(stored["parameters"]),
        "remarks": tuple(stored["remarks"]),
        "standings": tuple(from_fields(Standing, _with_interval(one)) for one in stored["standings"]),
        "effects": tuple(
            ParameterEffect(
                one["parameter"],
                tuple(from_fields(LevelEffect, _with_interval(level)) for level in one["levels"]),
                one["note"],
            )
            for one in stored["effects"]
        ),
        "panels": tuple(
            from_fields(Panel, {**one, "points": tuple(from_fields(Point, point) for point in one["points"])})
            for one in stored["panels"]
        ),
    }
    return from_fields(SweepResults, {**stored, **lists})


def _with_interval(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {**stored, "interval": stored["interval"] and Interval(*stored["interval"])}


def summarise(sweep: Sweep) -> SweepResults:
    """The results of a sweep from the runs of its settings."""
    labels = [chr(ord("A") + number) if number < 26 else str(number + 1) for number in range(len(sweep.outcomes))]
    columns = {sample.id: position for position, sample in enumerate(sweep.questions)}
    values = np.full((len(labels), len(columns)), np.nan)
    costs = {name: values.copy() for name in (_LATENCY, _COST)}
    for number, outcome in enumerate(sweep.outcomes):
        if outcome.run is not None:
            positions = [columns[name] for name in read_ids(outcome.run)]
            samples = list(outcome.run.samples)
            values[number, positions] = objective_values(sweep.plan, outcome.run, samples)
            for name, table in costs.items():
                found = read_scores(outcome.run, [name])[name].values
                table[number, positions] = found if len(found) else np.nan
    _fail_without_value(sweep, values)
    standings = _stand(sweep, labels, values, costs)
    spec, halving = sweep.plan.metric.spec, sweep.plan.halving
    scored = [number for number, outcome in enumerate(sweep.outcomes) if outcome.failure is None]
    complete = ~np.isnan(values[scored]).any(axis=0)
    clusters = None if sweep.clusters is None else sweep.clusters[complete]
    conditions = Conditions(spec.bounds, LEVEL, clusters, is_sequential=halving is not None)
    parameters = [sweep.outcomes[number].setting.parameters for number in scored]
    effects = main_effects(parameters, values[scored][:, complete], conditions) if scored and complete.any() else []
    return SweepResults(
        name=sweep.plan.name,
        id=sweep.folder.id,
        objective=sweep.plan.objective,
        better=spec.better,
        bounds=spec.bounds,
        questions=len(columns),
        parameters=sweep.plan.parameters,
        standings=tuple(standings),
        effects=tuple(effects),
        effect_questions=int(complete.sum()),
        effects_are_sequential=halving is not None,
        alpha=halving.alpha if halving else None,
        asked=sum(outcome.questions for outcome in sweep.outcomes),
        spent_usd=sweep.spent_usd,
        remarks=tuple(_remarks(sweep)),
        panels=tuple(_panels(sweep, labels)),
    )


def _fail_without_value(sweep: Sweep, values: np.ndarray) -> None:
    """A setting without a single value of the metric that decides fails."""
    for outcome, row in zip(sweep.outcomes, values, strict=True):
        if outcome.run is not None and np.isnan(row).all():
            skipped = outcome.run.info.get("skipped") or {}
            reason = skipped.get(sweep.plan.objective) or "no answer has a value"
            outcome.failure = f"{sweep.plan.objective}: {reason}"


def _stand(sweep: Sweep, labels: Sequence[str], values: np.ndarray, costs: Mapping[str, np.ndarray]) -> list[Standing]:
    finished = [number for number, outcome in enumerate(sweep.outcomes) if outcome.status == "finished"]
    stopped = [number for number, outcome in enumerate(sweep.outcomes) if outcome.status == "stopped"]
    failed = [number for number, outcome in enumerate(sweep.outcomes) if outcome.status == "failed"]
    sign = -1.0 if sweep.plan.metric.spec.better == "lower" else 1.0
    front = undominated(sign * values, [costs[_LATENCY], costs[_COST]], [*finished, *stopped])
    places = _rank(sweep, values, finished)
    standings = []
    for number in [*places, *sorted(stopped, key=lambda one: -sign * float(np.nanmean(values[one])))]:
        outcome = sweep.outcomes[number]
        known = values[number][~np.isnan(values[number])]
        usual: dict[str, Any] = {"mean": float(known.mean())}
        if outcome.stop is not None:
            both = ~np.isnan(values[number]) & ~np.isnan(values[outcome.stop.against])
            usual |= {
                "beaten_by": labels[outcome.stop.against],
                "rival": float(values[outcome.stop.against][both].mean()) if both.any() else None,
                "evidence": outcome.stop.evidence,
            }
        standings.append(
            Standing(
                label=labels[number],
                name=outcome.setting.name,
                parameters=dict(outcome.setting.parameters),
                status=outcome.status,
                questions=outcome.questions,
                unanswered=0 if outcome.run is None else sum(sample.answer is None for sample in outcome.run.samples),
                latency_s=_mean(costs[_LATENCY][number]),
                cost_usd=_mean(costs[_COST][number]),
                undominated=number in front,
                run=outcome.run.id if outcome.run else "",
                **(usual | places.get(number, {})),
            )
        )
    for number in failed:
        setting, reason = sweep.outcomes[number].setting, sweep.outcomes[number].failure or ""
        standings.append(Standing(labels[number], setting.name, dict(setting.parameters), "failed", reason=reason))
    return standings


def _rank(sweep: Sweep, values: np.ndarray, finished: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Mean, interval, rank and group of the settings that answered all questions; best first.

    All are over the questions with a value in each of them. All pairs are one family of tests.
    """
    spec = sweep.plan.metric.spec
    table = values[list(finished)].T
    complete = ~np.isnan(table).any(axis=1)
    whole = table[complete]
    if not len(whole):
        return {number: {} for number in finished}
    clusters = None if sweep.clusters is None else sweep.clusters[complete]
    means = whole.mean(axis=0)
    order = [int(at) for at in np.argsort(means if spec.better == "lower" else -means, kind="stable")]
    differ: set[tuple[int, int]] | None = None
    if len(order) > 1 and len(whole) >= _LEAST_QUESTIONS:
        pairs = list(combinations(range(len(order)), 2))
        changes = np.column_stack([whole[:, second] - whole[:, first] for first, second in pairs])
        chances = flip_signs(changes, clusters, seed=sweep.plan.seed).joint
        differ = {pair for pair, p in zip(pairs, chances, strict=True) if p < 1 - LEVEL}
    groups = group_letters(order, differ) if differ is not None else [""] * len(order)
    places = {}
    for position, at in enumerate(order):
        ahead = sum((min(at, other), max(at, other)) in (differ or ()) for other in order[:position])
        if clusters is None:
            interval = mean_interval(whole[:, at], LEVEL, spec.bounds)
        else:
            interval = clustered_interval(whole[:, at], clusters, spec.bounds, LEVEL)
        rank = None if differ is None else 1 + ahead
        places[finished[at]] = {
            "mean": float(means[at]), "interval": interval, "rank": rank, "group": groups[position]
        }  # fmt: skip
    return places


def undominated(quality: np.ndarray, costs: Sequence[np.ndarray], settings: Sequence[int]) -> set[int]:
    """The settings that no other setting dominates, by means over the questions that both have. Higher quality is better.

    A setting dominates another if it is better in one respect and not worse in any. Costs that differ by less than two
    standard errors count as equal, because latency varies by chance. A cost that one of the two lacks is ignored.
    """

    def gains(one: int, other: int) -> Iterator[float]:
        for table in (quality, *costs):
            changes = table[one] - table[other]
            changes = changes[~np.isnan(changes)]
            if not len(changes):
                continue
            mean = float(changes.mean())
            if table is quality:
                yield mean
            else:
                yield -mean if abs(mean) > _ERRORS * float(changes.std()) / len(changes) ** 0.5 else 0.0

    def dominates(one: int, other: int) -> bool:
        found = list(gains(one, other))
        return bool(found) and min(found) >= 0 and max(found) > 0

    return {one for one in settings if not any(dominates(other, one) for other in settings if other != one)}


def _mean(values: np.ndarray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _panels(sweep: Sweep, labels: Sequence[str]) -> list[Panel]:
    """Quality against latency and price, for the settings that answered all questions."""
    chosen = [
        (outcome.run, label)
        for outcome, label in zip(sweep.outcomes, labels, strict=True)
        if outcome.status == "finished" and outcome.run is not None
    ]
    if not chosen:
        return []
    return find_tradeoffs([run for run, _ in chosen], [label for _, label in chosen], sweep.plan.objective)


def _remarks(sweep: Sweep) -> Iterator[str]:
    cached = [
        outcome.setting.name
        for outcome in sweep.outcomes
        if outcome.run is not None and not any("latency_s" in sample.metadata for sample in outcome.run.samples)
    ]
    if cached:
        count = f"{len(cached)} of {len(sweep.outcomes)} settings"
        yield f"the latency of {count} is unknown: their answers come from the cache. --no-cache asks again."
