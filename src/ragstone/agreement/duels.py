"""Pairwise comparison of systems by one or several judges.

`pair_runs` builds rows with the answers of two systems to the same question. `Asking` evaluates them with each judge under
one budget and deadline. `summarise` computes wins, strengths and the agreement of the judges.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any, cast

import numpy as np

from ragstone.data.types import Sample
from ragstone.engine.evaluate import evaluate, unheard
from ragstone.engine.ingest import Profiler
from ragstone.engine.request import RunRequest, make_request
from ragstone.errors import UsageError
from ragstone.formats import open_reader
from ragstone.llm.budget import parse_budget
from ragstone.metrics.pairwise import OTHER_ANSWER, SHOW_REFERENCE
from ragstone.stats.bradley_terry import Duels, Strengths, rate
from ragstone.stats.intervals import Interval
from ragstone.stats.paired import sign_test
from ragstone.stats.rater_agreement import majority, make_alpha, make_kappa
from ragstone.stats.resampled_measures import Estimate, estimate, estimate_mean, take_measure
from ragstone.storage.places import open_place
from ragstone.storage.runs import Run, finished_runs
from ragstone.storage.scores import read_scores
from ragstone.text.questions import question_key
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.model_options import ModelOptions

METRICS = ("pair.win", "pair.consistency", "pair.first_seat")
# An expired deadline.
_NO_TIME = 1e-3


class Asking:
    """Evaluates rows with several judges under one root; they share the budget and the deadline.

    `judges` are checked for the ability to compare pairs.
    """

    def __init__(self, judges: Sequence[Any], out: str | None, options: Mapping[str, Any], **watching: Any) -> None:
        self._out, self._options, self._watching = out, dict(options), watching
        self._began = time.monotonic()
        if (budget := self._options.get("budget")) is not None:
            self._options["budget"] = parse_budget(budget)
        for judge in judges:
            request = _make_request(judge, self._options)
            request.close()
            if "pair_judge" not in request.tools:
                raise UsageError(
                    f"{judge} cannot compare two answers; name a language model, as in --judge openai/gpt-4o-mini"
                )

    def ask(
        self, judge: Any, rows: Sequence[Mapping[str, Any]], name: str, metrics: Sequence[str] = METRICS, **more: Any
    ) -> Run:
        """The verdicts of one judge about each row, as a stored run."""
        options = {**self._options, **self._watching, **more}
        if (seconds := options.get("deadline_s")) is not None:
            options["deadline_s"] = max(seconds - (time.monotonic() - self._began), _NO_TIME)
        if options.get("resume") and self._out is not None:
            finished = _find_finished(judge, rows, self._out, options, metrics)
            if finished is not None:
                options.get("note", unheard)(f"{judge} has already judged all rows: run {finished.id}")
                return finished
        return evaluate(rows, metrics, self._out, name=name, judge=judge, **options)


def _make_request(judge: Any, options: Mapping[str, Any], metrics: Sequence[str] = METRICS) -> RunRequest:
    known = {field.name: options[field.name] for field in fields(ModelOptions) if field.name in options}
    return make_request(metrics, "citation", "", 1, cast("JudgingOptions", {**known, "judge": judge}))


def _find_finished(
    judge: Any, rows: Sequence[Mapping[str, Any]], out: str, options: Mapping[str, Any], metrics: Sequence[str]
) -> Run | None:
    """The newest run in which this judge judged exactly these rows without failures."""
    profiler = Profiler(open_reader(rows))
    for _ in profiler.batches():
        pass
    request, profile = _make_request(judge, options, metrics), profiler.profile()
    wanted = request.identity(profile, request.plan(profile))
    request.close()
    for run in finished_runs(open_place(out)):
        info = run.info
        signatures = [*(str(metric.signature) for metric in info.metrics), *info.skipped]
        found = (signatures, info["tools"], info["versions"]["ragstone"])
        same = found == tuple(wanted[name] for name in ("metrics", "tools", "ragstone"))
        same = same and run.folder.fingerprint(info["dataset"]["fingerprint"]) == wanted["fingerprint"]
        if same and not run.summary()[metrics[0]].n_failed:
            return run
    return None


# With more systems, only some pairs are compared per question, so that calls do not grow quadratically.
MOST_ALL = 3
# Keys in the metadata of a row.
QUESTION, ONE, OTHER = "pair_sample", "pair_one", "pair_other"


@dataclass(frozen=True)
class Pairing:
    """Rows for a pair judge, the names of the systems, and the number of unpaired questions."""

    rows: list[dict[str, Any]]
    systems: tuple[str, ...]
    questions: int
    # Questions that a system lacks or did not answer, and ids with different questions.
    left_out: int
    # Questions without a reference, if references are shown.
    bare: int = 0


def pair_runs(
    runs: Sequence[Run], with_reference: bool = False, every_pair: bool = False, limit: int | None = None, seed: int = 0
) -> Pairing:
    """Pair the answers to every common question: all pairs of few systems, otherwise each system once per question."""
    # A unique name per run: its name, with its id if names repeat
    paths, names = [run.path for run in runs], [run.name for run in runs]
    if twice := [path for path in paths if paths.count(path) > 1]:
        raise UsageError(f"the run {twice[0]} is named twice; a system cannot be compared with itself")
    systems = tuple(
        run.name if names.count(run.name) == 1 else f"{run.name} ({run.id})" if run.name != run.id else run.id
        for run in runs
    )
    answers = [{sample.id: sample for sample in run.samples} for run in runs]
    shared = [name for name in answers[0] if _can_be_paired([by_id.get(name) for by_id in answers])]
    total = len({name for by_id in answers for name in by_id})
    if not shared:
        reason = "Samples are paired by id, and the questions must be the same."
        raise UsageError(f"these runs have no common question that all of them answered. {reason}")
    chosen = shared[:limit]
    bare = sum(not any(by_id[name].references for by_id in answers) for name in chosen) if with_reference else 0
    if bare == len(chosen):
        raise UsageError("these runs have no references. Leave out --with-reference.")
    pairs = _schedule(len(runs), len(chosen), every_pair or len(runs) <= MOST_ALL, seed)
    rows = [
        _row(answers[one][name], answers[other][name], (systems[one], systems[other]), with_reference, len(runs) > 2)
        for name, meetings in zip(chosen, pairs, strict=True)
        for one, other in meetings
    ]
    return Pairing(rows, systems, len(chosen), total - len(shared), bare)


def _can_be_paired(samples: Sequence[Sample | None]) -> bool:
    """Whether all systems have the sample with the same question and an answer."""
    questions = {question_key(sample.question or "") for sample in samples if sample and sample.answer is not None}
    return len(questions) == 1 and all(sample and sample.answer is not None for sample in samples)


def _schedule(systems: int, questions: int, every_pair: bool, seed: int) -> Iterator[list[tuple[int, int]]]:
    """The pairs of systems per question.

    Rounds of a tournament: each system plays once per round, and all pairs play equally often over all rounds.
    """
    all_pairs = list(combinations(range(systems), 2))
    rounds = _rounds(systems)
    for place in np.random.default_rng(seed).permutation(questions):
        yield all_pairs if every_pair else rounds[place % len(rounds)]


def _rounds(systems: int) -> list[list[tuple[int, int]]]:
    """The circle method: one system is fixed, the others rotate; with an odd number, one pauses per round."""
    circle: list[int | None] = [*range(systems), *([None] if systems % 2 else [])]
    rounds = []
    for _ in range(len(circle) - 1):
        half = len(circle) // 2
        met = zip(circle[:half], reversed(circle[half:]), strict=True)
        rounds.append(
            [(min(one, other), max(one, other)) for one, other in met if one is not None and other is not None]
        )
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return rounds


def _row(one: Sample, other: Sample, names: tuple[str, str], with_reference: bool, several: bool) -> dict[str, Any]:
    chunks = {chunk.text: chunk for sample in (one, other) for chunk in sample.contexts or ()}
    references = one.references or other.references
    row: dict[str, Any] = {
        "id": f"{one.id}/{names[0]}/{names[1]}" if several else one.id,
        "question": one.question,
        "answer": one.answer,
        "contexts": [{"text": chunk.text, "id": chunk.id, "source": chunk.source} for chunk in chunks.values()],
        "references": references,
        "metadata": {
            **one.metadata,
            QUESTION: one.id,
            ONE: names[0],
            OTHER: names[1],
            OTHER_ANSWER: other.answer,
            SHOW_REFERENCE: bool(with_reference and references),
        },
    }
    return {name: value for name, value in row.items() if value is not None}


# The significance level.
ALPHA = 0.05
# A judge with at least this many verdicts, and this share of all, for one position does not compare the answers.
LEAST_SEATED, ONLY_SEAT = 8, 0.95


@dataclass(frozen=True)
class Meeting:
    """Two systems: wins, ties and losses of the first, and its share with a confidence interval."""

    one: str
    other: str
    wins: int
    ties: int
    losses: int
    # None if they were never compared.
    share: float | None
    interval: Interval | None
    p: float | None

    @property
    def winner(self) -> str | None:
        """The significantly better system, if any."""
        if self.p is None or self.p >= ALPHA:
            return None
        return self.one if self.wins > self.losses else self.other


@dataclass(frozen=True)
class Standing:
    """One system among several."""

    system: str
    duels: int
    # None if it was never compared.
    share: float | None
    strength: float | None
    interval: Interval | None


@dataclass(frozen=True)
class JudgeNote:
    """Statistics of one judge; `undecided` are failed or skipped duels, with the most common reason."""

    judge: str
    duels: int
    undecided: int
    reason: str | None
    # The share of verdicts that changed when the answers were swapped; None if never asked in both orders.
    inconsistent: float | None
    first_seat: Estimate | None
    # The verdicts for the first answer, for the second, and ties. Orders are balanced, or random.
    seats: tuple[int, int, int] = (0, 0, 0)
    # Cohen's kappa of the verdicts in the two orders; None without varied verdicts in both orders.
    order_kappa: float | None = None

    @property
    def only_seat(self) -> str | None:
        """The position that (nearly) all verdicts are for: such a judge does not compare the answers."""
        most = max(self.seats[:2])
        if most < max(LEAST_SEATED, ONLY_SEAT * sum(self.seats)):
            return None
        return "first" if most == self.seats[0] else "second"


@dataclass(frozen=True)
class Judged:
    """The result of a pairwise comparison. `alpha` (Krippendorff's) and `unanimous` are the agreement of several judges."""

    systems: tuple[str, ...]
    questions: int
    left_out: int
    bare: int
    meetings: tuple[Meeting, ...]
    standings: tuple[Standing, ...]
    smoothed: bool
    judges: tuple[JudgeNote, ...]
    alpha: Estimate | None
    unanimous: float | None
    runs: tuple[Run, ...]


def judge_pairs(
    pairing: Pairing, judges: Sequence[Any], out: str | None, options: Mapping[str, Any], **watching: Any
) -> Judged:
    """Judge every pair with each judge; the majority decides each duel, and without a majority it is a tie."""
    name = " against ".join(pairing.systems) if len(pairing.systems) == 2 else f"{len(pairing.systems)} systems"
    asking = Asking(judges, out, options, **watching)
    return summarise(pairing, [asking.ask(judge, pairing.rows, name) for judge in judges])


def summarise(pairing: Pairing, runs: Sequence[Run]) -> Judged:
    """The result from stored runs over the same pairs."""
    found = [read_scores(run, METRICS) for run in runs]
    wins = np.stack([scores["pair.win"].values for scores in found])
    order = {name: place for place, name in enumerate(pairing.systems)}
    meta = [row["metadata"] for row in pairing.rows]
    one, other = (np.array([order[row[key]] for row in meta], dtype=np.int64) for key in (ONE, OTHER))
    _, group = np.unique([row[QUESTION] for row in meta], return_inverse=True)
    # Identical answers are not judged, so they are left out of the agreement.
    asked = np.array([row["answer"] != row["metadata"][OTHER_ANSWER] for row in pairing.rows])
    whole = wins[:, asked & ~np.isnan(wins).any(axis=0)]
    worth = majority(wins)
    decided = ~np.isnan(worth)
    duels = Duels(one[decided], other[decided], worth[decided], group[decided])
    strengths = rate(duels, len(order)) if len(order) > 2 and decided.any() else None
    return Judged(
        systems=pairing.systems,
        questions=pairing.questions,
        left_out=pairing.left_out,
        bare=pairing.bare,
        meetings=tuple(_meet(pairing.systems, pair, duels) for pair in combinations(range(len(order)), 2)),
        standings=_stand(pairing.systems, duels, strengths),
        smoothed=bool(strengths and strengths.smoothed),
        judges=tuple(_note(run, scores, group) for run, scores in zip(runs, found, strict=True)),
        alpha=estimate(make_alpha(wins[:, asked].T), group[asked]) if len(runs) > 1 else None,
        unanimous=float((whole == whole[0]).all(axis=0).mean()) if len(runs) > 1 and whole.size else None,
        runs=tuple(runs),
    )


def _meet(systems: Sequence[str], pair: tuple[int, int], duels: Duels) -> Meeting:
    met = (duels.one == pair[0]) & (duels.other == pair[1])
    worth, groups = duels.worth[met], duels.group[met]
    share = estimate_mean(worth, groups, (0.0, 1.0))
    return Meeting(
        one=systems[pair[0]],
        other=systems[pair[1]],
        wins=int((worth == 1).sum()),
        ties=int((worth == 0.5).sum()),
        losses=int((worth == 0).sum()),
        share=share.value,
        interval=share.interval,
        p=sign_test(worth - 0.5) if len(worth) else None,
    )


def _stand(systems: Sequence[str], duels: Duels, strengths: Strengths | None) -> tuple[Standing, ...]:
    """The systems, strongest first."""
    if strengths is None:
        return ()
    standings = []
    for place, name in enumerate(systems):
        as_one, as_other = duels.one == place, duels.other == place
        worth = np.concatenate([duels.worth[as_one], 1 - duels.worth[as_other]])
        value = strengths.values[place]
        share, strength = float(worth.mean()) if len(worth) else None, None if np.isnan(value) else float(value)
        standings.append(Standing(name, len(worth), share, strength, strengths.intervals[place]))
    return tuple(sorted(standings, key=lambda row: -np.inf if row.strength is None else row.strength, reverse=True))


def judge_name(run: Run) -> str:
    """The name of the model that compared the answers of a run."""
    signature = run.info.judge.get("pair_judge")
    return signature.name if signature else ""


def _note(run: Run, scores: Mapping[str, Any], group: np.ndarray) -> JudgeNote:
    wins, stays, seats = (scores[name].values for name in METRICS)
    undecided = np.isnan(wins)
    known = ~np.isnan(seats)
    stored = run.evidence("pair_verdicts").column("value").to_pylist()
    orders = [[one for one in row or () if one["first"] in ("one", "other")] for row in stored]
    asked = [row for row in orders if row]
    twice = [row for row in asked if len(row) == 2]
    return JudgeNote(
        judge=judge_name(run),
        duels=len(wins),
        undecided=int(undecided.sum()),
        reason=run.summary()["pair.win"].reason if undecided.any() else None,
        inconsistent=None if np.isnan(stays).all() else float(1 - np.nanmean(stays)),
        first_seat=estimate_mean(seats[known], group[known], (0.0, 1.0)) if known.any() else None,
        seats=_count_seats(asked),
        order_kappa=_order_kappa(twice),
    )


def _count_seats(asked: Sequence[Any]) -> tuple[int, int, int]:
    verdicts = [verdict for row in asked for verdict in row]
    ties = sum(verdict["winner"] == "tie" for verdict in verdicts)
    first = sum(verdict["winner"] == verdict["first"] for verdict in verdicts)
    return first, len(verdicts) - first - ties, ties


def _order_kappa(verdicts: Sequence[Any]) -> float | None:
    ordered = [sorted(row, key=lambda verdict: str(verdict["first"])) for row in verdicts]
    first, second = (np.array([row[order]["winner"] for row in ordered], dtype=str) for order in (0, 1))
    return take_measure(make_kappa(first, second), len(ordered)) if ordered else None
