"""FActScore (Min et al. 2023): the share of the answer's claims that a corpus supports.

For each claim, the nearest passages of the corpus (`--corpus`) are retrieved by words, and the checker decides whether they
support it. Claims whose passages fit into one call are checked together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ragstone.data.share import Share
from ragstone.data.types import Chunk, Claim
from ragstone.data.verdict import NEUTRAL, Verdict
from ragstone.errors import Skip
from ragstone.evidence_functions.claims import ANSWER_CLAIM, NO_ANSWER_CLAIMS, share, supports, with_words
from ragstone.llm.concurrency import gather_then_raise
from ragstone.registry import evidence, metric
from ragstone.tools.protocols import Checker, Corpus, Joint

# Passages that are retrieved for a claim, as in FActScore, and passages that are read together.
PASSAGES, _TOGETHER = 5, 10


@evidence
def corpus_passages(answer_claims: list[Claim], corpus: Corpus) -> list[list[Chunk]]:
    """The passages of the corpus that are nearest to each claim of the answer."""
    return [corpus.search(claim.text, PASSAGES) for claim in answer_claims]


@evidence(prompts=("context_verdicts",))
async def answer_claims_in_corpus(
    question: str, answer_claims: list[Claim], corpus_passages: list[list[Chunk]], checker: Checker
) -> list[Verdict]:
    """Whether the nearest passages of the corpus entail each claim of the answer."""
    verdicts = [Verdict(NEUTRAL) for _ in answer_claims]

    async def check(group: Sequence[int]) -> None:
        texts = list(dict.fromkeys(chunk.text for at in group for chunk in corpus_passages[at]))
        checked = await checker.check(question, [answer_claims[at].text for at in group], [*texts, Joint.of(texts)])
        for at, row in zip(group, checked, strict=True):
            verdicts[at] = row[-1]

    await gather_then_raise(check(group) for group in _groups(corpus_passages))
    return with_words(answer_claims, verdicts)


def _groups(found: Sequence[Sequence[Chunk]]) -> Iterator[list[int]]:
    """Claims, in order, whose passages are read together; those without passages are left out."""
    group: list[int] = []
    texts: set[str] = set()
    for at, chunks in enumerate(found):
        more = texts | {chunk.text for chunk in chunks}
        if group and len(more) > _TOGETHER:
            yield group
            group, more = [], {chunk.text for chunk in chunks}
        if chunks:
            group.append(at)
            texts = more
    if group:
        yield group


@metric(
    "factscore",
    family="corpus",
    judges="answer",
    against="answer",
    source="FActScore (Min et al. 2023)",
    misleads=(
        "It depends on the judge. A true claim that is not in the corpus counts as unsupported. Without a penalty, short and vague "
        "answers score well. Answers that decline are left out: read it with `refusal`."
    ),
    aliases={"factscore.length_penalised": {"gamma": 10}},
    # It needs a corpus.
    slow=True,
)
def factscore(answer_claims_in_corpus: Sequence[str], declining_words: Sequence[str], gamma: int = 0) -> float:
    """Share of the answer's claims that a corpus supports.

    Answer claims that the nearest passages of the corpus entail / answer claims. `gamma=10` is FActScore's
    length penalty: × exp(1 − gamma / n) for n < gamma claims. Skipped if the answer is empty, declines or makes no
    claims: FActScore is the mean over the answers given.
    """
    if gamma < 0:
        raise ValueError("gamma is below 0; 0 means no penalty")
    if declining_words:
        raise Skip("the answer declines")
    supported = share(ANSWER_CLAIM, supports(answer_claims_in_corpus), NO_ANSWER_CLAIMS, answer_claims_in_corpus)
    penalty = min(1.0, math.exp(1 - gamma / len(answer_claims_in_corpus)))
    return Share(supported * penalty, *supported.counts)
