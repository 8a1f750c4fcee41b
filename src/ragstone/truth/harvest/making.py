"""A harvest: a log and its signals to cases of ground truth and a queue of bad ones, with everything counted.

The log is read twice: for the numbers by which exchanges are drawn, and for the exchanges that were drawn.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ragstone.data.dataset import samples_table
from ragstone.data.types import Chunk, Sample
from ragstone.errors import StorageError, UsageError
from ragstone.formats import write_dataset
from ragstone.text.languages import guess_language
from ragstone.text.personal import Masker
from ragstone.text.signals import MEANINGS
from ragstone.truth.cases import Case
from ragstone.truth.harvest.duplicates import group_duplicates
from ragstone.truth.harvest.index import UNKNOWN, Index, Judged, judge, length_of
from ragstone.truth.harvest.logs import Exchange, Log, Tally
from ragstone.truth.harvest.signals import Signals, read_signals
from ragstone.truth.harvest.strata import Draw, Stratum, draw
from ragstone.truth.harvest.weighing import VERDICTS, Weights

_GOOD, _BAD, _UNCLEAR = range(len(VERDICTS))
_ROWS_WRITTEN = 1_000


@dataclass(frozen=True)
class Surveyed:
    """A log after the first reading."""

    index: Index
    judged: Judged
    signals: Signals
    tally: Tally


@dataclass(frozen=True)
class Harvest:
    """Cases drawn from a log, those of them that wait for a person to put them right, and what was counted."""

    cases: list[Case]
    review: list[Case]
    strata: list[Stratum]
    counts: dict[str, Any]
    parts: list[str] = field(default_factory=list)
    # Where the first of each reason to leave something out is.
    first: dict[str, str] = field(default_factory=dict)


def survey(log: Log, signal_files: Sequence[str], weights: Weights) -> Surveyed:
    """Read a log for its numbers, and judge its answers by what users did with them."""
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
    """Draw n exchanges of a log by strata and make cases of them."""
    surveyed = survey(log, signal_files, weights)
    drawn = _draw(surveyed, n, seed)
    exchanges = _fetch(log, surveyed.index, drawn.rows)
    masked: Counter[str] = Counter()
    cases = []
    for group in group_duplicates(exchanges):
        case = _make_case([_Drawn(exchanges[place], place) for place in group], surveyed.judged, drawn, accept)
        cases.append(_mask(case, masked) if mask else case)
    review = [_for_review(case) for case in cases if case.metadata["signal"] == "bad" or "disputed" in case.metadata]
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
    return Harvest(cases, review, drawn.strata, counts, surveyed.tally.parts, first)


def write_samples(log: Log, surveyed: Surveyed, path: str) -> int:
    """Write the exchanges of a log as samples that carry their signals, for `like_rate` and the rest; returns how many."""

    def batches() -> Iterator[pa.RecordBatch]:
        exchanges = enumerate(log.exchanges(Tally()))
        while block := list(itertools.islice(exchanges, _ROWS_WRITTEN)):
            samples = [_with_signals(exchange, surveyed.judged.features_of(row)) for row, exchange in block]
            yield from samples_table(samples).to_batches()

    return write_dataset(batches(), path)


def _with_signals(exchange: Exchange, signals: dict[str, float]) -> Sample:
    sample = exchange.sample
    return replace(sample, metadata={**sample.metadata, "signals": signals}) if signals else sample


def count(surveyed: Surveyed) -> dict[str, Any]:
    """What the first reading came to, in numbers."""
    index, judged, signals, tally = surveyed.index, surveyed.judged, surveyed.signals, surveyed.tally
    questions = index.column("question")
    verdicts = np.bincount(judged.verdicts, minlength=len(VERDICTS))
    return {
        "rows": tally.rows,
        "parts": len(tally.parts),
        "left_out": dict(tally.left_out),
        "exchanges": len(index),
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
    """Draw among the questions; thanks and complaints are no questions."""
    index = surveyed.index
    frame = np.flatnonzero(index.column("remark") == 0)
    if not len(frame):
        raise UsageError("the log holds thanks and complaints but no question; check the path and the format")
    periods, kind = index.periods()
    days, places = np.unique(periods, return_inverse=True)
    words = [_period_name(int(day), kind) for day in days]
    columns = {
        "deployment": (index.column("deployment")[frame], index.deployments.names),
        "period": (places.reshape(-1)[frame], words),
        "language": (index.column("language")[frame], index.languages.names),
        "length": (index.column("length")[frame], index.lengths.names),
    }
    drawn = draw(surveyed.judged.verdicts[frame], VERDICTS, columns, n, seed)
    return replace(drawn, rows=frame[drawn.rows])


def _period_name(day: int, kind: str) -> str:
    if not day:
        return UNKNOWN
    return str(date.fromordinal(day)) if kind == "day" else "week of " + str(date.fromordinal(day))


def _fetch(log: Log, index: Index, rows: np.ndarray) -> list[Exchange]:
    """The exchanges at these places of the log, in the order of the places asked for."""
    wanted = {int(row): place for place, row in enumerate(rows)}
    ids = index.column("id")
    found: list[Exchange | None] = [None] * len(rows)
    for row, exchange in enumerate(log.exchanges(Tally())):
        if row in wanted:
            if row >= len(ids) or hash(exchange.sample.id) != ids[row]:
                break
            found[wanted.pop(row)] = exchange
            if not wanted:
                return [exchange for exchange in found if exchange]
    raise StorageError("the log has changed while it was read. Harvest again, up to a day that is over: --until DAY.")


class _Drawn(NamedTuple):
    exchange: Exchange
    place: int


def _make_case(group: Sequence[_Drawn], judged: Judged, drawn: Draw, accept: bool) -> Case:
    """One case for all draws of one question: that of the surest answer, a good one if there is one."""
    verdicts = [int(judged.verdicts[drawn.rows[place]]) for _, place in group]
    best = min(range(len(group)), key=lambda one: (verdicts[one], -abs(_probability(judged, drawn, group[one]) - 0.5)))
    exchange, verdict, sample = group[best].exchange, verdicts[best], group[best].exchange.sample
    disputed = _GOOD in verdicts and _BAD in verdicts
    signals = judged.features_of(int(drawn.rows[group[best].place]))
    metadata = {
        "signal": VERDICTS[verdict],
        "probability": round(_probability(judged, drawn, group[best]), 4),
        # Not `signals`: they speak of the answer of the log, not of one that is evaluated now.
        "logged_signals": signals,
        "why": [MEANINGS[name] for name in signals],
        "deployment": exchange.deployment,
        "day": str(exchange.day) if exchange.day else None,
        "language": guess_language(sample.question or ""),
        "length": length_of(sample.question or ""),
        "draws": _draws(group, drawn),
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
        weight=sum(drawn.strata[drawn.stratum_of[place]].weight for _, place in group),
        provenance="harvested",
        standing="proposed" if waits else "accepted",
        metadata={name: value for name, value in metadata.items() if value is not None},
    )


def _for_review(case: Case) -> Case:
    """A case as a person sees it who decides whether its answer was right after all, or writes the right one."""
    answers = case.references or [case.metadata["logged_answer"]]
    return replace(case, references=answers, standing="proposed")


def _probability(judged: Judged, drawn: Draw, one: _Drawn) -> float:
    return float(judged.probabilities[drawn.rows[one.place]])


def _draws(group: Sequence[_Drawn], drawn: Draw) -> list[dict[str, Any]]:
    """From which strata a case was drawn, how often, and how many exchanges each draw stands for."""
    times = Counter(int(drawn.stratum_of[place]) for _, place in group)
    return [
        {"stratum": drawn.strata[number].name, "times": often, "weight": drawn.strata[number].weight}
        for number, often in sorted(times.items())
    ]


def _mask(case: Case, masked: Counter[str]) -> Case:
    """A case without personal data; the same placeholder for the same data in all its texts."""
    masker = Masker()
    metadata = dict(case.metadata)
    if "logged_answer" in metadata:
        metadata["logged_answer"] = masker.mask(metadata["logged_answer"])
    found = replace(
        case,
        question=masker.mask(case.question),
        references=[masker.mask(text) for text in case.references],
        documents=[masker.mask(name) for name in case.documents],
        passages=[_mask_chunk(chunk, masker) for chunk in case.passages],
        metadata=metadata,
    )
    masked.update(masker.counts)
    return found


def _mask_chunk(chunk: Chunk, masker: Masker) -> Chunk:
    source = None if chunk.source is None else masker.mask(chunk.source)
    return replace(chunk, text=masker.mask(chunk.text), source=source)
