"""Runs a stress test: builds the test beds, asks the generator and scores its answers as an ordinary run.

A bed has one row per question, noise rate and repeat. Each row has a mix of passages with and without the answer, shuffled by
a seed. Planted false answers are of the same kind as the right one, which they replace in the passages.
"""

from __future__ import annotations

import math
import os
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ragstone.data.dataset import Dataset
from ragstone.data.types import Chunk, Sample
from ragstone.data.usage import QUESTION_ID
from ragstone.engine.ask_system import Asked, Asking, SystemOptions, SystemQuote, ask_system, quote_system
from ragstone.engine.evaluate import evaluate, unheard
from ragstone.engine.execute import run_to_end
from ragstone.engine.progress import Report, silent
from ragstone.errors import InterruptedRunError, UsageError
from ragstone.metrics.rgb import NEEDED, PLANTED
from ragstone.storage.runs import Run
from ragstone.stress.beds import ATTACKS, Ability, Attack, BedReport, Kind, Passage, Setting
from ragstone.stress.hostile import attack_rows, read_attacks, why_not_attacked
from ragstone.stress.passage_pools import WHY_NO_ERROR, Embed, Pool, build_pools, named, shorten_answer, stands_in
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.model_options import ModelOptions
from ragstone.tools.open_tools import ToolFactory

_MOST_WORDS = 8
# Up to this many words, the longest spelling is preferred because it is the whole name.
_USUAL_WORDS = 5
_MOST_TRIED = 50
# Longer answers in lower case are phrases, which cannot replace each other.
_MOST_WORDS_OF_TERM = 3
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CHINESE = re.compile("[\u3400-\u9fff\u3040-\u30ff]")
_MONTH = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\b\.?",
    re.IGNORECASE,
)
# What a question asks for; the first pattern that matches counts.
_ASKED = {
    "person": r"\bwho(?:m|se)?\b|谁|何人",
    "place": r"\bwhere\b|哪里|哪儿|何处|在哪",
    "time": r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|time|century)\b|何时|什么时候|哪[一]?年|几月|几号",
    "quantity": r"\bhow (?:many|much|long|far|tall|old|high|deep|large|often|big|fast|wide)\b|多少|几",
    "reason": r"\bwhy\b|为什么",
}
_HEAD = re.compile(r"\b(?:what|which) (?:(?:is|was|are|were|kind|type|of|the|a|an) )*(\w+)", re.IGNORECASE)
_Others = Mapping[str, Sequence[str]]

# The metadata name of the right answers of a row that should be declined.
RIGHT = "right_answers"


def count_negatives(passages: int, rate: float) -> int:
    """The number of noise passages: rounded up, but not because of floating-point error."""
    return math.ceil(round(passages * rate, 9))


def mix(
    positives: Sequence[Chunk], negatives: Sequence[Chunk], passages: int, rate: float, kind: Kind = "+", least: int = 0
) -> list[Passage]:
    """Negatives as the rate demands and positives for the rest, but at least `least` positives; the first of each.

    If there are too few of one kind, there are fewer passages, with the share of noise that is closest to the rate.
    """
    noise = count_negatives(passages, rate)
    good = passages - noise
    if not least <= good <= len(positives) or noise > len(negatives):
        least = min(max(least, int(rate < 1)), len(positives))
        good, noise = _closest(least, len(positives), len(negatives), passages, rate)
    return _join(positives[:good], negatives[:noise], kind)


def mix_as_rgb(pool: Pool, bed: Ability, passages: int, rate: float, seed: int = 0) -> list[Passage]:
    """The passages that `processdata` of RGB's evalue.py takes for its plain, `int` and `fact` files."""
    noise = math.ceil(passages * rate)
    good = passages - noise
    draw = random.Random(f"{seed}|{pool.id}")  # noqa: S311  (an order, not a secret)
    if bed == "counterfactual":
        return _join(draw.sample(pool.wrong, len(pool.wrong))[:good], pool.negatives[:noise], "!")
    if bed == "integration":
        drawn = replace(pool, groups=[draw.sample(group, len(group)) for group in pool.groups])
        positives = drawn.positives[: max(good, len(pool.groups))]
        return _join(positives, pool.negatives[: max(0, passages - len(positives))])
    # Too few of one kind are filled up with the other, except at rate 1.
    if rate < 1 and noise > len(pool.negatives):
        good = passages - len(pool.negatives)
    elif rate < 1 and good > len(pool.positives):
        noise = passages - len(pool.positives)
    return _join(pool.positives[:good], pool.negatives[:noise])


def _join(positives: Sequence[Chunk], negatives: Sequence[Chunk], kind: Kind = "+") -> list[Passage]:
    return [*(Passage(kind, chunk) for chunk in positives), *(Passage("-", chunk) for chunk in negatives)]


def _closest(least: int, positives: int, negatives: int, passages: int, rate: float) -> tuple[int, int]:
    """The numbers of positives and negatives whose share of noise is closest to the rate; if equal, most passages."""
    mixes = [
        (good, noise)
        for good in range(least, min(positives, passages) + 1)
        for noise in range(min(negatives, passages - good) + 1)
        if good + noise
    ]
    return min(mixes, key=lambda one: (round(abs(one[1] / sum(one) - rate), 9), -sum(one)), default=(0, 0))


def shuffle(passages: Sequence[Passage], *seed: object) -> list[Passage]:
    """The passages in an order that depends on the seed."""
    mixed = list(passages)
    random.Random("|".join(map(str, seed))).shuffle(mixed)  # noqa: S311  (an order, not a secret)
    return mixed


def build_beds(
    pools: Sequence[Pool], setting: Setting, attacked: Sequence[Pool] = ()
) -> tuple[list[Sample], list[BedReport]]:
    """All rows of the chosen beds, and one report per bed. Attacks use the pools `attacked`."""
    rows: list[Sample] = []
    reports = []
    for bed in setting.beds:
        report = BedReport(bed)
        attack: Attack | None = bed if bed in ATTACKS else None
        ability = cast("Ability", bed)
        for pool in attacked if attack else pools:
            if reason := why_not_attacked(pool, attack) if attack else _why_not(pool, ability, setting):
                report.left_out.setdefault(reason, []).append(pool.id)
                continue
            hostile = attack_rows(pool, attack, setting, report.questions) if attack else None
            of_pool = list(hostile or _rows(pool, ability, setting, report))
            report.questions += 1
            report.rows += len(of_pool)
            rows += of_pool
        reports.append(report)
    return rows, reports


def _why_not(pool: Pool, bed: Ability, setting: Setting) -> str | None:
    """Why a question is left out of a bed; None if it is not."""
    if not pool.question.strip():
        return "there is no question"
    if not pool.answers or not all(pool.answers):
        return "no right answer is known"
    if bed in ("noise", "integration") and not pool.positives:
        return "no passage contains its answer"
    if bed == "rejection" and not pool.negatives:
        return "there is no passage without its answer"
    if bed == "integration":
        if len(pool.groups) < 2:
            return "one passage contains the whole answer, so there is nothing to combine"
        if len(pool.groups) > setting.passages and not pool.is_rgb:
            return f"its answer needs more than {setting.passages} passages"
    if bed == "counterfactual" and not (pool.wrong and pool.fake):
        return pool.metadata.get(WHY_NO_ERROR) or "no error can be planted in its passages"
    return None


def _rows(pool: Pool, bed: Ability, setting: Setting, report: BedReport) -> Iterator[Sample]:
    for rate in (1.0,) if bed == "rejection" else setting.rates:
        if bed == "counterfactual" and rate == 1:
            continue  # with noise only, there is no error to detect
        passages = _mix(pool, bed, setting, rate)
        noise = sum(passage.kind == "-" for passage in passages)
        contaminated = any(passage.kind == "-" and pool.holds_answer(passage.chunk.text) for passage in passages)
        inexact = noise * setting.passages != count_negatives(setting.passages, rate) * len(passages)
        for is_so, ids in (
            (len(passages) < setting.passages, report.short),
            (inexact, report.inexact),
            (contaminated, report.contaminated),
        ):
            if is_so and pool.id not in ids:
                ids.append(pool.id)
        for repeat in range(setting.repeats):
            # Rates with the same passages have the same order, so the generator is asked once.
            order = shuffle(passages, setting.seed, pool.id, bed, noise, len(passages), repeat)
            yield _row(pool, bed, rate, repeat, order, contaminated)


def _mix(pool: Pool, bed: Ability, setting: Setting, rate: float) -> list[Passage]:
    if pool.is_rgb:
        return mix_as_rgb(pool, bed, setting.passages, rate, setting.seed)
    if bed == "rejection":
        return mix([], pool.negatives, setting.passages, rate)
    if bed == "counterfactual":
        return mix(pool.wrong, pool.negatives, setting.passages, rate, "!")
    # The first positives are one of each group.
    least = len(pool.groups) if bed == "integration" else 0
    return mix(pool.positives, pool.negatives, setting.passages, rate, least=least)


def _row(pool: Pool, bed: Ability, rate: float, repeat: int, order: Sequence[Passage], contaminated: bool) -> Sample:
    kinds = "".join(passage.kind for passage in order)
    metadata: dict[str, Any] = {
        **{name: value for name, value in pool.metadata.items() if name != WHY_NO_ERROR},
        "bed": bed,
        # The share of noise; it differs from the requested rate if there are too few passages of one kind.
        "rate": round(kinds.count("-") / len(kinds), 4) if kinds else rate,
        "requested_rate": rate,
        "repeat": repeat,
        QUESTION_ID: pool.id,
        "passages": kinds,
        # An answer that should be declined has no right answer to be compared with.
        RIGHT if bed == "rejection" else NEEDED: pool.answers,
    }
    if contaminated:
        metadata["contaminated"] = True
    if "!" in kinds:
        metadata[PLANTED] = pool.fake
    contexts = named([passage.chunk for passage in order])
    relevance = {str(chunk.id): 1.0 for chunk, passage in zip(contexts, order, strict=True) if passage.kind == "+"}
    return Sample(
        id=f"{pool.id}|{bed}|{rate:g}|{repeat}",
        question=pool.question,
        contexts=contexts,
        relevance=relevance or None,
        references=None if bed == "rejection" else pool.references,
        answerable=None if bed == "counterfactual" else "+" in kinds,
        metadata=metadata,
    )


def plant_errors(pools: Sequence[Pool], seed: int = 0) -> list[Pool]:
    """Adds false passages to pools that have none: the answer is replaced, or the pool records why it cannot be."""
    others: dict[str, set[str]] = {}
    for pool in pools:
        for spelling in filter(_is_clean, pool.answers[0] if len(pool.answers) == 1 else ()):
            for kind in kinds_of(spelling, pool.question):
                others.setdefault(kind, set()).add(spelling)
    by_kind = {kind: sorted(found) for kind, found in others.items()}
    return [pool if pool.wrong else _plant(pool, by_kind, seed) for pool in pools]


def kinds_of(answer: str, question: str) -> list[str]:
    """The kinds of an answer, the narrowest first: by what the question asks for and how the answer is written.

    Two answers of one kind can replace each other: another country after "which country", another name after "who",
    another length in metres.
    """
    form = _form_of(answer.strip())
    asked = next((name for name, words in _ASKED.items() if re.search(words, question, re.IGNORECASE)), "thing")
    head = _HEAD.search(question) if asked == "thing" else None
    return [*([f"{head[1].casefold()}, {form}"] if head else []), f"{asked}, {form}"]


def _is_clean(spelling: str) -> bool:
    """Whether a spelling begins and ends like an answer, not like a fragment of a sentence."""
    return bool(re.fullmatch(r"[\w$€£¥\"“].*[\w%\"”).]|\w", spelling.strip(), re.DOTALL))


def _form_of(text: str) -> str:
    if _NUMBER.search(text):
        # Units and months stay: 12 metres may become 15 metres, but not 15 people.
        return _NUMBER.sub("#", _MONTH.sub("month", text)).casefold()
    if _CHINESE.search(text):
        return f"chinese of {min(len(text) // 3, 4)}"
    capital = all(word[:1].isupper() for word in text.split() if len(word) > 3)
    return f"{'name' if capital else 'words'} of {len(text.split())}"


def _plant(pool: Pool, others: _Others, seed: int) -> Pool:
    if len(pool.answers) != 1 or not pool.answers[0]:
        return _without(pool, "it needs several answers at once" if pool.answers else "no right answer is known")
    right = pool.answers[0]
    holding = [chunk for chunk in pool.positives if pool.holds_answer(chunk.text)]
    there = [spelling for spelling in right if any(stands_in(spelling, chunk.text) for chunk in holding)]
    if not there:
        return _without(pool, "its answer is not in its passages word for word")
    # The longest spelling that is not a sentence, otherwise the shortest
    usual = [spelling for spelling in there if len(spelling.split()) <= _USUAL_WORDS]
    spelling = max(usual, key=len) if usual else min(there, key=len)
    if len(spelling.split()) > _MOST_WORDS:
        return _without(pool, f"its answer is longer than {_MOST_WORDS} words")
    kinds, passages = kinds_of(spelling, pool.question), [*pool.positives, *pool.retrieved]
    if kinds[-1].partition(", ")[2].startswith("words") and len(spelling.split()) > _MOST_WORDS_OF_TERM:
        return _without(pool, "its answer is a phrase, not a name, number or term")
    for fake in _candidates(spelling, kinds, others, random.Random(f"{seed}|{pool.id}")):  # noqa: S311
        if _is_other(fake, right) and not any(stands_in(fake, chunk.text) for chunk in passages):
            wrong = [chunk for chunk in (_falsify(one, right, fake) for one in holding) if chunk is not None]
            if wrong:
                return replace(pool, wrong=wrong, fake=fake)
    return _without(pool, "there is no false answer of its kind")


def _without(pool: Pool, reason: str) -> Pool:
    return replace(pool, metadata={**pool.metadata, WHY_NO_ERROR: reason})


def _candidates(right: str, kinds: Sequence[str], others: _Others, chance: random.Random) -> Iterator[str]:
    """Answers of the same kind to other questions, the narrowest kind first; then invented numbers."""
    for kind in kinds:
        alike = others.get(kind, ())
        yield from chance.sample(alike, min(len(alike), _MOST_TRIED))
    if _NUMBER.search(right):
        for _ in range(10):
            yield _NUMBER.sub(lambda found: _other_number(found[0], chance), right, count=1)


def _other_number(text: str, chance: random.Random) -> str:
    """A similar number: a nearby year, a valid day or hour, or one of the same size."""
    digits = re.sub(r"\D", "", text)
    value = int(digits)
    if text.isdigit() and len(text) == 4 and 1100 <= value <= 2100:
        return str(value - chance.randint(2, 19))
    if text.isdigit() and value <= 28:
        # It may be a day of a month or an hour: stay in that range, with as many digits.
        low, high = (1, 9) if value < 10 else (10, 23 if value < 24 else 28)
        return str(chance.choice([other for other in range(low, high + 1) if other != value])).rjust(len(text), "0")
    made = str(value + chance.randint(max(1, value // 10), max(2, value)))[: len(digits)].rjust(len(digits), "1")
    figures = iter(made)
    return "".join(next(figures) if character.isdigit() else character for character in text)


def _is_other(fake: str, right: Sequence[str]) -> bool:
    """Whether a false answer is not a spelling of the right one, and neither contains the other."""
    folded = fake.casefold().strip()
    spellings = [spelling.casefold() for spelling in right]
    return bool(folded) and not any(folded in spelling or spelling in folded for spelling in spellings)


def _falsify(chunk: Chunk, right: Sequence[str], fake: str) -> Chunk | None:
    """The passage with every spelling replaced; None if a part of the right answer would remain."""
    text = chunk.text
    for spelling in sorted(right, key=len, reverse=True):
        # As whole words, if its script has spaces; any white space separates them.
        pattern = r"\s+".join(map(re.escape, spelling.split()))
        pattern = pattern if _CHINESE.search(spelling) else rf"(?<!\w){pattern}(?!\w)"
        text = re.sub(pattern, lambda _: fake, text, flags=re.IGNORECASE)
    left = text.casefold()
    if text == chunk.text or any(spelling.casefold() in left for spelling in right):
        return None
    return Chunk(text, None if chunk.id is None else f"{chunk.id}!", chunk.score, chunk.source)


METRICS = ("rgb.accuracy", "rgb.rejection_rate", "rgb.error_detection_rate", "rgb.error_correction_rate")
ATTACK_METRICS = ("attack_success", "attack_noticed", "attack_false_alarm", "attack_cited")
JUDGED = (
    "answer_match",
    "rgb.rejection_rate.judged",
    "rgb.error_detection_rate.judged",
    "rgb.error_correction_rate.judged",
)
ERROR = "system_error"
# The default embedder is used for at most this many passages.
MOST_EMBEDDED = 5_000


@dataclass(frozen=True)
class Prepared:
    """The rows to answer, and the reports on the beds."""

    rows: list[Sample]
    beds: list[BedReport]
    # The number of noise passages that contain an answer, per question.
    negatives: dict[str, int]
    setting: Setting
    questions: int


def prepare(samples: Sequence[Sample], setting: Setting, embed: Embed | None = None) -> Prepared:
    """Builds the beds from RGB's samples, which have passages, or from others, whose passages are searched."""
    pools, negatives = build_pools(samples, setting.passages, setting.keep_contaminated, embed)
    attacked: list[Pool] = []
    if set(setting.beds) & set(ATTACKS):
        attacked = plant_errors([shorten_answer(pool) for pool in pools], setting.seed)
    if "counterfactual" in setting.beds:
        pools = plant_errors(pools, setting.seed)
    rows, reports = build_beds(pools, setting, attacked)
    if not rows:
        raise UsageError(f"no test bed can be built: {_main_reasons(reports)}")
    return Prepared(rows, reports, negatives, setting, len(samples))


def _main_reasons(reports: Sequence[BedReport]) -> str:
    found = [
        f"{report.bed}: {max(report.left_out, key=lambda reason: len(report.left_out[reason]))}"
        for report in reports
        if report.left_out
    ]
    return "; ".join(found) or "there are no questions"


def open_embed(embedder: str | None, texts: int, base_url: Any = None) -> Embed | None:
    """The named embedder as a function or, for not too many texts, the local default; None if there is none."""
    if embedder is None and texts > MOST_EMBEDDED:
        return None
    options = ModelOptions(embedder=embedder, base_url=base_url)
    judging = ToolFactory(cast("JudgingOptions", options.keywords()), 8)
    available = "embedder" in judging.tools
    run_to_end(judging.close())
    if not available:
        return None

    def embed(wanted: Sequence[str]) -> Any:
        async def work() -> Any:
            opened = judging.open()
            tool: Any = opened.tools["embedder"]
            try:
                return await tool.embed(list(wanted))
            finally:
                await opened.close()

        return run_to_end(work())

    return embed


def quote_stress(prepared: Prepared, system: Any, options: SystemOptions) -> SystemQuote:
    """The estimated cost of asking the generator. No model is called."""
    return quote_system(system, as_questions(prepared.rows), needs_contexts=True, **options)


def run_stress(
    prepared: Prepared,
    system: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    metrics: Sequence[str] = (),
    name: str = "",
    system_options: SystemOptions | None = None,
    judging: ModelOptions | None = None,
    resume: bool = False,
    progress: Report = silent,
    note: Callable[[str], object] = unheard,
) -> Run:
    """Asks the generator and scores its answers; the rows of the run contain their bed, rate and repeat.

    Answers are cached; with `resume`, an interrupted run continues with the scores that it has.
    """
    setting = prepared.setting
    attacked = bool(set(setting.beds) & set(ATTACKS))
    chosen = [*METRICS, *(ATTACK_METRICS if attacked else ()), *(JUDGED if judging and judging.judge else ()), *metrics]
    options = system_options or {}
    asking = ask_rows(prepared.rows, system, options, progress, note)
    return evaluate(
        Dataset.from_samples(answered(prepared.rows, asking), "stress"),
        list(dict.fromkeys(chosen)),
        out,
        format="ragstone",
        name=name or f"stress {asking.system}",
        resume=resume,
        backend=options.get("backend", "local"),
        workers=options.get("workers"),
        params={
            "system": asking.system,
            "passages": setting.passages,
            "repeats": setting.repeats,
            "seed": setting.seed,
            **({"attacks_version": read_attacks()["version"]} if attacked else {}),
        },
        progress=progress,
        note=note,
        **(judging.keywords() if judging else {}),
    )


def ask_rows(
    rows: Sequence[Sample],
    system: Any,
    options: SystemOptions,
    progress: Report = silent,
    note: Callable[[str], object] = unheard,
) -> Asking:
    """Asks the generator for an answer to each row from its passages."""
    try:
        asking = ask_system(system, as_questions(rows), needs_contexts=True, progress=progress, **options)
    except KeyboardInterrupt:
        kept = "the answers are in the cache; repeat the same command to continue"
        raise InterruptedRunError(f"stopped; {kept if options.get('cache', True) else 'nothing is kept'}") from None
    if asking.problem:
        note(asking.problem)
    if failures := asking.failures:
        first = f"for example {failures[0].asked.id}: {failures[0].error}"
        note(f"{len(failures):,} of {len(asking.outcomes):,} questions got no answer, {first}")
    if asking.cached:
        note(f"{asking.cached:,} of {len(rows):,} answers came from the cache or from an equal row")
    return asking


def answered(rows: Sequence[Sample], asking: Asking) -> list[Sample]:
    """The rows with their answers, or with the error in their metadata."""
    return [
        replace(row, answer=outcome.answer.text)
        if outcome.answer is not None
        else replace(row, metadata={**row.metadata, ERROR: outcome.error})
        for row, outcome in zip(rows, asking.outcomes, strict=True)
    ]


def as_questions(rows: Sequence[Sample]) -> list[Asked]:
    """The rows as questions with their passages."""
    return [Asked(row.id, row.question or "", row.contexts or []) for row in rows]
