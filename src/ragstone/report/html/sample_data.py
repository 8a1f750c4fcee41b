"""One sample as page data, for reports and the viewer: marked texts, claims with verdicts, facts and chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ragstone.compare.cause_names import SPLIT, Outcome
from ragstone.compare.citations import cited_claims
from ragstone.compare.earlier_turns import EarlierTurn, earlier_turns, standalone_question, turn_behind
from ragstone.compare.sample_evidence import Case
from ragstone.data.types import FactMatch, ScoredVerdict
from ragstone.report.text import by_reason, numbered, one_line
from ragstone.text.sentences import sentences
from ragstone.text.words import split_unspaced, words

# A claim belongs to the sentence that contains most of its words, if it contains at least half of them.
_LEAST_SHARE = 0.5
_WORST_FIRST = ("bad", "silent", "good")


@dataclass(frozen=True)
class Piece:
    """A part of a text. A marked part has a tone and the numbers of its claims or facts."""

    text: str
    tone: str = ""
    numbers: tuple[int, ...] = ()


def mark_claims(text: str, claims: Sequence[str], tones: Sequence[str]) -> list[Piece]:
    """An answer with its sentences in the tone of their worst claim."""
    spans = sentences(text)
    bags = [_bag(text[span.start : span.end]) for span in spans]
    made: dict[int, list[int]] = {}
    for number, claim in enumerate(claims):
        wanted = _bag(claim)
        shares = [len(wanted & bag) / len(wanted) if wanted else 0.0 for bag in bags]
        best = max(range(len(shares)), key=shares.__getitem__, default=None)
        if best is not None and shares[best] >= _LEAST_SHARE:
            made.setdefault(best, []).append(number)
    pieces: list[Piece] = []
    at = 0
    for place, span in enumerate(spans):
        if numbers := made.get(place):
            tone = next((word for word in _WORST_FIRST if any(tones[n] == word for n in numbers)), "")
            pieces += [Piece(text[at : span.start])] if span.start > at else []
            pieces.append(Piece(text[span.start : span.end], tone, tuple(n + 1 for n in numbers)))
            at = span.end
    return [*pieces, Piece(text[at:])] if at < len(text) or not pieces else pieces


def mark_facts(text: str, matches: Iterable[FactMatch], most: int) -> list[Piece]:
    """A chunk with its facts marked. If facts overlap, the piece has the numbers of both."""
    spans = [(m.start, min(m.end, len(text)), m.fact + 1) for m in matches if 0 <= m.start < min(m.end, len(text))]
    cuts = sorted({0, min(most, len(text)), *(end for start, stop, _ in spans for end in (start, stop) if end < most)})
    pieces = []
    for start, end in pairwise(cuts):
        numbers = tuple(sorted({fact for first, last, fact in spans if first <= start and end <= last}))
        pieces.append(Piece(text[start:end], "good" if numbers else "", numbers))
    return pieces


def _bag(text: str) -> set[str]:
    return {piece for word in words(text) for piece in split_unspaced(word.text)}


_YES, _NO, _UNSURE = "entailment", "contradiction", "unsure"
_TONES = {_YES: "good", _NO: "bad", _UNSURE: "unsure"}
_SIGNS = {"good": "✓", "bad": "✗", "unsure": "?", "silent": "·"}
_VERDICTS = {
    "good": "supports it",
    "bad": "contradicts it",
    "unsure": "perhaps supports it",
    "silent": "does not mention it",
}


@dataclass(frozen=True)
class Mark:
    """A verdict as colour, sign and text."""

    tone: str
    words: str

    @property
    def sign(self) -> str:
        """The sign, for readers who cannot see the colour."""
        return _SIGNS[self.tone]


def mark_answer(case: Case, text: str) -> list[Piece]:
    """The answer with its claims marked by the verdicts of the reference, otherwise by those of chunks and earlier turns."""
    claims = [claim.text for claim in case.claims("answer")]
    verdicts = case.verdicts("answer_claims_in_reference")
    if not verdicts:
        rows, earlier = case.matrix("answer_claims_in_contexts"), case.verdicts("answer_claims_in_history")
        read = [[*row, *earlier[at : at + 1]] for at, row in enumerate(rows)]
        verdicts = [next((word for word in _TONES if word in row), "") for row in read]
    if len(verdicts) != len(claims):
        return [Piece(text)]
    return mark_claims(text, claims, [_tone(verdict) for verdict in verdicts])


def chunks_behind(case: Case, numbers: Sequence[int]) -> dict[str, list[int]]:
    """The ranks of the chunks that support these claims of the answer (by number), and of those that contradict them."""
    rows = case.matrix("answer_claims_in_contexts")
    selected = [rows[number - 1] for number in numbers if number <= len(rows)]
    return {
        name: sorted({rank for row in selected for rank in _ranks(row, verdict)})
        for name, verdict in (("says", _YES), ("denies", _NO))
    }


def claim_groups(case: Case) -> list[dict[str, Any]]:
    """The claims of the answer and of the reference, with the verdicts of the other text and of the chunks."""
    return [
        group
        for whose, other in (("answer", "reference"), ("reference", "answer"))
        for group in _group(case, whose, other)
    ]


def _group(case: Case, whose: str, other: str) -> Iterator[dict[str, Any]]:
    claims = case.claims(whose)
    if not claims:
        return
    verdicts, rows = case.verdicts(f"{whose}_claims_in_{other}"), case.matrix(f"{whose}_claims_in_contexts")
    together = case.verdicts(f"{whose}_claims_in_all_contexts")
    cited = cited_claims(case) if whose == "answer" else []
    listed = []
    for at, claim in enumerate(claims):
        tone = _tone(verdicts[at]) if at < len(verdicts) else ""
        row = rows[at] if at < len(rows) else []
        listed.append(
            {
                "number": at + 1,
                "text": claim.text,
                "said": Mark(tone, f"{other} {_VERDICTS[tone]}{_likely(verdicts[at])}") if tone else None,
                # Whether the chunks were checked.
                "known": at < len(rows),
                "says": _ranks(row, _YES),
                "denies": _ranks(row, _NO),
                "perhaps": _ranks(row, _UNSURE),
                "together": at < len(together) and together[at] == _YES,
                "turn": turn_behind(case, at + 1) if whose == "answer" else None,
                "cites": Mark(cited[at].tone, cited[at].words) if at < len(cited) else None,
            }
        )
    yield {"whose": whose, "other": other, "rows": listed}


def fact_ranks(case: Case, place: int) -> list[int] | None:
    """The ranks of the chunks that contain a fact; None if facts were not matched."""
    matches = case.evidence.get("fact_matches")
    if matches is None:
        return None
    return list(dict.fromkeys(match.chunk + 1 for match in matches if match.fact == place))


def holds_what_is_needed(case: Case, rank: int) -> bool | None:
    """Whether a chunk supports a reference claim or contains a fact; None if this was not checked."""
    needed, facts = case.matrix("reference_claims_in_contexts"), case.evidence.get("fact_matches")
    if not needed and facts is None:
        return None
    supports = any(len(row) >= rank and row[rank - 1] == _YES for row in needed)
    return supports or any(match.chunk == rank - 1 for match in facts or ())


def chunk_marks(case: Case, outcome: Outcome, rank: int) -> Iterator[Mark]:
    """The claims and facts that a chunk supports or contradicts."""
    for whose in ("reference", "answer"):
        rows = case.matrix(f"{whose}_claims_in_contexts")
        for verdict, verb in ((_YES, "supports"), (_NO, "contradicts"), (_UNSURE, "perhaps supports")):
            numbers = [number for number, row in enumerate(rows, 1) if len(row) >= rank and row[rank - 1] == verdict]
            if numbers:
                yield Mark(_TONES[verdict], f"{verb} {numbered(f'{whose} claim', numbers)}")
    matches = case.evidence.get("fact_matches") or ()
    if facts := list(dict.fromkeys(match.fact + 1 for match in matches if match.chunk == rank - 1)):
        yield Mark("good", f"contains {numbered('fact', facts)}")
    split = [one.number for one in outcome.findings if one.cause is SPLIT and one.kind == "fact" and rank in one.chunks]
    if split:
        yield Mark("silent", f"contains part of {numbered('fact', split)}")


def finding_rows(outcome: Outcome) -> list[dict[str, Any]]:
    """The findings about a sample: cause, subject, chunks and reason."""
    return [
        {
            "cause": finding.cause.name,
            "fails": finding.cause.fails,
            "about": finding.about,
            "chunks": list(finding.chunks),
            "why": finding.explained,
        }
        for finding in outcome.findings
    ]


def _likely(verdict: str) -> str:
    """The probability of support, if the local judge gave the verdict."""
    likely = verdict.supported if isinstance(verdict, ScoredVerdict) else None
    return "" if likely is None else f" ({likely:.2f})"


def _tone(verdict: str) -> str:
    return _TONES.get(verdict, "silent")


def _ranks(row: Sequence[str], verdict: str) -> list[int]:
    return [rank for rank, word in enumerate(row, 1) if word == verdict]


# Longer texts are shortened in the report; the run contains them in full.
_MOST_CHARACTERS = 4_000
_MOST_CHUNKS = 20
_MOST_PRINTED = 4


@dataclass(frozen=True)
class Shown:
    """A sample with everything that the page shows."""

    anchor: str
    id: str
    row: int
    question: str
    answer: list[Piece] | None
    references: list[str]
    unanswerable: bool
    cause: str
    part: str
    undecided: str
    quality: float | None
    findings: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    facts: list[dict[str, Any]]
    chunks: list[dict[str, Any]] | None
    chunks_left_out: int
    cells: list[dict[str, Any]]
    turns: list[EarlierTurn]
    standalone: str

    @property
    def scored(self) -> list[dict[str, Any]]:
        """The cells with a score."""
        return [cell for cell in self.cells if cell["value"] is not None]

    @property
    def unscored(self) -> list[tuple[str, list[str]]]:
        """The metrics without a score, by reason."""
        missing = (cell for cell in self.cells if cell["value"] is None)
        return list(by_reason((cell["metric"], f"{cell['status']}, {cell['reason']}") for cell in missing).items())


def show_sample(
    row: int, case: Case, outcome: Outcome, cells: list[dict[str, Any]], quality: float | None, prefix: str = "s"
) -> Shown:
    """All data of a sample, in reading order."""
    sample = case.sample
    contexts = sample.contexts
    return Shown(
        anchor=f"{prefix}{row + 1}",
        id=sample.id,
        row=row + 1,
        question=_shorten(sample.question or ""),
        answer=None if sample.answer is None else mark_answer(case, _shorten(sample.answer)),
        references=[_shorten(text) for text in sample.references or ()],
        unanswerable=sample.answerable is False,
        cause=outcome.cause.name if outcome.cause else "",
        part=(outcome.cause.part or "") if outcome.cause else "",
        undecided=outcome.undecided,
        quality=quality,
        findings=finding_rows(outcome),
        claims=claim_groups(case),
        facts=list(_facts(case)),
        chunks=None if contexts is None else _chunks(case, outcome, contexts),
        chunks_left_out=max(0, len(contexts or ()) - _MOST_CHUNKS),
        cells=cells,
        turns=earlier_turns(case),
        standalone=_shorten(standalone_question(case) or ""),
    )


def _shorten(text: str) -> str:
    """The start of a long text, with its length."""
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} … ({len(text):,} characters in all)"


def _shown_ranks(contexts: Sequence[object]) -> range:
    return range(1, min(len(contexts), _MOST_CHUNKS) + 1)


def _facts(case: Case) -> Iterator[dict[str, Any]]:
    if not case.sample.facts or not case.has("fact_matches"):
        return
    for number, fact in enumerate(case.sample.facts):
        ranks = fact_ranks(case, number)
        words = numbered("chunk", ranks) if ranks else "no chunk"
        yield {"number": number + 1, "text": _shorten(fact.text), "mark": Mark("good" if ranks else "bad", words)}


def _chunks(case: Case, outcome: Outcome, contexts: Sequence[object]) -> list[dict[str, Any]]:
    """The chunks by rank. Those without evidence are folded if others have some; a few are printed."""
    chunks = [_chunk(case, outcome, rank) for rank in _shown_ranks(contexts)]
    telling = [chunk["rank"] for chunk in chunks if chunk["marks"]]
    printed = telling[:_MOST_PRINTED] or [chunk["rank"] for chunk in chunks[:2]]
    return [
        {**chunk, "folded": bool(telling) and not chunk["marks"], "printed": chunk["rank"] in printed}
        for chunk in chunks
    ]


def _chunk(case: Case, outcome: Outcome, rank: int) -> dict[str, Any]:
    chunk = (case.sample.contexts or [])[rank - 1]
    matches = [match for match in case.evidence.get("fact_matches") or () if match.chunk == rank - 1]
    pieces = mark_facts(chunk.text, matches, _MOST_CHARACTERS)
    if len(chunk.text) > _MOST_CHARACTERS:
        pieces.append(Piece(f" … ({len(chunk.text):,} characters in all)"))
    return {
        "rank": rank,
        "id": chunk.id or "",
        "source": chunk.source or "",
        "score": chunk.score,
        "pieces": pieces,
        "teaser": one_line(chunk.text, 120),
        "marks": list(chunk_marks(case, outcome, rank)),
    }
