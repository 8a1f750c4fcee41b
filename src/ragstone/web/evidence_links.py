"""Links between the claims and facts of a sample and the sentences of its chunks.

A judge gives a verdict per claim and chunk and does not name a sentence. The linked sentence is the one that shares most
words with the claim, so pages call it the nearest sentence. The place of a matched fact is exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ragstone.analysis.cause_names import SPLIT, Outcome
from ragstone.analysis.sample_evidence import Case
from ragstone.data.verdict import DECIDED, NEUTRAL, SIGNS, WORDS, Verdict
from ragstone.text.passages import Passages
from ragstone.text.statements import without_question
from ragstone.text.verbatim import contains_statement, plain_text
from ragstone.text.words import FoldedText, words
from ragstone.views.phrases import one_line

_STATES = {word: (WORDS[word].phrase, WORDS[word].tone) for word in DECIDED}
_NOT_STATED = ("not stated", WORDS[NEUTRAL].tone)
_LETTERS = {"answer": "A", "reference": "R", "fact": "F"}
# A sentence with a smaller share of the words of a claim that no chunk states is not shown as its nearest sentence.
_LEAST_SHARE = 0.3
# Splitting a text into sentences is slow. Longer chunks are searched up to here.
_MAX_CHARACTERS = 200_000
_MAX_QUOTE = 260
# Matchers that name a sentence and not the words.
_BY_MEANING = ("judge", "semantic")
_BAR = re.compile(r"[ \t]*+\|[ \t]*+")


@dataclass(frozen=True)
class Link:
    """A claim or fact and its place in a chunk: the state of the pair, and whether the place is exact."""

    key: str
    rank: int
    state: str
    tone: str
    start: int
    end: int
    exact: bool
    supported: float | None = None
    contradicted: float | None = None

    @property
    def label(self) -> str:
        """The short name of the claim or fact: A1, R2, F3."""
        return label_of(self.key)

    @property
    def anchor(self) -> str:
        """The id of the place in the page; that of the chunk if no sentence is near."""
        return f"at-{self.rank}-{self.key}" if self.end > self.start else f"chunk-{self.rank}"

    @property
    def probability(self) -> float | None:
        """The probability that the local judge gave to this state."""
        return self.contradicted if self.tone == "bad" else self.supported

    def describe(self, text: str) -> dict[str, Any]:
        """The link as page data, with the sentence."""
        return {
            "rank": self.rank,
            "state": self.state,
            "tone": self.tone,
            "sign": SIGNS[self.tone],
            "exact": self.exact,
            "probability": self.probability,
            "text": one_line(_BAR.sub(" · ", plain_text(text[self.start : self.end]).strip(" |\n")), _MAX_QUOTE),
            "address": f"#{self.anchor}",
        }


def label_of(key: str) -> str:
    """The short name of a claim or fact by its key: A1 for `answer-1`."""
    kind, _, number = key.partition("-")
    return f"{_LETTERS[kind]}{number}"


class EvidenceLinks:
    """The links of a sample, found once per page."""

    def __init__(self, case: Case, outcome: Outcome, limit: int) -> None:
        self._texts = [chunk.shown[: min(limit, _MAX_CHARACTERS)] for chunk in case.sample.contexts or ()]
        self._passages = [Passages(text) for text in self._texts]
        self._case, self._outcome = case, outcome
        self.all: list[Link] = [*self._claims("answer"), *self._claims("reference"), *self._facts()]

    def of(self, key: str) -> list[Link]:
        """The links of a claim or fact, by rank."""
        return sorted((link for link in self.all if link.key == key), key=lambda link: link.rank)

    def quotes(self, key: str) -> list[dict[str, Any]]:
        """The sentences to show under a claim or fact: the surest that supports it and the surest that contradicts it."""
        best: dict[str, Link] = {}
        for link in self.of(key):
            if link.end > link.start and (
                link.tone not in best or (link.probability or 0) > (best[link.tone].probability or 0)
            ):
                best[link.tone] = link
        if parts := [link for link in self.of(key) if link.state == "part"]:
            chosen = parts[:2]
        elif {"bad", "good"} & set(best):
            chosen = [best[tone] for tone in ("bad", "good") if tone in best]
        else:
            chosen = [best[tone] for tone in ("unsure", "silent") if tone in best][:1]
        return [link.describe(self._texts[link.rank - 1]) for link in chosen]

    def in_chunk(self, rank: int) -> list[Link]:
        """The links that are evidence: a nearest sentence that does not state the claim is none."""
        return [link for link in self.all if link.rank == rank and link.tone != "silent"]

    def pieces(self, rank: int) -> list[dict[str, Any]]:
        """The text of a chunk in pieces, each with the keys of the claims and facts that are linked to it."""
        text = self._texts[rank - 1]
        links = [link for link in self.all if link.rank == rank and link.end > link.start]
        cuts = sorted({0, len(text), *(place for link in links for place in (link.start, link.end))})
        return [
            _piece(text, start, end, [link for link in links if link.start <= start and end <= link.end])
            for start, end in pairwise(cuts)
        ]

    def matrix(self) -> dict[str, Any]:
        """The state of each claim and fact in each chunk, as page data."""
        ranks = range(1, len(self._texts) + 1)
        rows = []
        for kind, texts in self._subjects():
            for number, text in enumerate(texts, 1):
                links = {link.rank: link for link in self.of(f"{kind}-{number}")}
                cells = [self._cell(kind, number, rank, links.get(rank)) for rank in ranks]
                rows.append(
                    {
                        "key": f"{kind}-{number}",
                        "label": f"{_LETTERS[kind]}{number}",
                        "kind": kind,
                        "number": number,
                        "text": one_line(text, 160),
                        "cells": cells,
                    }
                )
        return {"ranks": list(ranks), "rows": rows}

    def _subjects(self) -> Iterator[tuple[str, list[str]]]:
        """The claims and facts that were checked against the chunks."""
        for kind in ("answer", "reference"):
            if self._case.matrix(f"{kind}_claims_in_contexts"):
                yield kind, [claim.text for claim in self._case.claims(kind)]
        if self._case.has("fact_matches"):
            yield "fact", [fact.text for fact in self._case.sample.facts or ()]

    def _cell(self, kind: str, number: int, rank: int, link: Link | None) -> dict[str, Any]:
        state, tone = (link.state, link.tone) if link else _NOT_STATED
        supported = contradicted = None
        if kind != "fact":
            row = _at(self._case.matrix(f"{kind}_claims_in_contexts"), number) or []
            verdict = _at(row, rank)
            if verdict is None:
                state, tone = "not checked", "silent"
            supported, contradicted = _numbers(verdict)
        elif not link:
            state = "not found"
        return {
            "rank": rank,
            "state": state,
            "tone": tone,
            "sign": "–" if state == "not checked" else SIGNS[tone],
            "supported": supported,
            "contradicted": contradicted,
            "probability": contradicted if tone == "bad" else supported,
            "exact": link.exact if link else False,
            "address": f"#{link.anchor}" if link else f"#chunk-{rank}",
        }

    def _claims(self, whose: str) -> Iterator[Link]:
        rows = self._case.matrix(f"{whose}_claims_in_contexts")
        together = self._case.verdicts(f"{whose}_claims_in_all_contexts")
        for number, claim in enumerate(self._case.claims(whose), 1):
            key, row = f"{whose}-{number}", _at(rows, number)
            decided = [(rank, word) for rank, word in enumerate(row or (), 1) if word in _STATES]
            for rank, word in decided[: len(self._texts)]:
                if rank <= len(self._texts):
                    yield self._link(key, rank, claim.text, word)
            if not decided and (row is not None or len(together) >= number):
                yield from self._nearest(key, claim.text, _at(together, number) or "")

    def _link(self, key: str, rank: int, claim: str, verdict: str) -> Link:
        passages, own = self._passages[rank - 1], without_question(self._case.sample.question or "", claim)
        near = passages.nearest_span(own, evidence=True) or passages.nearest_span(claim, evidence=True)
        start, end = (near[0].start, near[0].end) if near else (0, 0)
        # A chunk that contains a claim word for word is judged by this sentence.
        exact = contains_statement(self._texts[rank - 1][start:end], claim) if near else False
        return Link(key, rank, *_STATES.get(verdict, _NOT_STATED), start, end, exact, *_numbers(verdict))

    def _nearest(self, key: str, claim: str, verdict: str) -> Iterator[Link]:
        """The nearest sentence of all chunks, for a claim on which no single chunk decides."""
        near = [(rank, text.nearest_span(claim, evidence=True)) for rank, text in enumerate(self._passages, 1)]
        found = [(one[1], -rank) for rank, one in near if one]
        share, rank = max(found, default=(0.0, 0))
        if share >= _LEAST_SHARE:
            yield self._link(key, -rank, claim, verdict)

    def _facts(self) -> Iterator[Link]:
        matches = self._case.evidence.get("fact_matches")
        if matches is None:
            return
        split = {one.number: one for one in self._outcome.findings if one.cause is SPLIT and one.kind == "fact"}
        for number, fact in enumerate(self._case.sample.facts or (), 1):
            key, mine = f"fact-{number}", [match for match in matches if match.fact == number - 1]
            for match in mine:
                if match.chunk < len(self._texts):
                    end = min(match.end, len(self._texts[match.chunk]))
                    start = min(match.start, end)
                    exact = match.matcher not in _BY_MEANING or bool(
                        FoldedText(self._texts[match.chunk][start:end]).find(FoldedText(fact.text))
                    )
                    likely = None if exact or match.confidence == 1.0 else match.confidence
                    yield Link(key, match.chunk + 1, "contained", "good", start, end, exact, likely)
            if not mine and number in split:
                yield from self._parts(key, fact.text, split[number].chunks)
            elif not mine:
                yield from self._nearest(key, fact.text, "")

    def _parts(self, key: str, fact: str, ranks: Iterable[int]) -> Iterator[Link]:
        """The words of a split fact at the end or the beginning of a chunk."""
        wanted = [word.text for word in words(fact)]
        for rank in ranks:
            text = self._texts[rank - 1]
            there = list(words(text))
            known = [word.text for word in there]
            ends, begins = _common(known, wanted), _common(wanted, known)
            if not max(ends, begins):
                continue
            start, end = (there[-ends].start, len(text)) if ends >= begins else (0, there[begins - 1].end)
            yield Link(key, rank, "part", "unsure", start, end, exact=True)


def _piece(text: str, start: int, end: int, links: Sequence[Link]) -> dict[str, Any]:
    facts = [int(link.key.partition("-")[2]) for link in links if link.state == "contained"]
    tones = {link.tone for link in links}
    return {
        "text": text[start:end],
        "tone": next((tone for tone in ("bad", "good", "unsure", "silent") if tone in tones), ""),
        "numbers": sorted(set(facts)),
        "keys": list(dict.fromkeys(link.key for link in links)),
        "anchors": list(dict.fromkeys(link.anchor for link in links if link.start == start)),
        "labels": [_label(link) for link in links if link.end == end],
    }


def _label(link: Link) -> dict[str, str]:
    place = "" if link.exact else ", nearest sentence"
    return {"key": link.key, "text": f"{SIGNS[link.tone]} {link.label}", "words": f"{link.state}{place}"}


def _at(values: Sequence[Any], number: int) -> Any:
    return values[number - 1] if number <= len(values) else None


def _numbers(verdict: Any) -> tuple[float | None, float | None]:
    return (verdict.support, verdict.contradiction) if isinstance(verdict, Verdict) else (None, None)


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    """The number of words at the end of one text that begin the other."""
    most = min(len(before), len(after))
    return next((size for size in range(most, 0, -1) if list(before[-size:]) == list(after[:size])), 0)
