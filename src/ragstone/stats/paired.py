"""Classic tests of paired rows, and how large a difference is. Differences are after minus before; nan is no pair."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ragstone.stats.intervals import Interval


class Tally(NamedTuple):
    """In how many pairs the later value is higher, equal, lower."""

    higher: int
    equal: int
    lower: int


def tally(differences: np.ndarray) -> Tally:
    """Count the pairs."""
    found = _present(differences)
    return Tally(int((found > 0).sum()), int((found == 0).sum()), int((found < 0).sum()))


def sign_test(differences: np.ndarray) -> float:
    """The exact two-sided sign test; pairs without difference say nothing."""
    counts = tally(differences)
    return _even_odds(counts.higher, counts.lower)


def mcnemar_test(before: np.ndarray, after: np.ndarray) -> float:
    """McNemar's exact test for metrics that are 0 or 1: whether as many rows were mended as broken."""
    both = ~(np.isnan(before) | np.isnan(after))
    first, second = before[both], after[both]
    if not (np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all()):
        raise ValueError("McNemar's test is for values that are 0 or 1")
    return _even_odds(int((second > first).sum()), int((second < first).sum()))


def share_difference_interval(before: np.ndarray, after: np.ndarray, level: float = 0.95) -> Interval | None:
    """The interval of the difference of paired shares (values 0 or 1): Bonett and Price's, which few changed rows do not fool."""
    both = ~(np.isnan(before) | np.isnan(after))
    counts = tally(after[both] - before[both])
    pairs = sum(counts)
    if pairs < 2:
        return None
    up, down = ((count + 1) / (pairs + 2) for count in (counts.higher, counts.lower))
    reach = NormalDist().inv_cdf((1 + level) / 2) * ((up + down - (up - down) ** 2) / (pairs + 2)) ** 0.5
    return Interval(max(-1.0, up - down - reach), min(1.0, up - down + reach))


def wilcoxon_test(differences: np.ndarray) -> float:
    """Wilcoxon's signed-rank test; 1 where no pair differs."""
    from scipy import stats  # noqa: PLC0415  (takes longer to load than most runs; not everybody needs it)

    found = _present(differences)
    changed = found[found != 0]
    return float(stats.wilcoxon(changed).pvalue) if len(changed) else 1.0


def standardised_difference(differences: np.ndarray) -> float | None:
    """Cohen's d_z: the mean difference in standard deviations of the differences; None where they do not vary."""
    found = _present(differences)
    if len(found) < 2 or np.ptp(found) == 0:
        return None
    return float(found.mean() / found.std(ddof=1))


def superiority(differences: np.ndarray) -> float | None:
    """The chance that a row's later value is the higher one, ties counted half."""
    counts = tally(differences)
    pairs = sum(counts)
    return (counts.higher + counts.equal / 2) / pairs if pairs else None


def _even_odds(up: int, down: int) -> float:
    """How likely a split as uneven as this is if up and down are equally likely."""
    from scipy import special  # noqa: PLC0415

    return float(min(1.0, 2 * special.bdtr(min(up, down), up + down, 0.5))) if up + down else 1.0


def _present(values: np.ndarray) -> np.ndarray:
    found: np.ndarray = values[~np.isnan(values)]
    return found
