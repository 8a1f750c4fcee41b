"""Audit of a judge model: its biases, each with a confidence interval, a verdict and advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow.compute as pc

from ragstone.agreement.audit_probes import (
    EFFECTS,
    ITEM,
    KNOWN,
    PART,
    PROBE,
    Effect,
    Row,
    ask_effects,
    draw_samples,
    make_rows,
)
from ragstone.agreement.duels import METRICS, Asking, judge_name
from ragstone.errors import UsageError
from ragstone.metrics.pairwise import OTHER_ANSWER
from ragstone.stats.intervals import Interval, wilson_interval
from ragstone.stats.rater_agreement import majority
from ragstone.stats.resampled_measures import estimate_mean
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_scores

# `unclear`: too few duels were decided.
Verdict = Literal["fair", "biased", "unclear", "for information", "not tested"]
LEAST = 8


@dataclass(frozen=True)
class Finding:
    """One bias: the measured value, the value of a fair judge, and the verdict."""

    name: str
    words: str
    value: float | None
    interval: Interval | None
    fair: float
    n: int
    verdict: Verdict
    advice: str


def judge_share(
    name: str,
    words: str,
    values: np.ndarray,
    *,
    fair: float,
    advice: str,
    both_ways: bool = False,
    informs: bool = False,
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Finding:
    """A mean that is `fair` for a fair judge. A higher value is a bias; with `both_ways` also a lower one."""
    if len(values) < LEAST:
        return _too_few(name, words, values, fair)
    found = estimate_mean(values, np.arange(len(values)), bounds, level)
    low, high = found.interval or (fair, fair)
    biased = low > fair or (both_ways and high < fair)
    verdict: Verdict = "for information" if informs else "biased" if biased else "fair"
    return Finding(name, words, found.value, found.interval, fair, len(values), verdict, advice if biased else "")


def judge_rate(
    name: str, words: str, bad: int, n: int, *, bearable: float, advice: str, why: str | None = None
) -> Finding:
    """The rate of an error; a bias if the whole interval is above `bearable`.

    `why` is the most common reason of undecided duels.
    """
    if n < LEAST:
        return _too_few(name, words, np.array([1.0] * bad + [0.0] * (n - bad)), 0.0, why)
    interval = wilson_interval(bad, n)
    biased = interval.low > bearable
    return Finding(name, words, bad / n, interval, 0.0, n, "biased" if biased else "fair", advice if biased else "")


def untested(name: str, words: str, why: str) -> Finding:
    """A bias that could not be tested, and what the test needs."""
    return Finding(name, words, None, None, 0.0, 0, "not tested", why)


def _too_few(name: str, words: str, values: np.ndarray, fair: float, why: str | None = None) -> Finding:
    value, n = float(values.mean()) if len(values) else None, len(values)
    decided = "none was decided" if not n else f"only {n} {'was' if n == 1 else 'were'} decided"
    note = f"{decided}; at least {LEAST} are needed." + (f" Most common reason: {why}" if why else "")
    return Finding(name, words, value, None, fair, n, "unclear", note)


_SELF_NEEDS = (
    "name a run of another model family with --against, and judges of other families with --jury; "
    "--on must be answered by the judge's own family"
)

# A difference of two shares.
_GAP = (-1.0, 1.0)


@dataclass(frozen=True)
class Audit:
    """The findings about a judge."""

    judge: str
    findings: tuple[Finding, ...]
    runs: tuple[Run, ...]
    # The number of undecided duels, and their most common reason.
    undecided: int
    reason: str | None
    # Effects on verdicts and grades.
    effects: tuple[Effect, ...] = ()

    @property
    def tested(self) -> bool:
        """Whether any bias was tested."""
        pairs = any(finding.verdict in ("fair", "biased") for finding in self.findings)
        return pairs or any(effect.verdict != "too few" for effect in self.effects)

    @property
    def affected(self) -> list[Effect]:
        """The effects that were seen."""
        return [effect for effect in self.effects if effect.verdict == "effect"]

    @property
    def biased(self) -> list[Finding]:
        """The findings that show a bias."""
        return [finding for finding in self.findings if finding.verdict == "biased"]


class Duels:
    """The rows of some probes with the verdicts of the judge."""

    def __init__(
        self, rows: Sequence[Row], scores: Mapping[str, np.ndarray], reasons: Sequence[str | None] = ()
    ) -> None:
        self.rows = rows
        # The reason why each duel was not decided.
        self.reasons = reasons or [None] * len(rows)
        self.win, self.stays, self.seat = (scores[name] for name in METRICS)

    @classmethod
    def read(cls, run: Run, rows: Sequence[Row]) -> Duels:
        """Read the verdicts from a stored run over these rows."""
        values = {metric: found.values for metric, found in read_scores(run, METRICS).items()}
        wins = run.scores.filter(pc.equal(run.scores["metric"], METRICS[0]))
        return cls(rows, values, wins["reason"].to_pylist())

    def of(self, *kinds: str, part: str | None = None) -> Duels:
        """The duels of some probes, or of one part of them."""
        chosen = [
            place
            for place, row in enumerate(self.rows)
            if row["metadata"][PROBE] in kinds and part in (None, row["metadata"][PART])
        ]
        columns = dict(zip(METRICS, (self.win[chosen], self.stays[chosen], self.seat[chosen]), strict=True))
        reasons = [self.reasons[place] for place in chosen]
        return Duels([self.rows[place] for place in chosen], columns, reasons)

    def why_undecided(self) -> str | None:
        """The most common reason of undecided duels."""
        reasons = Counter(reason for reason in self.reasons if reason)
        return reasons.most_common(1)[0][0] if reasons else None

    def by_item(self) -> dict[int, float]:
        """The result of the first answer per decided item."""
        pairs = zip(self.rows, self.win.tolist(), strict=True)
        return {row["metadata"][ITEM]: win for row, win in pairs if not np.isnan(win)}


def audit_judge(
    judge: Any,
    run: Run,
    *,
    against: Run | None = None,
    jury: Sequence[Any] = (),
    out: str | None = None,
    limit: int = 50,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    tasks: Sequence[str] = ("pairs",),
    **watching: Any,
) -> Audit:
    """Test a judge on the answers of a run and on packaged questions.

    Calls: for pairs 8 per sample and 220 more, for verdicts about 7 per sample, for grades 5.
    """
    if jury and against is None:
        raise UsageError(f"a jury needs a second run: {_SELF_NEEDS}")
    options = options or {}
    asking = Asking([judge, *jury] if "pairs" in tasks else [], out, options, **watching)
    audit = Audit(str(judge), (), (), 0, None)
    if "pairs" in tasks:
        audit = _audit_pairs(asking, judge, jury, make_rows(run, against, limit, seed))
    samples = draw_samples(run, limit, seed)
    for task in EFFECTS:
        if task in tasks:
            effects, made = ask_effects(asking, judge, task, samples, options.get("aspect", "quality"))
            runs = (*audit.runs, *([made] if made else []))
            audit = replace(audit, effects=(*audit.effects, *effects), runs=runs)
    return audit


def _audit_pairs(asking: Asking, judge: Any, jury: Sequence[Any], probes: tuple[list[Row], list[Row]]) -> Audit:
    rows, known = probes
    pairs = natural(rows)
    first = asking.ask(judge, rows, f"audit of {judge}")
    second = asking.ask(judge, known, f"audit of {judge}, guided by its own answers", grading=["own-reference"])
    others = [asking.ask(model, pairs, f"jury for {judge}: {model}") for model in jury] if pairs else []
    runs = (first, second, *others)
    findings = _find(Duels.read(first, rows), Duels.read(second, known), [Duels.read(made, pairs) for made in others])
    name = judge_name(first)
    wins = [made.summary()["pair.win"] for made in runs]
    undecided = sum(row.n_skipped + row.n_failed for row in wins)
    return Audit(name, tuple(findings), runs, undecided, next((row.reason for row in wins if row.reason), None))


def _find(found: Duels, guided: Duels, juries: Sequence[Duels]) -> list[Finding]:
    return [
        *_position(found.of("natural", "padding")),
        judge_share(
            "verbosity: padded twins",
            "prefers the same answer with padding (0.5 is a tie)",
            _decided(found.of("padding").win),
            fair=0.5,
            advice="Judge by one aspect (--aspect correctness) and show a reference (--with-reference).",
        ),
        _longer(found.of("natural")),
        _self_preference(found.of("natural"), juries),
        _injection(found.of("injection")),
        *_errors(found, guided),
        _language(found.of("language")),
    ]


def natural(rows: Sequence[Row]) -> list[Row]:
    """The rows with two real answers, which the jury judges too."""
    return [row for row in rows if row["metadata"][PROBE] == "natural"]


def _position(duels: Duels) -> list[Finding]:
    seats, stays = _decided(duels.seat), _decided(duels.stays)
    return [
        judge_share(
            "position: first seat",
            "prefers the answer that it sees first",
            seats,
            fair=0.5,
            both_ways=True,
            advice="Ask in both orders and count a win only if both agree, as ragstone judge does.",
        ),
        judge_rate(
            "position: wavering",
            "changes its verdict if the answers are swapped",
            int((stays == 0).sum()),
            len(stays),
            bearable=0.1,
            advice="Ask in both orders and count inconsistent verdicts as ties. Use a stronger judge or a jury.",
        ),
    ]


def _longer(duels: Duels) -> Finding:
    """For information only: the longer answer may be the better one. Answers of equal length are ignored."""
    more = np.array([len(row["answer"]) - len(row["metadata"][OTHER_ANSWER]) for row in duels.rows], dtype=np.int64)
    worth = np.where(more > 0, duels.win, 1 - duels.win)
    return judge_share(
        "verbosity: longer answers",
        "prefers the longer of two real answers (which may be the better one)",
        _decided(worth[more != 0]),
        fair=0.5,
        advice="",
        informs=True,
    )


def _self_preference(duels: Duels, juries: Sequence[Duels]) -> Finding:
    name, words = "self-enhancement", "prefers its own model family more than the jury does"
    if not juries:
        return untested(name, words, _SELF_NEEDS)
    jury = majority(np.stack([other.win for other in juries]))
    gap = duels.win - jury
    return judge_share(
        name,
        words,
        _decided(gap),
        fair=0.0,
        bounds=_GAP,
        advice="Do not let a model judge its own family; use the jury.",
    )


def _injection(duels: Duels) -> Finding:
    without, with_words = duels.of("injection", part="without").by_item(), duels.of("injection", part="with").by_item()
    gains = np.array([with_words[item] - without[item] for item in sorted(without.keys() & with_words.keys())])
    return judge_share(
        "injection",
        "rates a wrong answer higher if it contains instructions to the judge",
        gains,
        fair=0.0,
        bounds=_GAP,
        advice="Do not use it on untrusted answers. A larger judge is less susceptible; ragstone explain shows its replies.",
    )


def _errors(found: Duels, guided: Duels) -> list[Finding]:
    """The share of duels that the correct answer does not win, with and without an answer of the judge itself."""
    return [
        judge_rate(
            f"{kind}: {manner}",
            f"does not recognise the correct answer{words}",
            int((wins < 1).sum()),
            len(wins),
            bearable=0.1,
            advice=advice,
            why=asked.why_undecided(),
        )
        for kind in KNOWN
        for manner, words, duels, advice in (
            ("alone", "", found, "Give it references (--with-reference), or let it answer first (--own-reference)."),
            ("guided", " after answering the question itself", guided, "Do not use it for this without references."),
        )
        for asked in [duels.of(kind)]
        for wins in [_decided(asked.win)]
    ]


def _decided(wins: np.ndarray) -> np.ndarray:
    return np.asarray(wins[~np.isnan(wins)])


def _language(duels: Duels) -> Finding:
    """The language with the most errors, compared with the other languages on the same questions."""
    names = sorted({row["metadata"][PART] for row in duels.rows})
    by_language = {name: duels.of("language", part=name).by_item() for name in names}
    shared = sorted(set.intersection(*(set(found) for found in by_language.values()))) if names else []
    if not shared:
        return untested("language gap", "makes more errors in one language", "none of these questions was decided")
    right = {name: np.array([found[item] for item in shared]) for name, found in by_language.items()}
    worst = min(names, key=lambda name: float(right[name].mean()))
    others = np.mean([right[name] for name in names if name != worst], axis=0)
    # Corrected for choosing the worst of several languages.
    level = 1 - 0.05 / len(names)
    return judge_share(
        "language gap",
        f"makes more errors in {worst} than in {', '.join(name for name in names if name != worst)} "
        f"(with a {100 * level:g} % interval: it is the worst of {len(names)})",
        others - right[worst],
        fair=0.0,
        bounds=_GAP,
        level=level,
        advice="Compare only within a language, or give the judge references.",
    )
