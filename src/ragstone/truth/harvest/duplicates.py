"""Questions that were asked more than once: the same words, or nearly so, of the same deployment and documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from ragstone.text.questions import question_key
from ragstone.truth.harvest.logs import Exchange

# Letters in a hundred that must be the same; a typing error in a question is let pass, another word in it is not.
NEAR = 95.0
_SHORTEST_NEAR = 15
_DIGITS = re.compile(r"\d+")


def group_duplicates(exchanges: Sequence[Exchange]) -> list[list[int]]:
    """The places of the exchanges, those of the same question together; the order of first appearance is kept."""
    keys = [question_key(exchange.sample.question or "") for exchange in exchanges]
    heaps: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, (exchange, key) in enumerate(zip(exchanges, keys, strict=True)):
        documents = frozenset(exchange.sample.documents or ())
        # "The fares of 2023" and "of 2024" differ in one letter only.
        heaps[exchange.deployment, documents, tuple(_DIGITS.findall(key))].append(place)
    leader = list(range(len(exchanges)))
    for places in heaps.values():
        _join(places, keys, leader)
    groups: dict[int, list[int]] = defaultdict(list)
    for place, first in enumerate(leader):
        groups[first].append(place)
    return list(groups.values())


def _join(places: Sequence[int], keys: Sequence[str], leader: list[int]) -> None:
    """Let each question follow the first that it is a duplicate of."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415

    leaders: list[int] = []
    known: list[str] = []
    for place in places:
        key = keys[place]
        if key in known:
            leader[place] = leaders[known.index(key)]
            continue
        near = (
            process.extractOne(key, known, scorer=fuzz.ratio, score_cutoff=NEAR) if len(key) >= _SHORTEST_NEAR else None
        )
        if near:
            leader[place] = leaders[near[2]]
        else:
            leaders.append(place)
            known.append(key)
