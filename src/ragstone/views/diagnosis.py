"""A diagnosis as all outputs show it: the headline, both parts with their metrics, the causes, and the advice.

Terminal, JSON, Markdown, HTML report, notebook and viewer draw this view. The order of causes, examples and advice is that of
the diagnosis.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragstone.analysis.cause_names import SystemPart
from ragstone.analysis.cause_texts import LOOK, causes_text, failing_text, samples_text, seems
from ragstone.analysis.causes import NOTHING_TO_GO_BY
from ragstone.analysis.diagnosis import Advice, CauseCount, Diagnosis
from ragstone.analysis.fact_causes import NOT_SEARCHED
from ragstone.analysis.part_metrics import LEAST_ROWS, PARTS, Reading
from ragstone.number_format import number, with_interval
from ragstone.storage.run_info import RunInfo
from ragstone.views.deciding_steps import Step, deciding_steps
from ragstone.views.phrases import counted
from ragstone.views.run import LABEL, arrow_of, people_text

_MOST_EXAMPLES = 3
_LEAST_BLAMED = 3
STATUSES = ("wrong", LOOK, "fine", "no judgement")
_NEVER = 100_000
_TONES = {"good": "good", "seems good": "good unsure", "bad": "bad", "seems bad": "bad unsure", "unclear": "unsure"}
# The expected claims or facts: name in the diagnosis, words and tone.
_TALLY = {
    "said": ("in the answer", "good"),
    "ignored": ("retrieved, not in the answer", "silent"),
    "missing": ("not retrieved", "bad"),
    "unsure": ("unsure", "unsure"),
}


@dataclass(frozen=True)
class CauseView:
    """A cause: the samples with it as the main cause, all samples with it, and some of them."""

    name: str
    # The part of the system; empty for information.
    part: str
    meaning: str
    main: int
    # Of these, the samples that only need a look; the others fail.
    look: int
    samples: int
    items: int
    probability: float | None
    # The number of the bar, and its share of the longest bar.
    shown: int
    share: float
    examples: tuple[str, ...]

    @property
    def more(self) -> int:
        """The number of its samples that are not among the examples."""
        return self.samples - len(self.examples)


@dataclass(frozen=True)
class ReadingView:
    """A metric that rates a part: its value, the limit of a good value, and its state in words."""

    metric: str
    better: str
    arrow: str
    mean: float
    low: float | None
    high: float | None
    # The number to quote and its interval as text: the estimated human score if the judge's error was measured.
    shown: str
    interval: str
    limit: float | None
    # `≥ 0.9`
    good: str
    rows: int
    state: str
    tone: str


@dataclass(frozen=True)
class PartView:
    """A part of the system: its state, its metrics, and the samples that fail mainly because of it."""

    name: SystemPart
    state: str
    tone: str
    blamed: int
    readings: tuple[ReadingView, ...]


@dataclass(frozen=True)
class AdviceView:
    """Advice with its reasons, and why it is not sure."""

    text: str
    sure: bool
    doubt: str
    because: tuple[str, ...]
    # The reasons in short: `claim_recall 0.500`.
    numbers: str

    @property
    def reasons(self) -> str:
        """The reasons in a line, and why it is not sure."""
        return "; ".join(self.because) + (f" ({self.doubt})" if self.doubt else "")


@dataclass(frozen=True)
class DiagnosisView:
    """Which part limits quality, why samples fail, and what to do."""

    headline: str
    samples: int
    looked_at: int
    decided: int
    failing: int
    failing_text: str
    # Samples by status, and the same in a sentence.
    statuses: dict[str, int]
    statuses_text: str
    # The main causes in a line.
    causes_text: str
    # The heading of the causes: `why samples fail (7 of 14 samples)`.
    causes_title: str
    tally: dict[str, int]
    tally_parts: tuple[tuple[str, int, str], ...]
    parts: tuple[PartView, ...]
    causes: tuple[CauseView, ...]
    advice: tuple[AdviceView, ...]
    undecided: dict[str, int]
    disagreement: str
    # Samples that were not examined, with the reason, and what was decided by what.
    notes: tuple[str, ...]
    # The commands that would decide the verdict, the cheapest first.
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, diagnosis: Diagnosis, info: RunInfo | None = None) -> DiagnosisView:
        """The view of a diagnosis; with the `info` of its run, it has the commands that would decide the verdict."""
        most = max((count.shown for count in diagnosis.causes), default=1) or 1
        tally = diagnosis.tally
        return cls(
            headline=headline(diagnosis),
            samples=diagnosis.samples,
            looked_at=diagnosis.looked_at,
            decided=diagnosis.decided,
            failing=diagnosis.failing,
            failing_text=failing_text(diagnosis),
            statuses={name: diagnosis.statuses[name] for name in STATUSES if diagnosis.statuses[name]},
            statuses_text=_statuses_text(diagnosis),
            causes_text=causes_text(diagnosis),
            causes_title=_causes_title(diagnosis),
            tally=dict(tally),
            tally_parts=tuple(
                (words, tally[name], tone) for name, (words, tone) in _TALLY.items() if tally[name] or name != "unsure"
            )
            if tally
            else (),
            parts=tuple(_part(diagnosis, part) for part in PARTS),
            causes=tuple(_cause(count, most) for count in diagnosis.causes),
            advice=tuple(_advice(item, diagnosis) for item in diagnosis.advice),
            undecided=dict(diagnosis.undecided.most_common()),
            disagreement=_disagreement(diagnosis),
            notes=tuple(_notes(diagnosis)),
            steps=tuple(deciding_steps(diagnosis, info)) if info else (),
        )


def _cause(count: CauseCount, most: int) -> CauseView:
    return CauseView(
        name=count.cause.name,
        part=count.cause.part or "",
        meaning=count.cause.meaning,
        main=count.main,
        look=count.look,
        samples=count.samples,
        items=count.items,
        probability=count.probability,
        shown=count.shown,
        share=count.shown / most,
        examples=count.examples[:_MOST_EXAMPLES],
    )


def _part(diagnosis: Diagnosis, part: SystemPart) -> PartView:
    state = diagnosis.parts[part]
    readings = tuple(_reading(reading) for reading in diagnosis.readings if reading.sign.part == part)
    return PartView(part, state, _TONES.get(state, ""), diagnosis.blamed(part), readings)


def _reading(reading: Reading) -> ReadingView:
    sign, people = reading.sign, reading.people
    shown, interval = with_interval(reading.mean, reading.low, reading.high)
    if people:
        shown, interval = f"≈ {people.mean:.2f}", people_text(people.interval())
    return ReadingView(
        metric=_short_name(reading),
        better=sign.better,
        arrow=arrow_of(sign.better),
        mean=people.mean if people else reading.mean,
        low=people.interval().low if people else reading.low,
        high=people.interval().high if people else reading.high,
        shown=shown,
        interval=interval,
        limit=None if sign.better == "none" else sign.limit,
        good={"higher": f"≥ {sign.limit:g}", "lower": f"≤ {sign.limit:g}", "none": "–"}[sign.better],
        rows=reading.rows,
        state=_state_text(reading),
        tone=_TONES.get(reading.state, ""),
    )


def _advice(item: Advice, diagnosis: Diagnosis) -> AdviceView:
    short = (f"{_short_name(w)} {number(w.mean)}" if isinstance(w, Reading) else reason_line(w) for w in item.because)
    doubt = "" if item.sure else _weakness(item, diagnosis)
    return AdviceView(item.text, item.sure, doubt, tuple(map(reason_line, item.because)), ", ".join(short))


def lacks_metric(diagnosis: Diagnosis) -> bool:
    """Whether rows have no status because no metric of the run judges rows."""
    is_labelled = any(outcome.labelled_by for outcome in diagnosis.outcomes)
    open_rows = {NOTHING_TO_GO_BY, NOT_SEARCHED} & diagnosis.undecided.keys()
    return bool(open_rows) and not diagnosis.has_verdicts and not is_labelled


def _statuses_text(diagnosis: Diagnosis) -> str:
    """A sentence: `5 of 16 rows seem wrong, 2 need a look, 9 seem fine`."""
    counts, rows = diagnosis.statuses, diagnosis.looked_at
    judged = rows - counts["no judgement"]
    without = "could not be judged"
    if lacks_metric(diagnosis):
        wanted = "fact_recall" if diagnosis.undecided[NOT_SEARCHED] else "ragchecker"
        without = f"have no status: no metric of this run judges rows (add -m {wanted})"
        if not judged:
            return f"{counted(rows, 'row')} {without if rows > 1 else without.replace('have', 'has', 1)}."
    if not judged:
        reason = next((f": {reason}" for reason, _ in diagnosis.undecided.most_common(1)), "")
        reason = reason.replace("the sample has", "the rows have")
        return f"No row could be judged right or wrong{reason}." if rows else ""
    be, need = ("seem" if seems(diagnosis) else "are"), "need a look"
    all_rows = samples_text(diagnosis).replace("sample", "row")
    if counts[LOOK] and not counts["wrong"]:
        parts = [
            f"{counts[LOOK]:,} of {all_rows} {need}",
            f"none {be.replace('seem', 'seems').replace('are', 'is')} wrong",
        ]
    else:
        parts = [f"{counts['wrong']:,} of {all_rows} {be} wrong"]
        parts += [f"{counts[LOOK]:,} {need}"] if counts[LOOK] else []
    parts += [f"{counts['fine']:,} {be} fine"] if counts["fine"] else []
    parts += [f"{rows - judged:,} {without}"] if rows > judged else []
    text = f"{', '.join(parts)}."
    for one, many in (("seems", "seem"), ("is", "are"), ("needs", "need"), ("has", "have")):
        text = re.sub(rf"(?<![\d,])1 ((?:of [\d,]+ rows? )?){many}\b", rf"1 \1{one}", text)
    return text


def _causes_title(diagnosis: Diagnosis) -> str:
    rest = f", {diagnosis.undecided.total():,} not examined" if diagnosis.undecided else ""
    if diagnosis.failing or diagnosis.statuses[LOOK]:
        return f"why samples {'seem to ' if seems(diagnosis) else ''}fail ({failing_text(diagnosis)})"
    if diagnosis.decided:
        return (
            f"no sample {'seems' if seems(diagnosis) else 'is'} wrong ({samples_text(diagnosis)}{rest or ' examined'})"
        )
    return ""


def _notes(diagnosis: Diagnosis) -> list[str]:
    notes = [
        f"Not examined: {counted(count, 'sample')}, because {reason}."
        for reason, count in diagnosis.undecided.most_common()
    ]
    if diagnosis.by_facts:
        notes.append(
            "The annotated facts show what was retrieved; the local judge and the words, whether answers are right."
        )
    return notes


def headline(diagnosis: Diagnosis) -> str:
    """Which part limits quality, in a sentence or two."""
    limits, sure = diagnosis.limits, diagnosis.sure
    doubt = f"but the evidence is weak: {_doubt(diagnosis)}" if not sure else ""
    if limits == "both":
        return "Retriever and generator both limit quality." if sure else f"Both parts seem to limit quality, {doubt}."
    if limits == "neither":
        seems_so = f"Neither part seems to limit quality, {doubt}."
        return "Neither part limits quality." if sure else _blame(diagnosis) or seems_so
    if limits == "unknown":
        return _blame(diagnosis) or f"It is not known yet which part limits quality: {_missing(diagnosis)}."
    if not sure:
        return f"The {limits} seems to limit quality, {doubt}."
    other: SystemPart = "generator" if limits == "retriever" else "retriever"
    is_measured = any(reading.decides and reading.sign.part == other for reading in diagnosis.readings)
    about_other = {
        "good": f"The {other} does well.",
        "seems good": f"The {other} seems to do well.",
        "seems bad": f"The {other} may limit it too.",
        "unclear": f"It is unclear whether the {other} does well.",
        "": f"{'Too few rows measure' if is_measured else 'No metric measures'} the {other}.",
    }
    return f"The {limits} limits quality. {about_other[diagnosis.parts[other]]}"


def _doubt(diagnosis: Diagnosis) -> str:
    """Why it is not sure: only the local judge was asked, or there are too few rows, and about how many would be enough."""
    if any(
        reading.local and reading.sign.decides and reading.state.startswith("seems") for reading in diagnosis.readings
    ):
        return "it comes from the local judge alone"
    unsure = [reading for reading in diagnosis.readings if reading.sign.decides and reading.state.startswith("seems")]
    if any(reading.guessed for reading in unsure):
        return "the local judge compared some answers"
    if any(reading.doubted for reading in unsure):
        return "the judge's verdicts cannot be trusted (ragstone judge-check)"
    if any(reading.people for reading in unsure):
        return f"the error of the judge is too large or too little known. More labels measure it: {LABEL}"
    rows = max((reading.rows for reading in unsure), default=diagnosis.samples)
    needed = max((reading.rows_to_be_sure or _NEVER for reading in unsure), default=_NEVER)
    enough = f"; about {needed:,} would be enough" if needed < _NEVER else ""
    return f"{counted(rows, 'row')} {'is' if rows == 1 else 'are'} too few{enough}"


def _missing(diagnosis: Diagnosis) -> str:
    unclear = [reading for reading in diagnosis.readings if reading.decides and reading.state == "unclear"]
    if open_rows := sum(reading.unknown for reading in unclear):
        return (
            f"{counted(open_rows, 'answer')} may be right in other words. A judge can compare them with the references"
        )
    if unclear:
        return "the local judge alone cannot decide it"
    if any(reading.sign.decides and reading.too_few for reading in diagnosis.readings):
        return f"a verdict needs at least {LEAST_ROWS} rows per part"
    if all(diagnosis.parts.values()):
        return "the metrics of both parts seem good, but most samples fail or need a look (see the causes)"
    if any(diagnosis.parts.values()):
        measured = next(part for part in PARTS if diagnosis.parts[part] or part == "generator")
        other = "generator" if measured == "retriever" else "retriever"
        return f"the {measured} does well, and no metric of this run decides about the {other}"
    return "no metric of this run decides about the retriever or the generator (fact_recall, recall, or claims with --judge)"


def _blame(diagnosis: Diagnosis) -> str:
    """Where most wrong rows point, if no part seems bad and only the local judge read them; empty for few rows."""
    (fewer, _), (most, part) = sorted((diagnosis.blamed(part), part) for part in PARTS)
    if most < _LEAST_BLAMED or (diagnosis.limits != "neither" and "the local judge alone" not in _missing(diagnosis)):
        return ""
    rows = f"Most wrong rows seem to point to the {part} ({most:,} of {most + fewer:,})"
    if most == fewer:
        rows = f"As many wrong rows seem to point to the retriever as to the generator ({most:,} each)"
    return f"{rows}. The local judge alone cannot be sure."


def _weakness(item: Advice, diagnosis: Diagnosis) -> str:
    """Why a piece of advice is not sure: the judge behind one of its reasons, or too few rows."""
    local = any(why.local if isinstance(why, Reading) else diagnosis.by_local_judge for why in item.because)
    doubted = any(why.doubted if isinstance(why, Reading) else diagnosis.by_doubted_judge for why in item.because)
    return f"weak evidence: {'a judge at chance' if doubted else 'the local judge alone' if local else 'too few rows'}"


def _disagreement(diagnosis: Diagnosis) -> str:
    """The readings of the local judge that disagree with the facts, in a sentence with both."""
    said = ", ".join(
        f"{_short_name(one)} {number(one.mean)} ({one.sign.part} {one.state}, by the facts {diagnosis.parts[one.sign.part]})"
        for one in diagnosis.disagreeing
    )
    return f"The local judge disagrees with the facts: {said}." if said else ""


def _state_text(reading: Reading) -> str:
    """The state of a metric, or why it has none."""
    if reading.sign.better == "none":
        return reading.state
    if reading.too_few:
        return "too few rows"
    return "not checked against labels" if reading.local and reading.people is None else reading.state


def _short_name(reading: Reading) -> str:
    """The metric without the `ragchecker.` prefix, which does not fit on a narrow screen."""
    return reading.sign.metric.removeprefix("ragchecker.")


def reason_line(why: Reading | CauseCount) -> str:
    """The reason for a piece of advice: a number with its limit, or a cause with its count."""
    if isinstance(why, CauseCount):
        rows = f"{why.wrong:,} wrong, {why.look:,} to look at" if why.look else counted(why.samples, "sample")
        return f"{why.cause.name}: {rows}"
    view, side = _reading(why), "at least" if why.sign.better == "higher" else "at most"
    interval = "" if why.low is None else f" ({view.interval})"
    return f"{view.metric} is {view.shown}{interval}, good is {side} {why.sign.limit:g}"
