"""Checklists: the share of items that the answer meets, by a judge. The items are the user's own.

A sample may bring its checklist in its metadata (`checklist`). Checklists and decision trees of a TOML file
(`--aspects`) become metrics `checklist.<name>`. One call per sample and checklist, or per question on the path of a tree.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ragstone.data.share import Share
from ragstone.data.types import CheckedItem, Chunk
from ragstone.errors import Skip
from ragstone.registry import evidence, metric
from ragstone.storage.images import texts_with_images
from ragstone.tools.checklists import NO, YES, Checklist, DecisionTree
from ragstone.tools.protocols import Rater

_FIELDS: dict[str, Any] = {"question": str, "contexts": list[Chunk], "answer": str}
_COMMON: dict[str, Any] = {
    "family": "checklists",
    "judges": "answer",
    "source": "checklists by a judge, as in CheckEval (Lee et al. 2024) and RocketEval (Wei et al. 2025)",
    "misleads": (
        "It depends on the judge. The wording of the items matters. All items count the same. A judge that calls hard items not "
        "applicable raises the score."
    ),
    # One model call per row: computed only if named.
    "slow": True,
}
_TREE: dict[str, Any] = {
    **_COMMON,
    "source": "decision trees by a judge, as the DAG metric of deepeval",
    "misleads": "It depends on the judge and on the wording of the questions. One wrong reply changes all that follows.",
}


@evidence(prompts=("checklist",))
async def own_checks(question: str, answer: str, metadata: dict[str, Any], rater: Rater) -> list[CheckedItem]:
    """The verdict on each item of the checklist in the metadata: yes, no or not_applicable."""
    checklist = Checklist.from_metadata(metadata)
    if not answer.strip():
        raise Skip("the answer is empty")
    return await rater.check(checklist, question, answer, ())


@metric("checklist", **_COMMON, against="metadata")
def checklist(own_checks: Sequence[CheckedItem]) -> float:
    """Share of the sample's own checklist that the answer meets, by a judge.

    Items of `metadata.checklist` with yes / items with yes or no; items that are not applicable do not count. Skipped if the answer is empty, if there is no checklist, or if no item is applicable.
    """
    return share_met("checklist item", own_checks)


def share_met(kind: str, checks: Sequence[CheckedItem]) -> Share:
    """Yes / (yes + no)."""
    decided = [float(check.verdict in (YES, NO)) for check in checks]
    if not any(decided):
        raise Skip("no item of the checklist is applicable")
    met = [float(check.verdict == YES) for check in checks]
    return Share.of(kind, met, decided, texts=[check.item for check in checks])


def register_checklists(checklists: Iterable[Checklist | DecisionTree]) -> list[str]:
    """Register checklists and decision trees of a file as metrics and return the names of the metrics."""
    names = []
    for items in checklists:
        checks = _make_evidence(items)
        is_tree = isinstance(items, DecisionTree)
        evidence(prompts=("decision" if is_tree else "checklist",), signature=_hash_of(items), images=True)(checks)
        names.append(f"checklist.{items.name}")
        shown = "contexts" if "contexts" in items.shows else "question"
        metric(names[-1], **(_TREE if is_tree else _COMMON), against=shown)(_make_metric(items, checks.__name__))
    return names


def _hash_of(items: Checklist | DecisionTree) -> Callable[[], str]:
    return lambda: items.hash


def _make_evidence(items: Checklist | DecisionTree) -> Callable[..., Any]:
    needs = ["question", *(["contexts"] if "contexts" in items.shows else []), "answer"]

    async def checks(*, question: str, answer: str, rater: Rater, contexts: Sequence[Chunk] = ()) -> list[CheckedItem]:
        if not answer.strip():
            raise Skip("the answer is empty")
        return await rater.check(items, question, answer, texts_with_images(contexts))

    checks.__name__ = checks.__qualname__ = f"{items.name}_checks"
    checks.__doc__ = f"The verdict on each item of the checklist {items.name}, or on each question of its path."
    checks.__annotations__ = {**{need: _FIELDS[need] for need in needs}, "rater": Rater, "return": list[CheckedItem]}
    parameters = [inspect.Parameter(need, inspect.Parameter.KEYWORD_ONLY) for need in (*needs, "rater")]
    checks.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return checks


def _make_metric(items: Checklist | DecisionTree, need: str) -> Callable[..., float]:
    is_tree = isinstance(items, DecisionTree)

    def score(**checks: Sequence[CheckedItem]) -> float:
        return float(checks[need][-1].verdict) if is_tree else share_met(f"{items.name} item", checks[need])

    score.__name__ = score.__qualname__ = f"{need}_share"
    score.__doc__ = (
        f"""Score to which the judge's replies lead in the decision tree {items.name}.

    One reply leads to the next question or to a score. The questions: {" ".join(items.items)} Skipped if the answer is empty.
    """
        if is_tree
        else f"""Share of the checklist {items.name} that the answer meets, by a judge.

    Items with yes / items with yes or no; items that are not applicable do not count. The items: {"; ".join(items.items)}.
    Skipped if the answer is empty or no item is applicable.
    """
    )
    parameters = [inspect.Parameter(need, inspect.Parameter.KEYWORD_ONLY)]
    score.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    score.__annotations__ = {need: list[CheckedItem], "return": float}
    return score
