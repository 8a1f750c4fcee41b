"""A diagnosis in the terminal and as JSON: which part limits quality, why samples fail, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.compare.cause_names import Outcome, Part
from ragstone.compare.cause_texts import (
    HOW_SURE,
    causes_text,
    fail_word,
    failing_text,
    percent,
    samples_text,
)
from ragstone.compare.diagnosis import Advice, CauseCount, Diagnosis
from ragstone.compare.signs import LEAST_ROWS, PARTS, Reading
from ragstone.data.types import Sample
from ragstone.report.run import LABEL, PEOPLE, metric_label, people_text
from ragstone.report.table import Cell, Column, Table, columns
from ragstone.report.text import counted, interval_text, one_line, title, visible
from ragstone.storage.runs import Run, read_table

_BAR = 10
_STATE_TONES = {"good": "green", "bad": "bad", "seems bad": "unsure"}
_MOST_EXAMPLES = 3
# Ids that the reader makes from the question say nothing to people.
_MADE = re.compile(r"q-[0-9a-f]{10}(?:-\d+)?")
_QUESTION_WIDTH = 30
_NEVER = 100_000
_MOST_CHARACTERS = 160


def headline(diagnosis: Diagnosis) -> str:
    """Which part limits quality, in a sentence or two."""
    limits, sure = diagnosis.limits, diagnosis.sure
    doubt = f"but the evidence is weak: {_doubt(diagnosis)}" if not sure else ""
    if limits == "both":
        return "Retriever and generator both limit quality." if sure else f"Both parts seem to limit quality, {doubt}."
    if limits == "neither":
        return "Neither part limits quality." if sure else f"Neither part seems to limit quality, {doubt}."
    if limits == "unknown":
        return f"It is unknown which part limits quality: {_missing(diagnosis)}."
    if not sure:
        return f"The {limits} seems to limit quality, {doubt}."
    other: Part = "generator" if limits == "retriever" else "retriever"
    about_other = {
        "good": f"The {other} does well.",
        "seems good": f"The {other} seems to do well.",
        "seems bad": f"The {other} may limit it too.",
        "unclear": f"It is unclear whether the {other} does well.",
        "": f"{'Too few rows measure' if _measures(diagnosis, other) else 'No metric measures'} the {other}.",
    }
    return f"The {limits} limits quality. {about_other[diagnosis.parts[other]]}"


def _measures(diagnosis: Diagnosis, part: Part) -> bool:
    return any(reading.decides and reading.sign.part == part for reading in diagnosis.readings)


def _doubt(diagnosis: Diagnosis) -> str:
    """Why it is not sure: only the local judge was asked, or there are too few rows, and about how many would be enough."""
    if any(
        reading.local and reading.sign.decides and reading.state.startswith("seems") for reading in diagnosis.readings
    ):
        return "it comes from the local judge alone. Facts, labels or a language model as judge give a firm verdict"
    unsure = [reading for reading in diagnosis.readings if reading.sign.decides and reading.state.startswith("seems")]
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
    if unclear:
        parts = " and ".join(part for part in PARTS if any(one.sign.part == part for one in unclear))
        return (
            f"the local judge is not exact enough to rate the {parts}. Facts, labels or a language model as judge can"
        )
    if any(reading.sign.decides and reading.too_few for reading in diagnosis.readings):
        return f"a verdict needs at least {LEAST_ROWS} rows per part"
    if all(diagnosis.parts.values()):
        return "the metrics of both parts seem good, but most samples fail (see the causes)"
    if any(diagnosis.parts.values()):
        measured = next(part for part in PARTS if diagnosis.parts[part] or part == "generator")
        other = "generator" if measured == "retriever" else "retriever"
        return f"the {measured} does well, and no metric of this run measures the {other}"
    return "no metric of this run measures the retriever or the generator (fact_recall, recall, or claims with --judge)"


def short_report(diagnosis: Diagnosis) -> RenderableType:
    """The summary at the end of a run: the headline, the causes and the most important advice."""
    table = _arrow_table()
    table.add("", Cell(headline(diagnosis), tone="strong"))
    if diagnosis.failing:
        table.add("", f"{failing_text(diagnosis)}: {causes_text(diagnosis)}")
    if diagnosis.disagreeing:
        table.add("", disagreement(diagnosis))
    for item in diagnosis.advice[:2]:
        table.add("→", f"{item.text} ({_numbers(item)})")
    return Group(title("diagnosis"), table)


def worst_report(sample: Sample, outcome: Outcome) -> RenderableType:
    """The worst sample of a run: what was asked, said and expected, and the main cause of its failure."""
    table = _arrow_table()
    expected = "; ".join(sample.references or ())
    for name, text in (("question", sample.question), ("answer", sample.answer), ("expected", expected)):
        if text:
            table.add("", f"{name}: {one_line(text, _MOST_CHARACTERS)}")
    if cause := outcome.cause:
        table.add("→", Cell(f"{cause.name}: {cause.meaning}", tone="strong"))
    return Group(title(f"worst sample: {visible(sample.id)}"), table)


def full_report(diagnosis: Diagnosis, name: str, labels: Mapping[str, str] | None = None) -> RenderableType:
    """The numbers, the causes with their samples, and the advice. `labels` name samples whose ids say nothing."""
    heading = Text("diagnosis of ", style="bold")
    heading.append(visible(name))
    parts: list[RenderableType] = [heading, Text(), Text(headline(diagnosis), style="bold")]
    if tally := diagnosis.tally:
        unsure = f"; the judge is unsure of {tally['unsure']}" if tally["unsure"] else ""
        parts.append(
            Text(
                f"Of {tally.total()} expected claims, {tally['said']} are in the answer, {tally['ignored']} were retrieved but "
                f"are not in the answer, {tally['missing']} were not retrieved{unsure}."
            )
        )
    if diagnosis.readings:
        parts += [Text(), _readings_table(diagnosis)]
    parts += _causes(diagnosis, labels or {})
    if diagnosis.advice:
        table = _arrow_table()
        for item in diagnosis.advice:
            because = "; ".join(reason_line(why) for why in item.because)
            doubt = f" ({weakness(item, diagnosis)})" if not item.sure else ""
            table.add("→", Text.assemble(item.text, (f"\n{because}{doubt}", "dim")))
        parts += [title("what to do"), table]
    for reason, count in diagnosis.undecided.most_common():
        parts.append(Text(f"\nnot examined: {counted(count, 'sample')}, because {reason}"))
    if diagnosis.by_facts:
        parts.append(Text("\nThe causes come from the annotated facts, not from the claims of the local judge."))
    if diagnosis.disagreeing:
        parts.append(Text(f"\n{disagreement(diagnosis)}"))
    return Group(*parts)


def weakness(item: Advice, diagnosis: Diagnosis) -> str:
    """Why a piece of advice is not sure."""
    local = diagnosis.by_local_judge or any(isinstance(why, Reading) and why.local for why in item.because)
    doubted = diagnosis.by_doubted_judge or any(isinstance(why, Reading) and why.doubted for why in item.because)
    return f"weak evidence: {'a judge at chance' if doubted else 'the local judge alone' if local else 'too few rows'}"


def disagreement(diagnosis: Diagnosis) -> str:
    """The readings of the local judge that disagree with the facts, in a sentence with both."""
    said = ", ".join(
        f"{short_name(one)} {one.mean:.3f} ({one.sign.part} {one.state}, by the facts {diagnosis.parts[one.sign.part]})"
        for one in diagnosis.disagreeing
    )
    return f"The local judge disagrees with the facts: {said}." if said else ""


def _arrow_table() -> Table:
    return Table([Column(align="right", width=3), Column(wrap="words")])


def _readings_table(diagnosis: Diagnosis) -> Table:
    headings = columns("mean", "95 % interval", "good", "rows")
    table = Table([Column("metric", wrap="name"), *headings, Column(wrap="words")])
    for part in PARTS:
        for reading in diagnosis.readings:
            if reading.sign.part == part:
                table.add(
                    metric_label(short_name(reading), reading.sign.better).strip(),
                    f"{reading.mean:.3f}",
                    interval_text(reading.low, reading.high),
                    limit_text(reading),
                    str(reading.rows),
                    Cell(state_text(reading), tone=_STATE_TONES.get(reading.state, "")),
                    group=part,
                )
    return table


def state_text(reading: Reading) -> str:
    """The state of a metric with what people would say, or why it has none."""
    if reading.sign.better == "none":
        return reading.state
    if reading.too_few:
        return "too few rows"
    if reading.people is None:
        return "the judge's error is not measured" if reading.local else reading.state
    return f"{reading.state}: {PEOPLE} {people_text(reading.people.interval())}"


def limit_text(reading: Reading) -> str:
    """The limit of a good value: `≥ 0.9`."""
    sign = reading.sign
    return {"higher": f"≥ {sign.limit:g}", "lower": f"≤ {sign.limit:g}", "none": "–"}[sign.better]


def short_name(reading: Reading) -> str:
    """The metric without the `ragchecker.` prefix, which does not fit on a narrow screen."""
    return reading.sign.metric.removeprefix("ragchecker.")


def _causes(diagnosis: Diagnosis, labels: Mapping[str, str]) -> Iterator[RenderableType]:
    failing = [count for count in diagnosis.causes if count.cause.fails]
    others = [count for count in diagnosis.causes if not count.cause.fails]
    if failing:
        rest = f", {_unexamined(diagnosis)}" if diagnosis.undecided else ""
        why = f"why samples {fail_word(diagnosis, 2)}"
        if all(count.is_doubtful for count in failing):
            why = "possible causes, none is probable"
        yield title(f"{why} ({diagnosis.failing} of {samples_text(diagnosis)}{rest})")
        yield _causes_table(failing, max(count.main for count in failing), labels)
        if any(count.probability is not None for count in failing):
            yield Text(f"\n{HOW_SURE}", style="dim")
    elif diagnosis.decided:
        rest = f", {_unexamined(diagnosis)}" if diagnosis.undecided else " examined"
        yield title(f"no sample {fail_word(diagnosis, 1)} ({samples_text(diagnosis)}{rest})")
    if others:
        yield title("information")
        yield _causes_table(others, 0, labels)


def _causes_table(counts: Sequence[CauseCount], most: int, labels: Mapping[str, str]) -> Table:
    """One row per cause: the samples with it as the main cause, all samples with it, and examples."""
    main = ["main"] if most else []
    likely = ["judge is sure"] if any(count.probability is not None for count in counts) else []
    table = Table([Column("cause"), *columns(*main, "all", *likely), Column("samples", wrap="words")], indent=2)
    for count in counts:
        name = Text(count.cause.name)
        if most:
            name.append(f"\n  {count.cause.part}", style="dim")
        bar = "█" * max(1, round(_BAR * count.main / most)) + " " if count.main else ""
        shown = ", ".join(visible(labels.get(example, example)) for example in count.examples[:_MOST_EXAMPLES])
        more = f" and {count.samples - _MOST_EXAMPLES} more" if count.samples > _MOST_EXAMPLES else ""
        samples = Text.assemble((bar, "cyan"), f"{shown}{more}", (f"\n{count.cause.meaning}", "dim"))
        chance = percent(count.probability)
        table.add(name, *(str(count.main) for _ in main), str(count.samples), *(chance for _ in likely), samples)
    return table


def reason_line(why: Reading | CauseCount) -> str:
    """The reason for a piece of advice: a number with its limit, or a cause with its count."""
    if isinstance(why, CauseCount):
        return f"{why.cause.name}: {counted(why.samples, 'sample')}{', check first' if why.is_doubtful else ''}"
    interval = "" if why.low is None or why.high is None else f" ({interval_text(why.low, why.high)})"
    side = "at least" if why.sign.better == "higher" else "at most"
    people = f", {PEOPLE} {people_text(why.people.interval())}" if why.people else ""
    return f"{short_name(why)} is {why.mean:.3f}{interval}{people}, good is {side} {why.sign.limit:g}"


def _numbers(item: Advice) -> str:
    return ", ".join(
        f"{short_name(why)} {why.mean:.3f}" if isinstance(why, Reading) else reason_line(why) for why in item.because
    )


def _unexamined(diagnosis: Diagnosis) -> str:
    return f"{diagnosis.undecided.total():,} not examined"


def diagnosis_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as JSON, with every failing sample and its findings."""
    return {
        "headline": headline(diagnosis),
        "limits": diagnosis.limits,
        "sure": diagnosis.sure,
        "parts": {part: state or None for part, state in diagnosis.parts.items()},
        "samples": diagnosis.samples,
        "looked_at": diagnosis.looked_at,
        "failing": diagnosis.failing,
        "by_facts": diagnosis.by_facts,
        "by_local_judge": diagnosis.by_local_judge,
        "local_judge_disagrees": [reading.as_dict() for reading in diagnosis.disagreeing],
        "undecided": dict(diagnosis.undecided),
        "reference_claims": dict(diagnosis.tally) or None,
        "numbers": [reading.as_dict() for reading in diagnosis.readings],
        "causes": [
            {
                "cause": count.cause.name,
                "part": count.cause.part,
                "meaning": count.cause.meaning,
                "main_of": count.main,
                "samples": count.samples,
                "items": count.items,
                "probability": count.probability,
            }
            for count in diagnosis.causes
        ],
        "advice": [
            {"text": item.text, "sure": item.sure, "because": [reason_line(why) for why in item.because]}
            for item in diagnosis.advice
        ],
        "outcomes": [
            {
                "id": outcome.sample_id,
                "cause": outcome.cause.name if outcome.cause else None,
                "findings": [finding.as_dict() for finding in outcome.findings],
            }
            for outcome in diagnosis.outcomes
            if outcome.findings
        ],
    }


def sample_labels(run: Run) -> dict[str, str]:
    """The row number and the first words of the question, by id, of the samples whose id was made from the question."""
    rows = read_table(run.folder.samples, ["id", "question"]).to_pylist()
    return {
        row["id"]: f'row {number} "{one_line(row["question"] or "", _QUESTION_WIDTH)}"'
        for number, row in enumerate(rows, start=1)
        if _MADE.fullmatch(row["id"])
    }
