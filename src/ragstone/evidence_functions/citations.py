"""Which claims of the answer cite which chunks, and how far the cited chunks support them (ALCE, Gao et al. 2023).

No judge is asked: the verdicts are those on the claims against the chunks. ALCE joins the cited passages and asks once whether
they entail the statement. Here a claim is supported if one of its cited chunks supports it, or if it cites several chunks, no
chunk supports it alone, and the retrieved chunks support it together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragstone.data.types import Chunk, Citation, CitedPart, Claim
from ragstone.data.verdict import ENTAILMENT
from ragstone.errors import Skip
from ragstone.evidence_functions.claims import Matrix, best_supports, support_of, supports
from ragstone.registry import evidence
from ragstone.text.citation_marks import Cited, find_chunks
from ragstone.text.cited_parts import cited_parts, clean, without_marks
from ragstone.text.overlap import content_stems
from ragstone.text.passages import Passages
from ragstone.text.sentences import sentences
from ragstone.text.words import Span

# A part of a sentence is cited for a claim if its share of the claim is at least this part of the best one's.
_NEAR_BEST = 0.8


@evidence(either=("answer", "citations"), by_id=True)
def answer_citations(answer: str | None, contexts: list[Chunk], citations: list[Citation] | None) -> list[CitedPart]:
    """The citations of the answer with the chunks that they name: those given in the data, else the marks in its text."""
    if answer is None:
        raise Skip("no answer")
    chunks = [Cited(chunk.id, chunk.source, chunk.page) for chunk in contexts]
    if citations is None:
        return [
            CitedPart(one.start, one.end, *one.part, list(one.chunks), answer[one.start : one.end])
            for one in cited_parts(answer, chunks)
        ]
    return [_given(answer, citation, find_chunks(citation.chunk, chunks)) for citation in citations]


def _given(answer: str, citation: Citation, chunks: tuple[int, ...]) -> CitedPart:
    """A citation without a place belongs to the whole answer."""
    start, end = citation.start, citation.end
    if start is not None and end is not None:
        return CitedPart(start, end, start, end, list(chunks), citation.chunk)
    place = answer.find(citation.text) if citation.text else -1
    if place < 0:
        return CitedPart(0, len(answer), 0, len(answer), list(chunks), citation.chunk)
    end = place + len(citation.text or "")
    return CitedPart(place, end, *_sentences_around(answer, place, end), list(chunks), citation.chunk)


def _sentences_around(text: str, start: int, end: int) -> Span:
    """The sentences of a text that a part of it belongs to."""
    spans = [span for span in sentences(text) if span.start < end and start < span.end]
    return Span(spans[0].start, spans[-1].end) if spans else Span(start, end)


@evidence
def claim_citations(answer: str, answer_claims: list[Claim], answer_citations: list[CitedPart]) -> list[list[int]]:
    """For each claim of the answer the positions of its citations: those of the part of the answer that states it."""
    cleaned = clean(answer)
    passages = Passages(cleaned.text)
    cited = []
    for claim in answer_claims:
        near = passages.nearest_span(claim.text) if answer_citations else None
        place = cleaned.original(*near[0]) if near else None
        cited.append(_citations_at(claim.text, place, answer, answer_citations) if place else [])
    return cited


def _citations_at(claim: str, sentence: Span, answer: str, citations: Sequence[CitedPart]) -> list[int]:
    """The citations of a sentence; of those that belong to parts of it, those of the parts that are in the claim."""
    whole, shares = [], {}
    stems = content_stems(claim)
    for number, one in enumerate(citations):
        if one.part_start <= sentence.start and sentence.end <= one.part_end:
            whole.append(number)
        elif one.part_start < sentence.end and sentence.start < one.part_end:
            part = content_stems(without_marks(answer[one.part_start : one.part_end]))
            shares[number] = len(part & stems) / len(part) if part else 0.0
    best = max(shares.values(), default=0.0)
    return sorted([*whole, *(number for number, share in shares.items() if share >= _NEAR_BEST * best)])


class CitedSupport(NamedTuple):
    """How far the citations of an answer are right, from 0 to 1.

    `claims`: how far the cited chunks support each claim, 0 without citations. `citations`: how far each citation supports one
    of its claims, or is needed to; None if it belongs to no claim. `elsewhere`: how far a claim that cites something is
    supported by another chunk and not by those that it cites.
    """

    claims: list[float]
    citations: list[float | None]
    elsewhere: list[float]


def cited_support(
    in_contexts: Matrix,
    together: Sequence[str],
    citations: Sequence[CitedPart],
    claim_citations: Sequence[Sequence[int]],
) -> CitedSupport:
    """The support of claims and citations by the verdicts on claims against chunks."""
    claims, elsewhere = [], []
    right: list[float | None] = [None] * len(citations)
    for number, (row, cited, best) in enumerate(
        zip(in_contexts, claim_citations, best_supports(in_contexts), strict=True)
    ):
        values = supports(row)
        jointly = _jointly(row, together[number], {chunk for one in cited for chunk in citations[one].chunks})
        alone = [max((values[chunk] for chunk in citations[one].chunks), default=0.0) for one in cited]
        for one, value in zip(cited, alone, strict=True):
            needed = max(value, jointly if citations[one].chunks else 0.0)
            right[one] = max(right[one] or 0.0, needed)
        claims.append(max([*alone, jointly], default=0.0))
        elsewhere.append(max(0.0, best - claims[-1]) if cited else 0.0)
    return CitedSupport(claims, right, elsewhere)


def _jointly(row: Sequence[str], together: str, cited: set[int]) -> float:
    """How far a claim that no chunk supports alone is supported by several cited chunks."""
    return support_of(together) if len(cited) > 1 and ENTAILMENT not in row and together == ENTAILMENT else 0.0
