"""Tools of the local judge: claim checker, rule-based claim extractor, grader and estimator."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from ragstone.data.types import Claim, ScoredVerdict, Turn
from ragstone.errors import Skip
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.models.local_judge import Card, Judgements, Support
from ragstone.text.follow_ups import complete_follow_up
from ragstone.text.names import has_capitals, names
from ragstone.text.overlap import covered
from ragstone.text.passages import Passages
from ragstone.text.quantities import compare_quantities
from ragstone.text.questions import complete, is_fragment
from ragstone.text.refusals import find_refusal
from ragstone.text.statements import statements
from ragstone.text.verbatim import contains_statement, denies_statement, plain_text, swaps_names
from ragstone.tools.nugget_labels import NOT, labels_by_parts
from ragstone.tools.protocols import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    UNSURE,
    ChunkVerdicts,
    Content,
    ConversationVerdicts,
    Shares,
    strongest,
)

# A text with a smaller share of the claim's words is not read if another text has more than twice as many of them.
_FAR = 0.34
# Words of all chunks that are read together, before any chunk is read alone.
TOGETHER = 150
# Words of a chunk that are read alone if several chunks are near.
EACH = 40
_POSSIBLE = re.compile(r"\b(?:may|might|could|some|sometimes|often|usually|either)\b", re.IGNORECASE)


class LocalChecker:
    """Checks a claim against a text, of long texts against the nearest sentences.

    Rules come before the model: a text that contains a claim word for word supports it, one that contains it but for a negation
    does not, one that contains it with two names swapped is at most unsure, and a text without a content word of a claim does
    not contradict it. An answer that is another quantity than the reference contradicts it. Layout marks are not read. Of several chunks, the nearest sentences of all are read first; each chunk is
    read only if these support or contradict the claim, or may do so. This saves most of the reading.
    """

    def __init__(self, judge: Judgements, card: Card, signature: str) -> None:
        self._judge = judge
        self.card = card
        self.signature = f"{signature};passages/6"
        self._passages = lru_cache(maxsize=256)(lambda text: Passages(plain_text(text)))

    def cannot_read(self, claims: Sequence[str]) -> Skip | None:
        """Why claims of one text are not read: another language."""
        try:
            self.card.check_language(" ".join(claims))
        except Skip as reason:
            return reason
        return None

    async def against_text(self, question: str, claims: Sequence[str], text: str) -> list[str]:
        """One verdict per claim; a fragment is read together with its question."""
        self.card.check_language(" ".join(claims), text)
        if find_refusal(text):
            # A refusal states nothing, so it contradicts nothing.
            return [ScoredVerdict(NEUTRAL, 0.0, 0.0, 0.0) for _ in claims]
        return list(await self.weigh_text(question, claims, text))

    async def weigh_text(self, question: str, claims: Sequence[str], text: str) -> list[ScoredVerdict]:
        """The verdicts by an answer or a reference; short ones that are quantities are compared by rule, before the model."""
        verdicts = [row[0] for row in await self.weigh(claims, [with_question(question, text)])]
        others = [other_quantity(claim, text, alone=len(claims) == 1) for claim in claims]
        return [other or verdict for other, verdict in zip(others, verdicts, strict=True)]

    async def nuggets(self, question: str, nuggets: Sequence[str], answer: str) -> list[str]:
        """One label per nugget, by the verdicts on the nugget and, if it is not supported, on its parts."""
        self.card.check_language(" ".join(nuggets), answer)
        if not answer.strip() or find_refusal(answer):
            return [ScoredVerdict(NOT, 0.0, 0.0, 0.0) for _ in nuggets]
        text = with_question(question, answer)

        async def check(claims: Sequence[str]) -> list[ScoredVerdict]:
            return [row[0] for row in await self.weigh(claims, [text])]

        return list(await labels_by_parts(nuggets, check))

    async def against_chunks(
        self,
        question: str,  # noqa: ARG002  (chunks are read without the question)
        claims: Sequence[str],
        chunks: Sequence[str],
    ) -> ChunkVerdicts:
        """A claim that one chunk supports is supported by all together; otherwise what all say together counts.

        A claim that only several chunks support together counts for the nearest of them: answers merge what chunks say, and
        the metrics ask for the best chunk.
        """
        self.card.check_language(" ".join(claims), "\n".join(chunks))
        each = await self.weigh(claims, chunks)
        together = await self.weigh_together(claims, chunks, [ENTAILMENT not in row for row in each])
        joined = [self.joined(*pair) for pair in zip(each, together, strict=True)]
        for claim, row, joint in zip(claims, each, together, strict=True):
            if joint is not None and (joint.supported or 0.0) > max(one.supported or 0.0 for one in row):
                shares = [self._passages(chunk).share_of_words(claim) for chunk in chunks]
                row[shares.index(max(shares))] = joint
        return ChunkVerdicts([list(row) for row in each], list(joined), None)

    async def against_conversation(
        self, question: str, claims: Sequence[str], chunks: Sequence[str], history: str
    ) -> ConversationVerdicts:
        """The earlier turns are read by themselves, so that verdicts on chunks do not depend on them."""
        verdicts = await self.against_chunks(question, claims, chunks)
        return ConversationVerdicts(verdicts, [row[0] for row in await self.weigh(claims, [history])])

    async def against_each(self, claims: Sequence[str], chunks: Sequence[str]) -> list[list[str]]:
        """For each claim one verdict per chunk, which is read alone."""
        self.card.check_language(" ".join(claims), "\n".join(chunks))
        return [list(row) for row in await self.weigh(claims, chunks)]

    async def weigh(self, claims: Sequence[str], texts: Sequence[str]) -> list[list[ScoredVerdict]]:
        """For each claim and text the verdict by the text's nearest passages."""
        wanted = [not any(contains_statement(text, claim) for text in texts) for claim in claims]
        together = dict(zip(claims, await self.weigh_together(claims, texts, wanted), strict=True))
        asked: dict[tuple[str, int], tuple[str, str]] = {}
        for claim in (claim for claim in together if together[claim] != NEUTRAL):
            near = self._near(claim, texts)
            most = min(EACH, self.card.window) if sum(near) > 1 else self.card.window
            for at, text in enumerate(texts):
                if near[at] and (passage := self._passage(claim, text, most)):
                    asked[claim, at] = passage, plain_text(claim)
        weighed = dict(zip(asked, await self._judge.support(list(asked.values())), strict=True))
        return [
            [self.verdict(claim, text, weighed.get((claim, at))) for at, text in enumerate(texts)] for claim in claims
        ]

    async def weigh_together(
        self, claims: Sequence[str], chunks: Sequence[str], wanted: Sequence[bool]
    ) -> list[ScoredVerdict | None]:
        """The verdict by the sentences of all chunks that are nearest to each wanted claim; None for the others."""
        text = "\n".join(chunks) if len(chunks) > 1 and any(wanted) else ""
        asked: dict[int, tuple[str, str]] = {}
        for number, claim in enumerate(claims):
            if text and wanted[number] and claim.strip() and sum(self._near(claim, chunks)) > 1:
                asked[number] = self._passages(text).around(claim, TOGETHER), plain_text(claim)
        supports = dict(zip(asked, await self._judge.support(list(asked.values())), strict=True))
        return [
            self.verdict(claim, text, supports[number]) if number in supports else None
            for number, claim in enumerate(claims)
        ]

    def verdict(self, claim: str, text: str, support: Support | None) -> ScoredVerdict:
        """The verdict from the judge's probabilities; None if no passage was read."""
        if contains_statement(text, claim):
            return ScoredVerdict(ENTAILMENT, 1.0, 0.0, 1.0)
        if denies_statement(text, claim):
            # "It may rain" and "it may not rain" are both possible.
            denied = not _POSSIBLE.search(claim)
            return ScoredVerdict(CONTRADICTION if denied else NEUTRAL, 0.0, float(denied), 0.0)
        supported, contradicted = support or (self.card.unrelated if claim.strip() and text.strip() else 0.0, 0.0)
        if swaps_names(text, claim):
            # The words are the same, so the model rarely sees it.
            supported = min(supported, sum(self.card.unsure) / 2)
        known = self._passages(text).share_of_words(claim)
        contradicted = min(contradicted, 1.0 - supported) if known else 0.0
        weight = self.card.coverage_weight
        counted = (1.0 - weight) * supported + weight * covered(plain_text(claim), self._passages(text).text)
        return ScoredVerdict(self._word(supported, contradicted), supported, contradicted, counted)

    def _word(self, supported: float, contradicted: float) -> str:
        """A contradiction only where the judge is sure of it and of no support."""
        low, high = self.card.unsure
        if supported >= high:
            return ENTAILMENT
        if supported > low:
            return UNSURE
        return CONTRADICTION if contradicted >= self.card.contradiction else NEUTRAL

    def joined(self, verdicts: Sequence[str], together: ScoredVerdict | None) -> ScoredVerdict:
        """The verdict of all chunks: what one of them says, else what they say together."""
        # Sentences of several chunks may deny each other.
        joint = [together] if together in (ENTAILMENT, UNSURE) else []
        word = strongest([*verdicts, *joint])
        known = [one for one in (*verdicts, together) if isinstance(one, ScoredVerdict) and one.supported is not None]
        if not known or word not in known:
            return ScoredVerdict(word)
        supported = max(one.supported or 0.0 for one in known)
        contradicted = max(one.contradicted or 0.0 for one in known)
        return ScoredVerdict(
            word, supported, min(contradicted, 1.0 - supported), max(one.counted or 0.0 for one in known)
        )

    def _passage(self, claim: str, text: str, most: int) -> str:
        """The part of a text to read for a claim; empty if there is nothing to ask the model."""
        if not claim.strip() or contains_statement(text, claim) or denies_statement(text, claim):
            return ""
        return self._passages(text).around(claim, most)

    def _near(self, claim: str, texts: Sequence[str]) -> list[bool]:
        """Which texts are worth reading: not those with few words of the claim if another text has many more."""
        shares = [self._passages(text).share_of_words(claim) for text in texts] if len(texts) > 1 else []
        best = max(shares, default=0.0)
        return [share >= _FAR or share * 2 >= best for share in shares] or [True] * len(texts)


def other_quantity(claim: str, text: str, alone: bool) -> ScoredVerdict | None:
    """The verdict if one of two short texts is a quantity, and the other one gives another: 1.20 m and 2.10 m deep."""
    if compare_quantities(claim, text) is False:
        return ScoredVerdict(CONTRADICTION, 0.0, 1.0, 0.0)
    if compare_quantities(text, claim) is False:
        # One of several claims may be about something else.
        return ScoredVerdict(CONTRADICTION if alone else NEUTRAL, 0.0, float(alone), 0.0)
    return None


def with_question(question: str, text: str) -> str:
    """A text that says something without its question."""
    return complete(question, text) if text.strip() and is_fragment(text) else text


_NO_NAMES = Skip("names are found by their capital letters, which this script does not have; name a model with --judge")


class LocalExtractor:
    """Claims are sentences, taken apart where that is safe; names are words with a capital letter, and numbers."""

    # Goes up when other claims come out.
    signature = "rules/2"

    async def claims(self, question: str, text: str) -> list[Claim]:
        """The claims that a text makes."""
        return [Claim(statement) for statement in statements(question, text)]

    async def content(self, question: str, text: str, wanted: Collection[str]) -> Content:
        """The claims and the names in a text."""
        claims = await self.claims(question, text)
        if "reference_entities" not in wanted:
            return Content(claims, [])
        if text.strip() and not has_capitals(text):
            # The piece is skipped with this reason.
            return Content(claims, _NO_NAMES)  # type: ignore[arg-type]
        return Content(claims, names(text))

    async def standalone_question(self, question: str, history: Sequence[Turn]) -> str:
        """The question after the earlier ones that it continues."""
        return complete_follow_up(question, [turn.text for turn in history if turn.role == "user"])


# Words of a text whose supported share is estimated at once.
_PART = 120
# The number of parts of a longer text that are read, evenly spread.
_MOST_PARTS = 12


class LocalGrader:
    """Answers by the head for answer match; a chunk is useful if it supports a claim of the right answer.

    Short answers that are quantities are compared by rule, before the model.
    """

    def __init__(self, judge: Judgements, checker: LocalChecker, signature: str) -> None:
        self._judge = judge
        self.checker = checker
        # The number goes up when the rule for quantities decides otherwise.
        self.signature = f"{signature};quantities/1"

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """For each reference the probability that the answer says the same; an answer without content does not.

        A refusal matches only a reference that is a refusal.
        """
        if not answer.strip():
            return [0.0] * len(references)
        self.checker.card.check_language(question, answer, *references)
        if find_refusal(answer):
            return [float(find_refusal(reference) is not None) for reference in references]
        decided = [compare_quantities(reference, answer) for reference in references]
        asked = [reference for reference, same in zip(references, decided, strict=True) if same is None]
        probabilities = iter(await self._judge.match(question, asked, answer) if asked else ())
        return [next(probabilities) if same is None else float(same) for same in decided]

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """For each chunk whether it supports anything that the right answer states."""
        self.checker.card.check_language(answer, "\n".join(chunks))
        return self.decide(await self.usefulness(question, answer, chunks))

    def decide(self, usefulness: Sequence[float]) -> list[bool]:
        """Which chunks are useful, by how likely they are."""
        return [likely >= self.checker.card.readings["support"].threshold for likely in usefulness]

    async def usefulness(self, question: str, answer: str, chunks: Sequence[str]) -> list[float]:
        """For each chunk how likely it supports the statement of the right answer that it supports best."""
        verdicts = await self.checker.weigh(statements(question, answer), chunks)
        return [max((row[at].supported or 0.0 for row in verdicts), default=0.0) for at in range(len(chunks))]


class LocalEstimator:
    """Shares by the head for support fractions, averaged with the share of words."""

    def __init__(self, judge: Judgements, signature: str, card: Card | None = None) -> None:
        self._judge = judge
        self._card = card
        self.signature = signature

    async def shares(self, question: str, answer: str, references: Sequence[str]) -> Shares:
        """Both ways, for each reference. With a card, texts in other languages than the card's are skipped."""
        if self._card:
            self._card.check_language(answer, *references)
        answer = with_question(question, answer)
        known = [with_question(question, reference) for reference in references]
        shares = await gather_or_cancel(
            [
                *(self._share(answer, reference) for reference in known),
                *(self._share(reference, answer) for reference in known),
            ]
        )
        return Shares(shares[: len(known)], shares[len(known) :])

    async def _share(self, text: str, by: str) -> float:
        """Part by part where a text is long: the best passage of the other one counts, the parts by their length."""
        parts = Passages(text, _PART, overlap=0).all()
        parts = parts[:: -(-len(parts) // _MOST_PARTS) or 1]
        evidence = Passages(by)
        asked = [[(passage, part) for passage in evidence.nearest(part)] for part in parts]
        shares = iter(await self._judge.fraction([pair for pairs in asked for pair in pairs]))
        best = [max([next(shares) for _ in pairs], default=0.0) for pairs in asked]
        sizes = [len(part.split()) for part in parts]
        return sum(share * size for share, size in zip(best, sizes, strict=True)) / sum(sizes) if sizes else 0.0
