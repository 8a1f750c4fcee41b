"""Published sets of labelled answers: LLM-AggreFact, HaluBench and RAGTruth. The label is in the metadata as `supported`.

RAGTruth's own files are two, `response.jsonl` and `source_info.jsonl`; its processed form has all in one row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragstone.errors import UsageError
from ragstone.formats.base import Draft, RowFormat, name_pairs
from ragstone.formats.common_fields import unpack
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.values import Unfit

# The name of the label in the metadata: true if the text supports the whole answer.
SUPPORTED = "supported"
_WORDS = {"pass": True, "1": True, "1.0": True, "true": True, "fail": False, "0": False, "0.0": False, "false": False}
_ANSWERS, _SOURCES = frozenset({"source_id", "response", "labels"}), frozenset({"source_id", "source_info"})
_PASSAGE = re.compile(r"(?:^|\n)[ \t]*passage \d+:", re.IGNORECASE)


def _passages(text: Any) -> Any:
    """The passages that RAGTruth numbers in one text."""
    return [part.strip() for part in _PASSAGE.split(text) if part.strip()] if isinstance(text, str) else text


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    contexts = next((row.pop(name) for name in ("doc", "passage", "context") if name in row), None)
    spans = unpack(row.get("hallucination_labels", row.get("labels")))
    if "label" not in row and not isinstance(spans, list):
        return {"metadata": Unfit("has no list of labels, so it is not known whether its answer is supported")}
    label = _WORDS.get(str(row.get("label")).strip().lower()) if "label" in row else not spans
    if label is None:
        return {"metadata": Unfit("has a label that is neither 0, 1, PASS nor FAIL")}
    return {**row, "contexts": _passages(contexts), "metadata": {SUPPORTED: label}}


_ROWS = RowFormat(
    name="hallucination_sets",
    title="LLM-AggreFact, HaluBench and RAGTruth: labelled answers",
    columns=name_pairs(
        "id question query:question claim:answer answer output:answer response:answer contexts metadata"
    ),
    marks=[
        frozenset({"doc", "claim", "label"}),
        frozenset({"passage", "question", "answer", "label", "source_ds"}),
        frozenset({"query", "context", "output", "hallucination_labels"}),
    ],
    convert=_convert,
    names={"contexts": "doc, passage or context"},
)


class HallucinationSets:
    """The sets with one row per answer, and RAGTruth's two files."""

    name, title, given = _ROWS.name, _ROWS.title, _ROWS.given

    def recognises(self, sources: Sequence[Source]) -> bool:
        """One file with the names of a set, or RAGTruth's answers with or without their sources."""
        return _ROWS.recognises(sources) or any(source.keys() >= _ANSWERS for source in sources)

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """One sample per labelled answer."""
        answers = [source for source in sources if source.keys() >= _ANSWERS]
        others = [source for source in sources if source.keys() >= _SOURCES]
        if not answers:
            yield from _ROWS.read(sources, report)
            return
        if not others:
            raise UsageError(
                f"{answers[0]} has RAGTruth's answers; name the file with their texts too: source_info.jsonl"
            )
        about = {str(row.values.get("source_id")): row.values for source in others for row in source.rows(Report())}
        for source in answers:
            for row in source.rows(report):
                known = about.get(str(row.values.get("source_id")), {})
                values = {**row.values, **_source(unpack(known.get("source_info")))}
                values |= {name: known[name] for name in ("task_type", "source") if name in known}
                yield Draft(row.where, _ROWS.rename(_convert(values)), {"answer": "response"})


def _source(info: Any) -> dict[str, Any]:
    """The text of an answer, and the question if there is one; data that is not a text is read as JSON."""
    if isinstance(info, Mapping) and "passages" in info:
        return {"question": info.get("question"), "context": info["passages"]}
    return {"context": info if isinstance(info, str) or info is None else json.dumps(info, ensure_ascii=False)}


FORMAT = HallucinationSets()
