"""A harvest as versions of ground truth: its cases under a name, and those that wait for a person under a second one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from ragstone.errors import TruthConflictError
from ragstone.text.questions import question_key
from ragstone.truth.cases import Case
from ragstone.truth.harvest.duplicates import may_be_same
from ragstone.truth.harvest.logs import Log
from ragstone.truth.harvest.making import Harvest
from ragstone.truth.harvest.weighing import Weights
from ragstone.truth.versions import Lineage, TruthStore, VersionInfo

_MOST_PARTS_NAMED = 1_000
REVIEW = "-review"


@dataclass(frozen=True)
class Added:
    """Earlier cases and fresh ones together, and how many questions were known before."""

    cases: list[Case]
    known: int


def save_harvest(
    harvest: Harvest, log: Log, weights: Weights, store: TruthStore, name: str, author: str, note: str = ""
) -> list[VersionInfo]:
    """Save the cases under the name, and the queue of bad ones under NAME-review; what brings nothing new is not saved."""
    lots = ((name, harvest.cases), (name + REVIEW, harvest.review))
    describe = partial(_lineage, harvest, log, weights)
    saved = (_save(store, title, fresh, describe, author, note) for title, fresh in lots if fresh)
    return [info for info in saved if info]


def _save(
    store: TruthStore, name: str, fresh: Sequence[Case], describe: Callable[[int], Lineage], author: str, note: str
) -> VersionInfo | None:
    """Save fresh cases as the next version; somebody who saves at the same time only makes it the one after."""
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
    """The earlier cases as people left them, then the fresh ones; a question that is known only adds to its weight."""
    cases = {case.id: case for case in earlier}
    asked: dict[str, list[Case]] = defaultdict(list)
    for case in earlier:
        asked[question_key(case.question)].append(case)
    known = 0
    for case in fresh:
        same = case.id if case.id in cases else _find_same(case, asked[question_key(case.question)])
        if same is None:
            cases[case.id] = case
            continue
        known += 1
        if same != case.id:  # the same exchange drawn again stands for no more than before
            before = cases[same]
            draws = [*before.metadata.get("draws", []), *case.metadata["draws"]]
            weight = (before.weight or 0.0) + (case.weight or 0.0)
            cases[same] = replace(before, weight=weight, metadata={**before.metadata, "draws": draws})
    return Added(list(cases.values()), known)


def _find_same(case: Case, asked: Sequence[Case]) -> str | None:
    """The id of the earlier case that this is, among those of the same question."""
    return next((other.id for other in asked if may_be_same(case.documents, other.documents)), None)


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
