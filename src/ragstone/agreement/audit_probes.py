"""Probes for judges: pairs of answers with a known verdict of a fair judge."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from ragstone.agreement.duels import pair_runs
from ragstone.data.types import Sample
from ragstone.errors import UsageError
from ragstone.metrics.pairwise import OTHER_ANSWER, SHOW_REFERENCE
from ragstone.storage.runs import Run
from ragstone.text.languages import guess_language
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
        make_row("padding", number, sample.question, f"{sample.answer} {_padding(sample.answer or '')}", sample.answer)
        for number, sample in enumerate(samples)
    ]


def injected_answers(samples: Sequence[Sample]) -> list[Row]:
    """An answer to another question, without and with instructions to the judge, paired with a good answer."""
    texts = [entry["text"] for entry in packaged_probes()["injection"]]
    rows = []
    for number, sample in enumerate(samples):
        stranger = next((other for other in _after(samples, number) if other.answer != sample.answer), None)
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


def answered(run: Run) -> list[Sample]:
    """The samples with a question and an answer."""
    found = [sample for sample in run.samples if sample.question and (sample.answer or "").strip()]
    if not found:
        raise UsageError(f"the run {run.name} has no answers to test a judge with")
    return found


def draw_samples(run: Run, limit: int, seed: int) -> list[Sample]:
    """A reproducible selection of the samples of a run."""
    return _drawn(answered(run), limit, seed)


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


def _after(samples: Sequence[Sample], place: int) -> Iterator[Sample]:
    yield from samples[place + 1 :]
    yield from samples[:place]


def _reference(sample: Sample) -> str | None:
    return sample.references[0] if sample.references else None


def _shortened(answer: str) -> str | None:
    """The answer without its last sentence, if it has several."""
    spans = sentences(answer)
    return answer[: spans[-2].end] if len(spans) > 1 else None


def _padding(answer: str) -> str:
    texts = packaged_probes()["padding"]
    return str(texts.get(guess_language(answer), texts["en"]))
