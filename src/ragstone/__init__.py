"""Ragstone: the touchstone for retrieval-augmented generation.

Importing this package does no work: each name is loaded when it is first used.
"""

from ragstone._version import __version__

# Type checkers know the name; importing it from typing would cost more than all the rest.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from ragstone.analysis.comparison import compare_runs as compare_runs
    from ragstone.api.functions import collect, compare, evaluate, evaluate_async, gate, quote
    from ragstone.api.public_run import Run, open_run
    from ragstone.api.shown_results import Comparison, Diagnosis, Explanation, Gate, Missing, Quote, Worst
    from ragstone.data.dataset import Dataset
    from ragstone.data.share import Share
    from ragstone.data.summary import Summary
    from ragstone.data.types import Chunk, Fact, Sample, Score
    from ragstone.data.verdict import Verdict
    from ragstone.engine.in_memory import match_facts, score_lists, score_rankings, score_row
    from ragstone.engine.progress import Progress
    from ragstone.errors import RagstoneError, Skip
    from ragstone.formats import read_dataset, write_dataset
    from ragstone.registry import evidence, metric
    from ragstone.tools.judging_options import Judge

# The module of each name.
_HOMES = {
    name: module
    for module, names in {
        "ragstone.analysis.comparison": "compare_runs",  # an older name of `compare`, for code that uses it
        "ragstone.api.functions": "collect compare evaluate evaluate_async gate quote",
        "ragstone.api.public_run": "Run open_run",
        "ragstone.api.shown_results": "Comparison Diagnosis Explanation Gate Missing Quote Worst",
        "ragstone.data.dataset": "Dataset",
        "ragstone.data.share": "Share",
        "ragstone.data.summary": "Summary",
        "ragstone.data.types": "Chunk Fact Sample Score",
        "ragstone.data.verdict": "Verdict",
        "ragstone.engine.in_memory": "match_facts score_lists score_rankings score_row",
        "ragstone.tools.judging_options": "Judge",
        "ragstone.engine.progress": "Progress",
        "ragstone.errors": "RagstoneError Skip",
        "ragstone.formats": "read_dataset write_dataset",
        "ragstone.registry": "evidence metric",
    }.items()
    for name in names.split()
}

__all__ = [
    "Chunk",
    "Comparison",
    "Dataset",
    "Diagnosis",
    "Explanation",
    "Fact",
    "Gate",
    "Judge",
    "Missing",
    "Progress",
    "Quote",
    "RagstoneError",
    "Run",
    "Sample",
    "Score",
    "Share",
    "Skip",
    "Summary",
    "Verdict",
    "Worst",
    "__version__",
    "collect",
    "compare",
    "evaluate",
    "evaluate_async",
    "evidence",
    "gate",
    "match_facts",
    "metric",
    "open_run",
    "quote",
    "read_dataset",
    "score_lists",
    "score_rankings",
    "score_row",
    "write_dataset",
]


def __getattr__(name: str) -> object:
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module 'ragstone' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
