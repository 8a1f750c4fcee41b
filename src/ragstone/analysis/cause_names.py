"""The causes of failures, in the order of the pipeline, and the findings that name them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Literal

SystemPart = Literal["retriever", "generator"]
Status = Literal["wrong", "look", "fine", "no judgement"]
Kind = Literal["reference claim", "answer claim", "fact", "answer", "chunks"]


@dataclass(frozen=True)
class Cause:
    """A cause: the responsible part of the system, if any, and its meaning."""

    name: str
    part: SystemPart | None
    meaning: str

    @property
    def fails(self) -> bool:
        """Whether it is a failure, or only information."""
        return self.part is not None


NOTHING = Cause("nothing retrieved", "retriever", "the retriever returned no chunk at all")
LOST = Cause(
    "lost fact", "retriever", "the document contains it, but the parser or splitter left it out of every chunk"
)
SPLIT = Cause("split fact", "retriever", "the splitter cut it in two: no single chunk contains all of it")
MISSING = Cause("missing chunk", "retriever", "no retrieved chunk contains it")
NEVER_SEARCHED = Cause("never searched for", "retriever", "no query of the agent asks for it")
MISSED = Cause("searched and missed", "retriever", "a query of the agent asks for it, but no step retrieved it")
LOW = Cause("ranked too low", "retriever", "its chunk is ranked below all chunks that the answer uses")
REFUSED = Cause("wrongly refused", "generator", "the answer declines although a chunk contains it")
NO_ANSWER = Cause("no answer", "generator", "the answer is empty")
NOISE = Cause("wrong passage used", "generator", "the answer follows a chunk that does not say what the reference says")
MISREAD = Cause("misread", "generator", "the answer contradicts the chunk that contains it")
IGNORED = Cause("ignored", "generator", "a chunk contains it, but the answer leaves it out")
HALLUCINATED = Cause("hallucinated", "generator", "the answer states it, but neither the reference nor any chunk does")
WRONG = Cause("wrong answer", "generator", "the answer does not seem to say what the reference says")
# The same cause for a row without a finding that people labelled.
LABELLED = replace(WRONG, meaning="a person labelled it wrong")
OWN = Cause("right, but not from the chunks", None, "the answer is right, but no chunk supports it")
EXTRA = Cause("beyond the reference", None, "a chunk supports it, but the reference does not mention it")
UNSUPPORTED = Cause("unsupported", "generator", "no chunk supports it, and it was not checked against a reference")

CAUSES: dict[str, Cause] = {
    cause.name: cause
    for cause in (
        NOTHING,
        LOST,
        SPLIT,
        NEVER_SEARCHED,
        MISSED,
        MISSING,
        LOW,
        REFUSED,
        NO_ANSWER,
        NOISE,
        MISREAD,
        # Before "ignored": an answer with a wrong value leaves out the right one.
        HALLUCINATED,
        IGNORED,
        UNSUPPORTED,
        WRONG,
        OWN,
        EXTRA,
    )
}
_ORDER = list(CAUSES)
# Names of earlier versions, in links and in scripts.
OLD_NAMES = {"own knowledge": OWN.name, "contradicted by noise": NOISE.name, "not asked for": EXTRA.name}
# Facts about a whole sample: no judge is asked, and they come before all other causes.
CERTAIN = (NO_ANSWER, NOTHING)
# Advice by cause that no metric gives.
CAUSE_ADVICE = {
    NOTHING.name: "Look for errors and empty results of the retriever: filters, timeouts, an index without these documents.",
    LOST.name: "Compare the parser's text with the documents: tables, lists and footnotes are lost most often.",
    SPLIT.name: "Make chunks larger, let them overlap, or cut at paragraphs and not within them.",
    NEVER_SEARCHED.name: "Let the agent plan one search per needed fact before it starts, or allow it more steps.",
    LOW.name: "Rerank the candidates, or put the best chunks where the generator looks first.",
    REFUSED.name: "Soften the instruction to decline: let the generator answer what the chunks support.",
    NO_ANSWER.name: "Look for errors and cut-off replies of the generator: it returns empty answers.",
    MISREAD.name: "Let the generator quote the sentence that it answers from, or use a stronger one.",
}


@dataclass(frozen=True)
class Finding:
    """The cause for one claim or fact, and the ranks (from 1) of the chunks that show it."""

    cause: Cause
    kind: Kind
    number: int
    text: str
    chunks: tuple[int, ...] = ()
    why: str = ""
    # How probable it is by the local judge, if the row is wrong; None for facts, language models and people.
    probability: float | None = None

    @property
    def about(self) -> str:
        """The claim or fact, `answer claim 2`, or the answer or the chunks as a whole."""
        return self.kind if self.kind in ("answer", "chunks") else f"{self.kind} {self.number}"

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
            "probability": self.probability,
        }


@cache
def _bare(cause: str, kind: Kind, probability: float | None) -> Finding:
    return Finding(CAUSES[cause], kind, 0, "", probability=probability)


@dataclass(frozen=True)
class Outcome:
    """All findings about a sample, or the reason why there are none."""

    sample_id: str
    findings: tuple[Finding, ...] = ()
    undecided: str = ""
    seen_by: Literal["claims", "facts", ""] = ""
    # Counts of expected claims: stated, retrieved but not stated, not retrieved.
    tally: Mapping[str, int] | None = None
    # Whether the answer seems correct; None if unknown, or if a needed chunk is missing.
    seems_right: bool | None = None
    # What decided that; "nothing" if it is unknown, empty if there is nothing to decide.
    right_by: Literal["words", "judge", "nothing", ""] = ""
    # Kinds of evidence that the sample should have and lacks; without a failure, it was not fully examined.
    lacking: tuple[str, ...] = ()
    # The probability that the row is wrong; None if nothing was measured that shows it.
    wrong: float | None = None
    # `fine` rows have no main cause: what was found in them is not probable enough.
    status: Status = "no judgement"
    # Why a row needs a look that has no cause.
    doubt: str = ""
    # That probability without the labels of people.
    judged_wrong: float | None = None
    # The people whose labels decided the status.
    labelled_by: tuple[str, ...] = ()

    def without_texts(self) -> Outcome:
        """A small copy for counting, without the texts of the findings."""
        bare = (_bare(finding.cause.name, finding.kind, finding.probability) for finding in self.findings)
        return replace(self, findings=tuple(bare))

    def probability(self, cause: str) -> float | None:
        """The probability of a cause: that of its most probable finding."""
        known = [one.probability for one in self.findings if one.cause.name == cause and one.probability is not None]
        return max(known, default=None)

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that are failures."""
        return tuple(finding for finding in self.findings if finding.cause.fails)

    @property
    def shown(self) -> tuple[Finding, ...]:
        """The findings that people see: what was found in a row that is fine is probably no failure."""
        return tuple(one for one in self.findings if self.status != "fine" or not one.cause.fails)

    @cached_property
    def cause(self) -> Cause | None:
        """The main cause; None for a row that is fine. A row that seems wrong without a reason has a wrong answer."""
        if self.status == "fine":
            return None
        unexplained = LABELLED if self.labelled_by else WRONG
        return main_cause(self.failures) or (unexplained if self.status == "wrong" else None)


def main_cause(failures: Sequence[Finding]) -> Cause | None:
    """The most probable cause, or the most frequent one; ties go to the earliest in the pipeline: later parts cannot fix it.

    A wrong answer claim and the reference claim that it contradicts count once. An empty answer, an empty retrieval and a
    refusal always win: each is one fact about the whole sample.
    """
    causes = {finding.cause.name for finding in failures}
    if len(causes) <= 1:
        return failures[0].cause if failures else None
    for whole in (*CERTAIN, REFUSED):
        if whole.name in causes:
            return whole
    if all(finding.probability is not None for finding in failures):
        return max(failures, key=lambda one: one.probability or 0.0).cause
    wanted = Counter(finding.cause.name for finding in failures if finding.kind != "answer claim")
    said = Counter(finding.cause.name for finding in failures if finding.kind == "answer claim")
    counts = wanted | said
    return CAUSES[min(counts, key=lambda name: (-counts[name], _ORDER.index(name)))]
