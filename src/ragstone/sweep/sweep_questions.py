"""The questions of a sweep in the order in which they are asked, and how the system is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ragstone.data.types import Sample
from ragstone.engine.ask_system import SystemOptions
from ragstone.errors import UsageError
from ragstone.formats import read_dataset
from ragstone.storage.scores import label_conversations
from ragstone.sweep.plan import Setting, SweepPlan
from ragstone.tools.model_options import ModelOptions
from ragstone.truth.store import TruthStore, parse_reference


def read_questions(plan: SweepPlan, root: str) -> tuple[SweepPlan, list[Sample]]:
    """The questions of the plan with their ground truth, and the plan with the version of the ground truth."""
    if plan.truth is not None:
        version = TruthStore(root).read(*parse_reference(plan.truth))
        plan = replace(plan, truth=version.info.reference)
        questions = [case.as_sample() for case in version.cases[: plan.limit]]
    else:
        questions = list(read_dataset(plan.questions, plan.format, plan.columns, plan.limit))
    questions = [sample for sample in questions if sample.question]
    if not questions:
        raise UsageError("the data has no question")
    return plan, questions


def system_options(plan: SweepPlan, setting: Setting) -> SystemOptions:
    """How the system is called with one setting."""
    models = ModelOptions(**plan.models)
    return {
        "template": plan.template,
        "version": plan.version,
        "base_url": models.base_url,
        "concurrency": plan.concurrency,
        "timeout_s": models.timeout_s,
        "requests_per_minute": models.requests_per_minute,
        "tokens_per_minute": models.tokens_per_minute,
        "cache": plan.cache and models.cache,
        "parameters": setting.parameters,
    }


def shuffle_questions(plan: SweepPlan, questions: Sequence[Sample]) -> list[Sample]:
    """The questions in random order, whole conversations together; in their own order without halving."""
    if plan.halving is None:
        return list(questions)
    labels = label_questions(questions)
    units: dict[str, list[Sample]] = {}
    for position, sample in enumerate(questions):
        units.setdefault(str(position) if labels is None else labels[position], []).append(sample)
    groups = list(units.values())
    order = np.random.default_rng(plan.seed).permutation(len(groups))
    return [sample for number in order for sample in groups[number]]


def label_questions(questions: Sequence[Sample]) -> np.ndarray | None:
    """The conversation of each question; None if the data has no conversations."""
    if not any(sample.history for sample in questions):
        return None
    return label_conversations([sample.id for sample in questions], [sample.metadata for sample in questions])
