"""Citers: name the citations that support an answer, with a language model or with local models.

Local models choose sentences, list items and table rows for each part of an answer: by its words (rare ones weigh more), the
question's words, the MiniLM cosine and the offline judge, if these models are installed. Several pieces are chosen for one part
only if together they support it better than the best one alone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragstone.llm.prompted import Asker
from ragstone.llm.reply_types import CitationsReply
from ragstone.text.clause_parts import as_sentence
from ragstone.text.clauses import is_sentence
from ragstone.text.declarative import YES_OR_NO
from ragstone.text.layout import readable
from ragstone.text.overlap import content_stems, content_words, shares_topic
from ragstone.text.passages import Passages
from ragstone.text.questions import complete, is_fragment
from ragstone.text.refusals import find_refusal
from ragstone.text.sentences import sentences
from ragstone.text.statements import statements
from ragstone.text.verbatim import BULLET, plain_text
from ragstone.text.words import FoldedText, words
from ragstone.tools.local_judges import LocalChecker

if TYPE_CHECKING:
    from ragstone.models.embedders import LocalEmbedder
    from ragstone.models.local_judge import Judgements

PROMPT = "citations"
# Words of passages per call, about 4,000 tokens, which small models still read accurately.
CALL_WORDS = 2_500
MOST_CITATIONS = 5
# The answer's words count most, because a sentence that only repeats the question is not evidence.
_ANSWER, _QUESTION, _VERBATIM, _MEANING = 2.0, 1.0, 1.0, 1.0
# The offline judge is slow, so it gets only the best pieces by the other scores.
_MOST_READ, _MOST_NEAR = 8, 40
# The confidence from which on a citation is accepted without review; measured in docs/facts.md.
SURE = 0.8
# The share of a part's words that one more piece must add, and what it must add to the support.
_LEAST_ADDED, _LEAST_GAIN = 0.12, 0.1
# The share of the best piece's rare words, of the question and the answer, from which on a piece is about them.
_LEAST_OF_BEST = 0.4
# The most support by a text without any number of the part.
_NO_NUMBER = 0.15
_DIGITS = re.compile(r"\d[\d.,:/]*\d")
# Without the offline judge, the share of the answer's words, without those of the question, that a citation must contain.
_LEAST_COVERED = 0.5
_PRONOUN_FIRST = re.compile(
    r"(?:It|They|He|She|This|These|That|Those|Its|Their|His|Her|Both|After that|In that case)\b"
)
_HEADING = re.compile(r"#{1,6}\s|(\*\*|__)[^*_\n]+\1:?$")
# The first words of a reference that answer the question but are found in any table.
_NONE_FIRST = re.compile(r"(?:none|never|nothing|nein|ja|not \w+)[.,;:!]\s+(?=\S)", re.IGNORECASE)
_FIRST_CELL = re.compile(r"\|?\s*([^|]*\w[^|]*)\|[^|]*\||<tr\b[^>]*>\s*<t[hd]\b[^>]*>(.*?)</t[hd]>", re.IGNORECASE)
_STOPS = tuple(".!?…:;,。！？；：")
_MOST_HEADING_WORDS = 8


class Support(NamedTuple):
    """Whether a citation supports the answer; `sure` is None if that was not measured."""

    supports: bool
    sure: float | None = None
    off_topic: bool = False


# The model named the citation as support.
NAMED = Support(supports=True)


class JudgeCiter(Asker):
    """Asks a language model."""

    asks = (PROMPT,)

    async def cite(
        self, question: str, answer: str, texts: Sequence[str], more: TextPool | None = None
    ) -> dict[str, Support]:
        """Quotes that support the answer, one call per batch of texts; the caller checks that they are really there.

        The model names only citations that support the answer; how likely that is is not measured. If it names none, it is asked
        about the nearest of more texts.
        """
        citations = await self._quotes(question, answer, texts)
        if more and not citations and (near := more.nearest_texts(f"{question} {answer}", texts)):
            citations = await self._quotes(question, answer, near)
        return dict.fromkeys(map(str.strip, citations), NAMED)

    async def _quotes(self, question: str, answer: str, texts: Sequence[str]) -> list[str]:
        citations: list[str] = []
        for passages in split_calls(texts):
            data = {"question": question, "answer": answer, "passages": passages}
            first = passages[0]
            guess = CitationsReply(citations=[first[span.start : span.end] for span in sentences(first)[:2]])
            reply = await self._judge.ask(PROMPT, CitationsReply, data, guess)
            citations += reply.citations
        return citations


def split_calls(texts: Sequence[str], most: int = CALL_WORDS) -> Iterator[list[str]]:
    """The texts in order, as many per call as fit; a longer text is split between sentences."""
    batch: list[str] = []
    room = most
    for text in texts:
        for piece in Passages(text, size=most).all():
            size = sum(1 for _ in words(piece))
            if batch and size > room:
                yield batch
                batch, room = [], most
            batch.append(piece)
            room -= size
    if batch:
        yield batch


class Piece(NamedTuple):
    """A sentence, list item or table row as it is written, and with what it needs to be understood."""

    text: str
    reading: str
    heading: str = ""


def quotable(text: str) -> Iterator[Piece]:
    """The pieces of a text that state something. Headings, table heads and words that introduce a list say nothing alone."""
    lines = [text[span.start : span.end] for span in sentences(text)]
    heading = lead = heads = before = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.count("|") > 1:
            if heads:
                yield Piece(line, _titled(heading, readable(f"{heads}\n|---|\n{line}")), heading)
            heads = heads or line
            continue
        heads, plain, is_item = "", plain_text(line), BULLET.match(line) is not None
        if "<th" in line and "<td" not in line:
            continue
        if _is_heading(line, following):
            heading, lead, before = plain.strip(" :"), "", ""
        elif line.endswith((":", "：")):
            lead = before = plain.rstrip(":： ")
        else:
            lead = lead if is_item else ""
            needs = not is_item and _PRONOUN_FIRST.match(plain) is not None
            reading = f"{before} {plain}" if needs else _titled(heading, lead, plain) if is_item else plain
            yield Piece(line, reading, heading)
            before = plain


def _titled(*parts: str) -> str:
    return ": ".join(filter(None, parts))


def _is_heading(line: str, following: str) -> bool:
    """A marked line; or a few words without a verb and a stop, before a longer text."""
    if _HEADING.match(line):
        return True
    is_short = len(line.split()) <= _MOST_HEADING_WORDS and not line.endswith(_STOPS)
    return is_short and not BULLET.match(line) and not is_sentence(line) and len(following) > 2 * len(line)


def answer_parts(answer: str) -> list[str]:
    """The statements of an answer, without `Yes` and `No` in front; a refusal states nothing."""
    if find_refusal(answer):
        return []
    yes = YES_OR_NO.match(answer) or _NONE_FIRST.match(answer)
    known = answer[yes.end() :] if yes else answer
    parts = [as_sentence(part) for statement in statements("", known) for part in statement.split("; ")]
    return parts or [answer]


class TextPool:
    """The texts of all cases by their words, to find what was not retrieved for one of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._pieces = [(text, piece) for text in dict.fromkeys(texts) for piece in quotable(text)]
        self._with_word: dict[str, list[int]] = {}
        for place, (_, piece) in enumerate(self._pieces):
            for word in content_words(piece.reading):
                self._with_word.setdefault(word, []).append(place)

    def nearest(self, wanted: str, but: Sequence[str]) -> list[Piece]:
        """The pieces with most of the words, rare words first, of texts other than some."""
        scores: Counter[int] = Counter()
        for word in content_words(wanted):
            places = self._with_word.get(word, ())
            for place in places:
                scores[place] += math.log1p(len(self._pieces) / len(places))  # type: ignore[assignment]
        ranked = (self._pieces[place] for place, _ in scores.most_common(_MOST_NEAR + 10 * len(but)))
        known = {piece.text for text in but for piece in quotable(text)}
        return [piece for _, piece in ranked if piece.text not in known][:_MOST_NEAR]

    def nearest_texts(self, wanted: str, but: Sequence[str]) -> list[str]:
        """The texts of the nearest pieces."""
        near = set(self.nearest(wanted, but)[:_MOST_READ])
        return list(dict.fromkeys(text for text, piece in self._pieces if piece in near))[:MOST_CITATIONS]

    def source(self, citation: str) -> str | None:
        """A text that has a piece with these words."""
        return next((text for text, piece in self._pieces if piece.text == citation), None)


class LocalCiter:
    """Chooses sentences by words, and also by an embedder and the offline judge if they are passed."""

    def __init__(self, embedder: LocalEmbedder | None = None, judgements: Judgements | None = None) -> None:
        self._embedder = embedder
        self._judgements = judgements
        self._checker = LocalChecker(judgements, judgements.judge.card, "") if judgements else None

    @property
    def signature(self) -> str:
        """The methods in use."""
        parts = ["lexical", *(["minilm"] if self._embedder else []), *(["judge"] if self._judgements else [])]
        return f"local-citer/2:{'+'.join(parts)}"

    async def cite(
        self, question: str, answer: str, texts: Sequence[str], more: TextPool | None = None
    ) -> dict[str, Support]:
        """For each part of the answer the piece that supports it best, or the few that support it together.

        If no piece surely supports a part, the pieces of more texts are read; one of them is taken if it surely does.
        """
        pieces = list(dict.fromkeys(piece for text in texts for piece in quotable(text)))
        found: dict[str, Support] = {}
        for part in answer_parts(answer):
            cited = await self._cite_part(question, part, pieces) if pieces else {}
            if more and all((support.sure or 0.0) < SURE for support in cited.values()):
                near = more.nearest(f"{question} {part}", texts)
                other = await self._cite_part(question, part, near, *pieces) if near else {}
                if any(support.supports and (support.sure or 0.0) >= SURE for support in other.values()):
                    cited = other
            for text, support in cited.items():
                found[text] = max(support, found.get(text, support))
        return found

    async def _cite_part(self, question: str, part: str, pieces: list[Piece], *rivals: Piece) -> dict[str, Support]:
        asked, wanted = content_stems(question), content_stems(f"{question} {part}")
        pieces = [piece for piece in pieces if not _is_other_row(piece.text, asked, wanted)] or pieces
        scores = _lexical(question, part, [piece.text for piece in pieces])
        if self._embedder:
            readings = [piece.reading for piece in pieces]
            scores += _MEANING * await _nearness(self._embedder, complete(question, part), readings)
        ranked = [pieces[place] for place in np.argsort(-scores, kind="stable")[:_MOST_READ].tolist()]
        alone = await self._sure(question, part, [piece.reading for piece in ranked])
        # Of pieces that support about as much, the first by words.
        best = max(range(len(ranked)), key=lambda place: round(alone[place], 1))
        chosen = _choose(question, part, [ranked[best], *(piece for piece in ranked if piece is not ranked[best])])
        sure, chosen = await self._fewest(question, part, chosen, alone[best])
        near = shares_topic(" ".join(piece.reading for piece in chosen), question, part)
        own = len(wanted & content_stems(" ".join(piece.reading for piece in chosen)))
        if any(len(wanted & content_stems(piece.reading)) > 2 * own for piece in (*pieces, *rivals)):
            sure = min(sure, SURE - 0.01)  # A piece with more words of the question and the answer is a rival.
        about = _about(asked, content_stems(part), chosen, [*pieces, *rivals])
        found = {piece.text: sure if piece in about else min(sure, SURE - 0.01) for piece in chosen}
        least = self._checker.card.readings["support"].threshold if self._checker else _LEAST_COVERED
        return {text: Support(one >= least and near, round(one, 3), not near) for text, one in found.items()}

    async def _fewest(self, question: str, part: str, chosen: list[Piece], alone: float) -> tuple[float, list[Piece]]:
        """The support by the first piece, or by the fewest that together support more."""
        sure = alone
        if len(chosen) > 1:
            sure = await self._together(question, part, chosen)
        if sure < alone + _LEAST_GAIN:  # the first one says it all, perhaps with the sentence before it
            before = [piece for piece in chosen[1:] if piece.text in chosen[0].reading]
            return alone, [chosen[0], *before]
        for piece in chosen[:0:-1]:
            fewer = [one for one in chosen if one is not piece]
            if not _numbers(piece.text) & _numbers(part) <= _numbers(" ".join(one.text for one in fewer)):
                continue
            if (without := await self._together(question, part, fewer)) > sure - _LEAST_GAIN / 2:
                sure, chosen = without, fewer
        return sure, chosen

    async def _together(self, question: str, part: str, pieces: Sequence[Piece]) -> float:
        return (await self._sure(question, part, ["\n".join(piece.reading for piece in pieces)]))[0]

    async def _sure(self, question: str, part: str, texts: Sequence[str]) -> list[float]:
        """The probability or, without the offline judge, the share of words with which each text supports the part."""
        if not self._judgements or not self._checker or not self._checker.card.reads(part, *texts):
            wanted = content_words(part) - content_words(question) or content_words(part)
            return [len(wanted & content_words(text)) / max(1, len(wanted)) for text in texts]
        # With the question, and without it if the part says something alone: each finds what the other misses.
        claims = [complete(question, part), *([] if is_fragment(part) else [part])]
        sure = [0.0] * len(texts)
        for claim in claims:
            supports = await self._judgements.support([(text, claim) for text in texts])
            for place, (text, support) in enumerate(zip(texts, supports, strict=True)):
                sure[place] = max(sure[place], self._checker.verdict(claim, text, support, question).support or 0.0)
        # Of a sum, a text need not have every number, but it has one.
        numbers = _numbers(part) - _numbers(question)
        return [
            min(one, _NO_NUMBER) if numbers.isdisjoint(_numbers(text)) and numbers else one
            for one, text in zip(sure, texts, strict=True)
        ]


def _about(asked: frozenset[str], said: frozenset[str], chosen: Sequence[Piece], known: Sequence[Piece]) -> list[Piece]:
    """The chosen pieces with enough of the rare words of question and answer, if together they have the rarest of both."""
    there = {one: content_stems(one.reading if "|" in one.text else one.text) for one in (*chosen, *known)}
    common = Counter(stem for stems in there.values() for stem in stems)
    both = [stem for stem in asked & said if common[stem] and len(stem) > 3]
    rarest = {stem for stem in both if common[stem] == min(common[one] for one in both)}
    if rarest and not any(rarest & content_stems(piece.reading) for piece in chosen):
        return []
    shares = {piece: _share(asked | said, stems, common, len(there)) for piece, stems in there.items()}
    return [piece for piece in chosen if shares[piece] >= _LEAST_OF_BEST * max(shares.values())]


def _is_other_row(text: str, asked: frozenset[str], wanted: frozenset[str]) -> bool:
    """Whether a table row has no word of the question, and its first cell none of the answer; compounds contain their parts."""
    if not (cell := _FIRST_CELL.match(text)) or asked & content_stems(text):
        return False
    label = [word for word in content_stems(cell[1] or cell[2]) if len(word) > 2]
    return bool(label) and not any(one in other or other in one for one in label for other in wanted if len(other) > 2)


async def _nearness(embedder: LocalEmbedder, claim: str, listed: Sequence[str]) -> np.ndarray:
    """The cosine of each sentence with the claim."""
    vectors = await embedder.embed([claim, *listed])
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    cosines: np.ndarray = unit[1:] @ unit[0]
    return cosines


def _lexical(question: str, answer: str, listed: Sequence[str]) -> np.ndarray:
    """Weighted shares of the answer's and the question's words per sentence, and whether it contains the answer."""
    there = [content_words(text) for text in listed]
    common = Counter(word for words in there for word in words)
    wanted = content_words(answer)
    asked = content_words(question) - wanted
    folded = FoldedText(answer)
    return np.array(
        [
            _ANSWER * _share(wanted, words, common, len(listed))
            + _QUESTION * _share(asked, words, common, len(listed))
            + _VERBATIM * bool(folded and folded.folded in FoldedText(text).folded)
            for text, words in zip(listed, there, strict=True)
        ],
        dtype=float,
    )


def _share(wanted: frozenset[str], there: frozenset[str], common: Counter[str], count: int) -> float:
    """The share of some words that a sentence contains; rare words weigh more."""
    weights = {word: math.log1p(count / max(common[word], 1)) for word in wanted}
    whole = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in there) / whole if whole else 0.0


def _choose(question: str, part: str, ranked: Sequence[Piece]) -> list[Piece]:
    """The best piece, then those about the question that add enough of the missing words of the part."""
    wanted, asked = content_words(part), content_stems(question)
    chosen, lacking = [ranked[0]], wanted - content_words(ranked[0].text)
    for piece in ranked[1:]:
        if not lacking or len(chosen) == MOST_CITATIONS:
            break
        gained = lacking & content_words(piece.text)
        is_about = not asked.isdisjoint(content_stems(piece.reading)) or any(map(_DIGITS.search, gained))
        if len(gained) / len(wanted) >= _LEAST_ADDED and is_about:
            chosen.append(piece)
            lacking -= gained
    return chosen


def _numbers(text: str) -> frozenset[str]:
    """The numbers of a text; counts of one digit are left out, because they may be words or be counted."""
    return frozenset(_DIGITS.findall(text))


Citer = JudgeCiter | LocalCiter


def open_local_citer() -> LocalCiter:
    """A local citer with the models that are installed."""
    from ragstone.models.embedders import LocalEmbedder, find_minilm  # noqa: PLC0415  (reads models)
    from ragstone.models.local_judge import Judgements, find_local_judge  # noqa: PLC0415

    minilm, judge = find_minilm(), find_local_judge()
    return LocalCiter(LocalEmbedder(minilm) if minilm else None, Judgements(judge) if judge else None)
