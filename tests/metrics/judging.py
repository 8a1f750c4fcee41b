"""All retrieval metrics of one row in the plainest words, with the definitions of trec_eval."""

import math

from ragstone.data.types import Sample
from tests.metrics.scoring import chunks


def ranked(ids, relevant):
    """A sample in which some ids are relevant."""
    return Sample("1", contexts=chunks(ids), relevance=dict.fromkeys(relevant, 1.0))


def plain(row: Sample, rel: float | None = None) -> dict[str, float | None]:
    """Every spelling in METRICS; None where nothing is relevant."""
    retrieved = list(dict.fromkeys(chunk.id for chunk in row.contexts))
    grades = [row.relevance.get(name, -1) for name in retrieved]
    gains = [max(grade, 0) for grade in grades]
    hits = [gain > 0 and (rel is None or gain >= rel) for gain in gains]
    ideal = sorted((grade for grade in row.relevance.values() if grade > 0), reverse=True)
    wanted = sum(grade > 0 and (rel is None or grade >= rel) for grade in row.relevance.values())
    refused = sum(grade >= 0 for grade in row.relevance.values()) - wanted

    def share(part, whole):
        return part / whole if whole else 0.0

    def precision(k=None, over=None):
        return share(sum(hits[:k]), over or len(hits[:k]))

    def recall(k=None):
        return share(sum(hits[:k]), wanted)

    def f1(k, over=None):
        return share(2 * precision(k, over) * recall(k), precision(k, over) + recall(k))

    def mrr(k=None):
        return next((1 / (at + 1) for at, hit in enumerate(hits[:k]) if hit), 0.0)

    def average_precision(k, whole):
        return share(sum(precision(at + 1) for at, hit in enumerate(hits[:k]) if hit), whole)

    def ndcg(worth, k=None):
        dcg, best = (
            sum(worth(gain) / math.log2(at + 2) for at, gain in enumerate(listed[:k])) for listed in (gains, ideal)
        )
        return dcg / best if ideal else None

    def rbp(p, k=None):
        return (1 - p) * sum(p**at for at, hit in enumerate(hits[:k]) if hit)

    def err(k=None, most=4):
        value, reached = 0.0, 1.0
        for at, gain in enumerate(gains[:k]):
            leaves = (2 ** min(gain, most) - 1) / 2**most
            value += reached * leaves / (at + 1)
            reached *= 1 - leaves
        return value

    def bpref():
        total, above = 0.0, 0
        for grade, hit in zip(grades, hits, strict=True):
            if hit:
                total += 1 - share(min(above, wanted), min(refused, wanted))
            elif grade >= 0:
                above += 1
        return share(total, wanted)

    def unless_nothing(value):
        return value if wanted else None

    own = "" if rel is None else f"rel={rel}"

    def spell(name, *settings, k=None):
        inside = ", ".join(filter(None, [*settings, own]))
        return name + (f"({inside})" if inside else "") + (f"@{k}" if k else "")

    found = {
        spell("precision"): precision(),
        spell("precision", k=3): precision(3, 3),
        spell("precision", k=9): precision(9, 9),
        spell("precision", "over=retrieved", k=3): precision(3),
        spell("recall"): unless_nothing(recall()),
        spell("recall", k=2): unless_nothing(recall(2)),
        spell("f1"): unless_nothing(f1(None)),
        spell("f1", k=3): unless_nothing(f1(3, 3)),
        spell("f1", "over=retrieved", k=3): unless_nothing(f1(3)),
        spell("hit"): unless_nothing(float(any(hits))),
        spell("hit", k=2): unless_nothing(float(any(hits[:2]))),
        spell("r_precision"): unless_nothing(share(sum(hits[:wanted]), wanted)),
        spell("mrr"): mrr(),
        spell("mrr", k=2): mrr(2),
        spell("map"): unless_nothing(average_precision(None, wanted)),
        spell("map", k=3): unless_nothing(average_precision(3, wanted)),
        spell("map", "over=retrieved"): unless_nothing(average_precision(None, sum(hits))),
        spell("map", "over=retrieved", k=3): unless_nothing(average_precision(3, sum(hits[:3]))),
        spell("rbp"): rbp(0.8),
        spell("rbp", "p=0.5", k=3): rbp(0.5, 3),
        spell("bpref"): unless_nothing(bpref()),
    }
    graded = {
        "ndcg": ndcg(lambda gain: gain),
        "ndcg@3": ndcg(lambda gain: gain, 3),
        "ndcg(gain=exponential)": ndcg(lambda gain: 2**gain - 1),
        "ndcg(gain=exponential)@3": ndcg(lambda gain: 2**gain - 1, 3),
        "err": err(),
        "err@3": err(3),
        "err(max_grade=2.0)": err(most=2),
    }
    return {**found, **(graded if rel is None else {})}


METRICS = list(plain(ranked("a", "a")))
METRICS_FROM_2 = list(plain(ranked("a", "a"), 2.0))
