"""The bar with which people label an answer and its claims, as page data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import QueryParams

from ragstone.analysis.label_use import claim_targets, sample_key
from ragstone.analysis.sample_evidence import Case
from ragstone.data.verdict import UNSURE, WORDS
from ragstone.storage.human_labels import CLAIM_VALUES, MAX_AUTHOR, MAX_NOTE, SKIPPED, HumanLabel, labels_of
from ragstone.storage.runs import Run
from ragstone.views.phrases import one_line
from ragstone.web.library import Library

REMOVE = "remove"
# How the row after a label is chosen, in the address as `pick`.
PICKS = {
    "": "the table's order",
    "random": "random order",
    "useful": "what narrows the estimates most",
    "unsure": "least sure first",
    "stay": "stay here",
}


def label_parts(
    library: Library, run: Run, at: int, case: Case, query: QueryParams, steps: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """The bar of a sample, its links with the order of the next rows, and the forms of its claims."""
    pick = name if (name := query.get("pick", "")) in PICKS else ""
    walk = {**steps, **{name: _with_pick(steps[name], pick) for name in ("previous", "next", "sample")}}
    picks = [
        {"words": words, "chosen": name == pick, "address": _with_pick(steps["sample"], name)}
        for name, words in PICKS.items()
    ]
    return {**label_bar(library, run, at, case), "pick": pick, "picks": picks}, walk, _claim_forms(run, case)


def label_bar(library: Library, run: Run, at: int, case: Case) -> dict[str, Any]:
    """The bar of a sample as page data: its labels, and whether people disagree."""
    people = labels_of(run)
    labels = people.by_key.get(sample_key(case.sample), ())
    values = {label.value for label in labels if label.value != SKIPPED}
    return {
        "run": run.id,
        "row": at,
        "user": library.user,
        "labels": [_shown(label) for label in labels],
        "divided": len(values) > 1,
        "limits": {"author": MAX_AUTHOR, "note": MAX_NOTE},
        "damaged": len(people.damaged),
    }


def _shown(label: HumanLabel) -> dict[str, str]:
    words = label.value if label.kind == "answer" else WORDS[label.value].phrase
    note = one_line(label.note, MAX_NOTE)
    return {"author": label.author, "value": label.value, "words": words, "note": note, "time": label.time}


def _claim_forms(run: Run, case: Case) -> dict[str, list[dict[str, Any]]]:
    """The forms that label each claim, by the key of the claim on the page, `answer-2`."""
    people = labels_of(run)
    found: dict[str, list[dict[str, Any]]] = {}
    for target in claim_targets(case.sample, case.judged or case.evidence):
        labels = people.by_key.get(target.key, ())
        found.setdefault(f"{target.whose}-{target.number}", []).append(
            {
                "key": target.key,
                "against": target.against,
                "judged": target.judged,
                "judged_words": WORDS[target.judged].phrase,
                "agree": "" if target.judged == UNSURE else f"claim {target.key} {target.judged}",
                "choices": [
                    {"value": f"claim {target.key} {word}", "words": WORDS[word].phrase}
                    for word in CLAIM_VALUES
                    if word != target.judged
                ],
                "labels": [{**_shown(one), "agrees": one.value == target.judged} for one in labels],
                "remove": f"claim {target.key} {REMOVE}",
            }
        )
    return found


def _with_pick(address: str, pick: str) -> str:
    """An address with the order of the next rows."""
    return f"{address}{'&' if '?' in address else '?'}pick={pick}" if address and pick else address
