"""Questions that were asked more than once: the same words, or nearly so, of one deployment and not of other documents."""

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
        # "The fares of 2023" and "of 2024" differ in one letter only.
        heaps[exchange.deployment, tuple(_DIGITS.findall(key))].append(place)
    leader = list(range(len(exchanges)))
    documents = [exchange.sample.documents or [] for exchange in exchanges]
    for places in heaps.values():
        _join(places, keys, documents, leader)
    groups: dict[int, list[int]] = defaultdict(list)
    for place, first in enumerate(leader):
        groups[first].append(place)
    return list(groups.values())


def may_be_same(documents: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two questions may be about the same: they share a document, or one does not say."""
    return not documents or not others or not set(documents).isdisjoint(others)


def _join(places: Sequence[int], keys: Sequence[str], documents: Sequence[Sequence[str]], leader: list[int]) -> None:
    """Let each question follow the first that it is a duplicate of."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415

    leaders: list[int] = []
    for place in places:
        key = keys[place]
        near = process.extract(
            key,
            [keys[first] for first in leaders],
            scorer=fuzz.ratio,
            score_cutoff=NEAR if len(key) >= _SHORTEST_NEAR else 100.0,
            limit=None,
        )
        same = (leaders[found] for _, _, found in near if may_be_same(documents[place], documents[leaders[found]]))
        leader[place] = next(same, place)
        if leader[place] == place:
            leaders.append(place)
