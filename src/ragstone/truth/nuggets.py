"""Makes nuggets: what a good answer must (`vital`) or may (`okay`) contain, from references and relevant chunks.

A language model writes them and ranks their importance, as in TREC's AutoNuggetizer (Pradeep et al. 2024); the third step,
which nuggets an answer contains, is the evidence `nugget_support`. Without a language model, the statements of the reference
are vital, and further statements of relevant chunks that share words with the question are okay. All are proposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from ragstone.data.types import Chunk
from ragstone.engine.execute import run_to_end
from ragstone.engine.progress import Report, silent
from ragstone.llm.prompted import Bounds, Judge
from ragstone.llm.reply_types import NewNuggetsReply, NuggetImportanceReply, RankedNugget
from ragstone.llm.wrappers import Call
from ragstone.text.clauses import is_sentence
from ragstone.text.overlap import content_stems
from ragstone.text.passages import Passages
from ragstone.text.questions import is_fragment
from ragstone.text.statements import statements
from ragstone.tools.nugget_labels import check_numbers
from ragstone.truth.citations.check import passages_of
from ragstone.truth.citers import split_calls
from ragstone.truth.extract import Extracted, Extraction
from ragstone.truth.llm_tasks import Done, Work, ask_each, is_local, opened_judge
from ragstone.truth.model import Case, TruthFact

CREATE, RANK = "new_nuggets", "nugget_importance"
VITAL, OKAY = "vital", "okay"
# As in TREC: nuggets that are written and nuggets that are kept, vital ones first.
MOST_WRITTEN, MOST_KEPT = 30, 20
# Shares of words: of a nugget in its sources; of a reference in a chunk that is relevant to it; of a question in a statement
# that bears on it; and of what a statement adds to the question in a reference that already says it.
_FOUNDED, _RELEVANT, _ON_TOPIC, _SAID = 0.5, 0.3, 0.34, 0.5


class Nugget(NamedTuple):
    """A statement and its importance."""

    text: str
    importance: str


class NuggetMaker(Protocol):
    """Makes the nuggets of a question."""

    @property
    def signature(self) -> str:
        """The identity of the maker."""
        ...

    async def make(self, question: str, references: Sequence[str], chunks: Sequence[str]) -> list[Nugget]:
        """Nuggets from right answers and relevant chunks."""
        ...


class JudgeNuggets:
    """Asks a language model: first for nuggets, then for their importance."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def signature(self) -> str:
        """The model."""
        return self._judge.signature

    @property
    def prompts(self) -> dict[str, str]:
        """The hashes of the prompts."""
        return {name: self._judge.prompt_hash(name) for name in (CREATE, RANK)}

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
        check = partial(_check_ranked, count=len(texts))
        reply = await self._judge.ask(RANK, NuggetImportanceReply, data, guess, check, bounds=bounds)
        found = {item.nugget: item.importance for item in reply.ranked}
        return [Nugget(text, found[number]) for number, text in enumerate(texts, start=1)]


def _check_ranked(reply: NuggetImportanceReply, count: int) -> str | None:
    return check_numbers([item.nugget for item in reply.ranked], count, "nugget", "importance")


class LocalNuggets:
    """Statements of the first reference are vital; further statements of the chunks about the question are okay."""

    signature = "local-nuggets/1"

    async def make(self, question: str, references: Sequence[str], chunks: Sequence[str]) -> list[Nugget]:
        """Rules only: no model is used."""
        # A reference in sentences needs no question to be understood.
        known = [text for text in references if text.strip()]
        reference = next((text for text in known if not is_fragment(text)), known[0] if known else "")
        vital = statements(question, reference)
        said, asked = content_stems(reference), content_stems(question)
        shares: dict[str, float] = {}
        found = (one for chunk in chunks for one in statements("", chunk))
        for text in (one for one in dict.fromkeys(found) if is_sentence(one)):
            added = content_stems(text) - asked
            share = len(asked & content_stems(text)) / max(1, len(asked))
            if share >= _ON_TOPIC and added and len(added & said) / len(added) < _SAID:
                shares[text] = share
        okay = sorted(shares, key=lambda text: -shares[text])
        return [*(Nugget(text, VITAL) for text in vital), *(Nugget(text, OKAY) for text in okay if text not in vital)]


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
    return run_to_end(_make(cases, work, report))


async def _make(cases: Sequence[Case], work: Work, report: Report) -> NuggetExtraction:
    if is_local(work.judge):
        return await make_with(LocalNuggets(), cases, work, report, {})
    async with opened_judge(work) as judge:
        maker = JudgeNuggets(judge)
        return await make_with(maker, cases, work, report, maker.prompts)


async def make_with(
    maker: NuggetMaker, cases: Sequence[Case], work: Work, report: Report, prompts: dict[str, str]
) -> NuggetExtraction:
    """Makes nuggets with a given maker."""
    skipped = {case.id: reason for case in cases if (reason := _lack(case))}
    asked = [case for case in cases if case.id not in skipped]
    calls: list[Call] = []

    async def ask(case: Case) -> Extracted:
        chunks = relevant_chunks(case)
        nuggets = await maker.make(case.question, case.references, [chunk.text for chunk in chunks])
        ranked = sorted(nuggets, key=lambda nugget: nugget.importance != VITAL)[:MOST_KEPT]
        return Extracted(case, [], [_as_fact(nugget, chunks) for nugget in ranked])

    done: list[Done[Extracted]] = await ask_each([(case.id, case) for case in asked], ask, work, calls, report)
    failed = {case.id: item.reason for case, item in zip(asked, done, strict=True) if item.reason is not None}
    found = [item.value for item in done if item.value is not None]
    return NuggetExtraction(found, skipped, failed, maker.signature, prompts, calls)


def _lack(case: Case) -> str | None:
    if not case.question:
        return "no question"
    if case.answerable is False:
        return "the documents do not contain the answer"
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


def _as_fact(nugget: Nugget, chunks: Sequence[Chunk]) -> TruthFact:
    shares = [Passages(chunk.text).share_of_words(nugget.text) for chunk in chunks]
    best = max(range(len(chunks)), key=shares.__getitem__, default=None)
    chunk = chunks[best] if best is not None and shares[best] >= _FOUNDED else None
    source = (chunk.source or chunk.id) if chunk else None
    return TruthFact(nugget.text, "statement", source, "judge", "proposed", importance=nugget.importance)
