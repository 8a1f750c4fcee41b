"""What eRAG asks: each retrieved chunk alone, all of them together and, for blame, all but one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from ragstone.data.types import Chunk, Sample

Part = Literal["alone", "all", "without"]


class Listed(NamedTuple):
    """A question with its retrieved chunks, cut and named; those that nothing can be learned from are left out."""

    samples: list[Sample]
    # Reason to the ids of the questions.
    left_out: dict[str, list[str]]


def list_samples(samples: Sequence[Sample], k: int | None) -> Listed:
    """Samples with a question and chunks, the first k of these, each with an id of its own."""
    kept: list[Sample] = []
    left_out: dict[str, list[str]] = {}
    for sample in samples:
        reason = _why_not(sample)
        if reason:
            left_out.setdefault(reason, []).append(sample.id)
        else:
            kept.append(replace(sample, contexts=_named(sample.contexts or [], k)))
    return Listed(kept, left_out)


def _why_not(sample: Sample) -> str | None:
    if not (sample.question or "").strip():
        return "there is no question"
    if sample.contexts is None:
        return "its retrieved chunks are not known"
    return None if sample.contexts else "nothing was retrieved for it"


def _named(chunks: Sequence[Chunk], k: int | None) -> list[Chunk]:
    """A chunk without an id, or with that of an earlier one, gets its rank for a name."""
    seen: set[str] = set()
    named = []
    for rank, chunk in enumerate(chunks[:k], start=1):
        name = chunk.id if chunk.id is not None and chunk.id not in seen else f"#{rank}"
        seen.add(name)
        named.append(replace(chunk, id=name))
    return named


def make_pieces(samples: Sequence[Sample], blame: bool) -> list[Sample]:
    """The rows to be answered; which part each is stands in its metadata."""
    return [piece for sample in samples for piece in _pieces(sample, blame)]


def _pieces(sample: Sample, blame: bool) -> Iterator[Sample]:
    chunks = sample.contexts or []
    yield _piece(sample, "all", 0, chunks)
    for rank, chunk in enumerate(chunks, start=1):
        yield _piece(sample, "alone", rank, [chunk])
    if blame and len(chunks) > 1:
        for rank in range(1, len(chunks) + 1):
            yield _piece(sample, "without", rank, [*chunks[: rank - 1], *chunks[rank:]])


def _piece(sample: Sample, part: Part, rank: int, chunks: Sequence[Chunk]) -> Sample:
    metadata: dict[str, Any] = {**sample.metadata, "part": part, "question_id": sample.id}
    if rank:
        metadata |= {"rank": rank, "chunk_id": (sample.contexts or [])[rank - 1].id}
    return replace(
        sample,
        id=name_piece(sample.id, part, rank),
        answer=None,
        contexts=list(chunks),
        # What was relevant for the whole list says nothing about its parts.
        relevance=None,
        metadata=metadata,
    )


def name_piece(sample_id: str, part: Part, rank: int = 0) -> str:
    """The id of a piece."""
    return f"{sample_id}|{part}|{rank}" if rank else f"{sample_id}|{part}"
