"""Probes for verdicts and grades: the same item, changed in one respect that must not change its score.

Every second item has the answer to another question, so that scores can rise as well as fall. The claims of a verdict probe are
the sentences of the answer; they are given, so no extraction comes between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from ragstone.agreement.audit_probes import ITEM, PART, PROBE, Row, packaged_probes
from ragstone.data.types import Sample
from ragstone.text.languages import guess_language
from ragstone.text.overlap import covered
from ragstone.text.sentences import sentences

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


def effect_rows(task: Task, samples: Sequence[Sample]) -> list[Row]:
    """All probes of a task: the items as they are, and changed."""
    make = _verdict_rows if task == "verdicts" else _grade_rows
    return [row for item, (sample, answer) in enumerate(_items(samples)) for row in make(item, sample, answer)]


def pair_places(task: Task, rows: Sequence[Row]) -> dict[str, dict[int, tuple[int, int]]]:
    """For each effect and item, the places of the row before and after the change."""
    places = {(row["metadata"][PART], row["metadata"][ITEM]): place for place, row in enumerate(rows)}
    pairs: dict[str, dict[int, tuple[int, int]]] = {effect: {} for effect in EFFECTS[task]}
    for (part, item), place in places.items():
        before = places.get((_FIRST if part == "position of the chunk" else _BASE, item))
        if part in pairs and before is not None:
            pairs[part][item] = (before, place)
    return pairs


def _items(samples: Sequence[Sample]) -> Iterator[tuple[Sample, str]]:
    for number, sample in enumerate(samples):
        other = samples[(number + 1) % len(samples)]
        yield sample, (other.answer if number % 2 else sample.answer) or ""


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
