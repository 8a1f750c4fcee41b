"""Systems held against each other by one judge or several: who wins, how sure that is, and how far the judges agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ragstone.agreement.asking import METRICS, Asking
from ragstone.agreement.pairing import ONE, OTHER, QUESTION, Pairing
from ragstone.evidence.pairs import OTHER_ANSWER
from ragstone.stats.bradley_terry import Duels, Strengths, rate
from ragstone.stats.intervals import Interval
from ragstone.stats.krippendorff import make_alpha
from ragstone.stats.paired import sign_test
from ragstone.stats.resampled import Estimate, estimate, estimate_mean
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_scores

# Below this a difference is called one.
ALPHA = 0.05


@dataclass(frozen=True)
class Meeting:
    """Two systems: how often each won, how often neither did, and the share of the first with its interval."""

    one: str
    other: str
    wins: int
    ties: int
    losses: int
    # None where they never met.
    share: float | None
    interval: Interval | None
    p: float | None

    @property
    def winner(self) -> str | None:
        """Who is better, if that is more than chance."""
        if self.p is None or self.p >= ALPHA:
            return None
        return self.one if self.wins > self.losses else self.other


@dataclass(frozen=True)
class Standing:
    """One system among several."""

    system: str
    duels: int
    # None where it never met anybody.
    share: float | None
    strength: float | None
    interval: Interval | None


@dataclass(frozen=True)
class JudgeNote:
    """How one judge went about it."""

    judge: str
    duels: int
    # Not decided at all: failed or skipped, with the commonest reason.
    undecided: int
    reason: str | None
    # The judge changed its mind when the answers changed places; None where it was never asked in both orders.
    inconsistent: float | None
    first_seat: Estimate | None


@dataclass(frozen=True)
class Judged:
    """What came out."""

    systems: tuple[str, ...]
    questions: int
    left_out: int
    bare: int
    meetings: tuple[Meeting, ...]
    standings: tuple[Standing, ...]
    smoothed: bool
    judges: tuple[JudgeNote, ...]
    # How far several judges agree (Krippendorff's alpha), and how often all of them do.
    alpha: Estimate | None
    unanimous: float | None
    runs: tuple[Run, ...]


def judge_pairs(
    pairing: Pairing, judges: Sequence[Any], out: str | None, options: Mapping[str, Any], **watching: Any
) -> Judged:
    """Ask each judge about every pair; with several judges the majority decides each duel, and without one it is a tie."""
    name = " against ".join(pairing.systems) if len(pairing.systems) == 2 else f"{len(pairing.systems)} systems"
    asking = Asking(judges, out, options, **watching)
    return summarise(pairing, [asking.ask(judge, pairing.rows, name) for judge in judges])


def summarise(pairing: Pairing, runs: Sequence[Run]) -> Judged:
    """What stored runs over the same pairs say."""
    found = [read_scores(run, METRICS) for run in runs]
    wins = np.stack([scores["pair.win"].values for scores in found])
    order = {name: place for place, name in enumerate(pairing.systems)}
    meta = [row["metadata"] for row in pairing.rows]
    one, other = (np.array([order[row[key]] for row in meta], dtype=np.int64) for key in (ONE, OTHER))
    _, group = np.unique([row[QUESTION] for row in meta], return_inverse=True)
    # Of answers that are the same nobody was asked, so that they say nothing about the judges.
    asked = np.array([row["answer"] != row["metadata"][OTHER_ANSWER] for row in pairing.rows])
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
        unanimous=_unanimity(wins[:, asked]) if len(runs) > 1 else None,
        runs=tuple(runs),
    )


def majority(wins: np.ndarray) -> np.ndarray:
    """What more than half of the judges who decided say of each duel (1 or 0), else 0.5; nan where nobody decided."""
    known = (~np.isnan(wins)).sum(axis=0)
    won, lost = (wins == 1).sum(axis=0), (wins == 0).sum(axis=0)
    worth = np.where(2 * won > known, 1.0, np.where(2 * lost > known, 0.0, 0.5))
    return np.where(known > 0, worth, np.nan)


def _unanimity(wins: np.ndarray) -> float | None:
    whole = wins[:, ~np.isnan(wins).any(axis=0)]
    return float((whole == whole[0]).all(axis=0).mean()) if whole.size else None


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
    """The systems, the strongest first."""
    if strengths is None:
        return ()
    found = []
    for place, name in enumerate(systems):
        as_one, as_other = duels.one == place, duels.other == place
        worth = np.concatenate([duels.worth[as_one], 1 - duels.worth[as_other]])
        value = strengths.values[place]
        found.append(
            Standing(
                system=name,
                duels=len(worth),
                share=float(worth.mean()) if len(worth) else None,
                strength=None if np.isnan(value) else float(value),
                interval=strengths.intervals[place],
            )
        )
    return tuple(sorted(found, key=lambda row: -np.inf if row.strength is None else row.strength, reverse=True))


def _note(run: Run, scores: Mapping[str, Any], group: np.ndarray) -> JudgeNote:
    wins, stays, seats = (scores[name].values for name in METRICS)
    undecided = np.isnan(wins)
    known = ~np.isnan(seats)
    return JudgeNote(
        judge=str(run.info["judge"].get("pair_judge", "")).partition(",")[0],
        duels=len(wins),
        undecided=int(undecided.sum()),
        reason=run.summary()["pair.win"].reason if undecided.any() else None,
        inconsistent=None if np.isnan(stays).all() else float(1 - np.nanmean(stays)),
        first_seat=estimate_mean(seats[known], group[known], (0.0, 1.0)) if known.any() else None,
    )
