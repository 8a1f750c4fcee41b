"""Proposes the worst answers of a period as cases of ground truth, for review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.data.types import Sample
from ragstone.errors import TruthConflictError
from ragstone.text.questions import question_key
from ragstone.truth.model import Case
from ragstone.truth.store import Lineage, TruthStore
from ragstone.watch.store import WatchStore


@dataclass(frozen=True)
class Desk:
    """The ground truth that receives proposals."""

    store: TruthStore
    name: str
    author: str


def propose(watch: WatchStore, period: str, ids: Sequence[str], desk: Desk) -> int:
    """Add these samples of a period as proposed cases; returns how many are new.

    A question that the ground truth has, also a rejected one, is not proposed again: a repeated call adds nothing.
    """
    record = watch.period(period)
    if record is None or not ids:
        return 0
    samples = {sample.id: sample for run in watch.runs(period) for sample in run.samples if sample.id in set(ids)}
    fresh = [_make_case(watch, period, samples[name], record.weights.get(name)) for name in ids if name in samples]
    while True:
        parent = desk.store.newest(desk.name)
        earlier = [] if parent is None else desk.store.read(desk.name, parent).cases
        known = {case.id for case in earlier} | {question_key(case.question) for case in earlier}
        new: dict[str, Case] = {}
        for case in fresh:
            if case.id not in known and question_key(case.question) not in known:
                new.setdefault(question_key(case.question), case)
        if not new:
            return 0
        origin = Lineage(sources=[{"watch": str(watch.place), "period": period}], counts={"proposed": len(new)})
        note = f"worst answers of {period}"
        try:
            cases = [*earlier, *new.values()]
            desk.store.save(desk.name, cases, author=desk.author, note=note, parent=parent, lineage=origin)
            return len(new)
        except TruthConflictError:
            continue


def _make_case(watch: WatchStore, period: str, sample: Sample, weight: float | None) -> Case:
    metadata = {"signal": "bad", "why": [f"among the worst of {period}"], "watch": watch.place.name, "day": period}
    return Case(
        id=sample.id,
        question=sample.question or "",
        references=[sample.answer or ""],
        documents=sample.documents or [],
        passages=[chunk for chunk in sample.contexts or () if chunk.text],
        weight=weight,
        provenance="harvested",
        standing="proposed",
        metadata={**metadata, "logged_answer": sample.answer or ""},
    )
