"""Statistical terms of the pages in plain words."""

from __future__ import annotations

TERMS = {
    "p": "How often a difference at least this large would appear by chance if both runs were equally good. Below 0.05 counts as a difference.",
    "MDE": "Minimum detectable effect: the smallest true difference that this many pairs detect with 80 % power.",
    "95 % interval": "Values that fit the data: 95 of 100 such intervals contain the true value.",
    "p50, p95": "Half of the answers are at most as slow as p50, 95 of 100 at most as slow as p95.",
    "Somers' D": "How well scores order the answers as people do: 1 always, 0 as by chance, −1 always the wrong way round.",
    "Spearman": "How well two rankings agree: 1 the same order, 0 no relation, −1 the reverse order.",
    "Kendall": "How well two rankings agree, counted by pairs: 1 the same order, 0 no relation, −1 the reverse order.",
    "Pearson": "How well one number follows the other on a straight line: 1 perfectly, 0 not at all.",
    "kappa": "Agreement beyond chance: 1 always the same, 0 as by chance.",
}
