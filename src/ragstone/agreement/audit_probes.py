"""Probes for judges: pairs of answers with a known verdict of a fair judge, and pairs whose scores must not differ.

The effects on verdicts and grades come from metamorphic pairs: a change that must not change the score. Every second item has
the answer to another question, so that scores can rise as well as fall. The claims of a verdict probe are the sentences of the
answer; they are given, so no extraction comes between.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

import numpy as np

from ragstone.agreement.duels import Asking, pair_runs
from ragstone.data.types import Sample
from ragstone.errors import UsageError
from ragstone.metrics.pairwise import OTHER_ANSWER, SHOW_REFERENCE
from ragstone.stats.intervals import Interval, unanimous_interval
from ragstone.stats.paired import Tally, flip_signs, tally
from ragstone.stats.resampled_measures import estimate_mean
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_scores
from ragstone.text.languages import guess_language
from ragstone.text.overlap import covered
from ragstone.text.sentences import sentences

Row = dict[str, Any]
PROBE, ITEM, PART = "probe", "probe_item", "probe_part"
KNOWN = ("math", "reasoning")


@cache
def packaged_probes() -> dict[str, Any]:
    """The packaged texts."""
    text = resources.files("ragstone.agreement").joinpath("audit_probes.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def make_rows(run: Run, against: Run | None, limit: int, seed: int) -> tuple[list[Row], list[Row]]:
    """All probes, and those that are repeated after the judge has answered the question itself."""
    samples, known = draw_samples(run, limit, seed), known_answers()
    on_run = [natural_pairs(run, against, limit, seed), padded_twins(samples)]
    return [*on_run[0], *on_run[1], *injected_answers(samples), *known, *languages()], known


def natural_pairs(run: Run, against: Run | None, limit: int, seed: int) -> list[Row]:
    """Real answers: of two systems, or of one system paired with the reference or with a shortened answer."""
    if against is not None:
        rows = pair_runs([run, against]).rows
        rows = [row for row in rows if row["answer"] != row["metadata"][OTHER_ANSWER]]
        return [_as_probe("natural", number, row) for number, row in enumerate(_drawn(rows, limit, seed))]
    found: list[Row] = []
    for sample in draw_samples(run, limit, seed):
        other = _reference(sample) or _shortened(sample.answer or "")
        if other and other.strip() != (sample.answer or "").strip():
            found.append(make_row("natural", len(found), sample.question, sample.answer, other))
    return found


def padded_twins(samples: Sequence[Sample]) -> list[Row]:
    """The same answer with padding: a fair judge does not prefer it."""
    return [
        make_row(
            "padding",
            number,
            sample.question,
            f"{sample.answer} {_packaged('padding', sample.answer or '')}",
            sample.answer,
        )
        for number, sample in enumerate(samples)
    ]


def injected_answers(samples: Sequence[Sample]) -> list[Row]:
    """An answer to another question, without and with instructions to the judge, paired with a good answer."""
    texts = [entry["text"] for entry in packaged_probes()["injection"]]
    rows = []
    for number, sample in enumerate(samples):
        others = (*samples[number + 1 :], *samples[:number])
        stranger = next((other for other in others if other.answer != sample.answer), None)
        if stranger is None:
            continue
        good = _reference(sample) or sample.answer
        asked = f"{stranger.answer}\n\n{texts[number % len(texts)]}"
        rows.append(make_row("injection", number, sample.question, stranger.answer, good, part="without"))
        rows.append(make_row("injection", number, sample.question, asked, good, part="with"))
    return rows


def known_answers() -> list[Row]:
    """Correct and wrong answers to small problems of arithmetic and reasoning."""
    return [
        make_row(kind, number, entry["question"], entry["right"], entry["wrong"])
        for kind in KNOWN
        for number, entry in enumerate(packaged_probes()[kind])
    ]


def languages() -> list[Row]:
    """The same easy questions with a correct and a wrong answer, in several languages."""
    return [
        make_row("language", number, question, right, wrong, part=language)
        for number, entry in enumerate(packaged_probes()["language"])
        for language, (question, right, wrong) in entry.items()
    ]


def draw_samples(run: Run, limit: int, seed: int) -> list[Sample]:
    """A reproducible selection of the samples of a run that have a question and an answer."""
    answered = [sample for sample in run.samples if sample.question and (sample.answer or "").strip()]
    if not answered:
        raise UsageError(f"the run {run.name} has no answers to test a judge with")
    return _drawn(answered, limit, seed)


def make_row(probe: str, item: int, question: str | None, one: str | None, other: str | None, part: str = "") -> Row:
    """Two answers to a question; the score is that of `one`."""
    name = f"{probe}/{item}" + (f"/{part}" if part else "")
    metadata = {PROBE: probe, ITEM: item, PART: part, OTHER_ANSWER: other, SHOW_REFERENCE: False}
    return {"id": name, "question": question, "answer": one, "metadata": metadata}


def _as_probe(probe: str, item: int, row: Row) -> Row:
    metadata = {**row["metadata"], PROBE: probe, ITEM: item, PART: "", SHOW_REFERENCE: False}
    return {**row, "id": f"{probe}/{item}", "metadata": metadata}


def _drawn(things: Sequence[Any], limit: int, seed: int) -> list[Any]:
    places = np.sort(np.random.default_rng(seed).permutation(len(things))[:limit])
    return [things[place] for place in places]


def _reference(sample: Sample) -> str | None:
    return sample.references[0] if sample.references else None


def _shortened(answer: str) -> str | None:
    """The answer without its last sentence, if it has several."""
    spans = sentences(answer)
    return answer[: spans[-2].end] if len(spans) > 1 else None


Task = Literal["verdicts", "grades"]
# The effects of each task, with the change that is tested.
EFFECTS: dict[Task, dict[str, str]] = {
    "verdicts": {
        "length": "chunks with sentences that say nothing about the question",
        "order of claims": "the claims in reverse order",
        "position of the chunk": "the deciding chunk last instead of first",
        "authority": "chunks that are ascribed to experts",
        "format": "chunks as a Markdown list",
    },
    "grades": {
        "length": "the answer with padding",
        "order of claims": "the sentences of the answer in reverse order",
        "authority": "the answer ascribed to experts",
        "format": "the answer as a Markdown list",
    },
}
_BASE, _FIRST = "as it is", "first"

ALPHA = 0.05
LEAST_ITEMS = 8
# With fewer changed items, the interval of the resamples is too narrow.
_FEW_CHANGES = 5
_BOUNDS = (-1.0, 1.0)


@dataclass(frozen=True)
class Effect:
    """The mean change of a score between paired items, and the counts of higher, equal and lower scores."""

    task: Task
    name: str
    words: str
    n: int
    counts: Tally
    value: float | None
    interval: Interval | None
    # The sign-flip test of no effect, corrected for all effects of the task.
    p: float | None
    verdict: Literal["effect", "none seen", "too few"]

    @property
    def possible(self) -> float | None:
        """The size below which an effect is possible if none was seen."""
        return None if self.interval is None else max(abs(self.interval.low), abs(self.interval.high))


def effect_metric(task: Task, aspect: str) -> str:
    """The metric of a task: the share of claims that the chunks support, or the grade for an aspect."""
    return "ragchecker.faithfulness" if task == "verdicts" else f"grade.{aspect}"


def ask_effects(
    asking: Asking, judge: Any, task: Task, samples: Sequence[Sample], aspect: str
) -> tuple[list[Effect], Run | None]:
    """The effects on a judge, and the run with its replies; no run if the samples allow no probe."""
    rows, metric = effect_rows(task, samples), effect_metric(task, aspect)
    if not rows:
        return [], None
    run = asking.ask(judge, rows, f"audit of {judge}: {task}", [metric])
    known = any(found.metric == metric for found in run.info.metrics)
    scores = read_scores(run, [metric])[metric].values if known else np.full(len(rows), np.nan)
    return read_effects(task, rows, scores), run


def read_effects(task: Task, rows: Sequence[Row], scores: np.ndarray) -> list[Effect]:
    """The effects of a task; `scores` has one score per row, nan if there is none."""
    differences = {}
    for effect, places in pair_places(task, rows).items():
        column = np.full(max(places, default=-1) + 1, np.nan)
        for item, (before, after) in places.items():
            column[item] = scores[after] - scores[before]
        differences[effect] = column
    return measure_effects(task, differences)


def measure_effects(task: Task, differences: Mapping[str, np.ndarray]) -> list[Effect]:
    """The effects from the difference of each item, nan if there is no pair; items have the same place in all columns."""
    size = max((len(column) for column in differences.values()), default=0)
    table = np.full((size, len(differences)), np.nan)
    for place, column in enumerate(differences.values()):
        table[: len(column), place] = column
    able = (~np.isnan(table)).sum(axis=0) >= LEAST_ITEMS
    joint = flip_signs(table, family=able).joint if able.any() else np.full(len(able), np.nan)
    return [
        _measure(task, name, column[~np.isnan(column)], float(p))
        for name, column, p in zip(differences, table.T, joint, strict=True)
    ]


def _measure(task: Task, name: str, changes: np.ndarray, p: float) -> Effect:
    words, counts, n = EFFECTS[task][name], tally(changes), len(changes)
    if n < LEAST_ITEMS:
        value = float(changes.mean()) if n else None
        return Effect(task, name, words, n, counts, value, None, None, "too few")
    mean = estimate_mean(changes, np.arange(n), _BOUNDS)
    interval = mean.interval
    if interval is not None and counts.higher + counts.lower < _FEW_CHANGES:
        unseen = unanimous_interval(0.0, n, _BOUNDS)
        interval = Interval(min(interval.low, unseen.low), max(interval.high, unseen.high))
    verdict: Literal["effect", "none seen"] = "effect" if p < ALPHA else "none seen"
    return Effect(task, name, words, n, counts, mean.value, interval, p, verdict)


def effect_rows(task: Task, samples: Sequence[Sample]) -> list[Row]:
    """All probes of a task: the items as they are, and changed."""
    make = _verdict_rows if task == "verdicts" else _grade_rows
    others = [*samples[1:], *samples[:1]]
    items = [
        (other if item % 2 else sample).answer or ""
        for item, (sample, other) in enumerate(zip(samples, others, strict=True))
    ]
    return [row for item, answer in enumerate(items) for row in make(item, samples[item], answer)]


def pair_places(task: Task, rows: Sequence[Row]) -> dict[str, dict[int, tuple[int, int]]]:
    """For each effect and item, the places of the row before and after the change."""
    places = {(row["metadata"][PART], row["metadata"][ITEM]): place for place, row in enumerate(rows)}
    pairs: dict[str, dict[int, tuple[int, int]]] = {effect: {} for effect in EFFECTS[task]}
    for (part, item), place in places.items():
        before = places.get((_FIRST if part == "position of the chunk" else _BASE, item))
        if part in pairs and before is not None:
            pairs[part][item] = (before, place)
    return pairs


def _verdict_rows(item: int, sample: Sample, answer: str) -> Iterator[Row]:
    chunks = [chunk.text for chunk in sample.contexts or ()]
    claims = _sentences(answer)
    if not chunks or not claims:
        return
    deciding = max(range(len(chunks)), key=lambda place: covered(answer, chunks[place]))
    others = [chunk for place, chunk in enumerate(chunks) if place != deciding]

    def make(part: str, texts: Sequence[str], said: Sequence[str] = claims) -> Row:
        given = {"contexts": [{"text": text} for text in texts], "answer_claims": list(said)}
        return {**_row("verdicts", item, part, sample.question, answer), **given}

    yield make(_BASE, chunks)
    yield make("length", [f"{chunk} {_packaged('filler', chunk)}" for chunk in chunks])
    if len(claims) > 1:
        yield make("order of claims", chunks, claims[::-1])
    if others:
        yield make(_FIRST, [chunks[deciding], *others])
        yield make("position of the chunk", [*others, chunks[deciding]])
    yield make("authority", [f"{_packaged('authority', chunk)} {chunk}" for chunk in chunks])
    yield make("format", [_as_list(chunk) for chunk in chunks])


def _grade_rows(item: int, sample: Sample, answer: str) -> Iterator[Row]:
    said = _sentences(answer)
    changes: dict[str, Callable[[], str]] = {
        _BASE: lambda: answer,
        "length": lambda: f"{answer} {_packaged('padding', answer)}",
        "order of claims": lambda: " ".join(said[::-1]),
        "authority": lambda: f"{_packaged('authority', answer)} {answer}",
        "format": lambda: _as_list(answer),
    }
    for part, change in changes.items():
        if part != "order of claims" or len(said) > 1:
            row = _row("grades", item, part, sample.question, change())
            yield {**row, "contexts": [{"text": chunk.text} for chunk in sample.contexts or ()]}


def _row(task: Task, item: int, part: str, question: str | None, answer: str) -> Row:
    metadata = {PROBE: task, ITEM: item, PART: part}
    return {"id": f"{task}/{item}/{part}", "question": question, "answer": answer, "metadata": metadata}


def _sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


def _as_list(text: str) -> str:
    return "\n".join(f"- {sentence}" for sentence in _sentences(text)) or text


def _packaged(kind: str, text: str) -> str:
    texts = packaged_probes()[kind]
    return str(texts.get(guess_language(text), texts["en"]))
