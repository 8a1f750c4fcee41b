"""Citations of the answer: whether each claim cites chunks that support it (ALCE, Gao et al. 2023).

ALCE takes the sentences of the answer as statements. Here a statement is a claim, with the citations that the part of the
answer cites from which it comes. Verdicts are those on the claims against the chunks; verdicts of the local judge count with
their expected value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.data.share import Share, harmonic_mean
from ragstone.data.types import CitedPart
from ragstone.errors import Skip
from ragstone.evidence_functions.citations import CitedSupport, cited_support
from ragstone.evidence_functions.claims import ANSWER_CLAIM, NO_ANSWER_CLAIMS, Matrix, share
from ragstone.registry import Threshold, metric

CITE = "Instruct the generator to cite a chunk after every sentence, and show it the chunks with the numbers that it must cite."
CITE_RIGHT = "Instruct the generator to cite only the chunks that a sentence is taken from, or let it quote them first."
NO_CITATIONS = "the answer has no citations"
_CITATION = "citation"
_JUDGED = "It depends on the judge of claims and verdicts. The claim's sentence must be found in the answer."
_COMMON: dict[str, Any] = {
    "family": "citations",
    "judges": "answer",
    "against": "contexts",
    "source": "ALCE (Gao et al. 2023)",
}
_OWN = {**_COMMON, "source": "Ragstone, in addition to ALCE (Gao et al. 2023)"}


@metric(
    "citation_recall",
    **_COMMON,
    misleads=f"{_JUDGED} A claim that needs two chunks counts as supported if it cites any two.",
    aliases=("alce.citation_recall",),
    headline=21,
    good=Threshold(0.8, order=14, decides=False),
    advice=CITE,
)
def citation_recall(
    answer_claims_in_contexts: Matrix,
    answer_claims_in_all_contexts: Sequence[str],
    answer_citations: Sequence[CitedPart],
    claim_citations: Sequence[Sequence[int]],
) -> Share:
    """Share of the answer that its own citations support.

    Claims that a chunk they cite supports / claims. A claim that cites nothing counts 0. A claim that cites several chunks also
    counts if no chunk supports it alone and the retrieved chunks do together. Skipped if the answer makes no claims.
    """
    found = _support(answer_claims_in_contexts, answer_claims_in_all_contexts, answer_citations, claim_citations)
    return share(ANSWER_CLAIM, found.claims, NO_ANSWER_CLAIMS, answer_claims_in_contexts)


@metric(
    "citation_precision",
    **_COMMON,
    misleads=f"{_JUDGED} An answer with one citation is easily precise.",
    aliases=("alce.citation_precision",),
    headline=22,
    good=Threshold(0.8, order=15, decides=False),
    advice=CITE_RIGHT,
)
def citation_precision(
    answer_claims_in_contexts: Matrix,
    answer_claims_in_all_contexts: Sequence[str],
    answer_citations: Sequence[CitedPart],
    claim_citations: Sequence[Sequence[int]],
) -> Share:
    """Share of the citations that support the claims next to them.

    Citations whose chunk supports a claim of their part, or is needed for it / citations of claims. A citation
    is not needed if it does not support the claim and the others do without it. A chunk that was not retrieved
    counts 0. Claims but no citations: 0. Skipped if the answer makes no claims.
    """
    found = _support(answer_claims_in_contexts, answer_claims_in_all_contexts, answer_citations, claim_citations)
    counts = [float(value is not None) for value in found.citations]
    if any(counts):
        return Share.of(_CITATION, [value or 0.0 for value in found.citations], counts)
    return share(_CITATION, [0.0] * bool(found.claims), NO_ANSWER_CLAIMS)


@metric(
    "citation_f1", **_COMMON, misleads=f"{_JUDGED} It hides which of the two is low.", aliases=("alce.citation_f1",)
)
def citation_f1(
    answer_claims_in_contexts: Matrix,
    answer_claims_in_all_contexts: Sequence[str],
    answer_citations: Sequence[CitedPart],
    claim_citations: Sequence[Sequence[int]],
) -> float:
    """Overall quality of the citations.

    Harmonic mean of citation precision and citation recall per row, 0 if either is 0. Skipped if the answer makes no claims.
    """
    evidence = (answer_claims_in_contexts, answer_claims_in_all_contexts, answer_citations, claim_citations)
    return harmonic_mean(citation_precision(*evidence), citation_recall(*evidence))


@metric(
    "uncited_claims",
    **_OWN,
    better="lower",
    misleads="It does not matter what is cited. A paragraph with one citation at its end is mostly uncited.",
)
def uncited_claims(claim_citations: Sequence[Sequence[int]]) -> float:
    """Share of the answer that cites nothing.

    Claims without a citation / claims. Skipped if the answer makes no claims.
    """
    return share(ANSWER_CLAIM, [float(not cited) for cited in claim_citations], NO_ANSWER_CLAIMS)


@metric(
    "wrongly_cited_claims",
    **_OWN,
    better="lower",
    misleads=f"{_JUDGED} A claim that no chunk supports is not counted: its citation cannot be right.",
)
def wrongly_cited_claims(
    answer_claims_in_contexts: Matrix,
    answer_claims_in_all_contexts: Sequence[str],
    answer_citations: Sequence[CitedPart],
    claim_citations: Sequence[Sequence[int]],
) -> float:
    """Share of the answer that cites the wrong chunk although a right one was retrieved.

    Claims whose cited chunks do not support them while another retrieved chunk does / claims. Skipped if the answer makes no
    claims.
    """
    found = _support(answer_claims_in_contexts, answer_claims_in_all_contexts, answer_citations, claim_citations)
    return share(ANSWER_CLAIM, found.elsewhere, NO_ANSWER_CLAIMS, answer_claims_in_contexts)


@metric(
    "unresolved_citations",
    **_OWN,
    better="lower",
    misleads="Marks meant for another list, such as a document's own references, count too.",
)
def unresolved_citations(answer_citations: Sequence[CitedPart]) -> float:
    """Share of the citations that name nothing that was retrieved: invented numbers, ids and addresses.

    Citations without a chunk / citations. Skipped if there are no citations.
    """
    return share(_CITATION, [float(not one.chunks) for one in answer_citations], NO_CITATIONS)


def _support(
    matrix: Matrix, together: Sequence[str], citations: Sequence[CitedPart], cited: Sequence[Sequence[int]]
) -> CitedSupport:
    if not cited:
        raise Skip(NO_ANSWER_CLAIMS)
    return cited_support(matrix, together, citations, cited)
