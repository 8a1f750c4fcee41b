"""Ragstone: the touchstone for retrieval-augmented generation.

Importing this package does no work: each name is loaded when it is first used. The two decorators for metrics of
your own are in `ragstone.registry`.
"""

from ragstone._version import __version__

# Type checkers know the name; importing it from typing would cost more than all the rest.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from ragstone.compare.comparison import compare_runs
    from ragstone.data.dataset import Dataset
    from ragstone.data.types import Chunk, Fact, Sample, Score
    from ragstone.engine.evaluate import evaluate
    from ragstone.engine.in_memory import match_facts, score_lists, score_rankings, score_row
    from ragstone.engine.quote import quote
    from ragstone.errors import RagstoneError, Skip
    from ragstone.formats import read_dataset, write_dataset
    from ragstone.storage.runs import Run, open_run

_HOMES = {
    "Chunk": "ragstone.data.types",
    "Dataset": "ragstone.data.dataset",
    "Fact": "ragstone.data.types",
    "RagstoneError": "ragstone.errors",
    "Run": "ragstone.storage.runs",
    "Sample": "ragstone.data.types",
    "Score": "ragstone.data.types",
    "Skip": "ragstone.errors",
    "compare_runs": "ragstone.compare.comparison",
    "evaluate": "ragstone.engine.evaluate",
    "match_facts": "ragstone.engine.in_memory",
    "open_run": "ragstone.storage.runs",
    "quote": "ragstone.engine.quote",
    "read_dataset": "ragstone.formats",
    "score_lists": "ragstone.engine.in_memory",
    "score_rankings": "ragstone.engine.in_memory",
    "score_row": "ragstone.engine.in_memory",
    "write_dataset": "ragstone.formats",
}

__all__ = [
    "Chunk",
    "Dataset",
    "Fact",
    "RagstoneError",
    "Run",
    "Sample",
    "Score",
    "Skip",
    "__version__",
    "compare_runs",
    "evaluate",
    "match_facts",
    "open_run",
    "quote",
    "read_dataset",
    "score_lists",
    "score_rankings",
    "score_row",
    "write_dataset",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'ragstone' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
