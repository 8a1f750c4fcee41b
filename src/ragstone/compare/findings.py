"""The words for what can go wrong in a sample, in the order of the pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

Part = Literal["retriever", "generator"]
Kind = Literal["reference claim", "answer claim", "fact", "answer"]


@dataclass(frozen=True)
class Cause:
    """A way to fail: the part of the system that is to blame, if any, and what it means."""

    name: str
    part: Part | None
    meaning: str

    @property
    def fails(self) -> bool:
        """Whether it is a fault at all, or only worth knowing."""
        return self.part is not None


LOST = Cause(
    "lost fact", "retriever", "it stands in the document, but the parser or splitter left it out of every chunk"
)
SPLIT = Cause("split fact", "retriever", "the splitter cut it in two: no single chunk has all of it")
MISSING = Cause("missing chunk", "retriever", "no retrieved chunk has it")
LOW = Cause("ranked too low", "retriever", "its chunk came late, below all chunks that the answer makes use of")
REFUSED = Cause("wrongly refused", "generator", "the answer declines although a chunk has it")
NOISE = Cause("contradicted by noise", "generator", "the answer follows a chunk that says something else")
MISREAD = Cause("misread", "generator", "the answer contradicts the chunk that has it")
IGNORED = Cause("ignored", "generator", "a chunk has it, the answer leaves it out")
HALLUCINATED = Cause("hallucinated", "generator", "the answer says it, and neither the reference nor any chunk does")
WRONG = Cause("wrong answer", "generator", "the answer seems wrong; a judge would tell why")
OWN = Cause("own knowledge", None, "the answer is right, and no chunk says so")
EXTRA = Cause("not asked for", None, "the answer adds what a chunk says and the reference does not mention")
UNSUPPORTED = Cause("unsupported", None, "no chunk says so; without a reference nobody knows whether it is right")

CAUSES: dict[str, Cause] = {
    cause.name: cause
    for cause in (
        LOST,
        SPLIT,
        MISSING,
        LOW,
        REFUSED,
        NOISE,
        MISREAD,
        IGNORED,
        HALLUCINATED,
        WRONG,
        OWN,
        EXTRA,
        UNSUPPORTED,
    )
}
_ORDER = list(CAUSES)


@dataclass(frozen=True)
class Finding:
    """What became of one claim or fact, and the chunks that show it, by rank from 1."""

    cause: Cause
    kind: Kind
    number: int
    text: str
    chunks: tuple[int, ...] = ()
    why: str = ""

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "cause": self.cause.name,
            "part": self.cause.part,
            "about": self.kind,
            "number": self.number,
            "text": self.text,
            "chunks": list(self.chunks),
            "why": self.why,
        }


@cache
def _bare(cause: str, kind: Kind) -> Finding:
    return Finding(CAUSES[cause], kind, 0, "")


@dataclass(frozen=True)
class Outcome:
    """Everything found about a sample: its failures, what is only worth knowing, or why nothing can be said."""

    sample_id: str
    findings: tuple[Finding, ...] = ()
    undecided: str = ""
    seen_by: Literal["claims", "facts", ""] = ""
    # How the claims or facts that should be said fared: said, not said though retrieved, not retrieved.
    tally: Mapping[str, int] | None = None
    # Whether the answer seems right; None where that is not known, or where a chunk that it needs is not there.
    seems_right: bool | None = None

    def without_texts(self) -> Outcome:
        """What counting needs and no more, small enough to keep a million of them."""
        return replace(self, findings=tuple(_bare(finding.cause.name, finding.kind) for finding in self.findings))

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that are faults."""
        return tuple(finding for finding in self.findings if finding.cause.fails)

    @property
    def cause(self) -> Cause | None:
        """The main cause."""
        return main_cause(self.failures)


def main_cause(failures: Sequence[Finding]) -> Cause | None:
    """The cause of most findings; among equals the first in the pipeline, because what is late cannot mend what is early.

    A wrong claim of the answer and the claim of the reference that it stands against count once. A refusal counts before
    all else: it is one decision about the whole answer.
    """
    if any(finding.cause is REFUSED for finding in failures):
        return REFUSED
    wanted = Counter(finding.cause.name for finding in failures if finding.kind != "answer claim")
    said = Counter(finding.cause.name for finding in failures if finding.kind == "answer claim")
    counts = wanted | said
    if not counts:
        return None
    return CAUSES[min(counts, key=lambda name: (-counts[name], _ORDER.index(name)))]
