"""All retrieval metrics of one row in the plainest words, with the definitions of trec_eval."""

import math

from ragstone.data.types import Sample
from tests.metrics.scoring import chunks


def ranked(ids, relevant):
    """A sample in which some ids are relevant."""
    return Sample("1", contexts=chunks(ids), relevance=dict.fromkeys(relevant, 1.0))


def share(part, whole):
    return part / whole if whole else 0.0


class Judge:
    """A ranking and what is known about it."""

    def __init__(self, row: Sample, rel: float | None) -> None:
        retrieved = list(dict.fromkeys(chunk.id for chunk in row.contexts))
        judged = row.relevance.values()
        least = rel or 1e-300
        self.grades = [row.relevance.get(name, -1) for name in retrieved]
        self.gains = [max(grade, 0) for grade in self.grades]
        self.hits = [grade >= least for grade in self.grades]
        self.ideal = sorted((grade for grade in judged if grade > 0), reverse=True)
        self.wanted = sum(grade >= least for grade in judged)
        self.refused = sum(0 <= grade < least for grade in judged)

    def precision(self, k=None, over=None):
        return share(sum(self.hits[:k]), over or len(self.hits[:k]))

    def recall(self, k=None):
        return share(sum(self.hits[:k]), self.wanted)

    def f1(self, k, over=None):
        precision, recall = self.precision(k, over), self.recall(k)
        return share(2 * precision * recall, precision + recall)

    def mrr(self, k=None):
        return next((1 / (at + 1) for at, hit in enumerate(self.hits[:k]) if hit), 0.0)

    def average_precision(self, k, whole):
        return share(sum(self.precision(at + 1) for at, hit in enumerate(self.hits[:k]) if hit), whole)

    def ndcg(self, worth, k=None):
        dcg, best = (
            sum(worth(gain) / math.log2(at + 2) for at, gain in enumerate(listed[:k]))
            for listed in (self.gains, self.ideal)
        )
        return dcg / best if self.ideal else None

    def rbp(self, p, k=None):
        return (1 - p) * sum(p**at for at, hit in enumerate(self.hits[:k]) if hit)

    def err(self, k=None, most=4):
        value, reached = 0.0, 1.0
        for at, gain in enumerate(self.gains[:k]):
            leaves = (2 ** min(gain, most) - 1) / 2**most
            value += reached * leaves / (at + 1)
            reached *= 1 - leaves
        return value

    def bpref(self):
        total, above = 0.0, 0
        for grade, hit in zip(self.grades, self.hits, strict=True):
            if hit:
                total += 1 - share(min(above, self.wanted), min(self.refused, self.wanted))
            elif grade >= 0:
                above += 1
        return share(total, self.wanted)

    def unless_nothing_is_relevant(self):
        values = {
            "precision": self.precision(),
            "precision@3": self.precision(3, 3),
            "precision@9": self.precision(9, 9),
            "precision(over=retrieved)@3": self.precision(3),
            "mrr": self.mrr(),
            "mrr@2": self.mrr(2),
            "rbp": self.rbp(0.8),
            "rbp(p=0.5)@3": self.rbp(0.5, 3),
            "recall": self.recall(),
            "recall@2": self.recall(2),
            "f1": self.f1(None),
            "f1@3": self.f1(3, 3),
            "f1(over=retrieved)@3": self.f1(3),
            "complete": float(sum(self.hits) == self.wanted),
            "complete@2": float(sum(self.hits[:2]) == self.wanted),
            "hit": float(any(self.hits)),
            "hit@2": float(any(self.hits[:2])),
            "r_precision": share(sum(self.hits[: self.wanted]), self.wanted),
            "map": self.average_precision(None, self.wanted),
            "map@3": self.average_precision(3, self.wanted),
            "map(over=retrieved)": self.average_precision(None, sum(self.hits)),
            "map(over=retrieved)@3": self.average_precision(3, sum(self.hits[:3])),
            "bpref": self.bpref(),
        }
        return values if self.wanted else dict.fromkeys(values)

    def graded(self):
        """What looks at the grades themselves."""
        return {
            "ndcg": self.ndcg(lambda gain: gain),
            "ndcg@3": self.ndcg(lambda gain: gain, 3),
            "ndcg(gain=exponential)": self.ndcg(lambda gain: 2**gain - 1),
            "ndcg(gain=exponential)@3": self.ndcg(lambda gain: 2**gain - 1, 3),
            "err": self.err() if self.wanted else None,
            "err@3": self.err(3) if self.wanted else None,
            "err(max_grade=2.0)": self.err(most=2) if self.wanted else None,
        }


def plain(row: Sample, rel: float | None = None) -> dict[str, float | None]:
    """The metrics by their canonical strings; None where nothing is relevant."""
    judge = Judge(row, rel)
    values = judge.unless_nothing_is_relevant()
    if rel is None:
        return {**values, **judge.graded()}
    return {_with_setting(name, f"rel={rel}"): value for name, value in values.items()}


def _with_setting(name, setting):
    name, at, k = name.partition("@")
    return (name.replace(")", f", {setting})") if "(" in name else f"{name}({setting})") + at + k


METRICS = list(plain(ranked("a", "a")))
METRICS_FROM_2 = list(plain(ranked("a", "a"), 2.0))
