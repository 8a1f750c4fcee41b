"""The numbers by which a part of the system is judged, from which value on they are good, and what to do if they are not.

The advice is that of RAGChecker's tutorial in our words. All limits stand here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ragstone.compare.findings import LOST, LOW, MISREAD, REFUSED, SPLIT, Part
from ragstone.data.summary import SummaryRow

State = Literal["good", "bad", "seems good", "seems bad", ""]


@dataclass(frozen=True)
class Sign:
    """A metric that tells something about a part, with the limit from which on it is good."""

    metric: str
    part: Part
    limit: float
    advice: str = ""
    better: Literal["higher", "lower", "none"] = "higher"
    # Whether a bad value makes its part the one that limits quality, or is only worth some advice.
    decides: bool = True
    # Left out where one of these, which say the same and more, is there.
    unless: tuple[str, ...] = ()


_FIND_MORE = (
    "Retrieve more chunks, or use a better retriever: a larger embedding model, hybrid search, a reranker over more "
    "candidates. If you can, tune it on your own questions."
)
_FEWER = "Retrieve fewer chunks, or rerank and cut: most of what the generator reads is of no use to it."
_GROUND = "Tell the generator to use only what was retrieved, and to say so when the chunks do not hold the answer."
_USE = "Tell the generator to look for everything in the chunks that bears on the question, and to use it."
_NOISE = "Let the generator reason first: which chunks answer the question, which do not; then answer from those."

_CLAIMS, _FACTS = ("ragchecker.claim_recall",), ("ragchecker.claim_recall", "fact_recall")

# 0.8 is one miss in five; 0.1 is one wrong claim in ten. Where chunks are many, few of them can be of use.
SIGNS = (
    Sign("ragchecker.claim_recall", "retriever", 0.8, _FIND_MORE),
    Sign("ragas.context_recall", "retriever", 0.8, _FIND_MORE, unless=_CLAIMS),
    Sign("fact_recall", "retriever", 0.8, _FIND_MORE, unless=_CLAIMS),
    Sign("recall", "retriever", 0.8, _FIND_MORE, unless=(*_FACTS, "ragas.context_recall")),
    Sign("ragchecker.context_precision", "retriever", 0.3, _FEWER, decides=False),
    Sign("fact_precision", "retriever", 0.15, _FEWER, decides=False, unless=("ragchecker.context_precision",)),
    Sign("ragchecker.context_utilization", "generator", 0.8, _USE),
    Sign("ragchecker.faithfulness", "generator", 0.8, _GROUND),
    Sign("ragas.faithfulness", "generator", 0.8, _GROUND, unless=("ragchecker.faithfulness",)),
    Sign("ragchecker.hallucination", "generator", 0.1, _GROUND, better="lower"),
    Sign("ragchecker.noise_sensitivity_in_relevant", "generator", 0.1, _NOISE, better="lower"),
    Sign("ragchecker.noise_sensitivity_in_irrelevant", "generator", 0.1, _NOISE, better="lower"),
    Sign("ragchecker.self_knowledge", "generator", 0.0, better="none", decides=False),
)
# Not a metric of the run: counted from the causes where there is no judge.
RIGHT_WITH_FACTS = Sign("right answers, given the facts", "generator", 0.8, _USE)
# What a cause calls for, whatever the means are.
CAUSE_ADVICE = {
    LOST.name: "Compare the parser's text with the documents: tables, lists and footnotes are lost most often.",
    SPLIT.name: "Make chunks larger, let them overlap, or cut at paragraphs and not within them.",
    LOW.name: "Rerank the candidates, or put the best chunks where the generator looks first.",
    REFUSED.name: "Soften the instruction to decline: let the generator answer what the chunks do hold.",
    MISREAD.name: "Let the generator quote the sentence that it answers from, or use a stronger one.",
}


@dataclass(frozen=True)
class Reading:
    """A sign as a run shows it."""

    sign: Sign
    mean: float
    low: float | None
    high: float | None
    rows: int

    @property
    def state(self) -> State:
        """Good or bad if the whole interval is on one side of the limit; else only seems so; empty without direction."""
        if self.sign.better == "none":
            return ""
        good = self._is_good(self.mean)
        ends = [end for end in (self.low, self.high) if end is not None]
        sure = len(ends) == 2 and all(self._is_good(end) == good for end in ends)
        if sure:
            return "good" if good else "bad"
        return "seems good" if good else "seems bad"

    @property
    def rows_to_be_sure(self) -> int | None:
        """About how many rows would take the interval to one side of the limit; None where nobody can say."""
        if self.low is None or self.high is None or self.mean == self.sign.limit:
            return None
        reach = (self.high - self.low) / 2
        return max(self.rows + 1, round(self.rows * (reach / abs(self.mean - self.sign.limit)) ** 2))

    def _is_good(self, value: float) -> bool:
        return value >= self.sign.limit if self.sign.better == "higher" else value <= self.sign.limit

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "metric": self.sign.metric,
            "part": self.sign.part,
            "mean": self.mean,
            "ci_low": self.low,
            "ci_high": self.high,
            "rows": self.rows,
            "limit": None if self.sign.better == "none" else self.sign.limit,
            "better": self.sign.better,
            "state": self.state,
        }


def read_signs(rows: dict[str, SummaryRow]) -> list[Reading]:
    """The signs that a run has metrics for."""
    there = {name for name, row in rows.items() if row.mean is not None}
    return [
        Reading(sign, row.mean, row.ci_low, row.ci_high, row.n_ok)
        for sign in SIGNS
        if there.isdisjoint(sign.unless) and (row := rows.get(sign.metric)) and row.mean is not None
    ]
