"""Results of a sweep as they come out of `summarise`, made by hand."""

from ragstone.analysis.leaderboard import Panel, Point
from ragstone.stats.intervals import Interval
from ragstone.sweep.effects import LevelEffect, ParameterEffect
from ragstone.sweep.results import Standing, SweepResults

HOSTILE = "<script>alert(1)</script>\u202eevil\x1b[31m"


def make_results(**changes):
    standings = (
        Standing(
            "B", "k=4", {"k": 4, "style": "a"}, "finished", 20, 1, 0.8, Interval(0.6, 0.9), 1, "a", 0.5, 0.002, True, run="r2"
        ),
        Standing("A", "k=2", {"k": 2, "style": "a"}, "finished", 20, 0, 0.7, Interval(0.5, 0.8), 1, "a", 0.6, 0.003, run="r1"),
        Standing(
            "C", HOSTILE, {"k": 1, "style": HOSTILE}, "stopped", 8, 0, 0.2,
            latency_s=0.1, cost_usd=0.001, undominated=True, beaten_by="B", rival=0.9, evidence=25.0, run="r3",
        ),
        Standing("D", "k=9", {"k": 9, "style": "a"}, "failed", reason=f"the index raised {HOSTILE}"),
    )  # fmt: skip
    levels = (LevelEffect(2, 2, 0.6), LevelEffect(4, 1, 0.8, 0.2, Interval(0.05, 0.35)))
    together = ParameterEffect("style", (LevelEffect("a", 3, None), LevelEffect("b", 1, None)), "they change together")
    points = tuple(Point(one.label, one.latency_s, 0.4, 0.7, one.mean, 0.5, 0.9) for one in standings[:2])
    values = {
        "name": "tickets",
        "id": "20261116-1",
        "objective": "token_f1",
        "better": "higher",
        "bounds": (0.0, 1.0),
        "questions": 20,
        "parameters": ("k", "style"),
        "standings": standings,
        "effects": (ParameterEffect("k", levels), together),
        "effect_questions": 8,
        "effects_are_sequential": True,
        "alpha": 0.05,
        "asked": 48,
        "spent_usd": 0.5,
        "remarks": ("a remark",),
        "panels": (Panel("system.latency", "seconds per answer", "token_f1", points),),
    }
    return SweepResults(**{**values, **changes})
