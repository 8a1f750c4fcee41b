"""Which claims, facts or chunks a score counts: the numerator and the denominator of its formula, item by item."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.compare.cases import Case
from ragstone.metrics.verdicts import misled, relevant_chunks, supported, supported_somewhere
from ragstone.text.sentences import sentences


@dataclass(frozen=True)
class Counted:
    """The numbers, from 1, of the items above and below the line."""

    kind: str
    above: tuple[int, ...]
    below: tuple[int, ...]

    @property
    def value(self) -> float | None:
        """Above / below; None where there is nothing to count."""
        return len(self.above) / len(self.below) if self.below else None


Count = Callable[[Case, Mapping[str, Any]], Counted]


def count_items(metric: str, case: Case, settings: Mapping[str, Any]) -> list[Counted]:
    """What a metric counts in a sample; several counts where it is made from several, none where it is no share."""
    found = []
    for count in _COUNTS.get(metric, ()):
        try:
            found.append(count(case, settings))
        except KeyError:  # the evidence is not there
            return []
    return found


def _flags(kind: str, above: Sequence[bool], below: Sequence[bool] | None = None) -> Counted:
    whole = [True] * len(above) if below is None else below
    return Counted(
        kind,
        tuple(number for number, (counts, there) in enumerate(zip(above, whole, strict=True), 1) if counts and there),
        tuple(number for number, there in enumerate(whole, 1) if there),
    )


def _supported(kind: str, name: str) -> Count:
    return lambda case, _: _flags(kind, supported(case.evidence[name]))


def _somewhere(kind: str, name: str) -> Count:
    return lambda case, _: _flags(kind, supported_somewhere(case.evidence[name]))


def _context_precision(case: Case, _: Mapping[str, Any]) -> Counted:
    rows = case.evidence["reference_claims_in_contexts"]
    relevant = relevant_chunks(rows)
    return _flags("chunk", [chunk in relevant for chunk in range(len(rows[0]) if rows else 0)])


def _context_utilization(case: Case, _: Mapping[str, Any]) -> Counted:
    found = supported_somewhere(case.evidence["reference_claims_in_contexts"])
    return _flags("reference claim", supported(case.evidence["reference_claims_in_answer"]), found)


def _noise(by_relevant: bool | None = None) -> Count:
    def count(case: Case, settings: Mapping[str, Any]) -> Counted:
        wanted = settings.get("mode", "relevant") == "relevant" if by_relevant is None else by_relevant
        right = supported(case.evidence["answer_claims_in_reference"])
        rows = case.evidence["answer_claims_in_contexts"]
        wrong = misled(right, rows, case.evidence["reference_claims_in_contexts"], by_relevant=wanted)
        return _flags("answer claim", wrong)

    return count


def _unfounded(right: bool) -> Count:
    def count(case: Case, _: Mapping[str, Any]) -> Counted:
        correct = supported(case.evidence["answer_claims_in_reference"])
        founded = supported_somewhere(case.evidence["answer_claims_in_contexts"])
        return _flags("answer claim", [not f and c == right for c, f in zip(correct, founded, strict=True)])

    return count


def _fact_recall(case: Case, settings: Mapping[str, Any]) -> Counted:
    most = settings.get("k")
    ranks = case.evidence["fact_ranks"]
    return _flags("fact", [rank is not None and (most is None or rank <= most) for rank in ranks])


def _fact_precision(case: Case, settings: Mapping[str, Any]) -> Counted:
    return _flags("chunk", [count > 0 for count in case.evidence["chunk_relevance"][: settings.get("k")]])


def _needed_sentences(case: Case, _: Mapping[str, Any]) -> Counted:
    needed = set(case.evidence["needed_sentences"])
    total = sum(1 for chunk in case.sample.contexts or () for _ in sentences(chunk.text))
    return _flags("sentence", [number in needed for number in range(total)])


_PRECISION = _supported("answer claim", "answer_claims_in_reference")
_RECALL = _supported("reference claim", "reference_claims_in_answer")
_COUNTS: dict[str, tuple[Count, ...]] = {
    "ragchecker.precision": (_PRECISION,),
    "ragchecker.recall": (_RECALL,),
    "ragchecker.f1": (_PRECISION, _RECALL),
    "ragchecker.claim_recall": (_somewhere("reference claim", "reference_claims_in_contexts"),),
    "ragchecker.context_precision": (_context_precision,),
    "ragchecker.context_utilization": (_context_utilization,),
    "ragchecker.noise_sensitivity_in_relevant": (_noise(by_relevant=True),),
    "ragchecker.noise_sensitivity_in_irrelevant": (_noise(by_relevant=False),),
    "ragchecker.hallucination": (_unfounded(right=False),),
    "ragchecker.self_knowledge": (_unfounded(right=True),),
    "ragchecker.faithfulness": (_somewhere("answer claim", "answer_claims_in_contexts"),),
    "ragas.faithfulness": (_supported("answer claim", "answer_claims_in_all_contexts"),),
    "ragas.context_recall": (_supported("reference claim", "reference_claims_in_all_contexts"),),
    "ragas.noise_sensitivity": (_noise(),),
    "ragas.context_entity_recall": (lambda case, _: _flags("entity", case.evidence["reference_entities_in_contexts"]),),
    "ragas.context_precision": (lambda case, _: _flags("chunk", case.evidence["chunk_usefulness"]),),
    "ragas.context_relevance": (_needed_sentences,),
    "ragas.answer_correctness": (_PRECISION, _RECALL),
    "fact_recall": (_fact_recall,),
    "fact_precision": (_fact_precision,),
    "fact_f1": (_fact_recall, _fact_precision),
}
