"""Ragstone: the touchstone for retrieval-augmented generation.

Importing this package does no work: each name is loaded when it is first used. The two decorators for metrics of
your own are in `ragstone.registry`.
"""

import sys as _sys

from ragstone._version import __version__

# Type checkers know the name; importing it from typing would cost more than all the rest.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from ragstone.api.functions import compare, evaluate, gate, quote
    from ragstone.api.public_run import Run, open_run
    from ragstone.api.shown_results import Comparison, Diagnosis, Explanation, Gate, Missing, Quote, Worst
    from ragstone.compare.comparison import compare_runs as compare_runs
    from ragstone.data.dataset import Dataset
    from ragstone.data.summary import Summary
    from ragstone.data.types import Chunk, Fact, Sample, Score
    from ragstone.engine.in_memory import match_facts, score_lists, score_rankings, score_row
    from ragstone.engine.progress import Progress
    from ragstone.errors import RagstoneError, Skip
    from ragstone.formats import read_dataset, write_dataset

_HOMES = {
    "Chunk": "ragstone.data.types",
    "Comparison": "ragstone.api.shown_results",
    "Dataset": "ragstone.data.dataset",
    "Diagnosis": "ragstone.api.shown_results",
    "Explanation": "ragstone.api.shown_results",
    "Fact": "ragstone.data.types",
    "Gate": "ragstone.api.shown_results",
    "Missing": "ragstone.api.shown_results",
    "Progress": "ragstone.engine.progress",
    "Quote": "ragstone.api.shown_results",
    "RagstoneError": "ragstone.errors",
    "Run": "ragstone.api.public_run",
    "Sample": "ragstone.data.types",
    "Score": "ragstone.data.types",
    "Skip": "ragstone.errors",
    "Summary": "ragstone.data.summary",
    "Worst": "ragstone.api.shown_results",
    # An older name of `compare`, for code that uses it.
    "compare_runs": "ragstone.compare.comparison",
    "evaluate": "ragstone.api.functions",
    "gate": "ragstone.api.functions",
    "match_facts": "ragstone.engine.in_memory",
    "open_run": "ragstone.api.public_run",
    "quote": "ragstone.api.functions",
    "read_dataset": "ragstone.formats",
    "score_lists": "ragstone.engine.in_memory",
    "score_rankings": "ragstone.engine.in_memory",
    "score_row": "ragstone.engine.in_memory",
    "write_dataset": "ragstone.formats",
}

__all__ = [
    "Chunk",
    "Comparison",
    "Dataset",
    "Diagnosis",
    "Explanation",
    "Fact",
    "Gate",
    "Missing",
    "Progress",
    "Quote",
    "RagstoneError",
    "Run",
    "Sample",
    "Score",
    "Skip",
    "Summary",
    "Worst",
    "__version__",
    "compare",
    "evaluate",
    "gate",
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
    import importlib

    if name == "compare":
        return importlib.import_module("ragstone.compare")
    if name not in _HOMES:
        raise AttributeError(f"module 'ragstone' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


# `ragstone.compare` is a function, and also the package of that name: the package can be called, and its help is the
# function's.
class _CallableModule(type(_sys)):  # type: ignore[misc]
    def __call__(self, *positional: object, **keywords: object) -> object:
        from ragstone.api.functions import compare

        return compare(*positional, **keywords)  # type: ignore[arg-type]

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        from ragstone.api.functions import compare

        return compare.__doc__

    @property
    def __signature__(self) -> object:
        import inspect

        from ragstone.api.functions import compare

        return inspect.signature(compare)


class _Package(type(_sys)):  # type: ignore[misc]
    """The import system sets a package as an attribute of its parent: this one makes `compare` callable then."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "compare" and type(value) is type(_sys):
            value.__class__ = _CallableModule
        super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package
