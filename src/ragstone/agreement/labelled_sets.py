"""Judges side by side on labelled sets that come with Ragstone, or on a file. No judge of ours was trained on these sets."""

from __future__ import annotations

import json
import lzma
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NEUTRAL, UNSURE, Verdict
from ragstone.engine.execute import run_to_end
from ragstone.engine.quote import QuoteLine, sum_calls
from ragstone.errors import Skip, StopRunError, UnknownNameError, UsageError
from ragstone.formats import read_dataset
from ragstone.formats.hallucination_sets import SUPPORTED
from ragstone.llm.base import LLMError, LLMStoppedError
from ragstone.llm.budget import parse_budget
from ragstone.llm.concurrency import gather_then_raise
from ragstone.llm.wrappers import Call, record_calls
from ragstone.models.checker_facts import recognise
from ragstone.stats.rater_agreement import make_auc, make_calibration_error
from ragstone.stats.resampled_measures import estimate, take_measure
from ragstone.storage.places import open_place
from ragstone.tools.judging_options import DEFAULT_CONCURRENCY
from ragstone.tools.open_tools import ToolFactory, find_function
from ragstone.tools.protocols import Joint

SETS = {
    "claims": "480 claims about 30 texts of 6 domains; words mislead on purpose",
    "answers": "90 short answers and their references",
    "rag": "250 sentences of 60 answers, each against 4 or 5 retrieved chunks",
    "long": "1,072 claims of 45 long answers and their references",
    "languages": "80 claims in German, French, Spanish, Italian, Portuguese, Dutch, Chinese and Japanese",
    "tables": "83 claims about tables, lists, steps and other structured texts",
}
_ANSWERS = "answers"
SET = "sets"
_SUPPORTED = ("supported", "match")
_WORDS = {"supported": ENTAILMENT, "contradicted": CONTRADICTION, "not_stated": NEUTRAL}
# What a verdict without a probability is worth.
_WORTH = {ENTAILMENT: 1.0, UNSURE: 0.5}


class Group(NamedTuple):
    """The claims about one text, with their labels. In `answers`, the text is the reference and the claims are answers."""

    domain: str
    question: str
    texts: list[str]
    claims: list[str]
    labels: list[str]


class Answer(NamedTuple):
    """The reply to one pair: the probability of support, the word, the label and the number of its group."""

    likely: float
    word: str
    label: str
    group: int


@dataclass(frozen=True)
class SetResult:
    """One judge on one set. Figures are None if they cannot be measured; `why_not` says why the set was not judged."""

    judge: str
    set: str
    pairs: int
    # Pairs with a usable verdict.
    judged: int = 0
    auc: float | None = None
    auc_interval: tuple[float, float] | None = None
    # Share of right verdicts, at a probability of one half.
    accuracy: float | None = None
    # Share of right verdicts of supported, contradicted, not stated.
    three_way: float | None = None
    calibration_error: float | None = None
    pairs_per_s: float | None = None
    calls: int = 0
    cost_usd: float | None = None
    why_not: str = ""


def load_set(name: str, limit: int | None = None) -> list[Group]:
    """The groups of a set or a file; with a limit, groups from all over it with about that many pairs."""
    groups = _packed_set(name) if name in SETS else _read_file(name)
    if limit is None:
        return groups
    order = np.random.default_rng(0).permutation(len(groups))
    chosen, pairs = [], 0
    for at in order:
        room = limit - pairs
        if room <= 0:
            break
        group = groups[at]
        chosen.append(group._replace(claims=group.claims[:room], labels=group.labels[:room]))
        pairs += min(room, len(group.claims))
    return chosen


def _packed_set(name: str) -> list[Group]:
    packed = (resources.files("ragstone.agreement") / "sets" / f"{name}.jsonl.xz").read_bytes()
    rows = [json.loads(line) for line in lzma.decompress(packed).splitlines()]
    return [
        Group(row["domain"], row["question"], row["texts"], *map(list, zip(*row["claims"], strict=True)))
        for row in rows
    ]


def _read_file(path: str) -> list[Group]:
    """The answers of a labelled file, each as one claim about its texts; those about the same texts are one group."""
    groups: dict[tuple[str, ...], Group] = {}
    for sample in read_dataset(path):
        texts, label = [chunk.text for chunk in sample.contexts or ()], sample.metadata.get(SUPPORTED)
        if not texts or sample.answer is None or not isinstance(label, bool):
            continue
        question = sample.question or ""
        group = groups.setdefault((question, *texts), Group("", question, texts, [], []))
        group.claims.append(sample.answer)
        group.labels.append("supported" if label else "unsupported")
    if not groups:
        raise UsageError(f"{path}: no row has a text, an answer and the label '{SUPPORTED}' in its metadata")
    return list(groups.values())


def parse_sets(text: str) -> list[str]:
    """The names of sets and files in a list with commas; `all` is all sets."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names or [""]:
        if name not in (*SETS, "all") and not ("." in name and open_place(name).exists()):
            hint = f"Choose from: all, {', '.join(SETS)}. Name judges with --judge or --checker."
            raise UnknownNameError("labelled set", name, (*SETS, "all"), hint)
    return list(dict.fromkeys(one for name in names for one in (SETS if name == "all" else [name])))


def compare_judges(
    judges: Sequence[Any],
    checkers: Sequence[Any] = (),
    sets: Sequence[str] = tuple(SETS),
    limit: int | None = None,
    options: Mapping[str, Any] | None = None,
    concurrency: int = DEFAULT_CONCURRENCY,
    note: Callable[[str], object] = lambda _: None,
) -> list[SetResult]:
    """Every judge on every set. A checker, or a function of claims and texts, is not asked about answers."""
    found: list[SetResult] = []
    known = dict(options or {})
    if known.get("budget") is not None:  # all judges spend it together
        known["budget"] = parse_budget(known["budget"])
    for judge, only in _named(judges, checkers):
        factory = _open(judge, only, known, concurrency)
        try:
            found += run_to_end(_ask_sets(factory, str(judge), sets, limit, only, note))
        except LLMStoppedError as error:
            raise StopRunError(f"the comparison is not finished: {error}") from None
    return found


def quote_sets(
    judges: Sequence[Any],
    checkers: Sequence[Any] = (),
    sets: Sequence[str] = tuple(SETS),
    limit: int | None = None,
    options: Mapping[str, Any] | None = None,
    concurrency: int = DEFAULT_CONCURRENCY,
) -> QuoteLine:
    """Calls, tokens and money of `compare_judges`. No call is made."""
    calls: list[Call] = []

    async def ask(factory: ToolFactory, only_checks: bool) -> None:
        opened = factory.open()
        try:
            for name in sets:
                if name != _ANSWERS or not only_checks:
                    with record_calls(calls, name, SET):
                        for at, group in enumerate(load_set(name, limit)):
                            await _ask_group(opened.tools, group, at, name == _ANSWERS)
        finally:
            await opened.close()

    for judge, only in _named(judges, checkers):
        run_to_end(ask(_open(judge, only, dict(options or {}), concurrency, dry_run=True), only))
    return sum_calls("the labelled sets", [call for call in calls if not call.cached], concurrency)


def _named(judges: Sequence[Any], checkers: Sequence[Any]) -> list[tuple[Any, bool]]:
    """All of them, each with whether it only checks claims."""
    known = [(one, bool(find_function(one) or (isinstance(one, str) and recognise(one)))) for one in judges]
    return [*known, *((one, True) for one in checkers)]


def _open(
    judge: Any, only_checks: bool, options: Mapping[str, Any], concurrency: int, dry_run: bool = False
) -> ToolFactory:
    known: Any = {**options, "checker" if only_checks else "judge": judge}
    return ToolFactory(known, concurrency, dry_run, wanted=("checker", "grader"))


async def _ask_sets(
    factory: ToolFactory,
    judge: str,
    sets: Sequence[str],
    limit: int | None,
    only_checks: bool,
    note: Callable[[str], object],
) -> list[SetResult]:
    factory.settle_verdicts(await factory.try_tokens(factory.untried(("checker", "grader")), note))
    opened = factory.open()
    found = []
    try:
        if not factory.checker_name or recognise(factory.checker_name):
            # Loads the model, so that this is not part of its time.
            await _ask_group(opened.tools, Group("", "", ["It rains."], ["It rains here."], ["supported"]), 0)
        for name in sets:
            groups = load_set(name, limit)
            pairs = sum(len(group.claims) for group in groups)
            if name == _ANSWERS and only_checks:
                found.append(SetResult(judge, name, pairs, why_not="it only checks claims"))
                continue
            note(f"{judge}: {name}, {pairs} pairs")
            calls: list[Call] = []
            started = time.perf_counter()
            with record_calls(calls, name, SET):
                tasks = [_ask_group(opened.tools, group, at, name == _ANSWERS) for at, group in enumerate(groups)]
                replies = await gather_then_raise(tasks)
            seconds = time.perf_counter() - started
            answers = [answer for reply in replies if isinstance(reply, list) for answer in reply]
            reasons = [str(reply) for reply in replies if not isinstance(reply, list)]
            two_way = bool(getattr(opened.tools["checker"], "two_way", False))
            found.append(_measure(SetResult(judge, name, pairs), answers, calls, seconds, two_way, reasons))
    finally:
        await opened.close()
    return found


async def _ask_group(tools: Mapping[str, Any], group: Group, number: int, is_match: bool = False) -> list[Answer] | str:
    """The answers about one text; a text instead if the judge does not read it or its reply is not usable."""
    try:
        if is_match:
            grader = tools["grader"]
            values = [(await grader.matches(group.question, claim, group.texts))[0] for claim in group.claims]
            verdicts = [Verdict(ENTAILMENT if value >= 0.5 else NEUTRAL, value) for value in values]
        else:
            joint = [Joint.of(group.texts)] if len(group.texts) > 1 else []
            rows = await tools["checker"].check(group.question, group.claims, [*group.texts, *joint])
            verdicts = [row[-1] for row in rows]
    except LLMStoppedError:
        raise
    except (Skip, LLMError) as error:
        return " ".join(str(error).split())[:200]
    return [
        Answer(_likely(verdict), str(verdict), label, number)
        for verdict, label in zip(verdicts, group.labels, strict=True)
    ]


def _likely(verdict: Verdict) -> float:
    return _WORTH.get(str(verdict), 0.0) if verdict.support is None else verdict.support


def _measure(
    empty: SetResult,
    answers: Sequence[Answer],
    calls: Sequence[Call],
    seconds: float,
    two_way: bool,
    reasons: list[str],
) -> SetResult:
    if not answers:
        return SetResult(empty.judge, empty.set, empty.pairs, why_not=reasons[0] if reasons else "no usable reply")
    likely = np.array([answer.likely for answer in answers])
    truth = np.array([answer.label in _SUPPORTED for answer in answers], dtype=float)
    groups = np.array([answer.group for answer in answers])
    auc = estimate(make_auc(truth, likely), groups)
    labelled = [answer for answer in answers if answer.label in _WORDS]
    # A set of two labels says nothing about three.
    three = len({answer.label for answer in labelled}) == len(_WORDS) and len(labelled) == len(answers) and not two_way
    made = [call for call in calls if call.is_made]
    return SetResult(
        empty.judge,
        empty.set,
        empty.pairs,
        judged=len(answers),
        auc=auc.value,
        auc_interval=None if auc.interval is None else (float(auc.interval.low), float(auc.interval.high)),
        accuracy=float(np.mean((likely >= 0.5) == (truth > 0))),
        three_way=float(np.mean([_word(one) == _WORDS[one.label] for one in labelled])) if three else None,
        calibration_error=take_measure(make_calibration_error(truth, likely), len(answers)),
        pairs_per_s=None if any(call.cached for call in calls) else len(answers) / seconds,
        calls=len(made),
        cost_usd=None if any(call.cost_usd is None for call in made) else sum(call.cost_usd or 0.0 for call in made),
        why_not=reasons[0] if reasons else "",
    )


def _word(answer: Answer) -> str:
    """The word of a verdict; an unsure one is decided by its probability."""
    if answer.word != UNSURE:
        return answer.word
    return ENTAILMENT if answer.likely >= 0.5 else NEUTRAL


def sets_dict(found: Sequence[SetResult]) -> list[dict[str, Any]]:
    """The comparison as JSON."""
    return [asdict(one) for one in found]
