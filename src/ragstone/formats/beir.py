"""BEIR: a folder with corpus.jsonl, queries.jsonl and qrels/*.tsv, optionally with a TREC run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ragstone.errors import UsageError
from ragstone.formats.base import Draft
from ragstone.formats.beir_writer import RUN, write_folder
from ragstone.formats.ragstone import rows
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.trec import Judgements, Ranking, Run, detect_part, note_unmatched, read_run
from ragstone.storage.places import Place

_FILES = ("corpus.jsonl", "queries.jsonl", "qrels")


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
        if not runs and (folder / RUN).exists():
            runs = [Source(str(folder / RUN))]
        judged = _read_qrels(folder, report)
        run = read_run(runs[0], report.within(str(runs[0]))) if runs else {}
        if runs:
            note_unmatched(judged, run, report)
        queries = _read_queries(folder, dict.fromkeys([*judged, *run]), report)
        texts = _read_corpus(folder, _wanted(judged, run), report)
        for name, query in queries.items():
            yield Draft(
                f"query {name}",
                {**query, **_truth(judged.get(name), texts), "contexts": _chunks(run.pop(name, None), texts)},
            )

    def write(self, batches: Iterable[pa.RecordBatch], target: Place, info: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Write the folder, and run.trec with the retrieved chunks."""
        write_folder(rows(batches), target)


def _is_beir(source: Source) -> bool:
    if source.kind != "folder" or source.place is None:
        return False
    return set(_FILES) <= {child.name for child in source.place.children()}


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
    for row in Source(str(folder / "queries.jsonl")).rows(within):
        name, text = row.values.get("_id"), row.values.get("text")
        if name is None or text is None:
            within.problem(row.where, "has no _id or no text")
        elif str(name) in wanted:
            query = {"id": str(name), "question": text, "metadata": row.values.get("metadata") or None}
            if queries[str(name)].keys() > {"id"} and queries[str(name)] != query:
                within.problem(row.where, f"repeats the _id {str(name)!r} with another content")
            queries[str(name)] = query
        else:
            others.append(str(name))
    unknown = [name for name, query in queries.items() if "question" not in query]
    report.note_all(
        "judged or retrieved queries missing from queries.jsonl", unknown, "they are kept, without question"
    )
    report.note_all("queries of queries.jsonl without judgement in this split", others, "they are left out")
    return queries


def _wanted(judged: Judgements, run: Run) -> set[str]:
    """The documents whose text a sample contains."""
    relevant = {name for grades in judged.values() for name, grade in grades.items() if grade > 0}
    return relevant.union(*(ranking.ids for ranking in run.values()))


def _read_corpus(folder: Place, wanted: set[str], report: Report) -> dict[str, str]:
    """Title and text of the wanted documents."""
    texts: dict[str, str] = {}
    within = report.within("corpus.jsonl")
    for row in Source(str(folder / "corpus.jsonl")).rows(within):
        name, text = row.values.get("_id"), row.values.get("text")
        if name is None or text is None:
            within.problem(row.where, "has no _id or no text")
        elif str(name) in wanted:
            document = f"{row.values.get('title') or ''} {text}".strip()
            if texts.setdefault(str(name), document) != document:
                within.problem(row.where, f"repeats the _id {str(name)!r} with another content")
    missing = sorted(wanted - texts.keys())
    report.note_all("relevant or retrieved documents missing from corpus.jsonl", missing, "their text is unknown")
    return texts


def _truth(grades: dict[str, float] | None, texts: dict[str, str]) -> dict[str, Any]:
    """Grades and the texts of the relevant documents, best grade first."""
    if grades is None:
        return {}
    relevant = sorted((name for name, grade in grades.items() if grade > 0), key=lambda name: -grades[name])
    return {"relevance": grades, "reference_contexts": [texts[name] for name in relevant if name in texts]}


def _chunks(ranking: Ranking | None, texts: dict[str, str]) -> list[dict[str, Any]] | None:
    if ranking is None:
        return None
    return [{"text": texts.get(name, ""), "id": name, "score": score} for name, score in ranking.ordered()]


FORMAT = BeirFormat()
