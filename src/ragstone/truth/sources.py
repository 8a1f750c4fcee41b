"""Data with contexts as cases whose passages are these contexts: what citations are taken from or held against."""

from __future__ import annotations

from dataclasses import replace

from ragstone.data.dataset import view_samples
from ragstone.data.types import Chunk, Sample
from ragstone.errors import UsageError
from ragstone.formats import Reader
from ragstone.truth.cases import Case
from ragstone.truth.exchange import case_from_sample


def read_sourced(reader: Reader) -> list[Case]:
    """The cases of a data set with what was retrieved for them as passages; an answer stands in for a reference."""
    samples = [sample for batch in reader.batches() for sample in view_samples(batch)]
    if not samples:
        raise UsageError(f"{reader.name} holds no samples")
    return [sourced_case(sample) for sample in samples]


def sourced_case(sample: Sample) -> Case:
    """One sample with its contexts as passages; where only an answer is known, it is a proposed reference (no refusal is)."""
    case = case_from_sample(sample)
    passages = sample.contexts or [Chunk(text) for text in sample.reference_contexts or ()]
    if case.references or not sample.answer or case.answerable is False:
        return replace(case, passages=passages)
    return replace(case, passages=passages, references=[sample.answer], standing="proposed")
