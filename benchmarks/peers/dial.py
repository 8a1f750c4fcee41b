"""DIAL's rag-eval: its citation matcher and its metrics, without the frames around them."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

TITLE = "aidial-rag-eval"
_PACKAGE = "aidial_rag_eval"
_NAMES = {"fact_recall": "recall", "fact_precision": "precision", "fact_f1": "f1", "fact_mrr_mean": "mrr"}


def prepare(rows: list[dict[str, Any]]) -> list[tuple[list[str], list[str]]]:
    _pass_by_the_door()
    return [(row["facts"], [chunk["text"] for chunk in row["contexts"]]) for row in rows]


def work(prepared: list[tuple[list[str], list[str]]]) -> dict[str, list[float]]:
    match_facts = import_module(f"{_PACKAGE}.facts.citation").CitationMatcher.match_facts
    calculate = import_module(f"{_PACKAGE}.retrieval.metrics").calculate_metrics
    found = [calculate(match_facts(facts, texts)) for facts, texts in prepared]
    return {ours: [float(row[theirs]) for row in found] for ours, theirs in _NAMES.items()}


def _pass_by_the_door() -> None:
    """The package's own `__init__` loads langchain and spaCy, which facts do not need."""
    if _PACKAGE in sys.modules:
        return
    spec = find_spec(_PACKAGE)
    if spec is None:
        raise ModuleNotFoundError(_PACKAGE, name=_PACKAGE)
    package = ModuleType(_PACKAGE)
    package.__path__ = spec.submodule_search_locations or []
    sys.modules[_PACKAGE] = package
