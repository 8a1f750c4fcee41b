"""A judge's biases, measured: each with an interval, a plain verdict and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ragstone.agreement.asking import METRICS, Asking
from ragstone.agreement.audit import probes
from ragstone.agreement.audit.findings import Finding, judge_rate, judge_share, untested
from ragstone.agreement.audit.probes import ITEM, PART, PROBE
from ragstone.agreement.duels import majority
from ragstone.errors import UsageError
from ragstone.evidence.pairs import OTHER_ANSWER
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_scores

_SELF_NEEDS = (
    "name a run of another model family with --against, and judges of other families with --jury; "
    "--on must be answered by the judge's own family"
)

# A difference of two shares.
_GAP = (-1.0, 1.0)


@dataclass(frozen=True)
class Audit:
    """What was found out about a judge."""

    judge: str
    findings: tuple[Finding, ...]
    runs: tuple[Run, ...]
    # Duels that were not decided, and why most of them were not.
    undecided: int
    reason: str | None

    @property
    def tested(self) -> bool:
        """Whether anything was found out."""
        return any(finding.verdict in ("fair", "biased") for finding in self.findings)

    @property
    def biased(self) -> list[Finding]:
        """What speaks against it."""
        return [finding for finding in self.findings if finding.verdict == "biased"]


class Duels:
    """The rows of some probes with what the judge said of them."""

    def __init__(
        self, rows: Sequence[probes.Row], scores: Mapping[str, np.ndarray], reasons: Sequence[str | None] = ()
    ) -> None:
        self.rows = rows
        # Why each was not decided.
        self.reasons = reasons or [None] * len(rows)
        self.win, self.stays, self.seat = (scores[name] for name in METRICS)

    @classmethod
    def read(cls, run: Run, rows: Sequence[probes.Row]) -> Duels:
        """What a stored run over these rows says."""
        values = {metric: found.values for metric, found in read_scores(run, METRICS).items()}
        wins = run.scores.filter(pc.equal(run.scores["metric"], METRICS[0]))
        return cls(rows, values, wins["reason"].to_pylist())

    def of(self, *kinds: str, part: str | None = None) -> Duels:
        """Those of some probes, or of one part of them."""
        chosen = [
            place
            for place, row in enumerate(self.rows)
            if row["metadata"][PROBE] in kinds and part in (None, row["metadata"][PART])
        ]
        columns = dict(zip(METRICS, (self.win[chosen], self.stays[chosen], self.seat[chosen]), strict=True))
        reasons = [self.reasons[place] for place in chosen]
        return Duels([self.rows[place] for place in chosen], columns, reasons)

    def why_undecided(self) -> str | None:
        """Why most of those were not decided that were not."""
        told = Counter(reason for reason in self.reasons if reason)
        return told.most_common(1)[0][0] if told else None

    def by_item(self) -> dict[int, float]:
        """What the first answer got, for each item that was decided."""
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
    **watching: Any,
) -> Audit:
    """Try a judge on a run's answers and on our own questions: eight calls a sample of the run, and 220 more."""
    if jury and against is None:
        raise UsageError(f"a jury has nothing to decide: {_SELF_NEEDS}")
    rows, known = make_rows(run, against, limit, seed)
    pairs = natural(rows)
    asking = Asking([judge, *jury], out, options or {}, **watching)
    first = asking.ask(judge, rows, f"audit of {judge}")
    second = asking.ask(judge, known, f"audit of {judge}, guided by its own answers", grading=["own-reference"])
    others = [asking.ask(model, pairs, f"jury for {judge}: {model}") for model in jury] if pairs else []
    runs = (first, second, *others)
    findings = _find(Duels.read(first, rows), Duels.read(second, known), [Duels.read(made, pairs) for made in others])
    name = str(first.info["judge"].get("pair_judge", judge)).partition(",")[0]
    wins = [made.summary()["pair.win"] for made in runs]
    undecided = sum(row.n_skipped + row.n_failed for row in wins)
    return Audit(name, tuple(findings), runs, undecided, next((row.reason for row in wins if row.reason), None))


def _find(found: Duels, guided: Duels, juries: Sequence[Duels]) -> list[Finding]:
    return [
        *_position(found.of("natural", "padding")),
        _padding(found.of("padding")),
        _longer(found.of("natural")),
        _self_preference(found.of("natural"), juries),
        _injection(found.of("injection")),
        *_errors(found, guided),
        _language(found.of("language")),
    ]


def make_rows(run: Run, against: Run | None, limit: int, seed: int) -> tuple[list[probes.Row], list[probes.Row]]:
    """All that a judge is asked, and what it is asked once more after having answered itself."""
    samples, known = probes.draw_samples(run, limit, seed), probes.known_answers()
    on_run = [probes.natural_pairs(run, against, limit, seed), probes.padded_twins(samples)]
    return [*on_run[0], *on_run[1], *probes.injected_answers(samples), *known, *probes.languages()], known


def natural(rows: Sequence[probes.Row]) -> list[probes.Row]:
    """Those with two real answers: what a jury is asked."""
    return [row for row in rows if row["metadata"][PROBE] == "natural"]


def _position(duels: Duels) -> list[Finding]:
    seats, stays = _decided(duels.seat), _decided(duels.stays)
    return [
        judge_share(
            "position: first seat",
            "prefers what it sees first",
            seats,
            fair=0.5,
            both_ways=True,
            advice="Ask in both orders and count a win only if both agree, as ragstone judge does.",
        ),
        judge_rate(
            "position: wavering",
            "changes its mind when the answers change places",
            int((stays == 0).sum()),
            len(stays),
            bearable=0.1,
            advice="Ask in both orders; where it wavers, it is a tie. Take a stronger judge, or a jury.",
        ),
    ]


def _padding(duels: Duels) -> Finding:
    return judge_share(
        "verbosity: padded twins",
        "prefers the same answer with empty words added (0.5 is a tie)",
        _decided(duels.win),
        fair=0.5,
        advice="Judge by one aspect (--aspect correctness) and show a reference (--with-reference).",
    )


def _longer(duels: Duels) -> Finding:
    """For information: the longer answer may well be the better one. Answers of one length say nothing."""
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
    name, words = "self-enhancement", "gives its own family more than the jury does"
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
        advice="Do not let a model judge its own family; take the jury.",
    )


def _injection(duels: Duels) -> Finding:
    without, with_words = duels.of("injection", part="without").by_item(), duels.of("injection", part="with").by_item()
    gains = np.array([with_words[item] - without[item] for item in sorted(without.keys() & with_words.keys())])
    return judge_share(
        "injection",
        "gives a wrong answer more when it speaks to the judge",
        gains,
        fair=0.0,
        bounds=_GAP,
        advice="Do not use it on answers that others can write. A larger judge obeys less; look at what it said with ragstone explain.",
    )


def _errors(found: Duels, guided: Duels) -> list[Finding]:
    """How often the right answer does not win, with and without an answer of the judge's own to go by."""
    return [
        judge_rate(
            f"{kind}: {manner}",
            f"does not see which answer is right{words}",
            int((wins < 1).sum()),
            len(wins),
            bearable=0.1,
            advice=advice,
            why=asked.why_undecided(),
        )
        for kind in probes.KNOWN
        for manner, words, duels, advice in (
            ("alone", "", found, "Give it references (--with-reference), or let it answer first (--own-reference)."),
            ("guided", ", having answered itself first", guided, "Do not use it for this without references."),
        )
        for asked in [duels.of(kind)]
        for wins in [_decided(asked.win)]
    ]


def _decided(wins: np.ndarray) -> np.ndarray:
    return np.asarray(wins[~np.isnan(wins)])


def _language(duels: Duels) -> Finding:
    """The language in which it errs most beyond the others, on the same questions."""
    names = sorted({row["metadata"][PART] for row in duels.rows})
    by_language = {name: duels.of("language", part=name).by_item() for name in names}
    shared = sorted(set.intersection(*(set(found) for found in by_language.values()))) if names else []
    if not shared:
        return untested("language gap", "errs more in one language", "none of these questions was decided")
    right = {name: np.array([found[item] for item in shared]) for name, found in by_language.items()}
    worst = min(names, key=lambda name: float(right[name].mean()))
    others = np.mean([right[name] for name in names if name != worst], axis=0)
    # The worst of several looks bad by chance alone.
    level = 1 - 0.05 / len(names)
    return judge_share(
        "language gap",
        f"errs more in {worst} than in {', '.join(name for name in names if name != worst)} "
        f"(with a {100 * level:g} % interval: it is the worst of {len(names)})",
        others - right[worst],
        fair=0.0,
        bounds=_GAP,
        level=level,
        advice="Compare only within a language, or show the judge references.",
    )
