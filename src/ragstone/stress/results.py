"""A finished stress test: its curves, positions and reports; and the comparison of two generators on the same beds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ragstone.data.usage import QUESTION_ID
from ragstone.errors import UsageError
from ragstone.stats.bootstrap import bootstrap_means
from ragstone.stats.intervals import mean_interval
from ragstone.stats.paired import sign_flip_test
from ragstone.storage.places import read_json
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import FAILED, read_scores
from ragstone.stress.beds import ATTACKS, BEDS, BedReport
from ragstone.stress.hostile import HOSTILE
from ragstone.stress.run import Prepared

_FILE = "stress.json"
# With fewer questions, even a difference in every one is not significant: 2 / 2^5 is above 0.05.
LEAST = 6
_LEVEL = 0.05

# The main metric per bed; its curve comes first.
MAIN: dict[str, str] = {
    "noise": "rgb.accuracy",
    "rejection": "rgb.rejection_rate",
    "integration": "rgb.accuracy",
    "counterfactual": "rgb.error_detection_rate",
    **dict.fromkeys(ATTACKS, "attack_success"),
    "overload": "rgb.accuracy",
}
# The metadata by which the success of an attack is broken down.
GROUPINGS = ("rank", "instruction", "form", "basis")


@dataclass(frozen=True)
class Contrast:
    """The difference in robustness between two generators, or between the passages without and with hostile chunks."""

    bed: str
    metric: str
    first: float
    second: float
    low: float | None
    high: float | None
    p: float
    questions: int
    lower_is_better: bool = False

    @property
    def difference(self) -> float:
        """The second minus the first."""
        return self.second - self.first

    @property
    def verdict(self) -> str:
        """The result of the significance test in words."""
        if self.questions < LEAST:
            return "too few questions"
        if self.p >= _LEVEL or self.difference == 0:
            return "no evidence"
        second = (self.difference > 0) != self.lower_is_better
        return "the second is more robust" if second else "the first is more robust"

    @property
    def under_attack(self) -> str:
        """The verdict if the second is the same generator with hostile chunks."""
        words = {"the first is more robust": "worse under attack", "the second is more robust": "better under attack"}
        return words.get(self.verdict, self.verdict)


def check_same_beds(first: Rows, second: Rows) -> None:
    """Raises UsageError if two runs do not have the same rows, because then answers cannot be paired."""
    if sorted(first.ids) != sorted(second.ids):
        raise UsageError(
            "the two runs are not on the same beds. Use the same data, --passages, --rates, --hostile, --repeats and --seed "
            "for both generators, or pass --system twice in one command."
        )


def contrast(first: Sequence[Curve], second: Sequence[Curve], seed: int = 0) -> list[Contrast]:
    """The contrast per curve that both have, paired by question."""
    others = {(curve.bed, curve.metric): curve for curve in second}
    pairs = [(curve, others.get((curve.bed, curve.metric))) for curve in first]
    found = (_pair_up(curve, curve.areas, other.areas, seed) for curve, other in pairs if other)
    return [one for one in found if one]


def find_losses(curves: Sequence[Curve]) -> list[Contrast]:
    """The loss by hostile chunks: each metric of quality without and with them, paired by question."""
    of_quality = (curve for curve in curves if curve.is_attack and not curve.metric.startswith("attack"))
    found = (_pair_up(curve, curve.clean, curve.areas) for curve in of_quality)
    return [one for one in found if one]


def _pair_up(curve: Curve, first: Mapping[str, float], second: Mapping[str, float], seed: int = 0) -> Contrast | None:
    both = sorted(first.keys() & second.keys())
    if not both:
        return None
    before, after = (np.array([values[question] for question in both]) for values in (first, second))
    differences = (after - before)[:, None]
    # Of few questions that agree, the bootstrap gives an interval without width.
    interval = bootstrap_means(differences, seed=seed)[0] if len(both) >= LEAST else None
    low, high = (interval.low, interval.high) if interval else (None, None)
    p = float(sign_flip_test(differences, seed=seed)[0])
    means = float(before.mean()), float(after.mean())
    return Contrast(curve.bed, curve.metric, *means, low, high, p, len(both), curve.lower_is_better)


@dataclass(frozen=True)
class StressTest:
    """The results of one generator on the beds."""

    run: Run
    rows: Rows
    curves: list[Curve]
    places: list[Placed]
    # Under attack: what the hostile chunks cost, and how often attacks of each kind succeed.
    losses: list[Contrast]
    groups: list[Group]
    beds: list[BedReport]
    # Noise passages that contain the answer, the number of their questions, and whether they were kept.
    holding: int
    holding_questions: int
    kept: bool

    @property
    def system(self) -> str:
        """The generator's name."""
        return str(self.run.info["params"].get("system", self.run.name))

    def main(self, bed: str) -> Curve | None:
        """The first curve of a bed."""
        return next((curve for curve in self.curves if curve.bed == bed), None)


def keep_reports(run: Run, prepared: Prepared) -> None:
    """Stores the bed reports with the run, because its rows do not contain the questions that were left out."""
    content = {
        "beds": [asdict(report) for report in prepared.beds],
        "holding": sum(prepared.negatives.values()),
        "holding_questions": len(prepared.negatives),
        "kept": prepared.setting.keep_contaminated,
    }
    (run.folder.place / _FILE).write_bytes(json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n")


def read_stress(run: Run) -> StressTest:
    """A stored run as a stress test."""
    rows = read_rows(run)
    place = run.folder.place / _FILE
    content: dict[str, Any] = read_json(place) if place.exists() else {}
    curves = find_curves(rows)
    return StressTest(
        run=run,
        rows=rows,
        curves=curves,
        places=find_places(rows),
        losses=find_losses(curves),
        groups=find_groups(rows),
        beds=[BedReport(**report) for report in content.get("beds", [])],
        holding=content.get("holding", 0),
        holding_questions=content.get("holding_questions", 0),
        kept=content.get("kept", False),
    )


def contrast_tests(tests: Sequence[StressTest]) -> list[list[Contrast]]:
    """Every later generator compared with the first, on the same beds."""
    for other in tests[1:]:
        check_same_beds(tests[0].rows, other.rows)
    return [contrast(tests[0].curves, other.curves) for other in tests[1:]]


def as_dict(test: StressTest) -> dict[str, Any]:
    """Curves, positions and beds as JSON-compatible data, without single questions."""
    single = ("areas", "clean")
    curves = [{name: value for name, value in asdict(curve).items() if name not in single} for curve in test.curves]
    return {
        "run": test.run.path,
        "id": test.run.id,
        "system": test.system,
        "curves": curves,
        "places": [asdict(place) for place in test.places],
        "losses": [asdict(loss) for loss in test.losses],
        "groups": [asdict(group) for group in test.groups],
        "beds": [asdict(report) for report in test.beds],
        "contaminated": {"passages": test.holding, "questions": test.holding_questions, "kept": test.kept},
    }


@dataclass(frozen=True)
class Rows:
    """The rows of a stress test as columns: bed, rate, question, passages and scores."""

    ids: list[str]
    beds: np.ndarray
    # The rate that was requested, and the share of noise that the passages have.
    requested: np.ndarray
    shares: np.ndarray
    questions: np.ndarray
    passages: list[str]
    scores: Mapping[str, np.ndarray]
    failed: Mapping[str, np.ndarray]
    bounds: Mapping[str, tuple[float | None, float | None]]
    lower: frozenset[str]
    # The metadata of rows with an attack, per name.
    marks: Mapping[str, list[str | None]]


@dataclass(frozen=True)
class Point:
    """A metric at one noise rate: the mean over questions, each of which counts once.

    The rate is the mean share of noise in the passages; several requested rates may have the same. Under attack, it is the
    number of hostile chunks.
    """

    rate: float
    requested: tuple[float, ...]
    mean: float | None
    low: float | None
    high: float | None
    questions: int
    skipped: int
    failed: int


@dataclass(frozen=True)
class Robustness:
    """The area under a curve over the rates at which an answer is possible: the mean over questions that have all."""

    value: float
    low: float | None
    high: float | None
    questions: int


@dataclass(frozen=True)
class Curve:
    """A metric over the noise rates of a bed, which are shares of noise that the passages have."""

    bed: str
    metric: str
    points: tuple[Point, ...]
    # The rates that robustness covers: in the noise bed, those at which a passage contains the answer.
    rates: tuple[float, ...]
    robustness: Robustness | None
    # The area per question, by which two generators are compared.
    areas: Mapping[str, float]
    # Under attack, the value per question without hostile chunks.
    clean: Mapping[str, float]
    lower_is_better: bool = False

    @property
    def is_attack(self) -> bool:
        """Whether the rates are numbers of hostile chunks."""
        return self.bed in ATTACKS

    @property
    def is_shifted(self) -> bool:
        """Whether a share of noise differs from the requested rate, because there are too few passages of one kind."""
        return any(point.requested != (point.rate,) for point in self.points)

    @property
    def drop(self) -> float | None:
        """The loss from the first to the last rate that robustness covers."""
        means = [point.mean for point in self.points if point.mean is not None and point.rate in self.rates]
        return means[0] - means[-1] if len(means) > 1 else None


@dataclass(frozen=True)
class Placed:
    """A metric by the position of the only passage with the answer; 1 is the first."""

    place: int
    of: int
    mean: float
    low: float | None
    high: float | None
    rows: int


@dataclass(frozen=True)
class Group:
    """How often attacks of one kind succeed: those at one rank, with one instruction, in one form."""

    bed: str
    by: str
    name: str
    mean: float
    low: float | None
    high: float | None
    questions: int


def read_rows(run: Run) -> Rows:
    """The rows of a run of `ragstone stress`."""
    table = read_table(run.folder.samples, ["id", "metadata"])
    metadata = [json.loads(cell) if cell else {} for cell in table["metadata"].to_pylist()]
    if not all({"bed", "rate", QUESTION_ID} <= one.keys() for one in metadata):
        raise UsageError(f"run {run.name} is not a stress test: its samples have no bed and no rate")
    metrics = run.info["metrics"]
    found = read_scores(run, [metric["metric"] for metric in metrics])
    return Rows(
        ids=table["id"].to_pylist(),
        beds=np.array([one["bed"] for one in metadata]),
        requested=np.array([float(one.get(HOSTILE, one.get("requested_rate", one["rate"]))) for one in metadata]),
        shares=np.array([float(one.get(HOSTILE, one["rate"])) for one in metadata]),
        questions=np.array([str(one[QUESTION_ID]) for one in metadata]),
        passages=[str(one.get("passages", "")) for one in metadata],
        scores={name: scores.values for name, scores in found.items()},
        failed={name: scores.states == FAILED for name, scores in found.items()},
        bounds={metric["metric"]: (metric["bounds"][0], metric["bounds"][1]) for metric in metrics},
        lower=frozenset(metric["metric"] for metric in metrics if metric["better"] == "lower"),
        marks={name: [one.get(name) if one.get(HOSTILE) else None for one in metadata] for name in GROUPINGS},
    )


def find_curves(rows: Rows) -> list[Curve]:
    """One curve per bed and metric that has a value there, the bed's main metric first."""
    curves: list[Curve] = []
    for bed in BEDS:
        here = rows.beds == bed
        valued = [name for name, values in rows.scores.items() if np.any(~np.isnan(values[here]))]
        order = sorted(valued, key=lambda name: (name != MAIN[bed], not name.startswith(("attack", "rgb."))))
        curves += [_curve(rows, bed, name, here) for name in order if bed in ATTACKS or _spans(rows, name, here)]
    return curves


def _spans(rows: Rows, metric: str, here: np.ndarray) -> bool:
    """Whether the metric has more than one point, if the bed has more than one rate."""
    there = here & ~np.isnan(rows.scores[metric])
    return len(np.unique(rows.requested[there])) > 1 or len(np.unique(rows.requested[here])) == 1


def _curve(rows: Rows, bed: str, metric: str, here: np.ndarray) -> Curve:
    at = _by_share(rows, here)
    points = tuple(_point(rows, metric, rate, chosen) for rate, chosen in at.items())
    attack = bed in ATTACKS
    counted = tuple(rate for rate, chosen in at.items() if _counts(rows, bed, rate, chosen))
    under = [point for point in points if point.rate in counted]
    chosen = np.any([at[rate] for rate in counted], axis=0) if counted else np.zeros(len(here), bool)
    areas = _question_means(rows, metric, chosen) if attack else _areas(rows, metric, chosen)
    clean = _question_means(rows, metric, at[0.0]) if attack else {}
    robustness = _robustness(areas, under, rows.bounds[metric])
    return Curve(bed, metric, points, counted, robustness, areas, clean, metric in rows.lower)


def _counts(rows: Rows, bed: str, rate: float, chosen: np.ndarray) -> bool:
    """Whether robustness covers a rate: with hostile chunks, or in the noise bed with an answer in the passages of every row."""
    if bed in ATTACKS:
        return rate > 0
    # The rejection bed covers the other rates of the noise bed.
    return bed != "noise" or (rate < 1 and all("+" in rows.passages[row] for row in np.flatnonzero(chosen)))


def _by_share(rows: Rows, here: np.ndarray) -> dict[float, np.ndarray]:
    """The rows of each requested rate by their mean share of noise; requested rates with an equal share are one."""
    found: dict[float, np.ndarray] = {}
    for requested in np.unique(rows.requested[here]):
        chosen = here & (rows.requested == requested)
        share = round(float(rows.shares[chosen].mean()), 2)
        found[share] = found.get(share, False) | chosen
    return dict(sorted(found.items()))


def _question_means(rows: Rows, metric: str, chosen: np.ndarray) -> dict[str, float]:
    """The mean per question over its repeats that have a value."""
    found: dict[str, list[float]] = {}
    for question, value in zip(rows.questions[chosen].tolist(), rows.scores[metric][chosen].tolist(), strict=True):
        if not np.isnan(value):
            found.setdefault(question, []).append(value)
    return {question: sum(values) / len(values) for question, values in found.items()}


def _point(rows: Rows, metric: str, rate: float, chosen: np.ndarray) -> Point:
    values = np.array(list(_question_means(rows, metric, chosen).values()))
    low, high = _ends(values, rows.bounds[metric])
    failed = int(np.count_nonzero(rows.failed[metric][chosen]))
    missing = int(np.count_nonzero(np.isnan(rows.scores[metric][chosen])))
    mean = float(values.mean()) if len(values) else None
    requested = tuple(np.unique(rows.requested[chosen]).tolist())
    return Point(rate, requested, mean, low, high, len(values), missing - failed, failed)


def _areas(rows: Rows, metric: str, chosen: np.ndarray) -> dict[str, float]:
    """The area under each question's curve over its own shares of noise, divided by the width.

    A question without a value at one of its shares has none.
    """
    found: dict[str, dict[float, list[float]]] = {}
    columns = (rows.questions[chosen].tolist(), rows.shares[chosen].tolist(), rows.scores[metric][chosen].tolist())
    for question, share, value in zip(*columns, strict=True):
        values = found.setdefault(question, {}).setdefault(share, [])
        if not np.isnan(value):
            values.append(value)
    areas = {}
    for question, at in sorted(found.items()):
        shares = sorted(at)
        if all(at.values()):
            areas[question] = sum(
                weight * sum(at[share]) / len(at[share]) for share, weight in zip(shares, _weights(shares), strict=True)
            )
    return areas


def _weights(rates: Sequence[float]) -> list[float]:
    """The weights of the trapezoidal rule; they sum to 1, also for a single rate."""
    if len(rates) < 2:
        return [1.0] * len(rates)
    width = rates[-1] - rates[0]
    gaps = np.diff(rates)
    return [float(value) for value in (np.append(gaps, 0.0) + np.insert(gaps, 0, 0.0)) / 2 / width]


def _robustness(
    areas: Mapping[str, float], points: Sequence[Point], bounds: tuple[float | None, float | None]
) -> Robustness | None:
    if not areas:
        return None
    values = np.array(list(areas.values()))
    low, high = _ends(values, bounds)
    if np.ptp(values) == 0 and all(point.low is not None and point.high is not None for point in points):
        # If all questions agree, their interval has no width; the areas under the points' limits are more honest.
        weights = _weights([point.rate for point in points])
        low = sum(weight * (point.low or 0.0) for weight, point in zip(weights, points, strict=True))
        high = sum(weight * (point.high or 0.0) for weight, point in zip(weights, points, strict=True))
    return Robustness(float(values.mean()), low, high, len(values))


def _ends(values: np.ndarray, bounds: tuple[float | None, float | None]) -> tuple[float | None, float | None]:
    """The confidence interval of a mean; (None, None) if there are too few values."""
    interval = mean_interval(values, bounds=bounds) if len(values) else None
    return (interval.low, interval.high) if interval else (None, None)


def find_groups(rows: Rows, metric: str = "attack_success") -> list[Group]:
    """The success of attacks by rank, instruction, form and basis, if they differ in it; the most successful first."""
    groups: list[Group] = []
    for bed in ATTACKS:
        for by, names in rows.marks.items():
            here = np.array([name if at == bed else None for name, at in zip(names, rows.beds, strict=True)])
            distinct = sorted({name for name in here if name is not None})
            found = []
            for name in distinct if len(distinct) > 1 and metric in rows.scores else ():
                values = np.array(list(_question_means(rows, metric, here == name).values()))
                if len(values):
                    ends = _ends(values, rows.bounds[metric])
                    found.append(Group(bed, by, name, float(values.mean()), *ends, len(values)))
            groups += sorted(found, key=lambda group: -group.mean)
    return groups


def find_places(rows: Rows, metric: str = "rgb.accuracy") -> list[Placed]:
    """A metric by the position of the answer, over noise rows of the most frequent length with one such passage."""
    pairs = zip(rows.passages, rows.beds.tolist(), rows.scores.get(metric, ()), strict=False)
    scored = [
        (kinds, value)
        for kinds, bed, value in pairs
        if bed == "noise" and kinds.count("+") == 1 and len(kinds) > 1 and not np.isnan(value)
    ]
    lengths = [len(kinds) for kinds, _ in scored]
    usual = max(set(lengths), key=lengths.count, default=0)
    placed = []
    for place in range(usual):
        values = np.array([value for kinds, value in scored if len(kinds) == usual and kinds[place] == "+"])
        if len(values):
            low, high = _ends(values, rows.bounds[metric])
            placed.append(Placed(place + 1, usual, float(values.mean()), low, high, len(values)))
    return placed
