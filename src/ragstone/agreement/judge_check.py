"""How good a judge is at each task of the exam, what a row costs, and which way of asking suits it.

Also calibrates a judge by the exam or by human labels, and stores the result for later runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from ragstone.agreement.labels import Joined
from ragstone.data.signature import Signature
from ragstone.engine.execute import run_to_end
from ragstone.engine.quote import QuoteLine, sum_calls
from ragstone.errors import StopRunError, UsageError
from ragstone.llm.base import LLMAccessError, LLMStoppedError
from ragstone.llm.budget import parse_budget
from ragstone.llm.wrappers import Call, record_calls
from ragstone.models.checker_facts import recognise
from ragstone.stats.judge_error import LEAST_LABELLED, JudgeError
from ragstone.stats.logit import LEAST_PAIRS, PlattFit
from ragstone.storage.run_info import MetricInfo
from ragstone.tools.calibrations import EXAM as BY_EXAM
from ragstone.tools.calibrations import LABELS, MATCH, SUPPORT, store_error, store_map
from ragstone.tools.judge_exam import (
    AT_CHANCE,
    EXAM,
    TOOL_OF,
    USABLE,
    VERDICTS,
    Answer,
    ExamMark,
    ask_items,
    find_patterns,
    load_items,
    mark,
    repaired,
)
from ragstone.tools.judging_options import DEFAULT_CONCURRENCY
from ragstone.tools.llama import is_trained_judge
from ragstone.tools.open_tools import ToolFactory, find_function
from ragstone.tools.roles import choose
from ragstone.tools.verdict_tools import choose_verdicts

# What the levels of a judge are assumed to differ by on other data. The local judge's differ by 0.02 to 0.07 between domains;
# the items of the exam are short and clear.
BETWEEN_LABELS, BETWEEN_EXAM = 0.05, 0.1
_MATCH_METRIC, _CALIBRATED = "answer_match", ";calibrated="

_NO_LEVELS = f"no levels: it needs {LEAST_LABELLED} accepted and {LEAST_LABELLED} refused inputs, and higher values for accepted ones"

# The ways of asking; a checker is asked in its own form.
TOKENS, JSON, LOCAL, OWN = "tokens", "json", "local", "own form"
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
    marks: tuple[ExamMark, ...] = ()
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
    known = {**(options or {}), "calibration": False}
    if known.get("budget") is not None:  # all ways of asking spend it together
        known["budget"] = parse_budget(known["budget"])
    for way in _ways(judge):
        note(f"asking {judge}" + ("" if way in (LOCAL, OWN) else f", {way}"))
        ways.append(_examine(judge, way, known, concurrency))
    done = [one for one in ways if not one.why_not]
    if not done:
        raise StopRunError(f"{judge} cannot be asked: {ways[0].why_not}")
    default = choose_verdicts("auto", judge, known.get("base_url"))
    preferred = JSON if default == "json" else TOKENS
    best = max(done, key=lambda one: (one.right, one.way == preferred))
    calibrated = None
    if calibrate and best.way not in (LOCAL, OWN):
        # The large judge is calibrated by its card.
        tokens = _checker(judge, TOKENS, known) if best.way == TOKENS and not is_trained_judge(judge) else None
        later = partial(_checker, judge, best.way, {**known, "calibration": True})
        calibrated = Calibrated.by_exam(best.answers, tokens, [later])
    return JudgeCheck(str(judge), _checker(judge, best.way, known).signature, tuple(ways), best, calibrated)


def quote_check(
    judge: Any, options: Mapping[str, Any] | None = None, concurrency: int = DEFAULT_CONCURRENCY
) -> QuoteLine:
    """Calls, tokens and money of `check_judge`. No call is made."""
    calls: list[Call] = []
    for way in _ways(judge):
        run_to_end(_ask(_open(judge, way, dict(options or {}), concurrency, dry_run=True), way, calls))
    return sum_calls("the exam", [call for call in calls if not call.cached], concurrency)


def _ways(judge: Any) -> tuple[str, ...]:
    chosen = choose(judge)
    if chosen.is_cascade or (isinstance(judge, str) and judge.startswith("trained/")):
        raise UsageError(f"'{judge}' cannot be examined: name one judge, for example openai/gpt-4o-mini or local")
    if chosen.local:
        return (LOCAL,)
    # The large judge has one form, and so have functions of claims and texts and the field's checkers.
    only_checks = find_function(judge) or (isinstance(judge, str) and recognise(judge))
    return (TOKENS,) if is_trained_judge(judge) else (OWN,) if only_checks else (JSON, TOKENS)


def _open(judge: Any, way: str, options: dict[str, Any], concurrency: int, dry_run: bool = False) -> ToolFactory:
    verdicts = {} if way in (LOCAL, OWN) else {"verdicts": way}
    known: Any = {**options, "checker" if way == OWN else "judge": judge, **verdicts}
    return ToolFactory(known, concurrency, dry_run)


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
        marks=tuple(mark(answers, two_way=way in (LOCAL, OWN))),
        patterns=tuple(find_patterns(answers)),
        usable=usable,
        asked=len(answers),
        repaired=repaired(answers, calls) if way == JSON else 0,
        row_cost=_row_cost(calls, seconds),
        total=sum_calls("the exam", [call for call in calls if call.is_made], concurrency),
        answers=tuple(answers),
    )


async def _ask(judging: ToolFactory, way: str, calls: list[Call]) -> tuple[list[Answer], float | None]:
    if way == TOKENS:
        with record_calls(calls, "trial", EXAM):
            await judging.try_tokens(judging.untried(("checker",)), lambda _: None)
    opened = judging.open()
    # Pairs and claims are the same in both ways: they are asked once.
    tools = {TOKENS: ("checker", "grader"), OWN: ("checker",)}.get(way, tuple(TOOL_OF.values()))
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


@dataclass(frozen=True)
class Calibrated:
    """The measurement of one kind of value. `fit` is None for values that are not probabilities of tokens."""

    what: str
    pairs: int
    accepted: int
    fit: PlattFit | None = None
    error: JudgeError | None = None
    why_not: str = ""

    @property
    def is_mapped(self) -> bool:
        """Whether later runs calibrate the probabilities."""
        return self.fit is not None and self.fit.improves

    @classmethod
    def by_exam(cls, answers: Iterable[Answer], tokens: Any, later: Sequence[Any]) -> Self:
        """Calibrate the verdicts of a judge on claims.

        `tokens` is the uncalibrated checker that answered by tokens, None if the answers came as JSON. `later` opens the checkers
        of later runs, which have the calibration in their signatures.
        """
        rows = [
            (likely, truth, answer.text, answer.task == VERDICTS)
            for answer in answers
            for likely, truth in answer.pairs
        ]
        values = np.array([row[0] for row in rows])
        truth, alone = (np.array([row[at] for row in rows], dtype=bool) for at in (1, 3))
        groups = np.array([row[2] for row in rows])
        fit = None
        if tokens is not None:
            fit = PlattFit.measure(values, truth, groups, is_balanced=True)
            found = fit.map if fit and fit.improves else None
            store_map(SUPPORT, tokens.uncalibrated, tokens.prompt_hash("verdicts"), found, BY_EXAM)
            values = fit.held_out if fit and found else values
        error = JudgeError.from_labels(values[alone], truth[alone], groups[alone], BETWEEN_EXAM)
        for open_checker in later:
            checker = open_checker()
            store_error(checker.signature, error, BY_EXAM, checker.prompt_hash("verdicts"))
        return cls("claims", len(rows), int(truth.sum()), fit, error, "" if error else _NO_LEVELS)

    @classmethod
    def by_labels(cls, joined: Joined) -> list[Self]:
        """Measure every metric of a judge at the labelled rows. Rows chosen by `--label-next` do not count: they are not random."""
        said = joined.ratings[~np.isnan(joined.ratings)]
        if not len(said) or not np.isin(said, (0.0, 1.0)).all():
            raise UsageError("--calibrate needs labels of yes and no (1 and 0)")
        judged = [metric for metric in joined.metrics if _is_judged(metric)]
        if not judged:
            raise UsageError("--calibrate needs a metric from 0 to 1 of a judge, such as answer_match with --judge")
        return [found for metric in judged for found in cls._of_metric(joined, metric)]

    @classmethod
    def _of_metric(cls, joined: Joined, metric: MetricInfo) -> Iterator[Self]:
        scores, labels = joined.scores[metric.metric], joined.labels
        rows = ~np.isnan(scores) & (labels != 0.5) & (joined.rounds == 0)
        values, accepted, groups = scores[rows], labels[rows] > 0.5, joined.inputs[rows]
        if not len(values):
            return
        error = JudgeError.from_labels(values, accepted, groups, BETWEEN_LABELS)
        store_error(str(metric.signature), error, LABELS)
        fit = _fit_match(joined, metric, values, accepted, groups)
        if fit and not fit.improves:
            store_map(MATCH, *_judge_of(joined), None, LABELS)
        if fit and fit.improves:
            key = _judge_of(joined)
            store_map(MATCH, *key, fit.map, LABELS)
            error = JudgeError.from_labels(fit.held_out, accepted, groups, BETWEEN_LABELS)
            store_error(_calibrated_signature(metric.signature, f"{MATCH}/{fit.map}"), error, LABELS)
        why_not = "" if error else _NO_LEVELS
        yield cls(metric.metric, len(values), int(accepted.sum()), fit, error, why_not)


def _is_judged(metric: MetricInfo) -> bool:
    by_judge = bool(metric.signature.llms) or metric.signature.is_local
    return by_judge and metric.bounds == (0.0, 1.0) and metric.better == "higher"


def _fit_match(
    joined: Joined, metric: MetricInfo, values: np.ndarray, accepted: np.ndarray, groups: np.ndarray
) -> PlattFit | None:
    """The calibration of answer_match, if its values are token probabilities that are not calibrated yet."""
    tool = metric.signature.tools.get("grader")
    is_plain = tool is not None and f"{MATCH}/" not in str(tool).partition(_CALIBRATED)[2]
    between = (values > 0) & (values < 1)
    if metric.metric != _MATCH_METRIC or not is_plain or not all(_judge_of(joined)) or between.sum() < LEAST_PAIRS:
        return None
    return PlattFit.measure(values, accepted.astype(float), groups)


def _judge_of(joined: Joined) -> tuple[str, str]:
    """The signature of the judge that matched answers by tokens, and of its prompts; empty without one."""
    stored = (joined.runs[0].info.raw.get("token_judges") or {}).get(MATCH) or {}
    return str(stored.get("judge", "")), str(stored.get("prompts", ""))


def _calibrated_signature(signature: Signature, part: str) -> str:
    """The signature of the same metric with the calibrated judge."""
    tool = str(signature.tools["grader"])
    judge, _, others = tool.partition(_CALIBRATED)
    return str(signature).replace(
        f"grader:{tool}", f"grader:{judge}{_CALIBRATED}{'+'.join(filter(None, [part, others]))}"
    )
