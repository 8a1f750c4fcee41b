"""Labels of people in a diagnosis: which claims can be labelled, and the verdicts of people in place of those of the judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.data.types import Sample
from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NEUTRAL, Verdict, probability_of, strongest
from ragstone.storage.human_labels import HumanLabel, HumanLabels, answer_key, label_hash

CHUNKS = "chunks"
_OTHER = {"answer": "reference", "reference": "answer"}


@dataclass(frozen=True)
class ClaimTarget:
    """A claim of the answer or the reference, checked against the other text or the chunks, and the judge's verdict."""

    whose: str
    # From 1.
    number: int
    claim: str
    against: str
    judged: str
    key: str


def sample_key(sample: Sample) -> str:
    """The key of the labels of an answer."""
    said = [turn.text for turn in sample.history or () if turn.role == "user"]
    return answer_key(sample.question, sample.answer, said)


def claim_targets(sample: Sample, evidence: Mapping[str, Any]) -> Iterator[ClaimTarget]:
    """The claims of a sample that can be labelled: those with a verdict."""
    answer, references = sample_key(sample), sample.references or []
    for whose, other in _OTHER.items():
        texts = {other: references if other == "reference" else [sample.answer or ""]}
        texts[CHUNKS] = [chunk.text for chunk in sample.contexts or ()]
        for at, claim in enumerate(evidence.get(f"{whose}_claims") or ()):
            for against, read in texts.items():
                if known := _verdicts(evidence, whose, against, at):
                    key = label_hash("claim", answer, claim.text, against, *read)
                    yield ClaimTarget(whose, at + 1, claim.text, against, strongest(known), key)


def _verdicts(evidence: Mapping[str, Any], whose: str, against: str, at: int) -> list[str]:
    if against != CHUNKS:
        return list((evidence.get(f"{whose}_claims_in_{against}") or ())[at : at + 1])
    row = (evidence.get(f"{whose}_claims_in_contexts") or ())[at : at + 1]
    return [*(row[0] if row else ()), *(evidence.get(f"{whose}_claims_in_all_contexts") or ())[at : at + 1]]


def with_claim_labels(sample: Sample, evidence: Mapping[str, Any], people: HumanLabels) -> Mapping[str, Any]:
    """The evidence with the verdicts of people in place of those of the judge. If people are divided, the judge's stays."""
    changed = dict(evidence)
    for target in claim_targets(sample, evidence) if people.has_claims else ():
        labels = people.by_key.get(target.key, ())
        votes = Counter(label.value for label in labels).most_common(2)
        if len({count for _, count in votes}) == len(votes) > 0:
            _replace(changed, target, votes[0][0], labels)
    return changed


def _replace(evidence: dict[str, Any], target: ClaimTarget, word: str, labels: Sequence[HumanLabel]) -> None:
    at, source = target.number - 1, f"labelled by {', '.join(label.author for label in labels)}"
    name = f"{target.whose}_claims_in_{target.against}"
    if target.against != CHUNKS:
        evidence[name] = _with(evidence[name], at, word, source)
        return
    rows, joint = f"{target.whose}_claims_in_contexts", f"{target.whose}_claims_in_all_contexts"
    row = (evidence.get(rows) or ())[at : at + 1]
    if row and len(row[0]):
        changed = _of_chunks(row[0], word, source)
        evidence[rows] = [changed if place == at else other for place, other in enumerate(evidence[rows])]
    if len(evidence.get(joint) or ()) > at:
        evidence[joint] = _with(evidence[joint], at, word, source)


def _of_chunks(row: Sequence[str], word: str, source: str) -> list[str]:
    """The verdicts of the chunks by people: no chunk states the claim, or those do that the judge named, or the nearest."""
    named = {place for place, old in enumerate(row) if old == word and word != NEUTRAL}
    if not named and word != NEUTRAL:
        named = {max(range(len(row)), key=lambda place: (probability_of(row[place]) or 0.0, row[place] != NEUTRAL))}
    # A claim that a chunk supports may still be contradicted by another one.
    kept = (NEUTRAL, CONTRADICTION) if word == ENTAILMENT else (NEUTRAL,)
    return [
        _by_people(old, word if place in named else NEUTRAL, source) if place in named or old not in kept else old
        for place, old in enumerate(row)
    ]


def _by_people(old: str, word: str, source: str) -> Verdict:
    return Verdict(word, source=source, words=getattr(old, "words", None))


def _with(verdicts: Sequence[str], at: int, word: str, source: str) -> list[str]:
    return [_by_people(old, word, source) if place == at else old for place, old in enumerate(verdicts)]
