"""Nuggets, checklists, claims in a corpus, the judge's reasons and the items of a share for one sample, item by item."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ragstone.analysis.explain import call_text
from ragstone.analysis.sample_evidence import Case, citation_texts
from ragstone.data.share import Items
from ragstone.data.types import Grade
from ragstone.data.verdict import SIGNS, WORDS, Word, probability_of
from ragstone.engine.metric_choice import find_metric
from ragstone.metrics.consistency import OTHER_ANSWER, read_other_answers
from ragstone.text.statements import without_question
from ragstone.tools.checklists import SCORE
from ragstone.views.phrases import one_line

_CHECKS, _GRADE = "_checks", "_grade"
# Verdicts on claims that may have reasons: whose claims, and by what they are checked.
_REASONED = {
    "answer_claims_in_reference": ("answer", "the reference"),
    "reference_claims_in_answer": ("reference", "the answer"),
    "answer_claims_in_all_contexts": ("answer", "the chunks"),
    "reference_claims_in_all_contexts": ("reference", "the chunks"),
}
_MAX_ITEMS = 100
_MAX_ITEM = 240
_COUNTED = (
    "A claim counts with the judge's probability of support, weighed by its words; between answer and reference, that of the "
    "small local judge is averaged with the share of the claim's words that the other text has."
)


@dataclass(frozen=True)
class JudgedItem:
    """An item with its verdict as sign, words and tone, and the reason that the judge gave."""

    number: int
    text: str
    sign: str
    words: str
    tone: str
    note: str = ""
    reason: str = ""


@dataclass(frozen=True)
class JudgedGroup:
    """Items of one kind."""

    key: str
    title: str
    rows: tuple[JudgedItem, ...]


def judged_groups(case: Case, shorten: Callable[[str], str] = str) -> tuple[JudgedGroup, ...]:
    """The groups of judged items that a sample has. `shorten` cuts long texts."""
    groups = [_nuggets(case), *_checklists(case), _graded(case), _corpus(case), *_claim_reasons(case), _grades(case)]
    return tuple(
        JudgedGroup(key, title, tuple(_item(number, shorten, *row) for number, row in rows))
        for key, title, rows in groups
        if rows
    )


# A row: text, verdict, note and reason.
_Rows = list[tuple[int, tuple[str, str, str, str | None]]]


def _item(
    number: int, shorten: Callable[[str], str], text: str, verdict: str, note: str, reason: str | None
) -> JudgedItem:
    word, likely = WORDS.get(str(verdict), Word("", "silent", str(verdict))), probability_of(verdict)
    words = word.phrase if likely is None else f"{word.phrase} {likely:.2f}"
    return JudgedItem(number, shorten(text), word.sign, words, word.tone, note, shorten(reason or ""))


def shown_claims(case: Case, whose: str) -> list[str]:
    """The claims as people read them: a short one without the question that completes it."""
    return [without_question(case.sample.question or "", claim.text) for claim in case.claims(whose)]


def _nuggets(case: Case) -> tuple[str, str, _Rows]:
    pairs = zip(case.sample.facts or [], case.verdicts("nugget_support"), strict=False)
    rows = [(fact.text, label, fact.importance or "vital", None) for fact, label in pairs]
    return "nuggets", "Nuggets in the answer", [*enumerate(rows, 1)]


def _checklists(case: Case) -> Iterator[tuple[str, str, _Rows]]:
    for name, checks in case.evidence.items():
        if name.endswith(_CHECKS) and isinstance(checks, list):
            listed = name.removesuffix(_CHECKS)
            # The path through a decision tree ends with a score; its yes and no are neither good nor bad.
            is_path = bool(checks) and checks[-1].item == SCORE
            rows = [(one.item, f"→ {one.verdict}" if is_path else one.verdict, "", one.reason) for one in checks]
            title = "Decision tree" if is_path else "Checklist"
            yield f"checklist-{listed}", title if listed == "own" else f"{title} {listed}", [*enumerate(rows, 1)]


def _graded(case: Case) -> tuple[str, str, _Rows]:
    pairs = zip(case.sample.contexts or [], case.evidence.get("chunk_grades") or [], strict=False)
    rows = [(one_line(chunk.shown, _MAX_ITEM), f"{g.value:g} of {g.highest:g}", "", g.reasoning) for chunk, g in pairs]
    return "chunk-grades", "Grades of the chunks (UMBRELA)", [*enumerate(rows, 1)]


def _claim_reasons(case: Case) -> Iterator[tuple[str, str, _Rows]]:
    for name, (whose, by) in _REASONED.items():
        pairs = enumerate(zip(shown_claims(case, whose), case.verdicts(name), strict=False), 1)
        rows = []
        for number, (claim, verdict) in pairs:
            reason, source = (getattr(verdict, name, None) for name in ("reason", "source"))
            if reason or source:
                rows.append((number, (claim, verdict, f"by {source}" if source else "", reason)))
        yield f"reasons-{name}", f"Reasons: claims of the {whose} by {by}", rows


def _corpus(case: Case) -> tuple[str, str, _Rows]:
    """The claims of the answer with the corpus passage that is nearest to each."""
    verdicts, passages = case.verdicts("answer_claims_in_corpus"), case.evidence.get("corpus_passages") or []
    rows = []
    for at, (claim, verdict) in enumerate(zip(shown_claims(case, "answer"), verdicts, strict=False)):
        near = passages[at][:1] if at < len(passages) else []
        rows.append((claim, verdict, "", "".join(f"nearest passage: {passage.text}" for passage in near)))
    return "corpus", "Claims of the answer in the corpus", [*enumerate(rows, 1)]


def _grades(case: Case) -> tuple[str, str, _Rows]:
    """Grades with the reasons that the judge wrote before them."""
    rows = [
        (name.replace(_GRADE, "").replace("_", " "), f"{g.value:g} on {g.lowest:g} to {g.highest:g}", "", g.reasoning)
        for name, g in case.evidence.items()
        if _GRADE in name and isinstance(g, Grade) and g.reasoning
    ]
    return "grades", "Reasons of grades", [*enumerate(rows, 1)]


@dataclass(frozen=True)
class CountedItem:
    """An item of a share: what it adds to numerator and denominator, and its mark: `✓`, `0.35`, `0.35 of 0.50`."""

    number: int
    above: float
    below: float
    text: str
    mark: str
    # Its place on the page of the sample.
    address: str


@dataclass(frozen=True)
class CountView:
    """Numerator and denominator of a share, `2 of 3 facts = 0.667`, and its items."""

    kind: str
    plural: str
    above: float
    below: float
    value: float | None
    soft: bool
    # Of the items that count: bad where lower is better.
    tone: str
    text: str
    items: tuple[CountedItem, ...]
    more: int
    note: str

    @property
    def lines(self) -> list[str]:
        """The share and one line per item."""
        items = (f"{i.mark} {self.kind} {i.number}{f': {i.text}' if i.text else ''}" for i in self.items)
        more = f"… and {self.more} more (--json has all)" if self.more else ""
        return [self.text, *items, *filter(None, (more, self.note))]


def count_view(case: Case, count: Items, metric: str) -> CountView:
    """The items that a share counts in a sample."""
    above, below = count.sums
    tone = "bad" if (known := find_metric(metric)) and known.spec.better == "lower" else "good"
    texts, kind = item_texts(case, count), count.kind.removesuffix(" claim")
    value = "" if count.value is None else f" = {count.value:.3f}"
    return CountView(
        kind=count.kind,
        plural=count.plural,
        above=above,
        below=below,
        value=count.value,
        soft=count.is_soft,
        tone=tone,
        text=f"{_amount(above)} of {_amount(below)} {count.plural}{value}",
        items=tuple(
            CountedItem(
                number,
                part,
                whole,
                one_line(texts[number - 1], _MAX_ITEM) if number <= len(texts) else "",
                _item_mark(count, part, whole, SIGNS[tone]),
                f"#{kind}-{number}" if kind in ("answer", "reference", "fact", "chunk") else "",
            )
            for number, part, whole in count.parts[:_MAX_ITEMS]
        ),
        more=max(0, len(count.parts) - _MAX_ITEMS),
        note=_COUNTED if count.is_soft and count.kind.endswith(" claim") and case.judged_locally else "",
    )


def _item_mark(count: Items, part: float, whole: float, sign: str) -> str:
    if not count.is_soft:
        return sign if part else "·"
    return f"{part:.2f}" if count.whole is not None or whole in (0.0, 1.0) else f"{_amount(part)} of {_amount(whole)}"


def _amount(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"


def item_texts(case: Case, count: Items) -> Sequence[str]:
    """The texts of the items that a share counts: those that the metric gives, or those of the sample; empty for chunks."""
    kind = count.kind
    if count.texts:
        return count.texts
    if kind.endswith(" claim"):
        return shown_claims(case, kind.removesuffix(" claim"))
    if kind == "fact":
        return [fact.text for fact in case.sample.facts or ()]
    if kind == "question":
        return [*(turn.text for turn in case.sample.history or () if turn.role == "user"), case.sample.question or ""]
    if kind == "citation":
        return citation_texts(case)
    if kind in ("step", "expected step"):
        steps = case.sample.steps if kind == "step" else case.sample.expected_steps
        return [call_text(step) for step in steps or ()]
    if kind == OTHER_ANSWER:
        return read_other_answers(case.sample.metadata)
    if kind == "entity":
        return list(case.evidence.get("reference_entities") or ())
    return []
