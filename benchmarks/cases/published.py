"""Published figures beside ours, in one table: `python -m benchmarks published`.

The data lies under RAGSTONE_DATA. What is not there is a row that says so; `meta_evaluation` of RAGChecker's repository
(`human_labeled_data.json`, `baseline_ragchecker.json`) goes into `ragchecker_meta`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ragstone
from benchmarks.cases import agreement
from benchmarks.data_folder import data_folder
from benchmarks.results import Result, markdown
from ragstone.formats import read_dataset
from ragstone.stats.correlation import Scored, correlate_at
from ragstone.stress.beds import Setting
from ragstone.stress.run import prepare

NOT_HERE = "data not here"


@dataclass(frozen=True)
class Figure(Result):
    """A published figure and ours; both as texts, for lists of numbers too."""

    system: str = ""
    published: str = ""
    ours: str = ""
    # Why ours differs on purpose.
    differs: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether ours is the published figure in all its digits."""
        try:
            half = 0.51 * 10.0 ** -len(self.published.partition(".")[2])
            return abs(float(self.ours) - float(self.published)) <= half
        except ValueError:
            return self.ours == self.published

    @property
    def missed(self) -> bool:
        """Whether a figure was computed that is neither equal nor different on purpose."""
        return self.ours != NOT_HERE and not self.differs and not self.is_equal

    def cells(self) -> list[str]:
        """The line of the table."""
        told = (
            "" if self.ours == NOT_HERE else "yes" if self.is_equal else f"no: {self.differs}" if self.differs else "NO"
        )
        return [self.system, self.name, self.published, _shown(self.ours, self.published), told]


class Part(NamedTuple):
    """Figures of one system from one folder of data, if it needs any: their published values, and the function that measures ours."""

    system: str
    folder: str
    published: Mapping[str, str]
    measure: Callable[[Path], Mapping[str, float | str]]
    differs: Mapping[str, str] = {}


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """Every published figure that can be reproduced, with ours where the data is there."""
    return [figure for part in PARTS for figure in figures_of(part)]


def table(figures: Iterable[Result]) -> str:
    """System, figure, published, ours, equal."""
    return markdown([["system", "figure", "published", "ours", "equal?"], *(each.cells() for each in figures)], (2, 3))


def figures_of(part: Part) -> list[Figure]:
    """The figures of a part."""
    folder = data_folder() / part.folder
    ours = part.measure(folder) if not part.folder or folder.is_dir() else {}
    return [
        Figure(
            name,
            math.nan,
            "agreement",
            binding=True,
            system=part.system,
            published=value,
            ours=str(ours.get(name, NOT_HERE)),
            differs=part.differs.get(name, ""),
        )
        for name, value in part.published.items()
    ]


def _shown(ours: str, published: str) -> str:
    """Ours with one digit more than the published figure."""
    try:
        digits = len(published.partition(".")[2])
        return f"{float(ours):.{digits + 1 if digits else 0}f}"
    except ValueError:
        return ours


def _means(run: Any, names: Mapping[str, str], scale: float = 1.0) -> dict[str, float | str]:
    """The means of a run under the published names."""
    summary = run.summary()
    return {theirs: summary[ours].mean * scale for theirs, ours in names.items()}


TREC_MEASURES = {
    "map": "map",
    "recip_rank": "mrr",
    "P_5": "precision@5",
    "ndcg": "ndcg",
    "ndcg_cut_10": "ndcg@10",
    "Rprec": "r_precision",
    "bpref": "bpref",
    "recall_100": "recall@100",
    "success_1": "hit@1",
}


def _trec(folder: Path) -> Mapping[str, float | str]:
    files = [str(folder / "qrels.test"), str(folder / "results.test")]
    return _means(ragstone.evaluate(files, list(TREC_MEASURES.values())), TREC_MEASURES)


RAGCHECKER = {
    "precision": "76.4",
    "recall": "62.5",
    "f1": "68.3",
    "claim_recall": "61.4",
    "context_precision": "87.5",
    "context_utilization": "87.5",
    "noise_sensitivity_in_relevant": "19.1",
    "noise_sensitivity_in_irrelevant": "0.0",
    "hallucination": "4.5",
    "self_knowledge": "27.3",
    "faithfulness": "68.2",
}


def _ragchecker(folder: Path) -> Mapping[str, float | str]:
    found = ragstone.evaluate(str(folder / "checking_outputs.json"), "ragchecker")
    return _means(found, {name: f"ragchecker.{name}" for name in RAGCHECKER}, scale=100)


def _ragchecker_meta(folder: Path) -> Mapping[str, float | str]:
    """Differences of RAGChecker's scores of two answers against what people preferred, two labels per pair."""
    people = json.loads((folder / "human_labeled_data.json").read_text(encoding="utf-8"))
    scores = json.loads((folder / "baseline_ragchecker.json").read_text(encoding="utf-8"))
    by_pair = {pair["instance_id"]: pair for pair in scores}
    found: dict[str, float | str] = {}
    for aspect in ("correctness", "completeness", "overall"):
        label = f"{aspect}_label"
        gains = [_gain(by_pair[row["instance_id"]], label) for row in people]
        pairs = np.array([row["instance_id"] for row in people])
        rows = Scored(np.array(gains), np.array([float(row[label]) for row in people]), pairs, np.zeros(len(people)))
        for coefficient in ("pearson", "spearman"):
            value = correlate_at("dataset", rows, coefficient, resamples=1).value
            found[f"{aspect}, {coefficient}"] = 100 * (value or 0.0)
    return found


def _gain(pair: dict[str, Any], label: str) -> float:
    """Rounded, so that equal differences are ties."""
    first, second = (float(pair[side]["ragchecker"][label]) for side in ("model1", "model2"))
    return round(second - first, 9)


UNITXT = {
    "context_correctness.mrr": ("rag_context_correctness", "context_correctness.mrr", "unitxt.context_correctness"),
    "context_correctness.map": ("rag_context_correctness", "context_correctness.map", "unitxt.context_correctness.map"),
    "answer_correctness.token_recall": ("rag_answer_correctness", "token_recall", "unitxt.answer_correctness"),
    "faithfulness.token_k_precision": ("rag_faithfulness", "token_k_precision", "unitxt.faithfulness"),
}
MRR, MRR_ZEROS = "mrr", "mrr, skipped rows counted as 0"


def _unitxt(folder: Path) -> Mapping[str, float | str]:
    cases = json.loads((folder / "expected_cases.json").read_text(encoding="utf-8"))
    found: dict[str, float | str] = {}
    for name, (family, ending, metric) in UNITXT.items():
        case = next(case for case in cases[family] if case["metric"]["kwargs"]["metric"].endswith(ending))
        rows = [_unitxt_row(row) for row in case["task_data"]]
        (line,) = ragstone.evaluate(rows, [metric]).summary()
        found[name] = line.mean or 0.0
    (ranks,) = _scores_of_ids(cases["mrr"][0], "mrr")
    known = [value for value in ranks if value is not None]
    squad = cases["squad"][0]
    rows = [{"answer": a, "references": r} for a, r in zip(squad["predictions"], squad["references"], strict=True)]
    return {
        **found,
        **_means(ragstone.evaluate(rows, "squad"), {"squad f1": "squad.f1", "squad exact_match": "squad.exact_match"}),
        MRR_ZEROS: sum(known) / len(ranks),
        MRR: sum(known) / len(known),
    }


def _scores_of_ids(case: Mapping[str, Any], *metrics: str) -> list[list[float | None]]:
    retrieved = [list(map(str, ids)) for ids in case["predictions"]]
    relevance = [{str(name): 1.0 for name in relevant} for (relevant,) in case["references"]]
    return list(ragstone.score_rankings(retrieved, relevance, list(metrics)).values())


def _unitxt_row(row: Mapping[str, Any]) -> dict[str, Any]:
    names = row.get("context_ids", [])
    contexts = row.get("contexts") or [{"id": str(name)} for name in names]
    relevance = [str(name) for name in row.get("ground_truths_context_ids", [])]
    told = {
        "answer": row.get("answer"),
        "references": row.get("ground_truths"),
        "contexts": contexts,
        "relevance": relevance,
    }
    return {"question": "?", **{name: value for name, value in told.items() if value}}


DIAL_NAMES = {"recall": "fact_recall", "precision": "fact_precision", "f1": "fact_f1", "mrr": "fact_mrr_mean"}


def _dial(folder: Path) -> Mapping[str, float | str]:
    """The rows of its tests and the means of its example."""
    tests = _dial_run(folder, "answers.parquet")
    rows = {
        name: [cell["value"] for cell in tests.scores.to_pylist() if cell["metric"] == ours]
        for name, ours in DIAL_NAMES.items()
    }
    ranks = [
        [-1 if rank is None else rank - 1 for rank in row] for row in tests.evidence("fact_ranks")["value"].to_pylist()
    ]
    example = _means(_dial_run(folder / "example_parquets", "answer.parquet"), DIAL_NAMES)
    return {
        **{f"tests: {name}": str([int(value * 1e6) / 1e6 for value in values]) for name, values in rows.items()},
        "tests: facts_ranks": str(ranks),
        **{f"example: {name}": value for name, value in example.items()},
    }


def _dial_run(folder: Path, answers: str) -> Any:
    return ragstone.evaluate([str(folder / "ground_truth.parquet"), str(folder / answers)], "dial")


def _dial_slide(_: Path) -> Mapping[str, float | str]:
    """Two chunks with three facts; no data is needed."""
    facts = ["fact one", "fact two", "fact three"]
    row = {"question": "?", "contexts": ["Here are fact one and fact two.", "This is fact three."], "facts": facts}
    found = ragstone.evaluate([row], "dial")
    names = {"context_relevance": "chunk_relevance", "facts_ranks": "fact_ranks"}
    return {theirs: str(found.evidence(ours)["value"].to_pylist()[0]) for theirs, ours in names.items()}


def rgb_passages(row: Mapping[str, Any], passages: int, rate: float) -> set[str]:
    """RGB's mixture for noise robustness, one case after the other: `processdata` of its evalue.py."""
    negatives, positives = row["negative"], row["positive"]
    noise = math.ceil(passages * rate - 1e-9)
    good = passages - noise
    if good > len(positives):
        good = len(positives)
        noise = passages - good
    elif noise > len(negatives):
        noise = len(negatives)
        good = passages - noise
    return set(positives[:good]) | set(negatives[:noise])


def _rgb(folder: Path) -> Mapping[str, float | str]:
    same = 0
    for name in ("en_fact.json", "zh_fact.json"):
        text = (folder / name).read_text(encoding="utf-8")
        rows = {str(row["id"]): row for row in map(json.loads, filter(str.strip, text.splitlines()))}
        setting = Setting(rates=(0.0, 0.2, 0.4, 0.6, 0.8), beds=("noise",), keep_contaminated=True)
        for sample in prepare(list(read_dataset(str(folder / name))), setting).rows:
            wanted = rgb_passages(rows[sample.metadata["question_id"]], 5, sample.metadata["requested_rate"])
            same += wanted == {chunk.text for chunk in sample.contexts or []}
    return {"rows with its passages, rates 0 to 0.8": same}


def _of(measure: Callable[[Path], Iterable[Result]]) -> Callable[[Path], Mapping[str, float | str]]:
    """The figures of the benchmark of agreement, without the name of the data set."""
    return lambda folder: {each.name.partition(": ")[2]: each.reached for each in measure(folder)}


PARTS: Sequence[Part] = (
    Part(
        "trec_eval",
        "trec_eval",
        {
            "map": "0.1785",
            "recip_rank": "0.4064",
            "P_5": "0.2667",
            "ndcg": "0.4021",
            "ndcg_cut_10": "0.3016",
            "Rprec": "0.2174",
            "bpref": "0.1981",
            "recall_100": "0.4980",
            "success_1": "0.3333",
        },
        _trec,
    ),
    Part("RAGChecker, example", "ragchecker_example", RAGCHECKER, _ragchecker),
    Part(
        "RAGChecker, meta-evaluation",
        "ragchecker_meta",
        # As its meta_eval.py computes them on this data.
        {
            "correctness, pearson": "49.66",
            "correctness, spearman": "46.95",
            "completeness, pearson": "60.67",
            "completeness, spearman": "58.11",
            "overall, pearson": "61.93",
            "overall, spearman": "60.90",
        },
        _ragchecker_meta,
        dict.fromkeys(("correctness, spearman", "completeness, spearman"), "rounding errors split ties in its script"),
    ),
    Part(
        "unitxt",
        "unitxt",
        {
            "context_correctness.mrr": "0.75",
            "context_correctness.map": "0.67",
            "answer_correctness.token_recall": "0.42",
            "faithfulness.token_k_precision": "0.67",
            "squad f1": "0.56",
            "squad exact_match": "0.33",
            MRR_ZEROS: "0.27",
            MRR: "0.27",
        },
        _unitxt,
        {MRR: "rows without a relevant chunk are skipped"},
    ),
    Part(
        "DIAL rag-eval",
        "dial",
        {
            "tests: recall": "[0.5, 1.0, 0.0, 0.0, 0.0]",
            "tests: precision": "[0.071428, 0.076923, 0.0, 0.0, 0.0]",
            "tests: f1": "[0.125, 0.142857, 0.0, 0.0, 0.0]",
            "tests: mrr": "[0.125, 0.125, 0.0, 0.0, 0.0]",
            "tests: facts_ranks": "[[-1, 3], [7], [-1, -1], [-1], [-1]]",
            "example: recall": "0.5",
            "example: precision": "0.333333",
            "example: f1": "0.388889",
            "example: mrr": "0.416667",
        },
        _dial,
    ),
    Part("DIAL, slides", "", {"context_relevance": "[2, 1]", "facts_ranks": "[1, 1, 2]"}, _dial_slide),
    Part("RGB", "rgb", {"rows with its passages, rates 0 to 0.8": "1000"}, _rgb),
    Part(
        "XSum (Maynez et al. 2020)",
        "xsum",
        {
            f"{name}, {aspect}": f"{figures[place]:.3f}"
            for place, aspect in enumerate(("faithful", "factual"))
            for name, figures in agreement.XSUM.items()
        },
        _of(agreement.xsum),
    ),
    Part(
        "Topical-Chat (UniEval)",
        "unieval",
        {
            f"{aspect}, {coefficient}": f"{figure:.3f}"
            for aspect, figures in agreement.TOPICAL_CHAT.items()
            for coefficient, figure in zip(("pearson", "spearman", "kendall"), figures, strict=True)
        },
        _of(agreement.topical_chat),
    ),
)
