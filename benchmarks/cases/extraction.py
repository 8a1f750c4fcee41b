"""How often the extractor that needs no language model names the sentence that answers: SQuAD's article on the Alps.

For each question the contexts are the paragraph that answers it and the four paragraphs around it. A citation is right if it
stands in that paragraph and has the answer in it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.data_folder import data_folder
from benchmarks.results import Result
from ragstone.data.types import Chunk
from ragstone.stats.intervals import wilson_interval
from ragstone.truth.citations.check import check_citation
from ragstone.truth.citers import LocalCiter, open_local_citer
from ragstone.truth.extract import Extraction, extract_with
from ragstone.truth.llm_tasks import Work
from ragstone.truth.model import Case

_AROUND = 2


class Asked(NamedTuple):
    """A question of the article, and the number of the passage that answers it."""

    case: Case
    right: int


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """Recall over questions and precision over citations, without any model and with all that are here."""
    path = data_folder() / "squad" / "alps_train_v1.1.json"
    if not path.exists():
        print(f"skipped: {path} is not there", file=sys.stderr)
        return []
    asked = list(_read(path))
    return [
        result
        for name, citer in (("words alone", LocalCiter()), ("with the models here", open_local_citer()))
        for result in _measure(name, citer, asked)
    ]


def _read(path: Path) -> Iterator[Asked]:
    paragraphs = json.loads(path.read_text(encoding="utf-8"))
    texts = [paragraph["context"] for paragraph in paragraphs]
    for number, paragraph in enumerate(paragraphs):
        first = min(max(number - _AROUND, 0), max(len(texts) - 2 * _AROUND - 1, 0))
        around = [Chunk(text) for text in texts[first : first + 2 * _AROUND + 1]]
        for place, question in enumerate(paragraph["qas"]):
            case = Case(f"{number}-{place}", question["question"], question["answers"][:1], passages=around)
            yield Asked(case, number - first)


def _measure(name: str, citer: LocalCiter, asked: list[Asked]) -> list[Result]:
    cases = [item.case for item in asked]
    found = asyncio.run(extract_with(citer, cases, Work(None), lambda _: None, {}))
    right = [_right(found, number, item.right) for number, item in enumerate(asked)]
    hits, citations = sum(map(any, right)), sum(map(len, right))
    return [
        _share(f"{name}: questions whose sentence is named", hits, len(asked)),
        _share(f"{name}: citations that have the answer", sum(map(sum, right)), citations),
    ]


def _right(found: Extraction, number: int, passage: int) -> list[bool]:
    row = found.found[number]
    answer = row.case.references[0]
    return [
        item.check.passage == passage and check_citation(answer, [item.check.text]).holds
        for item in row.checked
        if item.check.holds
    ]


def _share(name: str, hits: int, of: int) -> Result:
    interval = wilson_interval(hits, of)
    return Result(
        name, hits / of, "agreement", note=f"{hits} of {of}, 95 % interval {interval.low:.3f} to {interval.high:.3f}"
    )
