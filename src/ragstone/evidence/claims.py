"""The claims that answer and reference make: asked once, shared by all claim-level metrics (RAGChecker, RAGAS)."""

from __future__ import annotations

from typing import TypedDict

from ragstone.data.types import Chunk, Claim
from ragstone.evidence.tools import Extractor
from ragstone.registry import evidence
from ragstone.text.words import FoldedText


class ReferenceContent(TypedDict):
    """What the reference says and names."""

    reference_claims: list[Claim]
    reference_entities: list[str]


@evidence(prompts=("claims",))
async def answer_claims(question: str, answer: str, extractor: Extractor) -> list[Claim]:
    """The claims that the answer makes, each a sentence that can be checked by itself."""
    return await extractor.claims(question, answer)


@evidence(yields=("reference_claims", "reference_entities"), prompts=("claims", "claims_and_entities"))
async def reference_content(
    question: str, references: list[str], extractor: Extractor, wanted: frozenset[str]
) -> ReferenceContent:
    """The claims that the first reference makes, and the names in it."""
    claims, entities = await extractor.content(question, references[0], wanted)
    return {"reference_claims": claims, "reference_entities": entities}


@evidence
def reference_entities_in_contexts(reference_entities: list[str], contexts: list[Chunk]) -> list[bool]:
    """Which of the reference's names stand in some retrieved chunk; case, punctuation and white space do not matter."""
    chunks = [FoldedText(chunk.text) for chunk in contexts]
    return [any(chunk.find(name) for chunk in chunks) for name in map(FoldedText, reference_entities)]
