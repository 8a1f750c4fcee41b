"""Facts in one step, for `ragstone run --facts`: extract what references need from the chunks, accept the sure ones, evaluate with them.

Facts are looked for in the chunks of a row and then in those of all rows: a statement that was retrieved for another question
only is a fact that this row lacks. Facts that are there already, the user's or those of an earlier version, stay as they are, and
their cases are not asked about again. Answers of the system are never used as references.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import Any

from ragstone.data.dataset import view_samples
from ragstone.data.types import Sample
from ragstone.engine.execute import run_to_end
from ragstone.engine.progress import Report, silent
from ragstone.errors import UsageError
from ragstone.formats import Reader
from ragstone.storage.runs import read_table
from ragstone.text.questions import question_key
from ragstone.tools.llama import is_llama, is_trained_judge
from ragstone.tools.roles import choose
from ragstone.truth.citations.check import passages_of
from ragstone.truth.citers import SURE, JudgeCiter, TextPool, open_local_citer
from ragstone.truth.extract import Extracted, Extraction, add_facts, ask_cases, check_all
from ragstone.truth.join import CaseMatcher, TruthReader
from ragstone.truth.llm_tasks import Work, opened_judge
from ragstone.truth.model import Case, case_from_sample
from ragstone.truth.store import Lineage, TruthStore, Version, VersionInfo, parse_reference

SUFFIX = "-facts"
NO_FACTS = (
    "--facts takes facts from references and chunks, and no row has both. Write about 30 right answers into a CSV with the columns "
    "question and references, then: `ragstone truth import answers.csv NAME` and `ragstone run DATA --truth NAME`"
)


@dataclass(frozen=True)
class NeededFacts:
    """The facts of a run: new ones that were accepted or only proposed, and where all of them are stored."""

    accepted: int
    accepted_for: int
    proposed: int
    rows: int
    rows_with_facts: int
    confidence: float
    truth: str

    @property
    def sentence(self) -> str:
        """One line for people."""
        parts = [
            f"{_count(self.accepted, 'new fact')} accepted for {_count(self.accepted_for, 'row')} (confidence from {self.confidence:g})",
            f"{_count(self.proposed, 'less sure fact')} proposed" if self.proposed else "",
            f"{self.rows_with_facts:,} of {_count(self.rows, 'row')} have facts",
            f"stored as {self.truth}" if self.truth else "",
        ]
        return f"facts: {'; '.join(filter(None, parts))}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class FactsRequest:
    """How facts are found and where they are stored; without a store they live as long as the reader."""

    work: Work
    store: TruthStore | None
    truth: str | None = None
    author: str = "ragstone run --facts"
    report: Report = silent


def read_with_facts(open_data: Callable[[], Reader], request: FactsRequest) -> tuple[TruthReader, NeededFacts]:
    """The data with its own facts and those found for it. It is read twice, by two readers."""
    reader = open_data()
    samples = [sample for batch in reader.batches() for sample in view_samples(batch)]
    name, earlier = _earlier(request, reader.name, samples)
    stored = [] if earlier is None else earlier.cases
    base = stored if request.truth else _updated(stored, samples)
    cases = _with_chunks(base, samples)
    if not any(case.accepted_facts or _lack(case) is None for case in cases):
        raise UsageError(NO_FACTS)
    undecided = [case for case in cases if all(fact.standing == "proposed" for fact in case.facts)]
    made = run_to_end(_extract(undecided, cases, request))
    after = _merged(base, made)
    version = _saved(request, name, earlier, after, made, reader.name)
    found = _summary(cases, after, version.info.reference if request.store else "")
    joined = TruthReader(open_data(), version)
    joined.about_facts = asdict(found)
    joined.options += ["--facts", *(["--truth", request.truth] if request.truth else [])]
    return joined, found


def _earlier(request: FactsRequest, data: str, samples: Sequence[Sample]) -> tuple[str, Version | None]:
    """The newest version of what the user names (also as NAME@1), or of facts for most of these questions; else a new name."""
    store = request.store
    if store is None:
        return SUFFIX, None
    if request.truth is not None:
        version = store.read(parse_reference(request.truth)[0])
        return version.info.name, version
    asked = {(sample.id, question_key(sample.question or "")) for sample in samples}
    names = store.names()
    for name in (name for name in names if name.endswith(SUFFIX)):
        table = read_table(store.table(name, store.newest(name) or 1), ["id", "question"])
        pairs = zip(table["id"].to_pylist(), table["question"].to_pylist(), strict=True)
        if 2 * len(asked & {(case, question_key(question)) for case, question in pairs}) > len(asked):
            return name, store.read(name)
    stem = re.sub(r"[^\w.-]+", "-", PurePath(data.split(" ", maxsplit=1)[0]).name.split(".")[0]).strip("-.") or "data"
    name, number = f"{stem}{SUFFIX}", 2
    while name in names:
        name, number = f"{stem}-{number}{SUFFIX}", number + 1
    return name, None


def _updated(stored: Sequence[Case], samples: Sequence[Sample]) -> list[Case]:
    """The stored cases with what the data says now, then its new cases. Facts of the data are the user's, and come first.

    Facts that were found for another reference are dropped.
    """
    known = {case.id: case for case in stored}
    for sample in samples:
        new = case_from_sample(sample)
        if (old := known.get(sample.id)) is not None and question_key(old.question) == question_key(new.question):
            same = old.references == new.references
            given = {fact.text for fact in new.facts}
            kept = [fact for fact in old.facts if fact.text not in given and (same or fact.provenance != "judge")]
            standing = old.standing if same else new.standing
            new = replace(new, facts=[*new.facts, *kept], passages=old.passages, standing=standing)
        known[sample.id] = new
    return list(known.values())


def _with_chunks(cases: Sequence[Case], samples: Sequence[Sample]) -> list[Case]:
    """The cases of the samples, with the chunks that were retrieved for each."""
    matcher = CaseMatcher(cases)
    found: dict[str, Case] = {}
    for sample in samples:
        case = matcher.find(sample.id, sample.question, sample.documents)
        if case is not None:
            chunks = [*passages_of(found.get(case.id, case)), *(sample.contexts or ())]
            found[case.id] = replace(case, passages=list({chunk.text: chunk for chunk in chunks}.values()))
    return list(found.values())


async def _extract(cases: Sequence[Case], everything: Sequence[Case], request: FactsRequest) -> Extraction:
    if not _writes_text(request.work.judge):
        return await _extract_with(open_local_citer(), cases, everything, request, {})
    async with opened_judge(request.work) as judge:
        citer = JudgeCiter(judge)
        return await _extract_with(citer, cases, everything, request, citer.prompts)


def _writes_text(judge: Any) -> bool:
    """Whether the judge is a language model that can quote; small models in this process and cascades leave it to the local rules."""
    chosen = choose(judge)
    is_small = isinstance(judge, str) and (judge.startswith("trained/") or is_llama(judge) or is_trained_judge(judge))
    return chosen.remote is not None and not chosen.is_cascade and not is_small


async def _extract_with(
    citer: Any, cases: Sequence[Case], everything: Sequence[Case], request: FactsRequest, prompts: dict[str, str]
) -> Extraction:
    chunks = {chunk.text: chunk for case in everything for chunk in passages_of(case)}
    pool = TextPool(chunks)

    async def ask(case: Case) -> Extracted:
        texts = [passage.text for passage in passages_of(case)]
        cited = await citer.cite(case.question, "\n".join(case.accepted_references), texts, pool)
        # A citation of another row's chunk: the case keeps that chunk, so that the citation can be checked.
        others = [pool.source(text) for text in cited if not any(text in own for own in texts)]
        added = [chunks[text] for text in dict.fromkeys(others) if text is not None]
        found = check_all(replace(case, passages=[*passages_of(case), *added]), cited)
        # A judge model names citations without a confidence; they are verbatim in a chunk.
        sure = [fact.confidence is None or fact.confidence >= SURE for fact in found.facts]
        pairs = zip(found.facts, sure, strict=True)
        return replace(found, facts=[replace(one, standing="accepted") if is_sure else one for one, is_sure in pairs])

    found, skipped, failed, calls = await ask_cases(cases, _lack, ask, request.work, request.report)
    return Extraction(found, skipped, failed, citer.signature, prompts, calls)


def _lack(case: Case) -> str | None:
    if case.answerable is False:
        return "the documents do not contain the answer"
    if not any(text.strip() for text in case.accepted_references):
        return "no reference"
    return None if any(passage.text.strip() for passage in passages_of(case)) else "no contexts"


def _merged(base: Sequence[Case], made: Extraction) -> list[Case]:
    """The cases with the new facts. Only a case with new facts gets chunks: others would grow with every run."""
    chunks = {row.case.id: row.case.passages for row in made.found if row.facts}
    merged = add_facts(base, made, [])
    return [replace(case, passages=chunks[case.id]) if case.id in chunks else case for case in merged]


def _saved(
    request: FactsRequest, name: str, earlier: Version | None, cases: list[Case], made: Extraction, data: str
) -> Version:
    """The newest version if nothing is new, otherwise the next one."""
    if earlier is not None and cases == earlier.cases:
        return earlier
    if request.store is None:
        return Version(VersionInfo(name, 1, "", "", "", None, len(cases), "", Lineage()), cases)
    parent = earlier.info.number if earlier else None
    tools = {"extractor": made.signature, "least_confidence": SURE}
    lineage = Lineage([data], tools, made.prompts, made.counts)
    note = f"facts accepted by ragstone run --facts, confidence from {SURE:g}"
    info = request.store.save(name, cases, author=request.author, note=note, parent=parent, lineage=lineage)
    return Version(info, cases)


def _summary(before: Sequence[Case], after: Sequence[Case], truth: str) -> NeededFacts:
    had = {case.id: {fact.text for fact in case.facts} for case in before}
    cases = [case for case in after if case.id in had]
    new = [(case.id, fact) for case in cases for fact in case.facts if fact.text not in had[case.id]]
    accepted = [case for case, fact in new if fact.standing == "accepted"]
    proposed = len(new) - len(accepted)
    with_facts = sum(bool(case.accepted_facts) for case in cases)
    return NeededFacts(len(accepted), len(set(accepted)), proposed, len(cases), with_facts, SURE, truth)
