"""Tools of the local judge: claim checker, rule-based claim extractor, grader and estimator."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from math import exp, log

from ragstone.data.types import Claim, Turn
from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NEUTRAL, NOT, UNSURE, Verdict, strongest
from ragstone.errors import Skip
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.models.local_judge import Card, Judgements, Support
from ragstone.text.claim_numbers import check_numbers
from ragstone.text.layout import readable
from ragstone.text.names import has_capitals, names
from ragstone.text.overlap import content_stems, covered
from ragstone.text.passages import Passages
from ragstone.text.quantities import compare_quantities
from ragstone.text.questions import PRONOUN, complete, complete_follow_up, is_fragment
from ragstone.text.refusals import find_refusal
from ragstone.text.sentences import sentences
from ragstone.text.statements import statements, weighed_statements
from ragstone.text.table_cells import check_cells
from ragstone.text.verbatim import contains_statement, denies_statement, plain_text, swaps_names
from ragstone.tools.checkers import TextChecker, Texts, nothing, states_nothing
from ragstone.tools.nugget_labels import labels_by_parts
from ragstone.tools.protocols import Content, InContext, Shares

# A text with a smaller share of the claim's words is not read if another text has more than twice as many of them.
_FAR = 0.34
# Words of all chunks that are read together, before any chunk is read alone.
TOGETHER = 150
# Words of a chunk that are read alone if several chunks are near.
EACH = 40
# The support of a claim with its sentences from which on other readings may still make it likely.
_WORTH_READING = 0.25
_POSSIBLE = re.compile(r"\b(?:may|might|could|some|sometimes|often|usually|either)\b", re.IGNORECASE)


# Word, most support and contradiction of a claim with a number that the text does not have, or has otherwise. On hard pairs written for
# the judge (docs/trust.md), a third of the former are supported after all: they compute a number or apply a limit to a case.
# The least support of a claim that cells of a table state.
BY_CELLS = 0.9
BY_NUMBERS = {False: (NEUTRAL, 0.34, 0.0), True: (CONTRADICTION, 0.15, 0.85)}


class LocalChecker(TextChecker):
    """Checks a claim against a text, of long texts against the nearest sentences.

    Rules come before the model: a text that contains a claim word for word supports it, one that contains it but for a negation
    does not, one that contains it with two names swapped is at most unsure, and a text without a content word of a claim does
    not contradict it. A number of the claim that the text does not have limits support, see `check_numbers`; numbers of the
    question and of earlier turns are known. An answer that is another quantity than the reference contradicts it. Layout marks
    are not read. Of several chunks, the nearest sentences of all are read first; each chunk is read only if these support or
    contradict the claim, or may do so. This saves most of the reading. Claims that are then not surely supported are read again
    with what comes before them.
    """

    reads_again = True

    def __init__(self, judge: Judgements, card: Card, signature: str) -> None:
        self._judge = judge
        self.card = card
        self.signature = f"{signature};passages/14"
        self._passages = lru_cache(maxsize=256)(lambda text: Passages(readable(text)))

    def cannot_read(self, claims: Sequence[str]) -> Skip | None:
        """Why claims of one text are not read: another language."""
        try:
            self.card.check_language(" ".join(claims))
        except Skip as reason:
            return reason
        return None

    async def in_text(self, question: str, claims: Sequence[str], text: str) -> list[Verdict]:
        """One verdict per claim; a fragment is read together with its question."""
        self.card.check_language(" ".join(claims), text)
        return nothing(len(claims)) if find_refusal(text) else await self.weigh_text(question, claims, text)

    async def weigh_text(self, question: str, claims: Sequence[str], text: str) -> list[Verdict]:
        """The verdicts by an answer or a reference; short ones that are quantities are compared by rule, before the model."""
        read = with_question(question, text)
        verdicts = [row[0] for row in await self.weigh(claims, [read], question, self.card.coverage_weight)]
        others = [other_quantity(claim, text, alone=len(claims) == 1) for claim in claims]
        return [other or verdict for other, verdict in zip(others, verdicts, strict=True)]

    async def labels(self, question: str, nuggets: Sequence[str], answer: str) -> list[Verdict]:
        """One label per nugget, by the verdicts on the nugget and, if it is not supported, on its parts."""
        self.card.check_language(" ".join(nuggets), answer)
        if states_nothing(answer):
            return nothing(len(nuggets), NOT)
        text, named = with_question(question, answer), with_names(question, answer)

        async def check(claims: Sequence[str]) -> list[Verdict]:
            found = [row[0] for row in await self.weigh(claims, [text], question)]
            # The question says what a pronoun means. It must not be all that says the nugget.
            asked, said = content_stems(question), content_stems(answer)
            hidden = [at for at, one in enumerate(claims) if named != text and (content_stems(one) - asked) & said]
            rows = await self.weigh([claims[at] for at in hidden], [named], question) if hidden else []
            for at, (verdict,) in zip(hidden, rows, strict=True):
                found[at] = max(found[at], verdict, key=lambda one: one.support or 0.0)
            return found

        return await labels_by_parts(nuggets, check)

    async def in_chunks(self, question: str, claims: Sequence[str], texts: Texts) -> list[list[Verdict]]:
        """A claim that one chunk supports is supported by all together; otherwise what all say together counts.

        A claim that only several chunks support together counts for the nearest of them: answers merge what chunks say, and
        the metrics ask for the best chunk. Of the earlier turns, verdicts on chunks depend on the numbers only.
        """
        chunks = texts.chunks
        self.card.check_language(" ".join(claims), "\n".join(chunks))
        if not texts.joint:
            return await self.weigh(claims, chunks)
        known = f"{question}\n{texts.earlier}" if texts.earlier else question
        each = await self.weigh(claims, chunks, known)
        together = await self.weigh_together(claims, chunks, [ENTAILMENT not in row for row in each], known)
        if self.reads_again:
            pairs = zip(each, together, strict=True)
            best = [max((one.support or 0.0 for one in (*row, joint) if one), default=0.0) for row, joint in pairs]
            for at, supported in (await self.read_again(question, claims, chunks, best, known)).items():
                denied = max((one.contradiction or 0.0 for one in each[at]), default=0.0)
                denied = denied if supported <= self.card.unsure[0] else min(denied, 1.0 - supported)
                together[at] = Verdict(self._word(supported, denied), supported, denied)
        past = await self.weigh(claims, [texts.earlier], question) if texts.earlier else each
        joined = [self.joined(*pair) for pair in zip(each, together, strict=True)]
        for claim, row, joint in zip(claims, each, together, strict=True):
            if joint is not None and (joint.support or 0.0) > max(one.support or 0.0 for one in row):
                # A chunk with another number of the same thing is the last choice.
                shares = [
                    (one.reason is None, self._passages(chunk).share_of_words(claim))
                    for one, chunk in zip(row, chunks, strict=True)
                ]
                row[shares.index(max(shares))] = joint
        return [texts.row(*columns) for columns in zip(each, joined, past, strict=True)]

    async def read_again(
        self, question: str, claims: Sequence[str], chunks: Sequence[str], best: Sequence[float], known: str
    ) -> dict[int, float]:
        """The support of claims that are not surely supported, by three more readings, if it is higher.

        A claim may be refused because it does not say what it is about. So it is read with its sentence and the one before, which
        counts as much as the better of two: the claim with its question, and the claim with the nearest sentences only. What
        supports two sentences supports all that they say.
        """
        text = "\n\n".join(chunks)
        doubtful = {
            number: claim
            for number, claim in enumerate(claims)
            if text.strip() and claim.strip() and isinstance(claim, InContext) and best[number] < self.card.unsure[1]
            if not check_numbers(claim, chunks, known, claim.context) and not check_cells(claim, text)
        }
        if not doubtful:
            return {}
        in_context = await self._read(text, [(claim.context, TOGETHER) for claim in doubtful.values()], known)
        likely = [number for number, support in zip(doubtful, in_context, strict=True) if support >= _WORTH_READING]
        forms = [
            form for at in likely for form in ((complete(question, claims[at]), TOGETHER), (str(claims[at]), EACH))
        ]
        others = iter(await self._read(text, forms, known))
        whole = dict(zip(doubtful, map(_log_odds, in_context), strict=True))
        odds = {at: (whole[at] + max(_log_odds(next(others)), _log_odds(next(others)))) / 2 for at in likely}
        higher = {at: 1.0 / (1.0 + exp(-one)) for at, one in odds.items()}
        return {at: supported for at, supported in higher.items() if supported > best[at]}

    async def _read(self, text: str, forms: Sequence[tuple[str, int]], known: str) -> list[float]:
        """The support of claims by the nearest words of a text, at most this many for each."""
        asked = [(self._passages(text).around(claim, most), plain_text(claim)) for claim, most in forms]
        supports = await self._judge.support(asked)
        verdicts = (self.verdict(claim, text, one, known) for (claim, _), one in zip(forms, supports, strict=True))
        return [verdict.support or 0.0 for verdict in verdicts]

    async def weigh(
        self, claims: Sequence[str], texts: Sequence[str], known: str = "", coverage: float = 0.0
    ) -> list[list[Verdict]]:
        """For each claim and text the verdict by the text's nearest passages; `known` has numbers that claims may repeat.

        `coverage` is the weight of covered words in what a claim counts. They help between an answer and a reference, which say
        the same at about the same length, and not against chunks.
        """
        wanted = [not any(contains_statement(text, claim) for text in texts) for claim in claims]
        together = dict(zip(claims, await self.weigh_together(claims, texts, wanted, known), strict=True))
        asked: dict[tuple[str, int], tuple[str, str]] = {}
        for claim in (claim for claim in together if together[claim] != NEUTRAL):
            near = self._near(claim, texts)
            most = min(EACH, self.card.window) if sum(near) > 1 else self.card.window
            for at, text in enumerate(texts):
                if near[at] and (passage := self._passage(claim, text, most)):
                    asked[claim, at] = passage, plain_text(claim)
        weighed = dict(zip(asked, await self._judge.support(list(asked.values())), strict=True))
        rows = [
            [self.verdict(claim, text, weighed.get((claim, at)), known, coverage) for at, text in enumerate(texts)]
            for claim in claims
        ]
        for claim, row in zip(claims, rows, strict=True):
            if any(one.reason for one in row) and check_numbers(claim, texts, known, _context(claim)) is None:
                # Another text has the number, so this one does not deny it.
                row[:] = [
                    Verdict(NEUTRAL, 0.0, 0.0, one.reason) if one.reason and not check_cells(claim, text) else one
                    for one, text in zip(row, texts, strict=True)
                ]
        return rows

    async def weigh_together(
        self, claims: Sequence[str], chunks: Sequence[str], wanted: Sequence[bool], known: str = ""
    ) -> list[Verdict | None]:
        """The verdict by the sentences of all chunks that are nearest to each wanted claim; None for the others."""
        text = "\n\n".join(chunks) if len(chunks) > 1 and any(wanted) else ""
        asked: dict[int, tuple[str, str]] = {}
        for number, claim in enumerate(claims):
            if text and wanted[number] and claim.strip() and sum(self._near(claim, chunks)) > 1:
                asked[number] = self._passages(text).around(claim, TOGETHER), plain_text(claim)
        supports = dict(zip(asked, await self._judge.support(list(asked.values())), strict=True))
        return [
            self.verdict(claim, text, supports[number], known) if number in supports else None
            for number, claim in enumerate(claims)
        ]

    def verdict(
        self, claim: str, text: str, support: Support | None, known: str = "", coverage: float = 0.0
    ) -> Verdict:
        """The verdict by the rules, else from the judge's probabilities; None if no passage was read."""
        if contains_statement(text, claim):
            return Verdict(ENTAILMENT, 1.0, 0.0)
        if denies_statement(text, claim):
            # "It may rain" and "it may not rain" are both possible.
            denied = not _POSSIBLE.search(claim)
            return Verdict(CONTRADICTION if denied else NEUTRAL, 0.0, float(denied))
        cells = check_cells(claim, text)
        if (
            not cells
            and claim.strip()
            and text.strip()
            and (refusal := check_numbers(claim, [text], known, _context(claim)))
        ):
            word, most, contradicted = BY_NUMBERS[refusal.contradicted]
            # A limit, not a value: the model is right about more of these claims than the rule alone.
            supported = min(most, support.supported if support else most * self._passages(text).share_of_words(claim))
            return Verdict(word, supported, contradicted, refusal.reason)
        if cells:
            word, most, contradicted = BY_NUMBERS[True]
            if not cells.agrees:
                return Verdict(word, min(most, support.supported if support else most), contradicted, cells.reason)
            support = Support(max(BY_CELLS, support.supported if support else 0.0), 0.0)
        supported, contradicted = support or (self.card.unrelated if claim.strip() and text.strip() else 0.0, 0.0)
        if swaps_names(text, claim):
            # The words are the same, so the model rarely sees it.
            supported = min(supported, sum(self.card.unsure) / 2)
        shared = self._passages(text).share_of_words(claim)
        contradicted = contradicted if shared else 0.0
        common = covered(plain_text(claim), self._passages(text).text) if coverage else 0.0
        counted = (1.0 - coverage) * supported + coverage * common
        return Verdict(self._word(supported, contradicted), supported, contradicted, counted=counted)

    def _word(self, supported: float, contradicted: float) -> str:
        """A contradiction where nine of ten were right on other domains, see `contradiction` in the card."""
        low, high = self.card.unsure
        if supported >= high:
            return ENTAILMENT
        if contradicted >= self.card.contradiction:
            return CONTRADICTION
        return UNSURE if supported > low else NEUTRAL

    def joined(self, verdicts: Sequence[str], together: Verdict | None) -> Verdict:
        """The verdict of all chunks: what one of them says, else what they say together."""
        # Sentences of several chunks may deny each other.
        joint = [together] if together in (ENTAILMENT, UNSURE) else []
        word = strongest([*verdicts, *joint])
        known = [one for one in (*verdicts, together) if isinstance(one, Verdict) and one.support is not None]
        if not known or word not in known:
            return Verdict(word)
        supported = max(one.support or 0.0 for one in known)
        contradicted = max(one.contradiction or 0.0 for one in known)
        counted = max(one.counted or 0.0 for one in known)
        best = next(one for one in known if one.support == supported)
        reason = best.reason or next((one.reason for one in known if one == word == CONTRADICTION), None)
        return Verdict(word, supported, contradicted, reason, counted=counted)

    def _passage(self, claim: str, text: str, most: int) -> str:
        """The part of a text to read for a claim; empty if there is nothing to ask the model."""
        if not claim.strip() or contains_statement(text, claim) or denies_statement(text, claim):
            return ""
        return self._passages(text).around(claim, most)

    def near(self, claim: str, text: str) -> str:
        """The part of a text that is read for a claim."""
        return self._passages(text).around(claim, self.card.window)

    def _near(self, claim: str, texts: Sequence[str]) -> list[bool]:
        """Which texts are worth reading: not those with few words of the claim if another text has many more."""
        shares = [self._passages(text).share_of_words(claim) for text in texts] if len(texts) > 1 else []
        best = max(shares, default=0.0)
        return [share >= _FAR or share * 2 >= best for share in shares] or [True] * len(texts)


def _context(claim: str) -> str:
    return claim.context if isinstance(claim, InContext) else ""


def other_quantity(claim: str, text: str, alone: bool) -> Verdict | None:
    """The verdict if one of two short texts is a quantity, and the other one gives another: 1.20 m and 2.10 m deep."""
    if compare_quantities(claim, text) is False:
        return Verdict(CONTRADICTION, 0.0, 1.0)
    if compare_quantities(text, claim) is False:
        # One of several claims may be about something else.
        return Verdict(CONTRADICTION if alone else NEUTRAL, 0.0, float(alone))
    return None


def with_question(question: str, text: str) -> str:
    """A text that says something without its question."""
    return complete(question, text) if text.strip() and is_fragment(text) else text


def with_names(question: str, text: str) -> str:
    """A text with its question if it is a fragment or has a pronoun, which may mean something in the question."""
    return complete(question, text) if PRONOUN.search(text) else with_question(question, text)


_NO_NAMES = Skip("names are found by their capital letters, which this script does not have; name a model with --judge")


class LocalExtractor:
    """Claims are the parts of sentences, taken apart if that is safe, weighed by words; names are words with a capital letter, and numbers."""

    # Goes up when other claims come out.
    signature = "rules/9"

    async def claims(self, question: str, text: str) -> list[Claim]:
        """The claims that a text makes."""
        return [Claim(text=part.text, words=part.words) for part in weighed_statements(question, text)]

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
# An answer of more words is also read by sentences.
SHORT = 20


# The most of an answer with the right number and, in another sentence, another one for the same thing.
_IN_CONFLICT = 0.4


def _says_otherwise(claim: str, parts: Sequence[str]) -> bool:
    return any(no.contradicted for part in parts if (no := check_numbers(claim, [part])))


def _log_odds(probability: float) -> float:
    inside = min(max(probability, 0.001), 0.999)
    return log(inside / (1.0 - inside))


class LocalGrader:
    """Answers by the head for answer match; a chunk is useful if it supports a claim of the right answer.

    Short answers that are quantities are compared by rule, before the model. Long ones are also read by sentences.
    """

    def __init__(self, judge: Judgements, checker: LocalChecker, signature: str) -> None:
        self._judge = judge
        self.checker = checker
        # The numbers go up when the rule for quantities or the reading of long answers decides otherwise.
        self.signature = f"{signature};quantities/7;long/1"

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """For each reference the probability that the answer says the same; an answer without content does not.

        A refusal matches only a reference that is a refusal, and an answer with another number in place of the reference's hardly;
        so does a long answer without the reference's number.
        """
        if not answer.strip():
            return [0.0] * len(references)
        self.checker.card.check_language(question, answer)
        known = self.checker.card.known(references)
        if len(known) < len(references):
            found = dict(zip(known, await self.matches(question, answer, known), strict=True))
            return [found.get(reference, 0.0) for reference in references]
        if find_refusal(answer):
            return [float(find_refusal(reference) is not None) for reference in references]
        decided = [compare_quantities(reference, answer) for reference in references]
        asked = [reference for reference, same in zip(references, decided, strict=True) if same is None]
        is_long = len(answer.split()) > SHORT
        read = self._match_long if is_long else self._judge.match
        probabilities = iter(await read(question, asked, answer) if asked else ())
        matches = [next(probabilities) if same is None else float(same) for same in decided]
        others = [check_numbers(reference, [answer], question) for reference in references]
        # In a few words, a number may be left out or written in a way that the rule does not read.
        most = [BY_NUMBERS[no.contradicted][1] if no and (is_long or no.contradicted) else 1.0 for no in others]
        parts = [answer[start:end] for start, end in sentences(answer)] if is_long else []
        conflicts = [_says_otherwise(complete(question, reference), parts) for reference in references]
        return [min(p, cap, _IN_CONFLICT if no else 1.0) for p, cap, no in zip(matches, most, conflicts, strict=True)]

    async def _match_long(self, question: str, references: Sequence[str], answer: str) -> list[float]:
        """The probability that a long answer matches each reference, by its mean log-odds."""
        reading = self.checker.card.readings["match"]
        odds = await self.long_odds(question, references, answer)
        return [1.0 / (1.0 + exp(-reading.long_scale * one - reading.long_bias)) for one in odds]

    async def long_odds(self, question: str, references: Sequence[str], answer: str) -> list[float]:
        """Per reference the mean log-odds of three readings of a long answer.

        The head for answer match reads the whole answer and its sentences, of which the best counts; the head for claims reads
        whether the answer supports the reference. Each misses other right answers, and a wrong answer rarely deceives all three.
        """
        spans = sentences(answer)
        parts = [answer[start:end] for start, end in spans[:: -(-len(spans) // _MOST_PARTS) or 1]]
        known = [complete(question, reference) for reference in references]
        (whole, *each), supports = await asyncio.gather(
            gather_or_cancel([self._judge.match(question, references, part) for part in (answer, *parts)]),
            self._judge.support([(self.checker.near(claim, answer), claim) for claim in known]),
        )
        best = [max(column) for column in zip(whole, *each, strict=True)]
        supported = [support.supported for support in supports]
        return [sum(map(_log_odds, found)) / len(found) for found in zip(whole, best, supported, strict=True)]

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """For each chunk whether it supports anything that the right answer states."""
        self.checker.card.check_language(answer, "\n".join(chunks))
        return self.decide(await self.usefulness(question, answer, chunks))

    def decide(self, usefulness: Sequence[float]) -> list[bool]:
        """Which chunks are useful, by how likely they are."""
        return [likely >= self.checker.card.readings["support"].threshold for likely in usefulness]

    async def usefulness(self, question: str, answer: str, chunks: Sequence[str]) -> list[float]:
        """For each chunk how likely it supports the statement of the right answer that it supports best."""
        verdicts = await self.checker.weigh(statements(question, answer), chunks, question)
        return [max((row[at].support or 0.0 for row in verdicts), default=0.0) for at in range(len(chunks))]


class LocalEstimator:
    """Shares by the head for support fractions, averaged with the share of words."""

    def __init__(self, judge: Judgements, signature: str, card: Card | None = None) -> None:
        self._judge = judge
        self._card = card
        self.signature = signature

    async def shares(self, question: str, answer: str, references: Sequence[str]) -> Shares:
        """Both ways, for each reference. With a card, texts in other languages than the card's are skipped."""
        if self._card:
            self._card.check_language(answer)
            read = self._card.known(references)
            if len(read) < len(references):
                found = dict(zip(read, zip(*await self.shares(question, answer, read), strict=True), strict=True))
                return Shares(*map(list, zip(*(found.get(text, (0.0, 0.0)) for text in references), strict=True)))
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
