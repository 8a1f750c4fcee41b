"""Harvests a log: draws exchanges, makes them cases of ground truth, and queues bad answers for review.

The log is read twice: for the numbers that the draw needs, and for the drawn exchanges. Exchanges are drawn by strata, so
that weighted means are those of the whole log: if n of the N exchanges of a stratum are drawn, each represents N/n exchanges
(Horvitz and Thompson 1952).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.dataset import samples_table
from ragstone.errors import StorageError, TruthConflictError, UsageError
from ragstone.formats import write_dataset
from ragstone.formats.values import no_time_note
from ragstone.text.feedback import MEANINGS
from ragstone.text.languages import guess_language
from ragstone.text.personal import Masker
from ragstone.text.questions import question_key
from ragstone.truth.harvest.log_index import UNKNOWN, Exchange, Index, Judged, Log, Tally, judge, length_of
from ragstone.truth.harvest.signals import VERDICTS, Signals, Weights, read_signals
from ragstone.truth.model import Case
from ragstone.truth.store import Lineage, TruthStore, VersionInfo

# The least share of good, bad and unclear answers among the draws, if there are enough: few answers have a signal.
CLASS_FLOOR = 0.25
# The variance within a stratum needs at least two draws.
STRATUM_FLOOR = 2
# Similarity of two questions in percent: it allows a typing error, but not another word.
NEAR = 95.0
_SHORTEST_NEAR = 15
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Stratum:
    """Similar exchanges: their number, and how many are drawn."""

    name: str
    size: int
    drawn: int

    @property
    def weight(self) -> float:
        """The number of exchanges that each draw represents."""
        return self.size / self.drawn


@dataclass(frozen=True)
class Draw:
    """Drawn rows, each with its stratum."""

    rows: np.ndarray
    stratum_of: np.ndarray
    strata: list[Stratum]


def draw(
    classes: np.ndarray,
    class_names: Sequence[str],
    columns: Mapping[str, tuple[np.ndarray, Sequence[str]]],
    n: int,
    seed: int,
) -> Draw:
    """Draws n rows: a share per class, and within a class by the columns (codes and names), the most important first.

    The last columns are ignored if a stratum would get fewer than two draws.
    """
    random = np.random.default_rng(seed)
    sizes = np.bincount(classes, minlength=len(class_names))
    n = min(n, int(sizes.sum()))
    floors = np.minimum(sizes, int(n * CLASS_FLOOR))
    rows: list[np.ndarray] = []
    strata: list[Stratum] = []
    stratum_of: list[int] = []
    for number, share in enumerate(shares(sizes, n, floors)):
        if not share:
            continue
        members = np.flatnonzero(classes == number)
        labels, names = _split(members, columns, int(share))
        counts = np.bincount(labels)
        for place, drawn in enumerate(shares(counts, int(share), np.minimum(counts, STRATUM_FLOOR))):
            if drawn:
                rows.append(random.choice(members[labels == place], drawn, replace=False))
                stratum_of += [len(strata)] * int(drawn)
                name = " · ".join([class_names[number], *names[place]])
                strata.append(Stratum(name, int(counts[place]), int(drawn)))
    return Draw(np.concatenate(rows), np.array(stratum_of), strata)


def shares(sizes: np.ndarray, n: int, floors: np.ndarray) -> np.ndarray:
    """The number of draws per group: proportional to its size, at least the floor, at most the size; n in all.

    If the floors exceed n, they are ignored.
    """
    if floors.sum() > n:
        floors = np.zeros_like(sizes)
    fixed = np.zeros(len(sizes))
    free = sizes > 0
    ideal = np.zeros(len(sizes))
    while free.any():
        rest = n - fixed.sum()
        ideal[free] = rest * sizes[free] / sizes[free].sum()
        low, high = free & (ideal < floors), free & (ideal > sizes)
        if not low.any() and not high.any():
            break
        bound = low if low.any() else high
        fixed[bound] = (floors if low.any() else sizes)[bound]
        free = free & ~bound
    return _round(np.where(free, ideal, fixed), sizes, n)


def _round(ideal: np.ndarray, sizes: np.ndarray, n: int) -> np.ndarray:
    """Whole numbers that sum to n, by the largest remainders; ties keep their order."""
    whole: np.ndarray = np.minimum(np.floor(ideal + 1e-9).astype(int), sizes)
    for place in np.argsort(-(ideal - whole), kind="stable"):
        if whole.sum() >= n:
            break
        if whole[place] < sizes[place]:
            whole[place] += 1
    return whole


def _split(
    members: np.ndarray, columns: Mapping[str, tuple[np.ndarray, Sequence[str]]], n: int
) -> tuple[np.ndarray, list[list[str]]]:
    """The stratum of each member, and the names of the strata: by as many columns as leave two draws per stratum."""
    used = list(columns)
    while True:
        sizes = [len(columns[name][1]) for name in used]
        codes = np.zeros(len(members), dtype=np.int64)
        for name, size in zip(used, sizes, strict=True):
            codes = codes * size + columns[name][0][members]
        cells, labels = np.unique(codes, return_inverse=True)
        if not used or len(cells) * STRATUM_FLOOR <= n:
            break
        used.pop()
    places = zip(*np.unravel_index(cells, sizes), strict=True) if used else [()]
    names = [[columns[name][1][place] for name, place in zip(used, cell, strict=True)] for cell in places]
    return labels, names


def group_duplicates(exchanges: Sequence[Exchange]) -> list[list[int]]:
    """Groups positions of exchanges with the same question, in order of first appearance."""
    keys = [question_key(exchange.sample.question or "") for exchange in exchanges]
    candidates: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for position, (exchange, key) in enumerate(zip(exchanges, keys, strict=True)):
        # "The fares of 2023" and "of 2024" differ in one character only, so digits must be equal.
        candidates[exchange.deployment, tuple(_DIGITS.findall(key))].append(position)
    leader = list(range(len(exchanges)))
    documents = [exchange.sample.documents or [] for exchange in exchanges]
    for positions in candidates.values():
        _join(positions, keys, documents, leader)
    groups: dict[int, list[int]] = defaultdict(list)
    for position, first in enumerate(leader):
        groups[first].append(position)
    return list(groups.values())


def may_be_same(documents: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two questions may be about the same documents: they share one, or one of them names none."""
    return not documents or not others or not set(documents).isdisjoint(others)


def _join(positions: Sequence[int], keys: Sequence[str], documents: Sequence[Sequence[str]], leader: list[int]) -> None:
    """Sets the leader of each question to the first question that it duplicates."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415

    leaders: list[int] = []
    for position in positions:
        key = keys[position]
        near = process.extract(
            key,
            [keys[first] for first in leaders],
            scorer=fuzz.ratio,
            score_cutoff=NEAR if len(key) >= _SHORTEST_NEAR else 100.0,
            limit=None,
        )
        same = (
            leaders[number] for _, _, number in near if may_be_same(documents[position], documents[leaders[number]])
        )
        leader[position] = next(same, position)
        if leader[position] == position:
            leaders.append(position)


_GOOD, _BAD, _ = range(len(VERDICTS))
_ROWS_WRITTEN = 1_000
_MOST_PARTS_NAMED = 1_000
REVIEW = "-review"


@dataclass(frozen=True)
class Surveyed:
    """A log after the first reading."""

    index: Index
    judged: Judged
    signals: Signals
    tally: Tally


@dataclass(frozen=True)
class Harvest:
    """The cases drawn from a log, those that need a review, and all counts."""

    cases: list[Case]
    review: list[Case]
    strata: list[Stratum]
    counts: dict[str, Any]
    parts: list[str] = field(default_factory=list)
    # The first example per reason for leaving rows out.
    first: dict[str, str] = field(default_factory=dict)
    # What the user should know about the log.
    notes: list[str] = field(default_factory=list)


def survey(log: Log, signal_files: Sequence[str], weights: Weights) -> Surveyed:
    """Reads a log into an index, and judges its answers by the users' signals."""
    signals, tally, index = Signals(), Tally(), Index()
    for path in signal_files:
        read_signals(path, signals, log.selection)
    for exchange in log.exchanges(tally, signals.add_rating):
        index.add(exchange)
    return Surveyed(index, judge(index, signals, weights), signals, tally)


def make_harvest(
    log: Log,
    signal_files: Sequence[str],
    weights: Weights,
    n: int,
    seed: int = 0,
    mask: bool = False,
    accept: bool = False,
) -> Harvest:
    """Draws n exchanges of a log by strata and makes cases of them."""
    surveyed = survey(log, signal_files, weights)
    drawn = _draw(surveyed, n, seed)
    exchanges = _fetch(log, surveyed.index, drawn.rows)
    masked: Counter[str] = Counter()
    cases = []
    for group in group_duplicates(exchanges):
        case = _make_case(group, exchanges, surveyed.judged, drawn, accept)
        cases.append(_mask(case, masked) if mask else case)
    # A reviewer accepts the logged answer or writes another one.
    review = [
        replace(case, references=case.references or [case.metadata["logged_answer"]], standing="proposed")
        for case in cases
        if case.metadata["signal"] == "bad" or "disputed" in case.metadata
    ]
    counts = {
        **count(surveyed),
        "drawn": len(drawn.rows),
        "duplicates_among_drawn": len(drawn.rows) - len(cases),
        "cases": dict(Counter(case.metadata["signal"] for case in cases)),
        "review": len(review),
        "masked": dict(masked),
        "seed": seed,
        "strata": len(drawn.strata),
    }
    first = {**surveyed.tally.first, **surveyed.signals.first}
    return Harvest(cases, review, drawn.strata, counts, surveyed.tally.parts, first, _notes(surveyed.tally))


def _notes(tally: Tally) -> list[str]:
    if not tally.without_time:
        return []
    advice = "their period is unknown. Name the column"
    return [no_time_note(tally.without_time, tally.exchanges, "exchanges", tally.columns, advice)]


def write_samples(log: Log, surveyed: Surveyed, path: str) -> int:
    """Writes the exchanges of a log as samples with their signals, for `like_rate` and others; returns their number."""

    def batches() -> Iterator[pa.RecordBatch]:
        exchanges = enumerate(log.exchanges(Tally()))
        while block := list(itertools.islice(exchanges, _ROWS_WRITTEN)):
            signals = [surveyed.judged.features_of(row) for row, _ in block]
            samples = [
                replace(sample, metadata={**sample.metadata, "signals": own}) if own else sample
                for (_, (sample, *_)), own in zip(block, signals, strict=True)
            ]
            yield from samples_table(samples).to_batches()

    return write_dataset(batches(), path)


def count(surveyed: Surveyed) -> dict[str, Any]:
    """The counts of the first reading."""
    index, judged, signals, tally = surveyed.index, surveyed.judged, surveyed.signals, surveyed.tally
    questions = index.column("question")
    verdicts = np.bincount(judged.verdicts, minlength=len(VERDICTS))
    return {
        "rows": tally.rows,
        "parts": len(tally.parts),
        "left_out": dict(tally.left_out),
        "exchanges": len(index),
        "without_time": tally.without_time,
        "remarks": int(index.column("remark").sum()),
        "repeated_questions": len(questions) - len(np.unique(questions)),
        "signals": dict(signals.seen),
        "signals_in_conversations": judged.derived,
        "signals_left_out": dict(signals.left_out),
        "signals_of_unknown_answers": judged.unmatched,
        "answers_with_signal": int(judged.has_signal.sum()),
        **{verdict: int(number) for verdict, number in zip(VERDICTS, verdicts, strict=True)},
    }


def _draw(surveyed: Surveyed, n: int, seed: int) -> Draw:
    """Draws among the questions; thanks and complaints are excluded."""
    index = surveyed.index
    frame = np.flatnonzero(index.column("remark") == 0)
    if not len(frame):
        raise UsageError("the log has thanks and complaints but no question; check the path and the format")
    periods, kind = index.periods()
    days, places = np.unique(periods, return_inverse=True)
    prefix = "week of " if kind == "week" else ""
    period_names = [f"{prefix}{date.fromordinal(int(day))}" if day else UNKNOWN for day in days]
    columns = {
        "deployment": (index.column("deployment")[frame], index.deployments.names),
        "period": (places.reshape(-1)[frame], period_names),
        "language": (index.column("language")[frame], index.languages.names),
        "length": (index.column("length")[frame], index.lengths.names),
    }
    drawn = draw(surveyed.judged.verdicts[frame], VERDICTS, columns, n, seed)
    return replace(drawn, rows=frame[drawn.rows])


def _fetch(log: Log, index: Index, rows: np.ndarray) -> list[Exchange]:
    """The exchanges at these rows of the log, in the order of `rows`."""
    wanted = {int(row): position for position, row in enumerate(rows)}
    ids = index.column("id")
    exchanges: list[Exchange | None] = [None] * len(rows)
    for row, exchange in enumerate(log.exchanges(Tally())):
        if row in wanted:
            if row >= len(ids) or hash(exchange.sample.id) != ids[row]:
                break
            exchanges[wanted.pop(row)] = exchange
            if not wanted:
                return [exchange for exchange in exchanges if exchange]
    raise StorageError("the log has changed while it was read. Harvest again, up to a day in the past: --until DAY.")


def _make_case(group: Sequence[int], exchanges: Sequence[Exchange], judged: Judged, drawn: Draw, accept: bool) -> Case:
    """One case for all draws of one question, with the most certain answer; good answers come first."""
    verdicts, probabilities = judged.verdicts[drawn.rows], judged.probabilities[drawn.rows]
    best = min(group, key=lambda one: (verdicts[one], -abs(float(probabilities[one]) - 0.5)))
    exchange, sample, verdict = exchanges[best], exchanges[best].sample, int(verdicts[best])
    disputed = {_GOOD, _BAD} <= {int(verdicts[one]) for one in group}
    signals = judged.features_of(int(drawn.rows[best]))
    times = Counter(int(drawn.stratum_of[one]) for one in group)
    draws = [(drawn.strata[number], often) for number, often in sorted(times.items())]
    metadata = {
        "signal": VERDICTS[verdict],
        "probability": round(float(probabilities[best]), 4),
        # Not `signals`: they are about the logged answer, not about one that is evaluated now.
        "logged_signals": signals,
        "why": [MEANINGS[name] for name in signals],
        "deployment": exchange.deployment,
        "day": str(exchange.day) if exchange.day else None,
        "language": guess_language(sample.question or ""),
        "length": length_of(sample.question or ""),
        "draws": [{"stratum": one.name, "times": often, "weight": one.weight} for one, often in draws],
        "disputed": "another answer to this question was bad" if disputed else None,
        "logged_answer": None if verdict == _GOOD else sample.answer,
    }
    waits = verdict == _BAD or disputed or (verdict == _GOOD and not accept)
    return Case(
        id=sample.id,
        question=sample.question or "",
        references=[sample.answer or ""] if verdict == _GOOD else [],
        documents=sample.documents or [],
        passages=[chunk for chunk in sample.contexts or () if chunk.text],
        weight=sum(drawn.strata[drawn.stratum_of[one]].weight for one in group),
        provenance="harvested",
        standing="proposed" if waits else "accepted",
        metadata={name: value for name, value in metadata.items() if value is not None},
    )


def _mask(case: Case, masked: Counter[str]) -> Case:
    """The case without personal data; the same data gets the same placeholder in all texts."""
    masker = Masker()
    metadata = dict(case.metadata)
    if "logged_answer" in metadata:
        metadata["logged_answer"] = masker.mask(metadata["logged_answer"])
    clean = replace(
        case,
        question=masker.mask(case.question),
        references=[masker.mask(text) for text in case.references],
        documents=[masker.mask(name) for name in case.documents],
        passages=[
            replace(chunk, text=masker.mask(chunk.text), source=chunk.source and masker.mask(chunk.source))
            for chunk in case.passages
        ],
        metadata=metadata,
    )
    masked.update(masker.counts)
    return clean


@dataclass(frozen=True)
class Added:
    """Earlier and new cases together, and the number of questions that were known before."""

    cases: list[Case]
    known: int


def save_harvest(
    harvest: Harvest, log: Log, weights: Weights, store: TruthStore, name: str, author: str, note: str = ""
) -> list[VersionInfo]:
    """Saves the cases as NAME and the bad ones as NAME-review; a version without changes is not saved."""
    lots = ((name, harvest.cases), (name + REVIEW, harvest.review))
    describe = partial(_lineage, harvest, log, weights)
    saved = (_save(store, title, fresh, describe, author, note) for title, fresh in lots if fresh)
    return [info for info in saved if info]


def _save(
    store: TruthStore, name: str, fresh: Sequence[Case], describe: Callable[[int], Lineage], author: str, note: str
) -> VersionInfo | None:
    """Saves new cases as the next version; a concurrent save only causes another attempt."""
    while True:
        parent = store.newest(name)
        earlier = [] if parent is None else store.read(name, parent).cases
        added = add_cases(earlier, fresh)
        if added.cases == earlier:
            return None
        try:
            return store.save(name, added.cases, author=author, note=note, parent=parent, lineage=describe(added.known))
        except TruthConflictError:
            continue


def add_cases(earlier: Sequence[Case], fresh: Sequence[Case]) -> Added:
    """The earlier cases unchanged, then the new ones; a known question only adds its weight."""
    cases = {case.id: case for case in earlier}
    asked: dict[str, list[Case]] = defaultdict(list)
    for case in earlier:
        asked[question_key(case.question)].append(case)
    known = 0
    for case in fresh:
        others = asked[question_key(case.question)]
        alike = (other.id for other in others if may_be_same(case.documents, other.documents))
        same = case.id if case.id in cases else next(alike, None)
        if same is None:
            cases[case.id] = case
            continue
        known += 1
        if same != case.id:  # the same exchange, drawn again, keeps its weight
            before = cases[same]
            draws = [*before.metadata.get("draws", []), *case.metadata["draws"]]
            weight = (before.weight or 0.0) + (case.weight or 0.0)
            cases[same] = replace(before, weight=weight, metadata={**before.metadata, "draws": draws})
    return Added(list(cases.values()), known)


def _lineage(harvest: Harvest, log: Log, weights: Weights, known: int) -> Lineage:
    selection = log.selection
    source = {
        "path": " + ".join(log.paths),
        "deployments": list(selection.deployments),
        "from": str(selection.first) if selection.first else None,
        "to": str(selection.last) if selection.last else None,
        "parts": harvest.parts[:_MOST_PARTS_NAMED],
    }
    counts = {**harvest.counts, "known_before": known, "drawn_by_stratum": [asdict(one) for one in harvest.strata]}
    tools = {"signal weights": {"prior": weights.prior, **weights.weights}}
    return Lineage(sources=[source], tools=tools, counts=counts)
