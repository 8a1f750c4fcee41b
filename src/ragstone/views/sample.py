"""One sample as all outputs show it: texts with marks, causes, claims with verdicts, facts, steps, chunks and scores.

Terminal, JSON, HTML report, notebook and viewer draw this view. They choose the layout; words, order and cuts are decided here.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from ragstone.analysis.cause_names import SPLIT, Finding, Outcome
from ragstone.analysis.cause_texts import people_text, status_text
from ragstone.analysis.explain import Cell, StepView, describe_steps
from ragstone.analysis.sample_evidence import Case, cited_claims, earlier_turns, standalone_question, turn_behind
from ragstone.data.types import Chunk, Sample
from ragstone.data.usage import OTHER_ANSWERS
from ragstone.data.verdict import CONTRADICTION, DECIDED, ENTAILMENT, UNSURE, WORDS, strongest
from ragstone.engine.metric_choice import find_metric, is_own, pick_headlines
from ragstone.storage.images import ImageError, image_name, is_address, read_picture
from ragstone.text.statements import without_question
from ragstone.text.verbatim import plain_text
from ragstone.views.judged_items import JudgedGroup, judged_groups, shown_claims
from ragstone.views.marks import Limits, Mark, Piece, RankMark, mark_claims, mark_facts
from ragstone.views.phrases import by_reason, numbered, one_line

# Splitting a text into sentences is slow. Longer answers are shown without marks.
_MAX_MARKED = 200_000
# Longer earlier turns of a conversation are folded.
_MAX_TURN = 600
_MAX_TEASER = 160
_MAX_STEPS = 200
_MAX_RANKS = 30
_MAX_MISSED = 20
_MAX_CALL = 300
_BY = {ENTAILMENT: "", CONTRADICTION: "contradicted by ", UNSURE: "perhaps "}
# Whether a chunk contains what is needed: by the facts, otherwise by the claims of the reference.
_NEEDED = {
    (True, True): ("good", "contains needed facts"),
    (True, False): ("silent", "not relevant: no needed fact"),
    (False, True): ("good", "supports the reference"),
    (False, False): ("silent", "not relevant: nothing of the reference"),
}
# Chunks on paper: those with evidence, otherwise the first ones.
_MOST_PRINTED = 4
_MOST_EMBEDDED = 32_000
_MOST_SCORES = 6


@dataclass(frozen=True)
class TurnView:
    """A message before the question, with the numbers of the answer claims that it supports."""

    number: int
    role: str
    text: str
    chunks: int
    claims: tuple[int, ...]
    folded: bool
    teaser: str


@dataclass(frozen=True)
class FindingView:
    """A cause with the claim or fact that shows it."""

    cause: str
    fails: bool
    about: str
    chunks: tuple[int, ...]
    why: str
    # The claim or fact, and its place on a page; empty for the answer or the chunks as a whole.
    text: str = ""
    key: str = ""


@dataclass(frozen=True)
class ClaimView:
    """A claim: the verdict of the other text, and the chunks and earlier turns behind it."""

    number: int
    text: str
    # The tone of its verdict: by the other text, otherwise the strongest of chunks and turns; empty if it was not checked.
    tone: str
    # The verdict of the other text: `supported 0.90`; None if there is none.
    said: Mark | None
    # The ranks of the chunks that support it, and of those that contradict it.
    says: list[int]
    denies: list[int]
    turn: int | None
    cites: Mark | None
    # Chunks that support it, contradict it and perhaps support it; all chunks together; the earlier turn.
    marks: tuple[RankMark, ...]


@dataclass(frozen=True)
class ClaimGroup:
    """The claims of `whose` text, checked against the `other` text and the chunks."""

    whose: str
    other: str
    rows: tuple[ClaimView, ...]


@dataclass(frozen=True)
class FactView:
    """A fact and the ranks of the chunks that contain it; None if facts were not matched."""

    number: int
    text: str
    kind: str
    source: str
    ranks: list[int] | None
    mark: RankMark


@dataclass(frozen=True)
class ImageView:
    """The image of a chunk by a short name. `src` is drawn; one on the web has an `address`, which only a click opens."""

    name: str
    src: str = ""
    address: str = ""
    host: str = ""
    # Why it is not shown.
    note: str = ""
    width: int | None = None
    height: int | None = None
    # Whether the chunk has a text, too.
    has_text: bool = False

    @classmethod
    def of(cls, image: str, embed: bool = False) -> ImageView:
        """The image. With `embed`, `src` is its data if it is small."""
        if is_address(image):
            return cls(image_name(image), address=image, host=urlsplit(image).hostname or "another server")
        if not embed:
            return cls(image_name(image))
        try:
            picture = read_picture(image)
        except ImageError as error:
            return cls(image_name(image), note=str(error))
        if len(picture.data) > _MOST_EMBEDDED:
            return cls(image_name(image), note="the image is not in this file because of its size")
        src = f"data:{picture.media};base64,{b64encode(picture.data).decode()}"
        return cls(image_name(image), src, width=picture.width, height=picture.height)


@dataclass(frozen=True)
class ChunkView:
    """A chunk with what it supports, contradicts and contains. `label` is the source with its page."""

    rank: int
    id: str
    source: str
    page: str
    label: str
    image: ImageView | None
    score: float | None
    # By the grades of the data, otherwise by the matched evidence; None if neither is known.
    relevance: Mark | None
    marks: tuple[Mark, ...]
    # The marks with the relevance, if the data grades it or if there is no other mark.
    badges: tuple[Mark, ...]
    pieces: tuple[Piece, ...]
    teaser: str
    folded: bool
    printed: bool = True


@dataclass(frozen=True)
class StepsView:
    """The steps of an agent, and the expected ones that were not made."""

    rows: tuple[StepView, ...]
    more: int
    missed: tuple[str, ...]
    more_missed: int


@dataclass(frozen=True)
class SampleView:
    """A sample with everything that is shown of it."""

    anchor: str
    id: str
    row: int
    question: str
    answer: tuple[Piece, ...] | None
    references: tuple[str, ...]
    unanswerable: bool
    metadata: dict[str, str]
    other_answers: tuple[str, ...]
    turns: tuple[TurnView, ...]
    standalone: str
    rewritten: str
    # Why it fails, in a line.
    why: str
    cause: str
    meaning: str
    part: str
    # `wrong`, `look`, `fine` or `no judgement`, with the probability that the row is wrong.
    status: str
    wrong: float | None
    # `labelled by Ana`, if people decided the status.
    labelled: str
    undecided: str
    looked: bool
    findings: tuple[FindingView, ...]
    claims: tuple[ClaimGroup, ...]
    facts: tuple[FactView, ...]
    judged: tuple[JudgedGroup, ...]
    steps: StepsView | None
    chunks: tuple[ChunkView, ...] | None
    chunks_left_out: int
    scores: tuple[Cell, ...]
    quality: float | None

    @property
    def scored(self) -> list[Cell]:
        """The cells with a score."""
        return [cell for cell in self.scores if cell.value is not None]

    @property
    def telling_scores(self) -> list[Cell]:
        """The user's own scores, the headline scores furthest from good, at most six, and failed ones."""
        picked = pick_headlines([cell.metric for cell in self.scores])
        lack = {cell.metric: lack_of(cell.metric, cell.value) for cell in self.scores if cell.metric in picked}
        worst = sorted((name for name in lack if lack[name] is not None), key=lambda name: -(lack[name] or 0.0))
        chosen = {*worst[:_MOST_SCORES], *(cell.metric for cell in self.scores if is_own(cell.metric))}
        shown = [cell for cell in self.scores if cell.metric in chosen or cell.status == "failed"] or list(self.scores)
        return sorted(shown, key=lambda cell: not is_own(cell.metric))

    @property
    def unscored(self) -> list[tuple[str, list[str]]]:
        """The metrics without a score, by reason."""
        missing = (cell for cell in self.scores if cell.value is None)
        return list(by_reason((cell.metric, f"{cell.status}, {cell.reason}") for cell in missing).items())


def lack_of(metric: str, value: float | None) -> float | None:
    """The distance of a score from its best value, from 0 to 1; None without a value, a direction or bounds."""
    known = find_metric(metric)
    low, high = known.spec.bounds if known else (None, None)
    if value is None or known is None or known.spec.better == "none" or low is None or high is None:
        return None
    share = (value - low) / (high - low)
    return share if known.spec.better == "lower" else 1.0 - share


def sample_view(
    row: int,
    case: Case,
    outcome: Outcome,
    cells: Iterable[Cell] = (),
    limits: Limits | None = None,
    *,
    anchor: str = "",
    quality: float | None = None,
) -> SampleView:
    """The view of a sample by its row number from 1."""
    sample, limits = case.sample, limits or Limits()
    cause, groups = outcome.cause, claim_groups(case)
    chunks = chunk_views(case, outcome, limits)
    return SampleView(
        anchor=anchor,
        id=sample.id,
        row=row,
        question=limits.shorten(sample.question or ""),
        answer=None if sample.answer is None else _answer(limits.shorten(sample.answer), groups),
        references=tuple(map(limits.shorten, sample.references or ())),
        unanswerable=sample.answerable is False,
        metadata=_metadata(sample),
        other_answers=tuple(map(limits.shorten, _other_answers(sample))),
        turns=_turns(case, limits),
        standalone=limits.shorten(standalone_question(case) or ""),
        rewritten=limits.shorten(sample.rewritten_question or ""),
        why=cause_line(outcome),
        cause=cause.name if cause else "",
        meaning=cause.meaning if cause else "",
        part=(cause.part or "") if cause else "",
        status=outcome.status,
        wrong=outcome.wrong,
        labelled=people_text(outcome.labelled_by),
        undecided=outcome.undecided,
        looked=bool(outcome.seen_by or outcome.findings),
        findings=tuple(
            FindingView(one.cause.name, one.cause.fails, one.about, one.chunks, one.why, *_place(one, sample))
            for one in outcome.shown
        ),
        claims=groups,
        facts=fact_views(case, outcome, limits),
        judged=judged_groups(case, limits.shorten),
        steps=_steps(case, limits),
        chunks=chunks,
        chunks_left_out=len(sample.contexts or ()) - len(chunks or ()),
        # The quantile of one row is its value.
        scores=tuple(cell for cell in cells if "(q=" not in cell.metric),
        quality=quality,
    )


def _place(finding: Finding, sample: Sample) -> tuple[str, str]:
    """The text of the claim or fact that a finding is about, and its place: `answer-2`."""
    whose, _, claim = finding.kind.partition(" ")
    text = one_line(without_question(sample.question or "", finding.text), _MAX_TEASER)
    return (text, f"{whose}-{finding.number}") if claim or whose == "fact" else ("", "")


def cause_line(outcome: Outcome) -> str:
    """`wrong (92 %): ignored, generator`, `fine (wrong: 6 %)`, `no judgement: …`."""
    if outcome.undecided:
        return f"no judgement: {outcome.undecided}"
    if outcome.cause is None:
        status = status_text(outcome) if outcome.wrong is not None else "no judgement: not checked for faults"
        return f"{status}: {outcome.doubt}" if outcome.doubt else status
    maybe = "possibly " if outcome.status == "look" else ""
    return (
        f"{status_text(outcome)}: {maybe}{outcome.cause.name}{f', {outcome.cause.part}' if outcome.cause.part else ''}"
    )


def _metadata(sample: Sample) -> dict[str, str]:
    named = ((name, value) for name, value in sample.metadata.items() if name != OTHER_ANSWERS)
    return {name: one_line(str(value), 200) for name, value in named if value not in (None, "")}


def _other_answers(sample: Sample) -> list[str]:
    others = sample.metadata.get(OTHER_ANSWERS)
    return [str(text) for text in others] if isinstance(others, list) else []


def _turns(case: Case, limits: Limits) -> tuple[TurnView, ...]:
    return tuple(
        TurnView(
            turn.number,
            turn.role,
            limits.shorten(turn.text),
            turn.chunks,
            turn.claims,
            folded=len(turn.text) > _MAX_TURN,
            teaser=_teaser(turn.text),
        )
        for turn in earlier_turns(case)
    )


def _teaser(text: str) -> str:
    return one_line(plain_text(text[: 4 * _MAX_TEASER]), _MAX_TEASER)


def _answer(text: str, groups: Sequence[ClaimGroup]) -> tuple[Piece, ...]:
    """The answer with its claims marked, if each was checked."""
    claims = next((group.rows for group in groups if group.whose == "answer"), ())
    if not claims or len(text) > _MAX_MARKED or not all(claim.tone for claim in claims):
        return (Piece(text),)
    return tuple(mark_claims(text, [claim.text for claim in claims], [claim.tone for claim in claims]))


def claim_groups(case: Case) -> tuple[ClaimGroup, ...]:
    """The claims of the answer and of the reference, with the verdicts of the other text and of the chunks."""
    groups = (_group(case, whose, other) for whose, other in (("answer", "reference"), ("reference", "answer")))
    return tuple(group for group in groups if group.rows)


def _group(case: Case, whose: str, other: str) -> ClaimGroup:
    verdicts, rows = case.verdicts(f"{whose}_claims_in_{other}"), case.matrix(f"{whose}_claims_in_contexts")
    together = case.verdicts(f"{whose}_claims_in_all_contexts")
    earlier, cited = (case.verdicts("answer_claims_in_history"), cited_claims(case)) if whose == "answer" else ([], [])
    claims = []
    for at, claim in enumerate(shown_claims(case, whose)):
        row, said = rows[at] if at < len(rows) else None, verdicts[at : at + 1]
        known = said or [*(row or ()), *earlier[at : at + 1]]
        turn = turn_behind(case, at + 1) if whose == "answer" else None
        claims.append(
            ClaimView(
                number=at + 1,
                text=claim,
                tone=WORDS[strongest(known)].tone if known else "",
                said=verdict_mark(said[0]) if said else None,
                says=_ranks(row, ENTAILMENT),
                denies=_ranks(row, CONTRADICTION),
                turn=turn,
                cites=Mark(cited[at].tone, cited[at].words) if at < len(cited) else None,
                marks=tuple(_claim_marks(row, "".join(together[at : at + 1]), turn)),
            )
        )
    return ClaimGroup(whose, other, tuple(claims))


def verdict_mark(verdict: str) -> Mark:
    """`supported 0.90`: the verdict and, from the local judge, the probability of support; of contradiction if it contradicts."""
    said = strongest([verdict])
    word, likely = WORDS[said], getattr(verdict, "contradiction" if said == CONTRADICTION else "support", None)
    return Mark(word.tone, word.phrase if likely is None else f"{word.phrase} {likely:.2f}")


def _claim_marks(row: Sequence[str] | None, together: str, turn: int | None) -> list[RankMark]:
    marks = [
        RankMark(WORDS[word].tone, f"{_BY[word]}{numbered('chunk', ranks)}", tuple(ranks))
        for word in DECIDED
        if (ranks := _ranks(row, word))
    ]
    tone = WORDS[strongest([together])].tone
    if tone in ("good", "unsure") and not {"good", tone} & {mark.tone for mark in marks}:
        marks.append(RankMark(tone, "all chunks together"))
    if turn:
        marks.append(RankMark("good", f"earlier turn {turn}"))
    return marks or ([] if row is None else [RankMark("silent", "no chunk")])


def _ranks(row: Sequence[str] | None, verdict: str) -> list[int]:
    return [rank for rank, word in enumerate(row or (), 1) if word == verdict]


def fact_views(case: Case, outcome: Outcome, limits: Limits) -> tuple[FactView, ...]:
    """The facts of a sample with the chunks that contain them."""
    matches = case.evidence.get("fact_matches")
    split = {one.number: one.chunks for one in outcome.findings if one.cause is SPLIT and one.kind == "fact"}
    facts = []
    for number, fact in enumerate(case.sample.facts or (), 1):
        ranks = list(dict.fromkeys(match.chunk + 1 for match in matches or () if match.fact == number - 1))
        if matches is None:
            mark = RankMark("silent", "not matched")
        elif ranks:
            mark = RankMark("good", numbered("chunk", ranks), tuple(ranks))
        elif number in split:
            mark = RankMark("unsure", f"split: part in {numbered('chunk', split[number])}", split[number])
        else:
            mark = RankMark("bad", "in no chunk")
        known = None if matches is None else ranks
        facts.append(FactView(number, limits.shorten(fact.text), fact.kind, fact.source or "", known, mark))
    return tuple(facts)


def chunk_views(case: Case, outcome: Outcome, limits: Limits) -> tuple[ChunkView, ...] | None:
    """The chunks in rank order; None if the data has no contexts. Those without evidence are folded if others have some."""
    contexts = case.sample.contexts
    if contexts is None:
        return None
    chunks = [_chunk(case, outcome, rank, chunk, limits) for rank, chunk in enumerate(contexts[: limits.chunks], 1)]
    telling = [chunk.rank for chunk in chunks if chunk.marks]
    printed = telling[:_MOST_PRINTED] or [1, 2]
    return tuple(
        replace(chunk, folded=chunk.folded and bool(telling), printed=chunk.rank in printed) for chunk in chunks
    )


def _chunk(case: Case, outcome: Outcome, rank: int, chunk: Chunk, limits: Limits) -> ChunkView:
    matches = [match for match in case.evidence.get("fact_matches") or () if match.chunk == rank - 1]
    pieces, rest = mark_facts(chunk.shown, matches, limits.size), limits.rest(chunk.text)
    marks, relevance = tuple(chunk_marks(case, outcome, rank)), _relevance(case, rank)
    shown = relevance is not None and bool(case.sample.relevance or not marks)
    return ChunkView(
        rank=rank,
        id=chunk.id or "",
        source=chunk.source or "",
        page=chunk.page or "",
        label=chunk.label,
        image=replace(ImageView.of(chunk.image, limits.embed), has_text=bool(chunk.text)) if chunk.image else None,
        score=chunk.score,
        relevance=relevance,
        marks=marks,
        badges=(relevance, *marks) if relevance and shown else marks,
        pieces=(*pieces, *([Piece(rest)] if rest else [])),
        teaser=_teaser(chunk.shown),
        folded=not marks and (relevance is None or relevance.tone == "silent"),
    )


def chunk_marks(case: Case, outcome: Outcome, rank: int) -> list[Mark]:
    """The claims and facts that a chunk supports, contradicts or contains."""
    marks = []
    for whose in ("reference", "answer"):
        rows = case.matrix(f"{whose}_claims_in_contexts")
        for verdict in DECIDED:
            numbers = [number for number, row in enumerate(rows, 1) if row[rank - 1 : rank] == [verdict]]
            if numbers:
                marks.append(Mark(WORDS[verdict].tone, f"{WORDS[verdict].verb} {numbered(f'{whose} claim', numbers)}"))
    matches = case.evidence.get("fact_matches") or ()
    if facts := list(dict.fromkeys(match.fact + 1 for match in matches if match.chunk == rank - 1)):
        marks.append(Mark("good", f"contains {numbered('fact', facts)}"))
    split = [one.number for one in outcome.findings if one.cause is SPLIT and one.kind == "fact" and rank in one.chunks]
    if split:
        marks.append(Mark("silent", f"contains part of {numbered('fact', split)}"))
    return marks


def holds_what_is_needed(case: Case, rank: int) -> bool | None:
    """Whether a chunk supports a reference claim or contains a fact; None if the sample has none or this was not checked."""
    needed, facts = case.matrix("reference_claims_in_contexts"), case.evidence.get("fact_matches")
    if not needed and (facts is None or not case.sample.facts):
        return None
    supports = any(row[rank - 1 : rank] == [ENTAILMENT] for row in needed)
    return supports or any(match.chunk == rank - 1 for match in facts or ())


def _relevance(case: Case, rank: int) -> Mark | None:
    sample = case.sample
    chunk = (sample.contexts or [])[rank - 1]
    if grade := (sample.relevance or {}).get(chunk.id or "", 0):
        return Mark("good", f"relevant, grade {grade:g}")
    if chunk.unknown:
        return None
    if sample.relevance:
        return Mark("silent", "not relevant")
    needed = holds_what_is_needed(case, rank)
    return needed if needed is None else Mark(*_NEEDED[bool(sample.facts), needed])


def _steps(case: Case, limits: Limits) -> StepsView | None:
    """The steps with their chunks and the facts that they found first; None if the data has no steps."""
    if case.sample.steps is None:
        return None
    steps, missed = describe_steps(case)
    rows = tuple(
        replace(
            step, tool=one_line(step.tool, 100), query=limits.shorten(step.query or ""), ranks=step.ranks[:_MAX_RANKS]
        )
        for step in steps[:_MAX_STEPS]
    )
    calls = tuple(one_line(call, _MAX_CALL) for call in missed[:_MAX_MISSED])
    return StepsView(rows, len(steps) - len(rows), calls, len(missed) - len(calls))
