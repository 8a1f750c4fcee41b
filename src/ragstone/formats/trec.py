"""TREC: judgements (qrels) and ranked results (a run), as in trec_eval."""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ragstone.errors import UsageError
from ragstone.formats.base import Draft
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.storage.places import Place

TrecFile = Literal["qrels", "run"]
Judgements = dict[str, dict[str, float]]

_PARTS: dict[int, TrecFile] = {4: "qrels", 6: "run"}
_SHAPES = {"qrels": "qid iter docid grade", "run": "qid Q0 docid rank score tag"}
_NUMBER_AT = {"qrels": 3, "run": 4}
_LINES_LOOKED_AT = 20


class Ranking:
    """The results of one query in two flat columns, because a run may have millions of lines."""

    __slots__ = ("ids", "scores")

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.scores = array("d")

    def ordered(self) -> list[tuple[str, float]]:
        """Best first, equal scores by id descending. Scores are compared in single precision, as in trec_eval."""
        with np.errstate(over="ignore"):
            rough = np.asarray(self.scores).astype(np.float32).tolist()
        found = sorted(zip(rough, self.ids, self.scores, strict=True), reverse=True)
        return [(name, score) for _, name, score in found]


Run = dict[str, Ranking]


class TrecFormat:
    """Qrels, a run, or both in either order."""

    name = "trec"
    title = "TREC qrels and run"
    given: tuple[str, ...] = ()

    def recognises(self, sources: Sequence[Source]) -> bool:
        """Whether there are qrels, a run, or one of each."""
        parts = [detect_part(source) for source in sources]
        return None not in parts and len(set(parts)) == len(parts)

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """One sample per query: judged queries first, then those only in the run."""
        judged, run = read_parts(sources, report)
        if len(sources) == 2:
            note_unmatched(judged, run, report)
        for query in dict.fromkeys([*judged, *run]):
            chunks = ranked_chunks(run.pop(query, None), {})
            yield Draft(f"query {query}", {"id": query, "relevance": judged.get(query), "contexts": chunks})


def ranked_chunks(ranking: Ranking | None, texts: Mapping[str, str]) -> list[dict[str, Any]] | None:
    """The results of one query as chunks, with the known texts of documents."""
    if ranking is None:
        return None
    return [{"text": texts.get(name, ""), "id": name, "score": score} for name, score in ranking.ordered()]


def read_parts(sources: Sequence[Source], report: Report) -> tuple[Judgements, Run]:
    """Judgements and results, distinguished by their columns; empty if there is no such file."""
    parts = _by_part(sources)
    within = {part: report.within(str(source)) if len(parts) > 1 else report for part, source in parts.items()}
    judged = _read_qrels(parts["qrels"], within["qrels"]) if "qrels" in parts else {}
    return judged, read_run(parts["run"], within["run"]) if "run" in parts else {}


def write_run(run: Mapping[str, Iterable[tuple[str, float]]], target: Place, tag: str) -> int:
    """Write results, each list best first; returns the number of lines."""
    lines = (
        f"{_word(query)} Q0 {_word(name)} {rank} {score!r} {_word(tag)}\n"
        for query, ranked in run.items()
        for rank, (name, score) in enumerate(ranked, start=1)
    )
    return _write(lines, target)


def write_qrels(judged: Mapping[str, Mapping[str, float]], target: Place) -> int:
    """Write judgements; returns the number of lines."""
    lines = (
        f"{_word(query)} 0 {_word(name)} {grade:g}\n"
        for query, grades in judged.items()
        for name, grade in grades.items()
    )
    return _write(lines, target)


def _write(lines: Iterator[str], target: Place) -> int:
    texts = list(lines)  # an id that cannot be written must not leave half a file
    with target.writing() as stream:
        stream.write("".join(texts).encode())
    return len(texts)


def _word(text: str) -> str:
    if not text or len(text.split()) != 1 or text != text.strip():
        raise UsageError(f"the id {text[:60]!r} cannot be written to a TREC file: it is empty or contains white space")
    return text


def detect_part(source: Source) -> TrecFile | None:
    """Whether a file contains qrels or a run, by the columns of most of its first lines."""
    if source.kind not in ("text", "csv"):
        return None
    lines = (line.split() for _, line in source.lines(Report()))
    looked_at = list(itertools.islice(filter(None, lines), _LINES_LOOKED_AT))
    parts = [
        part for cells in looked_at if (part := _PARTS.get(len(cells))) and _number(cells[_NUMBER_AT[part]]) is not None
    ]
    return next((part for part in _PARTS.values() if 2 * parts.count(part) > len(looked_at)), None)


def _read_qrels(source: Source, report: Report) -> Judgements:
    """The grades of the judged documents, per query."""
    judged: Judgements = {}
    for number, cells, grade in _cells(source, "qrels", report):
        documents = judged.setdefault(cells[0], {})
        if documents.setdefault(cells[2], grade) != grade:
            earlier = documents[cells[2]]
            report.problem(
                f"line {number}", f"judges {cells[2]!r} of query {cells[0]!r} again: {grade:g}, before {earlier:g}"
            )
    return judged


def read_run(source: Source, report: Report) -> Run:
    """The results per query, in the order of the file; the tag goes into the info."""
    run: Run = {}
    tag = None
    for _, cells, score in _cells(source, "run", report):
        ranking = run.setdefault(cells[0], Ranking())
        ranking.ids.append(cells[2])
        ranking.scores.append(score)
        tag = tag or cells[5]
    twice = [query for query, ranking in run.items() if len(set(ranking.ids)) < len(ranking.ids)]
    report.note_all("queries for which a document was retrieved twice", twice, "its best rank counts")
    if tag:
        report.info["run_tag"] = tag
    return run


def note_unmatched(judged: Judgements, run: Run, report: Report) -> None:
    """Note the queries that only one of the two files has."""
    only_judged = [query for query in judged if query not in run]
    only_run = [query for query in run if query not in judged]
    report.note_all("judged queries missing from the run", only_judged, "they are kept, without contexts")
    report.note_all("queries of the run without judgements", only_run, "they are kept, without relevance")


def _cells(source: Source, part: TrecFile, report: Report) -> Iterator[tuple[int, list[str], float]]:
    """Numbered, split lines with their grade or score."""
    at = _NUMBER_AT[part]
    columns = len(_SHAPES[part].split())
    for number, line in source.lines(report):
        cells = line.split()
        if not cells:
            continue
        if len(cells) != columns:
            plural = "" if len(cells) == 1 else "s"
            report.problem(
                f"line {number}", f"has {len(cells)} column{plural}, a {part} line has {columns}: {_SHAPES[part]}"
            )
        elif (value := _number(cells[at])) is None:
            what = _SHAPES[part].split()[at]
            report.problem(f"line {number}", f"must be a finite number, got {cells[at]!r}", what)
        else:
            yield number, cells, value


def _by_part(sources: Sequence[Source]) -> dict[TrecFile, Source]:
    found: dict[TrecFile, Source] = {}
    for source in sources:
        part = detect_part(source)
        if part is None:
            raise UsageError(f"'{source}' is neither qrels ({_SHAPES['qrels']}) nor a run ({_SHAPES['run']})")
        if part in found:
            raise UsageError(f"'{found[part]}' and '{source}' are both {part}; pass qrels and a run")
        found[part] = source
    return found


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


FORMAT = TrecFormat()
