"""Published agreement with people, reproduced by `ragstone agree`'s own code from the public data beside the project.

XSum (Maynez et al. 2020): five metrics against faithfulness and factuality of 1,992 summaries by four systems.
Topical-Chat (UniEval, Zhong et al. 2022): UniEval against people, 360 answers of six systems.
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.data_folder import data_folder
from benchmarks.results import Result
from ragstone.agreement.labels import Label, Labels, join
from ragstone.agreement.metric_agreement import Agreement, Settings, measure_agreement
from ragstone.engine.evaluate import evaluate
from ragstone.registry import metric

XSUM = {
    "R1": (0.197, 0.125),
    "R2": (0.162, 0.095),
    "RL": (0.162, 0.113),
    "BERTScore": (0.190, 0.116),
    "Entailment": (0.431, 0.264),
}
TOPICAL_CHAT = {
    "naturalness": (0.444, 0.514, 0.374),
    "coherence": (0.595, 0.613, 0.466),
    "engagingness": (0.557, 0.605, 0.456),
    "groundedness": (0.536, 0.575, 0.452),
}
_HALF_A_DIGIT = 0.00051


class Answer(NamedTuple):
    """What one system answered to one input: metrics' scores and people's labels."""

    input: str
    system: str
    text: str
    scores: dict[str, float]
    labels: dict[str, float]


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """Every published figure beside ours."""
    folder = data_folder()
    if not (folder / "xsum").is_dir() or not (folder / "unieval").is_dir():
        print(f"{folder} has no xsum and unieval; RAGSTONE_DATA names the folder with the public data", file=sys.stderr)
        return []
    return [*xsum(folder / "xsum"), *topical_chat(folder / "unieval")]


def xsum(folder: Path) -> Iterator[Result]:
    """Spearman of five metrics with faithfulness and factuality."""
    with (folder / "eval_scores_xsum_summaries.csv").open() as file:
        answers = [_summary(row) for row in csv.DictReader(file)]
    for place, aspect in enumerate(("Faithful", "Factual")):
        found = _agree(answers, tuple(XSUM), aspect)
        for name, figures in XSUM.items():
            yield _result(f"XSum: {name}, {aspect.lower()}", found, _declare(name), "spearman", figures[place])


def _summary(row: dict[str, str]) -> Answer:
    system, _, document = row["system_bbcid"].rpartition("_")
    labels = {name: float(row[name]) for name in ("Faithful", "Factual")}
    return Answer(document, system, "", {name: float(row[name]) for name in XSUM}, labels)


def topical_chat(folder: Path) -> Iterator[Result]:
    """Three coefficients of UniEval with four aspects by people."""
    rows = json.loads((folder / "topical_chat_result.json").read_text())
    answers = [
        Answer(row["source"], row["system_id"], row["system_output"], row["predict_scores"], row["scores"])
        for row in rows
    ]
    for aspect, figures in TOPICAL_CHAT.items():
        found = _agree(answers, (aspect,), aspect)
        for coefficient, figure in zip(("pearson", "spearman", "kendall"), figures, strict=True):
            yield _result(f"Topical-Chat: {aspect}, {coefficient}", found, _declare(aspect), coefficient, figure)


def _agree(answers: Sequence[Answer], metrics: Sequence[str], aspect: str) -> Agreement:
    """Runs with the given scores, a run a system, held against the labels."""
    names = [_declare(name) for name in metrics]
    inputs = {text: f"input{place}" for place, text in enumerate(dict.fromkeys(answer.input for answer in answers))}
    with tempfile.TemporaryDirectory() as root:
        runs = []
        for system in dict.fromkeys(answer.system for answer in answers):
            rows = [_row(answer, inputs[answer.input]) for answer in answers if answer.system == system]
            runs.append(evaluate(rows, names, root, name=system))
        labels = [Label(inputs[answer.input], answer.labels[aspect], answer.system) for answer in answers]
        return measure_agreement(join(runs, Labels(aspect, tuple(labels), 0)), Settings(full=len(names) == 1))


def _row(answer: Answer, name: str) -> dict[str, Any]:
    return {"id": name, "question": answer.input, "answer": answer.text, "metadata": {"scores": answer.scores}}


_DECLARED: set[str] = set()


def _declare(name: str) -> str:
    """A metric that reads its score from the metadata."""
    full = f"published.{name.lower()}"
    if full not in _DECLARED:
        _DECLARED.add(full)

        @metric(full, judges="answer", against="references", bounds=(None, None))
        def read(metadata: dict) -> float:  # type: ignore[type-arg]
            """The score that was published with the data."""
            return float(metadata["scores"][name])

    return full


def _result(name: str, found: Agreement, wanted: str, coefficient: str, figure: float) -> Result:
    item = next(each for each in found.metrics if each.metric == wanted)
    cell = item.correlations[coefficient, "dataset"]  # type: ignore[index]
    within = item.correlations[coefficient, "sample"]  # type: ignore[index]
    span = f" ({cell.interval.low:.3f} – {cell.interval.high:.3f})" if cell.interval else ""
    return Result(
        name,
        cell.value or 0.0,
        "agreement",
        at_most=figure + _HALF_A_DIGIT,
        at_least=figure - _HALF_A_DIGIT,
        binding=True,
        note=f"published {figure:.3f}{span}; within inputs {within.value or 0.0:.3f}",
    )
