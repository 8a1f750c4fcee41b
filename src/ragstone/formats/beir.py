"""BEIR: a folder with corpus.jsonl, queries.jsonl and qrels/*.tsv, optionally with a TREC run; run.trec where we write it."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ragstone.errors import UsageError
from ragstone.formats.base import Draft
from ragstone.formats.ragstone import rows
from ragstone.formats.reports import Report
from ragstone.formats.row_writer import relevant_ids
from ragstone.formats.sources import Source
from ragstone.formats.trec import Judgements, detect_part, note_unmatched, ranked_chunks, read_run
from ragstone.storage.places import Place

_FILES = ("corpus.jsonl", "queries.jsonl", "qrels")
_TAG = "ragstone"
_RUN = "run.trec"


class BeirFormat:
    """A BEIR folder, optionally with a run."""

    name = "beir"
    title = "BEIR folder, optionally with a TREC run"
    given: tuple[str, ...] = ()
    writes = frozenset({"question", "contexts", "relevance", "reference_contexts", "metadata"})

    def recognises(self, sources: Sequence[Source]) -> bool:
        """One folder with the three names; the other source, if any, is a run."""
        folders = [source for source in sources if _is_beir(source)]
        others = [source for source in sources if source not in folders]
        return len(folders) == 1 and len(others) <= 1 and all(detect_part(source) == "run" for source in others)

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """One sample per query that is judged or in the run."""
        if not self.recognises(sources):
            names = " and ".join(str(source) for source in sources)
            raise UsageError(f"{names} must be a folder with {', '.join(_FILES)}/*.tsv, optionally with a TREC run")
        folder = next(source.place for source in sources if source.place and source.kind == "folder")
        runs = [source for source in sources if source.kind != "folder"]
        if not runs and (folder / _RUN).exists():
            runs = [Source(str(folder / _RUN))]
        judged = _read_qrels(folder, report)
        run = read_run(runs[0], report.within(str(runs[0]))) if runs else {}
        if runs:
            note_unmatched(judged, run, report)
        queries = _read_queries(folder, dict.fromkeys([*judged, *run]), report)
        relevant = {name for grades in judged.values() for name, grade in grades.items() if grade > 0}
        texts = _read_corpus(folder, relevant.union(*(ranking.ids for ranking in run.values())), report)
        for name, query in queries.items():
            yield Draft(
                f"query {name}",
                {**query, **_truth(judged.get(name), texts), "contexts": ranked_chunks(run.pop(name, None), texts)},
            )

    def write(self, batches: Iterable[pa.RecordBatch], target: Place, info: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Write the folder, and run.trec with the retrieved chunks."""
        _write_folder(rows(batches), target)


def _is_beir(source: Source) -> bool:
    place = source.place if source.kind == "folder" else None
    return place is not None and {*_FILES} <= {child.name for child in place.children()}


def _read_qrels(folder: Place, report: Report) -> Judgements:
    """The grades of one split."""
    splits = [child for child in (folder / "qrels").children() if child.name.endswith(".tsv")]
    if not splits:
        raise UsageError(f"'{folder}' has no qrels/*.tsv")
    chosen = next((split for split in splits if split.name == "test.tsv"), splits[0])
    others = [split.name for split in splits if split != chosen]
    if others:
        report.note(f"judgements are those of qrels/{chosen.name}; {', '.join(others)} not read")
    report = report.within(f"qrels/{chosen.name}")
    judged: Judgements = {}
    for number, line in Source(str(chosen)).lines(report):
        cells = [cell.strip() for cell in line.split("\t")]
        if cells == [""] or (number == 1 and cells[-1] == "score"):
            continue
        if len(cells) != 3:
            report.problem(
                f"line {number}", f"must be query-id, corpus-id and score separated by tabs, got {line.strip()!r}"
            )
            continue
        query, name, score = cells
        try:
            grade = float(score)
        except ValueError:
            grade = math.nan
        if not math.isfinite(grade):
            report.problem(f"line {number}", f"must be a finite number, got {score!r}", "score")
        elif (earlier := judged.setdefault(query, {}).setdefault(name, grade)) != grade:
            report.problem(f"line {number}", f"judges {name!r} of query {query!r} again: {grade:g}, before {earlier:g}")
    return judged


def _read_queries(folder: Place, wanted: dict[str, None], report: Report) -> dict[str, dict[str, Any]]:
    """Question and metadata of the wanted queries, in their order."""
    queries: dict[str, dict[str, Any]] = {name: {"id": name} for name in wanted}
    others: list[str] = []
    within = report.within("queries.jsonl")
    for where, name, values in _entries(folder / "queries.jsonl", within):
        if name not in wanted:
            others.append(name)
            continue
        query = {"id": name, "question": values["text"], "metadata": values.get("metadata") or None}
        if queries[name].keys() > {"id"} and queries[name] != query:
            within.problem(where, f"repeats the _id {name!r} with another content")
        queries[name] = query
    unknown = [name for name, query in queries.items() if "question" not in query]
    report.note_all(
        "judged or retrieved queries missing from queries.jsonl", unknown, "they are kept, without question"
    )
    report.note_all("queries of queries.jsonl without judgement in this split", others, "they are left out")
    return queries


def _read_corpus(folder: Place, wanted: set[str], report: Report) -> dict[str, str]:
    """Title and text of the wanted documents."""
    texts: dict[str, str] = {}
    within = report.within("corpus.jsonl")
    for where, name, values in _entries(folder / "corpus.jsonl", within):
        document = f"{values.get('title') or ''} {values['text']}".strip()
        if name in wanted and texts.setdefault(name, document) != document:
            within.problem(where, f"repeats the _id {name!r} with another content")
    missing = sorted(wanted - texts.keys())
    report.note_all("relevant or retrieved documents missing from corpus.jsonl", missing, "their text is unknown")
    return texts


def _entries(file: Place, report: Report) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Place, id and values of the rows of a file; rows without an id or a text are problems."""
    for row in Source(str(file)).rows(report):
        if row.values.get("_id") is None or row.values.get("text") is None:
            report.problem(row.where, "has no _id or no text")
        else:
            yield row.where, str(row.values["_id"]), row.values


def _truth(grades: dict[str, float] | None, texts: dict[str, str]) -> dict[str, Any]:
    """Grades and the texts of the relevant documents, best grade first."""
    if grades is None:
        return {}
    relevant = sorted((name for name, grade in grades.items() if grade > 0), key=lambda name: -grades[name])
    return {"relevance": grades, "reference_contexts": [texts[name] for name in relevant if name in texts]}


def _write_folder(samples: Iterable[Mapping[str, Any]], folder: Place) -> None:
    """Write the files. A chunk without an id gets one made from its text; unknown texts of relevant documents are empty."""
    if "." in folder.name or (folder.exists() and not folder.is_folder()):
        raise UsageError(
            f"'{folder}' must be a folder: corpus.jsonl, queries.jsonl and qrels/test.tsv are written into it"
        )
    corpus: dict[str, str] = {}
    queries: list[str] = []
    judged: list[str] = ["query-id\tcorpus-id\tscore"]
    run: list[str] = []
    for sample in samples:
        if sample.get("question") is None:
            raise UsageError(f"sample '{sample['id']}' has no question; BEIR needs the text of each query")
        grades = _grades(sample, corpus)
        ranked = _ranking(sample, corpus)
        queries.append(
            _json({"_id": sample["id"], "text": sample["question"], "metadata": sample.get("metadata") or {}})
        )
        judged += [f"{_cell(sample['id'])}\t{_cell(name)}\t{grade:g}" for name, grade in grades.items()]
        run += [
            f"{_word(sample['id'])} Q0 {_word(name)} {rank} {score:.6g} {_TAG}"
            for rank, (name, score) in enumerate(ranked, start=1)
        ]
    documents = [_json({"_id": name, "title": "", "text": text}) for name, text in corpus.items()]
    files = {"corpus.jsonl": documents, "queries.jsonl": queries, "qrels/test.tsv": judged, _RUN: run}
    for path, lines in files.items():
        if lines or path != _RUN:
            with (folder / path).writing() as stream:
                stream.writelines(line.encode() + b"\n" for line in lines)


def _grades(sample: Mapping[str, Any], corpus: dict[str, str]) -> Mapping[str, float]:
    """The grades; without any, the reference contexts are relevant documents of their own."""
    texts: list[str] = sample.get("reference_contexts") or []
    grades: Mapping[str, float] | None = sample.get("relevance")
    if not grades:
        names = [_made_id(text) for text in texts]
        corpus.update(zip(names, texts, strict=True))
        return dict.fromkeys(names, 1.0)
    best = relevant_ids(grades) or []
    # As read from a BEIR folder: the texts of the relevant documents, best grade first.
    known = dict(zip(best, texts, strict=True)) if len(best) == len(texts) else {}
    for name in grades:
        corpus[name] = corpus.get(name) or known.get(name, "")
    return grades


def _ranking(sample: Mapping[str, Any], corpus: dict[str, str]) -> list[tuple[str, float]]:
    """The retrieved chunks with scores that fall with the rank: their own, or 1 / rank."""
    chunks = sample.get("contexts") or []
    ranked: dict[str, float | None] = {}
    for chunk in chunks:
        name = chunk.get("id") or _made_id(chunk["text"])
        corpus[name] = corpus.get(name) or chunk["text"]
        ranked.setdefault(name, chunk.get("score"))
    scores = [score for score in ranked.values() if score is not None]
    falling = len(scores) == len(ranked) and all(one > other for one, other in itertools.pairwise(scores))
    values = scores if falling else [1 / rank for rank in range(1, len(ranked) + 1)]
    return list(zip(ranked, values, strict=True))


def _made_id(text: str) -> str:
    return f"c-{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"


def _cell(name: str) -> str:
    if any(mark in name for mark in "\t\r\n"):
        raise UsageError(f"the id {name!r} contains a tab or a line break; qrels cannot contain it")
    return name


def _word(name: str) -> str:
    if len(name.split()) != 1:
        raise UsageError(f"the id {name!r} contains white space; a TREC run cannot contain it")
    return name


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


FORMAT = BeirFormat()
