"""Extracts facts from good answers: the citations that support each answer, checked against the passages.

A citation becomes a proposed fact if it is in the passages and supports the answer: the first does not imply the second.

Nuggets are what a good answer must (`vital`) or may (`okay`) contain, from references and relevant chunks. A language model
writes them and ranks their importance, as in TREC's AutoNuggetizer (Pradeep et al. 2024); the third step, which nuggets an
answer contains, is the evidence `nugget_support`. Without a language model, the parts of the reference are vital, and further
statements next to what supports them that share words with the question are okay. All are proposed.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from ragstone.data.types import Chunk
from ragstone.engine.evaluate import check_backend
from ragstone.engine.execute import run_to_end
from ragstone.engine.progress import Progress, Report, silent
from ragstone.llm.prompted import Asker, Bounds
from ragstone.llm.reply_types import NewNuggetsReply, NuggetImportanceReply, RankedNugget
from ragstone.llm.wrappers import Call
from ragstone.text.declarative import YES_OR_NO, replace_pronoun, state, states_something
from ragstone.text.overlap import content_stems
from ragstone.text.passages import Passages
from ragstone.text.questions import is_fragment
from ragstone.text.statements import statements
from ragstone.text.words import FoldedText
from ragstone.tools.nugget_labels import check_numbers
from ragstone.truth.citations.check import CitationCheck, Held, check_citation, count_verdicts, passages_of
from ragstone.truth.citers import (
    NAMED,
    Citer,
    JudgeCiter,
    Piece,
    Support,
    answer_parts,
    open_local_citer,
    quotable,
    split_calls,
)
from ragstone.truth.llm_tasks import Done, Work, ask_each, is_local, opened_judge
from ragstone.truth.model import Case, TruthFact

# The end of a title in front of a fact.
_TITLE_END = re.compile(r"\n|[:|]\s|\s[-–—]\s|^#+\s")


@dataclass(frozen=True)
class Checked:
    """A citation with its check."""

    citation: str
    check: CitationCheck
    support: Support = NAMED

    @property
    def kept(self) -> bool:
        """Whether it is in the passages and supports the answer."""
        return self.check.holds and self.support.supports


@dataclass(frozen=True)
class Extracted:
    """The result for one case: all citations with their checks, and the facts that remain."""

    case: Case
    checked: list[Checked]
    facts: list[TruthFact]

    @property
    def repeated(self) -> int:
        """The number of kept citations that are inside other kept ones."""
        return sum(item.kept for item in self.checked) - len(self.facts)


@dataclass(frozen=True)
class Extraction:
    """The result for all cases, with the citer's signature, its prompts and its calls."""

    found: list[Extracted]
    # The reason per case that was not asked about, and per case without a reply.
    skipped: dict[str, str]
    failed: dict[str, str]
    signature: str
    prompts: dict[str, str]
    calls: list[Call]

    @property
    def held(self) -> Held:
        """The number of citations per verdict."""
        return count_verdicts(item.check for row in self.found for item in row.checked)

    @property
    def supporting(self) -> int | None:
        """The number of citations in the documents that support the answer; None if that was not measured."""
        held = [item for row in self.found for item in row.checked if item.check.holds]
        measured = all(item.support.sure is not None for item in held)
        return sum(item.kept for item in held) if held and measured else None

    @property
    def counts(self) -> dict[str, int]:
        """Counts for the lineage of a version and for reports."""
        held = self.held
        return {
            "cases": len(self.found) + len(self.skipped) + len(self.failed),
            "skipped": len(self.skipped),
            "failed": len(self.failed),
            "citations": held.checked,
            "kept": held.stands,
            "repaired": held.repaired,
            "dropped_absent": held.absent,
            "dropped_invalid": held.invalid,
            "dropped_unsupported": 0 if self.supporting is None else held.held - self.supporting,
            "repeated": sum(row.repeated for row in self.found),
            "facts": sum(len(row.facts) for row in self.found),
        }

    def count_new(self, earlier: Sequence[Case], cases: Sequence[Case]) -> int:
        """The number of facts that no case has yet; only these are proposed."""
        there = {case.id: case.facts for case in (*cases, *earlier)}
        return sum(len(_joined(there[row.case.id], row.facts)) - len(there[row.case.id]) for row in self.found)


E = TypeVar("E", bound=Extraction)


def extract(cases: Sequence[Case], work: Work, report: Report = silent) -> Extraction:
    """Extracts the citations for the answers of cases, with a language model or with local models."""
    return _run(_extract, cases, work, report)


def _run(function: Callable[..., Coroutine[Any, Any, E]], cases: Sequence[Case], work: Work, report: Report) -> E:
    """The extraction of all cases, by this process or by the workers of a cluster."""
    if check_backend(work.backend, work.workers) != "ray" or work.quoting or not cases:
        return run_to_end(function(cases, work, report))
    from ragstone.engine.backends.ray import Job, share_out  # noqa: PLC0415  (slow import)

    def start(shared: Callable[[], Mapping[str, Any]]) -> Callable[[Any], list[tuple[int, E]]]:
        # The position of the first case of a block, and what was extracted from all of them.
        return lambda block: [
            (block[0][0], run_to_end(function([case for _, case in block], replace(work, shared=shared()), silent)))
        ]

    users = {"judge": work.judge} if callable(work.judge) else {}
    job = Job(start, work.options.keywords(), work.concurrency, work.concurrency, work.workers, users)
    parts: dict[int, E] = {}
    for position, part in share_out(job, list(enumerate(cases))):
        parts[position] = part
        report(Progress("asking", min(len(parts) * work.concurrency, len(cases)), len(cases)))
    first, *others = (parts[position] for position in sorted(parts))
    for other in others:
        first.found.extend(other.found)
        first.skipped.update(other.skipped)
        first.failed.update(other.failed)
        first.calls.extend(other.calls)
    return first


async def _extract(cases: Sequence[Case], work: Work, report: Report) -> Extraction:
    if is_local(work.judge):
        return await extract_with(open_local_citer(), cases, work, report, {})
    async with opened_judge(work) as judge:
        citer = JudgeCiter(judge)
        return await extract_with(citer, cases, work, report, citer.prompts)


async def extract_with(
    citer: Citer, cases: Sequence[Case], work: Work, report: Report, prompts: dict[str, str]
) -> Extraction:
    """Extracts with a given citer."""

    async def ask(case: Case) -> Extracted:
        texts = [passage.text for passage in passages_of(case)]
        answer = "\n".join(case.references)
        return check_all(case, await citer.cite(case.question, answer, texts))

    found, skipped, failed, calls = await ask_cases(cases, _lack, ask, work, report)
    return Extraction(found, skipped, failed, citer.signature, prompts, calls)


async def ask_cases(
    cases: Sequence[Case],
    lack: Callable[[Case], str | None],
    ask: Callable[[Case], Awaitable[Extracted]],
    work: Work,
    report: Report,
) -> tuple[list[Extracted], dict[str, str], dict[str, str], list[Call]]:
    """The results, the reasons of skipped and of failed cases, and the calls."""
    skipped = {case.id: reason for case in cases if (reason := lack(case))}
    asked = [case for case in cases if case.id not in skipped]
    calls: list[Call] = []
    done: list[Done[Extracted]] = await ask_each([(case.id, case) for case in asked], ask, work, calls, report)
    failed = {case.id: item.reason for case, item in zip(asked, done, strict=True) if item.reason is not None}
    return [item.value for item in done if item.value is not None], skipped, failed, calls


def _no_question(case: Case) -> str | None:
    if not case.question:
        return "no question"
    return "the documents do not contain the answer" if case.answerable is False else None


def _lack(case: Case) -> str | None:
    if lack := _no_question(case):
        return lack
    if not any(text.strip() for text in case.references):
        return "no reference, and no answer that gives one"
    return None if any(passage.text.strip() for passage in passages_of(case)) else "no contexts"


def check_all(case: Case, citations: Mapping[str, Support]) -> Extracted:
    """Checks each citation; those that are in the passages and support the answer become proposed facts."""
    passages = passages_of(case)
    texts = [passage.text for passage in passages]
    checked = [Checked(text, check_citation(text, texts), support) for text, support in citations.items()]
    kept = [item for item in checked if item.kept]
    return Extracted(case, checked, [_as_fact(item, passages) for item in kept if not _is_within_another(item, kept)])


def _is_within_another(item: Checked, others: Sequence[Checked]) -> bool:
    """Whether another citation covers the same words; of two equal ones, the first counts."""
    ours = item.check
    for position, other in enumerate(others):
        theirs = other.check
        if other is item or not theirs.holds or theirs.passage != ours.passage:
            continue
        covers = (theirs.start or 0) <= (ours.start or 0) and (ours.end or 0) <= (theirs.end or 0)
        same = (theirs.start, theirs.end) == (ours.start, ours.end)
        if covers and (not same or position < others.index(item)):
            return True
    return False


def _as_fact(item: Checked, passages: Sequence[Chunk]) -> TruthFact:
    passage = passages[item.check.passage or 0]
    note = f"repaired from '{item.citation}'" if item.check.verdict == "repaired" else None
    source = passage.source or passage.id
    sure = item.support.sure
    return TruthFact(item.check.text, "citation", source, "judge", "proposed", confidence=sure, note=note)


def add_facts(earlier: Sequence[Case], found: Extraction, cases: Sequence[Case]) -> list[Case]:
    """The earlier cases with the facts that they lacked, then the new cases; existing facts stay unchanged.

    A case without passages gets those in which its facts were found, so that they can be checked.
    """
    rows = {row.case.id: row for row in found.found}
    known = {case.id for case in earlier}
    everything = [*earlier, *(case for case in cases if case.id not in known)]
    return [_with_facts(case, rows[case.id]) if case.id in rows else case for case in everything]


def _with_facts(case: Case, row: Extracted) -> Case:
    passages = case.passages if passages_of(case) or not row.facts else passages_of(row.case)
    return replace(case, facts=_joined(case.facts, row.facts), passages=passages)


def _joined(there: list[TruthFact], new: Sequence[TruthFact]) -> list[TruthFact]:
    """The facts with those that are new: in other words, and not an existing one with or without a title in front."""
    known = {FoldedText(fact.text).folded for fact in there}
    titled = {key for fact in there for key in _untitled(fact.text)}
    return [
        *there,
        *(
            fact
            for fact in new
            if FoldedText(fact.text).folded not in known | titled
            and known.isdisjoint(_untitled(fact.text))
            and not (fact.kind == "statement" and says_same(fact.text, [one.text for one in there]))
        ),
    ]


def _untitled(text: str) -> set[str]:
    """The folded text without a possible title in front of it."""
    return {FoldedText(text[end.end() :]).folded for end in _TITLE_END.finditer(text)} - {FoldedText("").folded}


CREATE, RANK = "new_nuggets", "nugget_importance"
VITAL, OKAY = "vital", "okay"
# As in TREC: nuggets that are written and nuggets that are kept, vital ones first.
MOST_WRITTEN, MOST_KEPT = 30, 20
# Shares of words: of a nugget in its sources; of a reference in a chunk that is relevant to it; of a question in a statement
# that bears on it; of what a statement adds to the question in the piece that says it; and of a statement in another that says the same.
_FOUNDED, _RELEVANT, _ON_TOPIC, _SAID, _SAME = 0.5, 0.3, 0.34, 0.5, 0.8
_PRONOUN = re.compile(r"(?:It|They|He|She|This|These|That|Those|Its|Their|His|Her|Both|One)\b")


class Nugget(NamedTuple):
    """A statement and its importance."""

    text: str
    importance: str


class JudgeNuggets(Asker):
    """Asks a language model: first for nuggets, then for their importance."""

    asks = (CREATE, RANK)

    async def make(self, question: str, references: Sequence[str], chunks: Sequence[str]) -> list[Nugget]:
        """One call per batch of texts, which adds to the nuggets of the earlier ones, and one for the importance."""
        known: dict[str, None] = {}
        sources = Passages("\n".join([*references, *chunks, question]))
        for passages in split_calls([*references, *chunks]):
            guess = NewNuggetsReply(nuggets=statements(question, passages[0])[:5] or [passages[0]])
            data = {"question": question, "known": "\n".join(known) or "none", "passages": passages}
            bounds: Bounds = {"nuggets": {"maxItems": MOST_WRITTEN}}
            reply = await self._judge.ask(CREATE, NewNuggetsReply, data, guess, bounds=bounds)
            known |= dict.fromkeys(text for text in reply.nuggets if sources.share_of_words(text) >= _FOUNDED)
        return await self._rank(question, list(known)[:MOST_WRITTEN])

    async def _rank(self, question: str, texts: Sequence[str]) -> list[Nugget]:
        if not texts:
            return []
        numbers = range(1, len(texts) + 1)
        guess = NuggetImportanceReply(ranked=[RankedNugget(nugget=number, importance="vital") for number in numbers])
        bounds: Bounds = {
            "ranked": {"minItems": len(texts), "maxItems": len(texts)},
            "ranked.nugget": {"enum": list(numbers)},
        }
        data = {"question": question, "nuggets": texts}

        def check(reply: NuggetImportanceReply) -> str | None:
            return check_numbers([item.nugget for item in reply.ranked], len(texts), "nugget", "importance")

        reply = await self._judge.ask(RANK, NuggetImportanceReply, data, guess, check, bounds=bounds)
        found = {item.nugget: item.importance for item in reply.ranked}
        return [Nugget(text, found[number]) for number, text in enumerate(texts, start=1)]


class LocalNuggets:
    """Statements of the first reference are vital; further statements next to what supports them are okay."""

    signature = "local-nuggets/2"

    async def make(self, question: str, references: Sequence[str], chunks: Sequence[str]) -> list[Nugget]:
        """Rules only: no model is used."""
        known = [text for text in references if text.strip()]
        # A reference in sentences needs no question to be understood.
        reference = next((text for text in known if not is_fragment(text)), known[0] if known else "")
        pieces = [(number, piece) for number, chunk in enumerate(chunks) for piece in quotable(chunk)]
        vital = (
            [_stand_alone(question, reference, part, pieces) for part in _longest(answer_parts(reference))]
            if reference
            else []
        )
        asked, said = content_stems(question), content_stems(" ".join([reference, *vital]))
        shares: dict[str, float] = {}
        sections = _sections(question, vital, pieces)
        for text in (one for at, piece in pieces if (at, piece.heading) in sections for one in _sentences(piece)):
            added, shared = content_stems(text) - asked, len(asked & content_stems(text))
            is_about = shared >= max(min(2, len(asked)), _ON_TOPIC * len(asked))
            if is_about and added and len(added & said) / len(added) < _SAID and not _PRONOUN.match(text):
                shares[text] = shared
        okay = sorted(shares, key=lambda text: -shares[text])
        nuggets = [*(Nugget(text, VITAL) for text in vital), *(Nugget(text, OKAY) for text in okay)]
        return [
            one for at, one in enumerate(nuggets) if not says_same(one.text, [other.text for other in nuggets[:at]])
        ]


def _stand_alone(question: str, reference: str, part: str, pieces: Sequence[tuple[int, Piece]]) -> str:
    """A part of a reference as a statement: as it is, with words of the question, or the sentence of a chunk that has its words."""
    yes = YES_OR_NO.match(reference)
    decided = yes[0] if yes else ""
    if not states_something(part):
        stated = state(question, f"{decided}{part}")
    elif _PRONOUN.match(part):
        named = replace_pronoun(part, question)
        stated = named if named != part else None
    else:
        stated = part
    if stated:
        return stated
    words = content_stems(part)
    same = (text for _, piece in pieces for text in _sentences(piece) if words <= content_stems(text))
    clear = [text for text in same if not _PRONOUN.match(text)]
    if clear or not decided:
        # The words of the question without its question mark are a heading.
        other = part if states_something(part) else f"{question.strip().rstrip('?')}: {part}"
        return min(clear, key=len, default=other)
    return state(question, decided) or part


def _sections(question: str, vital: Sequence[str], pieces: Sequence[tuple[int, Piece]]) -> set[tuple[int, str]]:
    """The chunks and headings that say most of the vital statements; all of them if there are none."""
    if not vital:
        return {(at, piece.heading) for at, piece in pieces}
    found = set()
    for text in vital:
        added = content_stems(text) - content_stems(question) or content_stems(text)
        shares = [len(added & content_stems(piece.text)) / max(1, len(added)) for _, piece in pieces]
        if shares and max(shares) >= _SAID:
            at, piece = pieces[shares.index(max(shares))]
            found.add((at, piece.heading))
    return found


def _sentences(piece: Piece) -> list[str]:
    """The statements of a piece; a table row is not a sentence."""
    found = [] if "|" in piece.text else [text for text in statements("", piece.text) if states_something(text)]
    return _longest(found)


def _longest(texts: Sequence[str]) -> list[str]:
    """The texts without those that another one repeats with an addition."""
    return [text for text in texts if not any(other.startswith(text.rstrip(".")) for other in texts if other != text)]


def says_same(text: str, others: Iterable[str]) -> bool:
    """Whether another text has nearly all words of a statement, and its numbers."""
    stems = content_stems(text)
    numbers = {stem for stem in stems if stem[:1].isdigit()}
    return any(
        len(stems & there) >= _SAME * len(stems) and numbers <= there for there in map(content_stems, others) if stems
    )


@dataclass(frozen=True)
class NuggetExtraction(Extraction):
    """The nuggets of all cases."""

    @property
    def counts(self) -> dict[str, int]:
        """Counts for the lineage of a version and for reports."""
        facts = [fact for row in self.found for fact in row.facts]
        return {
            "cases": len(self.found) + len(self.skipped) + len(self.failed),
            "skipped": len(self.skipped),
            "failed": len(self.failed),
            "facts": len(facts),
            "vital": sum(fact.importance == VITAL for fact in facts),
            "okay": sum(fact.importance == OKAY for fact in facts),
        }


def make_nuggets(cases: Sequence[Case], work: Work, report: Report = silent) -> NuggetExtraction:
    """Makes the nuggets of cases, with a language model or by rules."""
    return _run(_make_nuggets, cases, work, report)


async def _make_nuggets(cases: Sequence[Case], work: Work, report: Report) -> NuggetExtraction:
    if is_local(work.judge):
        return await make_with(LocalNuggets(), cases, work, report, {})
    async with opened_judge(work) as judge:
        maker = JudgeNuggets(judge)
        return await make_with(maker, cases, work, report, maker.prompts)


async def make_with(
    maker: JudgeNuggets | LocalNuggets, cases: Sequence[Case], work: Work, report: Report, prompts: dict[str, str]
) -> NuggetExtraction:
    """Makes nuggets with a given maker."""

    async def ask(case: Case) -> Extracted:
        chunks = relevant_chunks(case)
        nuggets = await maker.make(case.question, case.references, [chunk.text for chunk in chunks])
        ranked = sorted(nuggets, key=lambda nugget: nugget.importance != VITAL)[:MOST_KEPT]
        return Extracted(case, [], [_nugget_fact(nugget, chunks) for nugget in ranked])

    found, skipped, failed, calls = await ask_cases(cases, _nugget_lack, ask, work, report)
    return NuggetExtraction(found, skipped, failed, maker.signature, prompts, calls)


def _nugget_lack(case: Case) -> str | None:
    if lack := _no_question(case):
        return lack
    texts = [*case.references, *(chunk.text for chunk in relevant_chunks(case))]
    return None if any(text.strip() for text in texts) else "no reference and no relevant chunk"


def relevant_chunks(case: Case) -> list[Chunk]:
    """The chunks that are graded as relevant; otherwise the reference contexts; otherwise those with words of the reference."""
    if case.relevance:
        return [chunk for chunk in case.passages if case.relevance.get(chunk.id or "", 0.0) > 0]
    if case.reference_contexts:
        return [Chunk(text) for text in case.reference_contexts]
    answer = " ".join(case.references[:1])
    return [chunk for chunk in passages_of(case) if Passages(chunk.text).share_of_words(answer) >= _RELEVANT]


def _nugget_fact(nugget: Nugget, chunks: Sequence[Chunk]) -> TruthFact:
    shares = [Passages(chunk.text).share_of_words(nugget.text) for chunk in chunks]
    best = max(range(len(chunks)), key=shares.__getitem__, default=None)
    chunk = chunks[best] if best is not None and shares[best] >= _FOUNDED else None
    source = (chunk.source or chunk.id) if chunk else None
    return TruthFact(nugget.text, "statement", source, "judge", "proposed", importance=nugget.importance)
