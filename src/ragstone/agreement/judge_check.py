"""How good a judge is at each task of the exam, what a row costs, and which way of asking suits it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ragstone.agreement.judge_calibration import Calibrated
from ragstone.engine.execute import run_to_end
from ragstone.engine.quote import QuoteLine, sum_calls
from ragstone.engine.request import DEFAULT_CONCURRENCY
from ragstone.errors import StopRunError, UsageError
from ragstone.llm.base import LLMAccessError, LLMStoppedError
from ragstone.llm.budget import parse_budget
from ragstone.llm.wrappers import Call
from ragstone.tools.judge_exam import (
    AT_CHANCE,
    TOOL_OF,
    USABLE,
    VERDICTS,
    Answer,
    Mark,
    ask_items,
    find_patterns,
    load_items,
    mark,
    repaired,
)
from ragstone.tools.open_tools import Judging
from ragstone.tools.roles import choose
from ragstone.tools.verdict_choice import choose_verdicts

TOKENS, JSON, LOCAL = "tokens", "json", "local"
_ROWS = 100


class RowCost(NamedTuple):
    """Calls, cost and time of 100 rows of three claims and three chunks, one call at a time; None: replies came from the cache."""

    calls: float
    input_tokens: float
    output_tokens: float
    cost_usd: float | None
    seconds: float | None


@dataclass(frozen=True)
class Examined:
    """The exam in one way of asking. `why_not` says why the judge cannot be asked this way."""

    way: str
    marks: tuple[Mark, ...] = ()
    patterns: tuple[str, ...] = ()
    usable: int = 0
    asked: int = 0
    repaired: int = 0
    row_cost: RowCost | None = None
    total: QuoteLine | None = None
    why_not: str | None = None
    answers: tuple[Answer, ...] = ()

    @property
    def verdict(self) -> str:
        """At chance, weak or usable: by the verdicts on claims."""
        return next((one.verdict for one in self.marks if one.task == VERDICTS), AT_CHANCE)

    @property
    def right(self) -> float:
        """The share of right verdicts on claims."""
        return next((one.right / one.asked for one in self.marks if one.task == VERDICTS), 0.0)


@dataclass(frozen=True)
class JudgeCheck:
    """The exam of a judge in every way of asking that it allows."""

    judge: str
    signature: str
    ways: tuple[Examined, ...]
    # The way of asking to use.
    best: Examined
    calibrated: Calibrated | None = None

    @property
    def verdict(self) -> str:
        """At chance, weak or usable, with the better way of asking."""
        return self.best.verdict


def check_judge(
    judge: Any,
    options: Mapping[str, Any] | None = None,
    concurrency: int = DEFAULT_CONCURRENCY,
    note: Callable[[str], object] = lambda _: None,
    calibrate: bool = False,
) -> JudgeCheck:
    """Examine a judge with all items: as JSON, and by tokens if it gives their probabilities.

    With `calibrate`, later runs use what the exam shows about its probabilities and levels.
    """
    ways = []
    known = {**_with_one_budget(options), "calibration": False}
    for way in _ways(judge):
        note(f"asking {judge}" + ("" if way == LOCAL else f", {way}"))
        ways.append(_examine(judge, way, known, concurrency))
    done = [one for one in ways if not one.why_not]
    if not done:
        raise StopRunError(f"{judge} cannot be asked: {ways[0].why_not}")
    default = choose_verdicts("auto", judge, known.get("base_url"))
    preferred = JSON if default == "json" else TOKENS
    best = max(done, key=lambda one: (one.right, one.way == preferred))
    calibrated = _calibrate(judge, best, known, default) if calibrate and best.way != LOCAL else None
    return JudgeCheck(str(judge), _checker(judge, best.way, known).signature, tuple(ways), best, calibrated)


def _calibrate(judge: Any, best: Examined, options: dict[str, Any], default: str) -> Calibrated:
    """Calibrate the way of asking that is best, as it is named and as the default where that is the same."""
    named = [best.way, *(["auto"] if (default == "json") == (best.way == JSON) else [])]
    later = [partial(_checker, judge, way, {**options, "calibration": True}) for way in named]
    tokens = _checker(judge, TOKENS, options) if best.way == TOKENS else None
    return Calibrated.by_exam(best.answers, tokens, later)


def quote_check(
    judge: Any, options: Mapping[str, Any] | None = None, concurrency: int = DEFAULT_CONCURRENCY
) -> QuoteLine:
    """Calls, tokens and money of `check_judge`. No call is made."""
    calls: list[Call] = []
    for way in _ways(judge):
        run_to_end(_ask(_open(judge, way, dict(options or {}), concurrency, dry_run=True), way, calls))
    return sum_calls("the exam", [call for call in calls if not call.cached], concurrency)


def _with_one_budget(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options, with a budget that all ways of asking spend together."""
    known = dict(options or {})
    return {**known, "budget": parse_budget(known["budget"])} if known.get("budget") is not None else known


def _ways(judge: Any) -> tuple[str, ...]:
    chosen = choose(judge)
    if chosen.is_ladder or (isinstance(judge, str) and judge.startswith("trained/")):
        raise UsageError(f"'{judge}' cannot be examined: name one judge, for example openai/gpt-4o-mini or local")
    return (LOCAL,) if chosen.local else (JSON, TOKENS)


def _open(judge: Any, way: str, options: dict[str, Any], concurrency: int, dry_run: bool = False) -> Judging:
    verdicts = {} if way == LOCAL else {"verdicts": way}
    known: Any = {**options, "judge": judge, **verdicts}
    return Judging(known, concurrency, dry_run)


def _checker(judge: Any, way: str, options: dict[str, Any]) -> Any:
    """The checker, for its signatures."""
    judging = _open(judge, way, options, 1)
    try:
        return judging.tools["checker"]
    finally:
        run_to_end(judging.close())


def _examine(judge: Any, way: str, options: dict[str, Any], concurrency: int) -> Examined:
    calls: list[Call] = []
    judging = _open(judge, way, options, concurrency)
    try:
        answers, seconds = run_to_end(_ask(judging, way, calls))
    except LLMStoppedError as error:
        raise StopRunError(f"the exam is not finished: {error}") from None
    except LLMAccessError as error:
        if way != TOKENS:
            raise
        return Examined(way, why_not=str(error).split(": verdicts")[0])
    usable = sum(answer.said is not None for answer in answers)
    return Examined(
        way=way,
        marks=tuple(mark(answers, two_way=way == LOCAL)),
        patterns=tuple(find_patterns(answers)),
        usable=usable,
        asked=len(answers),
        repaired=repaired(answers, calls) if way == JSON else 0,
        row_cost=_row_cost(calls, seconds),
        total=sum_calls("the exam", [call for call in calls if not call.cached], concurrency),
        answers=tuple(answers),
    )


async def _ask(judging: Judging, way: str, calls: list[Call]) -> tuple[list[Answer], float | None]:
    opened = judging.open()
    # Pairs and claims are the same in both ways: they are asked once.
    tools = ("checker", "grader") if way == TOKENS else set(TOOL_OF.values())
    try:
        asked = {name: tool for name, tool in opened.tools.items() if name in tools}
        return await ask_items(load_items(), asked, calls)
    finally:
        await opened.close()


def _row_cost(calls: Sequence[Call], seconds: float | None) -> RowCost:
    """From the measured calls for claims by chunks."""
    items = sum(item.kind == "grid" for item in load_items())
    of_rows = [call for call in calls if call.sample_id.startswith("grid-")]
    cached = any(call.cached for call in of_rows)
    costs = [call.cost_usd for call in of_rows]
    known = not cached and None not in costs
    return RowCost(
        calls=_ROWS * len(of_rows) / items,
        input_tokens=_ROWS * sum(call.input_tokens or 0 for call in of_rows) / items,
        output_tokens=_ROWS * sum(call.output_tokens or 0 for call in of_rows) / items,
        cost_usd=_ROWS * sum(cost or 0.0 for cost in costs) / items if known else None,
        seconds=None if cached or seconds is None else _ROWS * seconds,
    )


def check_dict(check: JudgeCheck) -> dict[str, Any]:
    """The exam as JSON."""
    return {
        "judge": check.judge,
        "signature": check.signature,
        "verdict": check.verdict,
        "is_usable": check.verdict == USABLE,
        "use": check.best.way,
        "ways": [_way_dict(one) for one in check.ways],
    }


def _way_dict(one: Examined) -> dict[str, Any]:
    if one.why_not:
        return {"way": one.way, "why_not": one.why_not}
    marks = [
        {
            "task": row.task.strip(),
            "right": row.right,
            "asked": row.asked,
            "unusable": row.unusable,
            "interval": list(row.interval),
            "chance": row.chance,
            "verdict": row.verdict or None,
        }
        for row in one.marks
    ]
    return {
        "way": one.way,
        "verdict": one.verdict,
        "marks": marks,
        "patterns": list(one.patterns),
        "usable_replies": one.usable,
        "asked": one.asked,
        "repaired": one.repaired,
        "per_100_rows": None if one.row_cost is None else one.row_cost._asdict(),
        "calls": one.total.calls if one.total else 0,
        "cost_usd": one.total.cost_usd if one.total else 0.0,
    }
