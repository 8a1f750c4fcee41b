"""A comparison of two runs as all outputs show it.

- **Rows** come first: how many are fixed and newly failing, and the list of them, newly failing rows first.
- **Metrics**: the headline metrics, which are corrected among themselves, then the explored ones, folded; both by part of the
  system. An output that cannot fold still shows those that failed.
- **Causes**: each failing sample counts once, by its main cause, over the pairs that were diagnosed in both runs. The causes
  that changed most come first. Information is never a main cause: the diagnosis of each run counts it.
- **Scores**: the largest losses first, then the largest gains; equal changes in the order of the pairs.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from ragstone.analysis.alignment import name_some
from ragstone.analysis.cause_names import CAUSES
from ragstone.analysis.cause_texts import LOOK
from ragstone.analysis.comparison import ChangedSample, Comparison
from ragstone.analysis.diagnosis import diagnose
from ragstone.analysis.differences import EQUAL, Difference
from ragstone.analysis.row_moves import MOVES, Moves, tendency_text, unlike_judgements
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_ids
from ragstone.views.moved_rows import Judged, MovedRow, SliceMoves, find_moved, row_labels
from ragstone.views.phrases import by_reason, counted
from ragstone.views.run import arrow_of, by_part, part_of, sort_by_part

CORRECTIONS = {
    "joint": "corrected for all {family} together (step-down maximum)",
    "holm": "corrected for the number of {family} (Holm)",
    "bh": "corrected for the false discovery rate of the {family} (Benjamini-Hochberg)",
    "none": "not corrected for the number of {family}",
}
VERDICTS = ("better", "worse", "no evidence", "too few rows")
MARKS = {"better": "▲", "worse": "▼"}
TONES = {"better": "good", "worse": "bad"}
IDENTICAL = "identical"
_MOST_NAMED = 3
# More pairs than this are no practical advice.
_MOST_PAIRS = 100_000
# A smaller share of pairs that only one run skipped does not matter.
_MIN_ONE_SIDED = 0.05
# Runs with more samples are not diagnosed only to be compared.
MOST_DIAGNOSED = 2_000


@dataclass(frozen=True)
class MetricChange(Difference):
    """A difference with the part of the system that its metric judges, and whether it is a headline metric."""

    part: str = ""
    headline: bool = False

    @classmethod
    def of(cls, item: Difference, part: str = "", headline: bool = False) -> MetricChange:
        """The row of a difference."""
        return cls(**vars(item), part=part, headline=headline)

    @property
    def word(self) -> str:
        """The verdict, `identical` if all pairs have the same score, or empty for a metric without a direction."""
        return IDENTICAL if self.verdict and self.note == EQUAL else self.verdict or ""

    @property
    def tone(self) -> str:
        """`good`, `bad` or `none`."""
        return TONES.get(self.verdict or "", "none")

    @property
    def arrow(self) -> str:
        """The direction in which the metric is better."""
        return arrow_of(self.better)

    @property
    def drawn(self) -> bool:
        """Whether the metric has bounds, so that its difference fits on the shared axis."""
        low, high = self.bounds
        return low is not None and high is not None and high - low <= 2

    def as_dict(self) -> dict[str, Any]:
        """For pages and the JSON of the viewer."""
        values = ["metric", "arrow", "before", "after", "difference", "low", "high", "detectable", "pairs"]
        tally = self.tally._asdict() if self.tally else None
        more = {"p": self.corrected_p, "verdict": self.word, "note": self.note, "tally": tally}
        return {name: getattr(self, name) for name in (*values, "tone", "drawn", "part", "headline")} | more


class CauseChange(NamedTuple):
    """A main cause, and the numbers of its samples in A and B: those that fail, and those that only need a look."""

    name: str
    part: str
    meaning: str
    before: int
    after: int
    look_before: int
    look_after: int


@dataclass(frozen=True)
class CauseChanges:
    """How the causes of failures changed; `known` pairs are diagnosed in both runs."""

    rows: tuple[CauseChange, ...]
    known: int

    @classmethod
    def of(cls, comparison: Comparison, judged: Judged) -> CauseChanges:
        """Count the causes of the pairs."""
        pairs = zip(comparison.pairs.before.tolist(), comparison.pairs.after.tolist(), strict=True)
        known = [pair for pair in pairs if all(row < len(side) for row, side in zip(pair, judged, strict=True))]
        sides = ([judged[side][pair[side]] for pair in known] for side in (0, 1))
        before, after = (Counter((str(row), row.status == LOOK) for row in side) for side in sides)
        found = [
            CauseChange(name, cause.part or "", cause.meaning, *counts)
            for name, cause in CAUSES.items()
            if any(counts := [side[name, look] for look in (False, True) for side in (before, after)])
        ]
        return cls(tuple(sorted(found, key=lambda row: (-abs(row.after - row.before), -row.after))), len(known))

    def __str__(self) -> str:
        """`Main causes of failures, A → B: missing chunk 8 → 1, …; of rows to look at: …`; empty if there are none."""
        failing = _list_counts((row.name, row.before, row.after) for row in self.rows)
        look = _list_counts((row.name, row.look_before, row.look_after) for row in self.rows)
        texts = [f"of {rows}: {text}" for rows, text in (("failures", failing), ("rows to look at", look)) if text]
        return f"Main causes {'; '.join(texts).replace(':', ', A → B:', 1)}." if texts else ""


def _list_counts(counts: Iterable[tuple[str, int, int]]) -> str:
    return ", ".join(f"{name} {before:,} → {after:,}" for name, before, after in counts if before or after)


def _note_labels(comparison: Comparison, judged: Judged) -> Comparison:
    """With a remark if people labelled a row in one run only: its change may be that from the judge's word to theirs."""
    old, new = ({row for row, one in enumerate(side) if one.labelled_by} for side in judged)
    pairs = zip(comparison.pairs.before.tolist(), comparison.pairs.after.tolist(), strict=True)
    if not (lone := [(one, other) for one, other in pairs if (one in old) != (other in new)]):
        return comparison
    runs, ids = (comparison.before, comparison.after), (read_ids(comparison.before), read_ids(comparison.after))
    side = int(lone[0][0] in old)  # of the answer without a label
    words = "ragstone", "labels", "--run", runs[side].name, "--set", f"{ids[side][lone[0][side]]}=right"
    named = name_some(tuple(ids[1][other] for _, other in lone), 5)
    note = f"{named}: labelled in one run only; label the other answer, too: {shlex.join(words)} (or =wrong)"
    return replace(comparison, remarks=(*comparison.remarks, note))


@dataclass(frozen=True)
class ComparisonView:
    """Two compared runs with every sentence, order and cut, by the rules of this module."""

    comparison: Comparison
    # The rows in a sentence, or the metrics if no row is judged in both runs.
    headline: str
    # The headline metrics in a sentence, if the headline is about rows.
    summary: str
    # The name of each run, or A and B.
    labels: tuple[str, str]
    counts: Mapping[str, int]
    metrics: tuple[MetricChange, ...]
    # None if the runs are not diagnosed, or by different judges.
    moves: Moves | None
    # Newly failing rows first.
    moved: tuple[MovedRow, ...]
    # By the share of failing rows in the second run, worst first.
    slices: tuple[SliceMoves, ...]
    # None if the runs are not diagnosed.
    causes: CauseChanges | None
    losses: tuple[ChangedSample, ...]
    gains: tuple[ChangedSample, ...]
    # What may change the verdict, and what does not.
    cautions: tuple[str, ...]
    remarks: tuple[str, ...]
    method: str

    @classmethod
    def of(cls, comparison: Comparison, judged: Judged = ((), ())) -> ComparisonView:
        """Decide what is shown; `judged` are the causes and probabilities of the rows of both runs, if they are known."""
        known = {metric.metric: metric for metric in comparison.after.info.metrics}
        items = sort_by_part(comparison.metrics, known)
        metrics = [
            MetricChange.of(item, part_of(known[item.metric]), item.metric in comparison.headlines) for item in items
        ]
        only = [line for line in not_compared_lines(comparison) if line.startswith("only in ")]
        refused = [line for line in not_compared_lines(comparison) if not line.startswith("only in ")]
        doubtful = [row for row in metrics if _is_doubtful(row)]
        labels = (run_label(comparison.before, comparison), run_label(comparison.after, comparison))
        unlike = unlike_judgements(comparison.before, comparison.after, labels) if any(judged) else ""
        both = judged if all(judged) and not unlike else None
        moves = None
        if both:
            comparison = _note_labels(comparison, both)
            moves = Moves.of(comparison.after, comparison.pairs, both, comparison.settings)
        moved, slices = find_moved(comparison, moves, both) if moves and both else ((), ())
        # Few rows with a judgement say little about the others.
        rows = moves_line(moves) if moves and 2 * moves.judged >= moves.pairs else ""
        rows = f"The rows cannot be compared: {unlike}." if unlike else rows
        return cls(
            comparison=comparison,
            headline=rows or headline(comparison),
            summary=headline(comparison) if rows else "",
            labels=labels,
            counts=_count_verdicts(comparison),
            metrics=tuple(metrics),
            moves=moves,
            moved=moved,
            slices=slices,
            causes=CauseChanges.of(comparison, both) if both else None,
            losses=tuple(sample for sample in reversed(comparison.changed) if sample.gain < 0),
            gains=tuple(sample for sample in comparison.changed if sample.gain > 0),
            cautions=(*comparison.remarks, *refused, *failed_lines(doubtful)),
            remarks=(*only, *failed_lines([row for row in metrics if row not in doubtful])),
            method=method_line(comparison),
        )

    @classmethod
    def diagnosed(cls, comparison: Comparison) -> ComparisonView:
        """With the rows and causes, if both runs are small enough to be diagnosed now."""
        runs = (comparison.before, comparison.after)
        if any(run.info.rows > MOST_DIAGNOSED for run in runs):
            return cls.of(comparison)
        old, new = (row_labels(diagnose(run, texts=False)) for run in runs)
        return cls.of(comparison, (old, new))

    @property
    def headlines(self) -> list[MetricChange]:
        """The metrics that are shown first."""
        return [row for row in self.metrics if row.headline]

    @property
    def others(self) -> list[MetricChange]:
        """The other metrics."""
        return [row for row in self.metrics if not row.headline]

    @property
    def others_text(self) -> str:
        """`26 explored metrics: 3 better, 0 worse`; empty if there are none."""
        words = [f"{sum(row.verdict == word for row in self.others)} {word}" for word in MARKS]
        return f"{counted(len(self.others), 'explored metric')}: {', '.join(words)}" if self.others else ""

    def groups(self) -> list[dict[str, Any]]:
        """The metrics by part of the system for pages."""
        return by_part([row.as_dict() for row in self.metrics])

    def brief(self, full: bool) -> list[MetricChange]:
        """Metrics for outputs that cannot fold: headline metrics, then those that failed; all if `full`."""
        return list(self.metrics) if full else [*self.headlines, *(row for row in self.others if row.failed)]

    def changed(self, most: int) -> list[ChangedSample]:
        """The samples that changed most, at most `most` losses and as many gains."""
        return [*self.losses[:most], *self.gains[:most]]

    def lines(self, more: str = "") -> list[str]:
        """The lines after the headline: unclear rows and how to see `more`, the headline metrics, and the causes."""
        rows = moves_line(self.moves) if self.moves and not self.summary else ""
        return [line for line in (self.unclear(more), self.summary, rows, str(self.causes or "")) if line]

    def unclear(self, more: str = "") -> str:
        """`10 rows are unclear; look at q3, q7: perhaps wrong now.`; empty if no row is."""
        if not self.moves or not (count := len(self.moves.unclear)):
            return ""
        total = f"{counted(count, 'row')} {'is' if count == 1 else 'are'} unclear"
        tendency = tendency_text(self.moves, self.comparison.pairs, _MOST_NAMED)
        return f"{'; '.join(filter(None, [total, tendency, more]))}."

    def listed(self, most: int, full: bool = False) -> list[MovedRow]:
        """The rows to look at first: newly failing, then fixed ones, then the others if `full`; at most `most` of each."""
        kinds = MOVES if full else MOVES[:2]
        return [row for kind in kinds for row in [one for one in self.moved if one.kind == kind][:most]]

    def noted(self, rows: Sequence[MetricChange]) -> list[str]:
        """The remarks about these metrics."""
        notes = by_reason((row.metric, row.note) for row in rows if row.note != EQUAL)
        lines = [f"{', '.join(names)}: {note}" for note, names in notes.items()]
        return [*self.comparison.remarks, *failed_lines(rows), *lines]

    def as_dict(self) -> dict[str, Any]:
        """The comparison as JSON; `failing` and `causes` are null if the runs are not diagnosed."""
        comparison, pairs = self.comparison, self.comparison.pairs
        return {
            "headline": self.headline,
            "summary": self.summary,
            "before": run_dict(comparison.before),
            "after": run_dict(comparison.after),
            "pairs": len(pairs),
            "paired_by": pairs.by,
            "only_before": list(pairs.only_before),
            "only_after": list(pairs.only_after),
            "other_question": list(pairs.renamed),
            "settings": asdict(comparison.settings),
            "remarks": list(comparison.remarks),
            "headlines": [row.metric for row in self.headlines],
            "metrics": [_difference_dict(item) for item in comparison.metrics],
            "refused": dict(comparison.refused),
            "metrics_only_before": list(comparison.only_before),
            "metrics_only_after": list(comparison.only_after),
            "slices": [
                {
                    "column": part.column,
                    "label": part.label,
                    "pairs": part.pairs,
                    "metrics": [_difference_dict(item) for item in part.metrics],
                }
                for part in comparison.slices
            ],
            "changed": [
                {
                    "id": sample.id,
                    "question": sample.question,
                    "gain": sample.gain,
                    "metrics": [{"metric": name, "before": old, "after": new} for name, old, new in sample.metrics],
                }
                for sample in (*self.losses, *self.gains)
            ],
            "failing": self.moves.as_dict() if self.moves else None,
            "moved": [asdict(row) for row in self.moved],
            "failing_slices": [asdict(part) for part in self.slices],
            "causes": [row._asdict() for row in self.causes.rows] if self.causes else None,
        }


def _is_doubtful(row: MetricChange) -> bool:
    """Whether scores failed, or only one run skipped many in a metric that is shown first or differs."""
    one_sided, total = row.skipped_before + row.skipped_after, row.pairs + row.skipped + row.failed
    skipped = bool(one_sided) and one_sided >= _MIN_ONE_SIDED * total
    return bool(row.failed) or (skipped and (row.headline or row.verdict in MARKS))


def moves_line(moves: Moves) -> str:
    """The rows in a sentence; empty if no row is judged in both runs."""
    if not moves.judged:
        return ""
    if not moves.rows:
        return f"No row fails: {moves.counted} are fine in both runs."
    return f"{moves}."


def headline(comparison: Comparison) -> str:
    """The headline metrics in a sentence or two."""
    better, worse, none, few = _count_verdicts(comparison).values()
    new, old = (run_label(run, comparison) for run in (comparison.after, comparison.before))
    pairs = len(comparison.pairs)
    if not better + worse + none + few:
        return "There is nothing to compare: both runs share no metric with a direction and the same signature."
    if all(item.note == EQUAL for item in comparison.metrics if item.verdict and item.metric in comparison.headlines):
        return f"{new} and {old} have the same scores {_where_equal(comparison)}."
    if not better + worse + none:
        return f"{pairs} pair{'s are' if pairs != 1 else ' is'} too few to tell {new} from {old}."
    rest = f"; {none} show{'s' if none == 1 else ''} no evidence" if none else ""
    rest += f"; {few} {'has' if few == 1 else 'have'} too few rows" if few else ""
    if better and worse:
        return f"{new} is better than {old} in {_of_family(comparison, better)} and worse in {worse}{rest}."
    if better or worse:
        verdict, opposite = ("better", "worse") if better else ("worse", "better")
        return f"{new} is {verdict} than {old} in {_of_family(comparison, better or worse)}, {opposite} in none{rest}."
    return f"There is no evidence that {new} differs from {old} in {_of_family(comparison, none + few)}."


def _count_verdicts(comparison: Comparison) -> dict[str, int]:
    return {word: sum(name in comparison.headlines for name in comparison.having(word)) for word in VERDICTS}


def _of_family(comparison: Comparison, count: int) -> str:
    return counted(count, "metric" if len(comparison.headlines) == len(comparison.metrics) else "headline metric")


def _where_equal(comparison: Comparison) -> str:
    """In which pairs equal runs are equal: a pair may lack the score of one run."""
    items, pairs = comparison.metrics, len(comparison.pairs)
    one_sided = max(item.skipped_before + item.skipped_after for item in items)
    if one_sided:
        return f"wherever both have one; in {one_sided} of {pairs} pairs only one of them has a score"
    if any(item.failed for item in items):
        return "wherever both have one; some scores failed"
    return f"in all {pairs} pairs"


def deciding_line(rows: Sequence[Difference]) -> str:
    """How many pairs would decide the metrics without evidence that need the fewest; empty if there is none."""
    needed = sorted((count, row.metric) for row in rows if (count := row.enough_pairs) is not None)
    near = [f"{count:,} for {metric}" for count, metric in needed[:_MOST_NAMED] if count <= _MOST_PAIRS]
    if not near:
        return ""
    return f"If the differences stay, about this many pairs would decide one metric tested alone: {', '.join(near)}."


def run_label(run: Run, comparison: Comparison) -> str:
    """The name of a run, or A and B if both runs have the same name or none."""
    before, after = comparison.before, comparison.after
    if before.name != after.name and (before.name != before.id or after.name != after.id):
        return run.name
    return "A" if run is comparison.before else "B"


def method_line(comparison: Comparison, detectable: bool = True, tested: bool = True) -> str:
    """How intervals, p-values and detectable differences are computed; `tested` if the p-values are shown."""
    settings = comparison.settings
    units = f"clusters by {settings.cluster}" if settings.cluster else "pairs"
    limit = f"{1 - settings.level:.2g}"
    explored = len(comparison.headlines) < len(comparison.metrics)
    correction = CORRECTIONS[settings.correction].format(family="headline metrics" if explored else "metrics")
    correction += ", explored metrics among themselves" if explored else ""
    test = (
        f"p: sign-flip test, {correction}; below {limit} the verdict is better or worse."
        if tested
        else f"The verdict is better or worse if a sign-flip test, {correction}, has p below {limit}; "
        "a wider terminal or --json shows p."
    )
    judged = "Metrics of a local judge allow for other words; their means are raw, those with ≈ in a run are corrected."
    words = f" {judged}" if any(one.rewording for one in comparison.metrics) else ""
    return f"Interval of B − A: {100 * settings.level:g} % bootstrap over {units}, per metric.{words} {test}" + (
        " MDE: the smallest true difference that this many pairs detect with 80 % power." if detectable else ""
    )


def failed_lines(items: Sequence[Difference]) -> list[str]:
    """Failed and skipped scores, grouped by their counts. Both means use only the pairs with two values."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for item in items:
        if item.failed or item.skipped:
            counts = (item.pairs, item.skipped, item.failed, item.skipped_before, item.skipped_after)
            groups.setdefault(counts, []).append(item.metric)
    return [
        f"{', '.join(names)}: {pairs} of {pairs + skipped + failed} pairs"
        f"{f', {skipped} skipped' if skipped else ''}{_only_by(one_sided)}{f', {failed} failed' if failed else ''}"
        for (pairs, skipped, failed, *one_sided), names in groups.items()
    ]


def _only_by(one_sided: Sequence[int]) -> str:
    """How many pairs only one run skipped: a run that declines more is compared on the samples that both answer."""
    parts = [f"{count} only by {letter}" for letter, count in zip("AB", one_sided, strict=True) if count]
    return f" ({', '.join(parts)})" if parts else ""


def not_compared_lines(comparison: Comparison) -> Iterator[str]:
    """Metrics that were not compared, with the reason."""
    for change, names in by_reason(comparison.refused.items()).items():
        yield f"{', '.join(names)}: not compared, the signatures differ: {change}"
    for letter, only in (("A", comparison.only_before), ("B", comparison.only_after)):
        if only:
            yield f"only in {letter}: {', '.join(only)}"


def _difference_dict(item: Difference) -> dict[str, Any]:
    """One metric as JSON."""
    values = asdict(item)
    del values["joint_p"]
    values["bounds"] = list(item.bounds)
    values["tally"] = item.tally._asdict() if item.tally else None
    return values


def run_dict(run: Run) -> dict[str, Any]:
    """A run as JSON: where it is, its name and its parameters."""
    return {"run": run.path, "id": run.id, "name": run.name, "params": run.info.get("params") or {}}
