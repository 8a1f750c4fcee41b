"""All results for one sample: evidence, cause, scores and model calls.

`count_items` lists what each claim, fact or chunk adds to the numerator and denominator of a score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import ragstone.evidence  # noqa: F401  (registers the evidence that metrics need)
from ragstone.compare.cause_names import Outcome
from ragstone.compare.causes import find_causes
from ragstone.compare.sample_evidence import Case, read_case
from ragstone.compare.step_counts import STEP_COUNTS, StepCount
from ragstone.compare.unjudged import with_reasons
from ragstone.errors import UnknownNameError, UsageError
from ragstone.evidence.citations import CitedSupport, cited_support
from ragstone.evidence.claims import best_supports, chunk_relevance, grounded, may_be_supported, misled, supports
from ragstone.evidence.conversation import carried_words
from ragstone.metrics.consistency import read_other_answers, same_answers
from ragstone.metrics.conversation import answered_turns, carried
from ragstone.metrics.nuggets import OKAY_WEIGHT, nugget_weights, nugget_worths
from ragstone.registry import CATALOGUE
from ragstone.registry.expression import Metric, parse_metric
from ragstone.storage.runs import Run, read_table
from ragstone.text.sentences import sentences
from ragstone.tools.checklists import NO, YES


@dataclass(frozen=True)
class Counted:
    """The items of a share: the number of each, from 1, and what it adds to the numerator and to the denominator.

    Both are 0 or 1 for verdicts in words, and expected values for verdicts of the local judge.
    """

    kind: str
    parts: tuple[tuple[int, float, float], ...]

    @property
    def above(self) -> tuple[int, ...]:
        """The items in the numerator."""
        return tuple(number for number, part, _ in self.parts if part > 0)

    @property
    def below(self) -> tuple[int, ...]:
        """The items in the denominator."""
        return tuple(number for number, _, whole in self.parts if whole > 0)

    @property
    def is_soft(self) -> bool:
        """Whether items count in part."""
        return any(value not in (0.0, 1.0) for _, *values in self.parts for value in values)

    @property
    def sums(self) -> tuple[float, float]:
        """Numerator and denominator."""
        return sum(part for _, part, _ in self.parts), sum(whole for _, _, whole in self.parts)

    @property
    def value(self) -> float | None:
        """Numerator / denominator; None if there is nothing to count."""
        above, below = self.sums
        return above / below if below else None


Count = Callable[[Case, Mapping[str, Any]], Counted]
# The end of the kind of the items of a checklist, after its name.
ITEM = " item"
OTHER_ANSWER = "other answer"
_CELL = ("metric", "value", "status", "reason")


def count_items(metric: str, case: Case, settings: Mapping[str, Any]) -> list[Counted]:
    """The items that a metric counts in a sample: one entry per share; empty if it is not a share."""
    counts = []
    is_checklist = metric.partition(".")[0] == "checklist"
    for count in (_checklist(metric),) if is_checklist else _COUNTS.get(metric, ()):
        try:
            counts.append(count(case, settings))
        except KeyError:  # the evidence is missing
            return []
    return counts


def _counted(kind: str, above: Sequence[float], below: Sequence[float] | None = None) -> Counted:
    whole = [1.0] * len(above) if below is None else below
    parts = enumerate(zip(above, whole, strict=True), 1)
    return Counted(kind, tuple((number, float(part), float(size)) for number, (part, size) in parts if size > 0))


def _supported(kind: str, name: str) -> Count:
    return lambda case, _: _counted(kind, supports(case.evidence[name]))


def _precision(case: Case, _: Mapping[str, Any]) -> Counted:
    right = supports(case.evidence["answer_claims_in_reference"])
    # An empty answer scores 0.
    return (
        _counted("answer claim", right)
        if right or not case.answer_is_empty
        else Counted("answer claim", ((1, 0.0, 1.0),))
    )


def _somewhere(kind: str, name: str) -> Count:
    return lambda case, _: _counted(kind, best_supports(case.evidence[name]))


def _context_precision(case: Case, _: Mapping[str, Any]) -> Counted:
    return _counted("chunk", chunk_relevance(case.evidence["reference_claims_in_contexts"]))


def _context_utilization(case: Case, _: Mapping[str, Any]) -> Counted:
    rows = case.evidence["reference_claims_in_contexts"]
    found = best_supports(rows) if may_be_supported(rows) else [0.0] * len(rows)
    said = supports(case.evidence["reference_claims_in_answer"])
    return _counted("reference claim", [there * one for there, one in zip(found, said, strict=True)], found)


def _noise(by_relevant: bool | None = None) -> Count:
    def count(case: Case, settings: Mapping[str, Any]) -> Counted:
        wanted = settings.get("mode", "relevant") == "relevant" if by_relevant is None else by_relevant
        right = supports(case.evidence["answer_claims_in_reference"])
        rows = case.evidence["answer_claims_in_contexts"]
        wrong = misled(right, rows, case.evidence["reference_claims_in_contexts"], by_relevant=wanted)
        return _counted("answer claim", wrong)

    return count


def _grounded(case: Case, founded: Sequence[float]) -> list[float]:
    """In a conversation, the earlier turns may support a claim too."""
    return grounded(founded, case.evidence.get("answer_claims_in_history"))


def _unfounded(right: bool) -> Count:
    def count(case: Case, _: Mapping[str, Any]) -> Counted:
        correct = supports(case.evidence["answer_claims_in_reference"])
        founded = _grounded(case, best_supports(case.evidence["answer_claims_in_contexts"]))
        pairs = zip(correct, founded, strict=True)
        return _counted("answer claim", [(1 - there) * (one if right else 1 - one) for one, there in pairs])

    return count


def _fact_recall(case: Case, settings: Mapping[str, Any]) -> Counted:
    most = settings.get("k")
    ranks = case.evidence["fact_ranks"]
    return _counted("fact", [rank is not None and (most is None or rank <= most) for rank in ranks])


def _fact_precision(case: Case, settings: Mapping[str, Any]) -> Counted:
    return _counted("chunk", [count > 0 for count in case.evidence["chunk_relevance"][: settings.get("k")]])


def _needed_sentences(case: Case, _: Mapping[str, Any]) -> Counted:
    needed = set(case.evidence["needed_sentences"])
    total = sum(1 for chunk in case.sample.contexts or () for _ in sentences(chunk.text))
    return _counted("sentence", [number in needed for number in range(total)])


def _carried_words(case: Case, _: Mapping[str, Any]) -> Counted:
    sample, found = case.sample, case.evidence
    words = carried_words(sample.question or "", found["standalone_question"])
    rows, past = found["answer_claims_in_contexts"], found["answer_claims_in_history"]
    return _counted("carried word", carried(words, sample.answer or "", sample.contexts or (), rows, past))


def _answered_turns(case: Case, _: Mapping[str, Any]) -> Counted:
    sample = case.sample
    return _counted("question", answered_turns(sample.answer or "", sample.history or ()))


def _cited_support(case: Case) -> CitedSupport:
    """How far the citations of a sample are right."""
    names = ("answer_claims_in_contexts", "answer_claims_in_all_contexts", "answer_citations", "claim_citations")
    in_contexts, together, citations, cited = (case.evidence[name] for name in names)
    return cited_support(in_contexts, together, citations, cited)


def _cited_claims(case: Case, _: Mapping[str, Any]) -> Counted:
    return _counted("answer claim", _cited_support(case).claims)


def _citations(case: Case, _: Mapping[str, Any]) -> Counted:
    found = _cited_support(case)
    if not any(value is not None for value in found.citations):
        return Counted("citation", ((1, 0.0, 1.0),) if found.claims else ())
    right = [value or 0.0 for value in found.citations]
    return _counted("citation", right, [float(value is not None) for value in found.citations])


def _uncited(case: Case, _: Mapping[str, Any]) -> Counted:
    return _counted("answer claim", [not cited for cited in case.evidence["claim_citations"]])


def _wrongly_cited(case: Case, _: Mapping[str, Any]) -> Counted:
    return _counted("answer claim", _cited_support(case).elsewhere)


def _unresolved(case: Case, _: Mapping[str, Any]) -> Counted:
    return _counted("citation", [not one.chunks for one in case.evidence["answer_citations"]])


def _nuggets(okay: float, strict: bool) -> Count:
    def count(case: Case, _: Mapping[str, Any]) -> Counted:
        weights = nugget_weights(case.sample.facts or (), okay)
        worths = nugget_worths(case.evidence["nugget_support"], strict)
        return _counted("fact", [weight * worth for weight, worth in zip(weights, worths, strict=True)], weights)

    return count


def _checklist(metric: str) -> Count:
    listed = metric.partition(".")[2] or "own"

    def count(case: Case, _: Mapping[str, Any]) -> Counted:
        verdicts = [check["verdict"] for check in case.evidence[f"{listed}_checks"]]
        decided = [float(verdict in (YES, NO)) for verdict in verdicts]
        return _counted(f"{listed}{ITEM}", [float(verdict == YES) for verdict in verdicts], decided)

    return count


def _repeated(case: Case, _: Mapping[str, Any]) -> Counted:
    rows = [supports(row) for row in case.evidence["answer_claims_in_other_answers"]]
    return _counted("answer claim", [sum(column) / len(column) for column in zip(*rows, strict=True)])


def _same_answers(case: Case, _: Mapping[str, Any]) -> Counted:
    return _counted(OTHER_ANSWER, same_answers(case.sample.answer or "", read_other_answers(case.sample.metadata)))


def _of_steps(count: StepCount) -> Count:
    return lambda case, settings: _counted(*count(case, settings))


_RIGHT = _supported("answer claim", "answer_claims_in_reference")
_RECALL = _supported("reference claim", "reference_claims_in_answer")
_COUNTS: dict[str, tuple[Count, ...]] = {
    "ragchecker.precision": (_precision,),
    "ragchecker.recall": (_RECALL,),
    "ragchecker.f1": (_RIGHT, _RECALL),
    "ragchecker.claim_recall": (_somewhere("reference claim", "reference_claims_in_contexts"),),
    "ragchecker.context_precision": (_context_precision,),
    "ragchecker.context_utilization": (_context_utilization,),
    "ragchecker.noise_sensitivity_in_relevant": (_noise(by_relevant=True),),
    "ragchecker.noise_sensitivity_in_irrelevant": (_noise(by_relevant=False),),
    "ragchecker.hallucination": (_unfounded(right=False),),
    "ragchecker.self_knowledge": (_unfounded(right=True),),
    "ragchecker.faithfulness": (
        lambda case, _: _counted(
            "answer claim", _grounded(case, best_supports(case.evidence["answer_claims_in_contexts"]))
        ),
    ),
    "ragas.faithfulness": (
        lambda case, _: _counted(
            "answer claim", _grounded(case, supports(case.evidence["answer_claims_in_all_contexts"]))
        ),
    ),
    "ragas.context_recall": (_supported("reference claim", "reference_claims_in_all_contexts"),),
    "ragas.noise_sensitivity": (_noise(),),
    "ragas.context_entity_recall": (
        lambda case, _: _counted("entity", case.evidence["reference_entities_in_contexts"]),
    ),
    "ragas.context_precision": (lambda case, _: _counted("chunk", case.evidence["chunk_usefulness"]),),
    "ragas.context_relevance": (_needed_sentences,),
    "ragas.answer_correctness": (_RIGHT, _RECALL),
    "context_carryover": (_carried_words,),
    "conversation_completeness": (_answered_turns,),
    "citation_recall": (_cited_claims,),
    "citation_precision": (_citations,),
    "citation_f1": (_citations, _cited_claims),
    "uncited_claims": (_uncited,),
    "wrongly_cited_claims": (_wrongly_cited,),
    "unresolved_citations": (_unresolved,),
    "nugget.all": (_nuggets(1.0, strict=False),),
    "nugget.all_strict": (_nuggets(1.0, strict=True),),
    "nugget.vital": (_nuggets(0.0, strict=False),),
    "nugget.vital_strict": (_nuggets(0.0, strict=True),),
    "nugget.weighted": (_nuggets(OKAY_WEIGHT, strict=False),),
    "nugget.weighted_strict": (_nuggets(OKAY_WEIGHT, strict=True),),
    "factscore": (_supported("answer claim", "answer_claims_in_corpus"),),
    "consistency.claims": (_repeated,),
    "consistency.answer_match": (lambda case, _: _counted(OTHER_ANSWER, case.evidence["other_answer_matches"]),),
    "consistency.exact_match": (_same_answers,),
    "fact_recall": (_fact_recall,),
    "fact_precision": (_fact_precision,),
    "fact_f1": (_fact_recall, _fact_precision),
    **{name: tuple(map(_of_steps, counts)) for name, counts in STEP_COUNTS.items()},
}


@dataclass(frozen=True)
class Cell:
    """A score of the sample."""

    metric: str
    value: float | None
    status: str
    reason: str | None


@dataclass(frozen=True)
class Working:
    """How one score was computed: its formula in words, and the items that it counts."""

    cell: Cell
    meaning: str
    formula: str
    counts: tuple[Counted, ...]
    inputs: dict[str, Any]


@dataclass(frozen=True)
class Explanation:
    """The content of `ragstone explain`."""

    run: str
    row: int
    rows: int
    case: Case
    outcome: Outcome
    cells: tuple[Cell, ...]
    calls: tuple[dict[str, Any], ...]
    working: Working | None = None


def explain_sample(run: Run, wanted: str, metric: str | None = None) -> Explanation:
    """Explain a sample, by id or row number; with a metric, explain its score."""
    ids = read_table(run.folder.samples, ["id"])["id"]
    row = find_row(ids, wanted)
    case = read_case(run, row)
    mine = run.scores.filter(pc.equal(run.scores["sample_id"], case.sample.id))
    cells = [Cell(*values) for values in zip(*(mine[name].to_pylist() for name in _CELL), strict=True)]
    calls = run.calls.filter(pc.equal(run.calls["sample_id"], case.sample.id)).to_pylist()
    working = None
    if metric is not None:
        cell, parsed = _find_cell(cells, metric, run)
        working = work_out(cell, parsed, case)
        makers = _makers(parsed)
        cells, calls = [cell], [call for call in calls if call["evidence"] in makers]
    [outcome] = with_reasons(run, [find_causes(case)])
    return Explanation(run.name, row, len(ids), case, outcome, tuple(cells), tuple(calls), working)


def find_row(ids: pa.ChunkedArray, wanted: str) -> int:
    """The row of a sample, by its id or otherwise by its row number from 1."""
    row = int(pc.index(ids, wanted).as_py())
    if row >= 0:
        return row
    if wanted.isdecimal() and 1 <= int(wanted) <= len(ids):
        return int(wanted) - 1
    known = ids.to_pylist()
    raise UnknownNameError(
        "sample", wanted, known, f"The run has {len(known)}, from {known[0]} to {known[-1]}." if known else ""
    )


def _find_cell(cells: Iterable[Cell], wanted: str, run: Run) -> tuple[Cell, Metric | None]:
    """The score with this name and its metric; a user's metric may not be defined here."""
    by_name = {cell.metric: cell for cell in cells}
    try:
        parsed = parse_metric(wanted)
    except UsageError:
        parsed = None
    name = wanted if wanted in by_name else str(parsed)
    if name not in by_name:
        if name in run.info.skipped:
            raise UsageError(f"{name} was not computed: {run.info.skipped[name]}")
        raise UnknownNameError("metric of this run", wanted, by_name, f"It has: {', '.join(by_name)}.")
    return by_name[name], parsed


def work_out(cell: Cell, metric: Metric | None, case: Case) -> Working:
    """How a score was computed; a metric that is not defined here has no definition."""
    if metric is None:
        return Working(cell, "", "", (), {})
    spec = metric.spec
    return Working(
        cell,
        spec.meaning,
        " ".join(spec.details.split()),
        tuple(count_items(spec.name, case, dict(metric.settings))),
        {name: case.evidence[name] for name in (*spec.needs, *spec.optional) if name in case.evidence},
    )


def _makers(metric: Metric | None) -> set[str]:
    """The evidence functions that a metric needs."""
    if metric is None:
        return set()
    closure = CATALOGUE.closure(metric.spec.needs, replaced=CATALOGUE.replacements())
    return {spec.name for spec in closure.evidence.values()}
