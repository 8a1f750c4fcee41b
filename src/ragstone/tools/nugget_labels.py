"""How far an answer contains nuggets: labels from a language model, from probabilities, or from verdicts on claims."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NOT, PARTIAL, SUPPORT, UNSURE, Verdict
from ragstone.text.statements import statements

if TYPE_CHECKING:
    from ragstone.llm.prompted import Bounds, Judge
    from ragstone.llm.reply_types import NuggetLabelsReply

LABELS = (SUPPORT, PARTIAL, NOT)
PROMPT = "nuggets"
# Checks claims against one text and returns their verdicts.
Check = Callable[[Sequence[str]], Awaitable[Sequence[Verdict]]]


async def ask_labels(
    judge: Judge, question: str, answer: str, nuggets: Sequence[str], repeat: int
) -> list[list[Verdict]]:
    """A language model's label for each nugget, in one call."""
    from ragstone.llm.prompted import ask_in_pieces  # noqa: PLC0415  (slow import: metrics need only the labels)
    from ragstone.llm.reply_types import NuggetLabel, NuggetLabelsReply  # noqa: PLC0415

    async def ask(some: Sequence[str], repair: bool) -> list[list[Verdict]]:
        numbers = range(1, len(some) + 1)
        guess = NuggetLabelsReply(labels=[NuggetLabel(nugget=number, label="support") for number in numbers])
        bounds: Bounds = {
            "labels": {"minItems": len(some), "maxItems": len(some)},
            "labels.nugget": {"enum": list(numbers)},
        }
        data = {"question": question, "answer": answer, "nuggets": some}
        check = partial(_check_numbers, count=len(some))
        reply = await judge.ask(PROMPT, NuggetLabelsReply, data, guess, check, repeat, bounds=bounds, repair=repair)
        found = {item.nugget: item.label for item in reply.labels}
        return [[Verdict(found[number])] for number in numbers]

    return await ask_in_pieces(nuggets, ask)


def _check_numbers(reply: NuggetLabelsReply, count: int) -> str | None:
    return check_numbers([item.nugget for item in reply.labels], count, "nugget", "label")


def check_numbers(numbers: Sequence[int], count: int, what: str, reply: str) -> str | None:
    """The error in the numbers of a reply about all items of a list, worded for the model; None if there is none."""
    if missing := [number for number in range(1, count + 1) if number not in numbers]:
        return f"there is no {reply} for {what} {', '.join(map(str, missing))}"
    if strange := [number for number in numbers if not 1 <= number <= count]:
        return f"there is no {what} {strange[0]}: they are numbered 1 to {count}"
    return f"a {what} has more than one {reply}" if len(numbers) > count else None


async def labels_by_parts(nuggets: Sequence[str], check: Check) -> list[Verdict]:
    """Labels from verdicts on claims: entailment is support; unsure is partial support.

    A nugget of several statements is partly supported if one of them is entailed and none contradicted.
    """
    verdicts = await check(nuggets)
    parts = {
        at: split
        for at, (nugget, verdict) in enumerate(zip(nuggets, verdicts, strict=True))
        if verdict not in (ENTAILMENT, UNSURE, CONTRADICTION) and len(split := statements("", nugget)) > 1
    }
    asked = list(dict.fromkeys(part for split in parts.values() for part in split))
    known = dict(zip(asked, await check(asked), strict=True)) if asked else {}
    return [_label(verdict, [known[part] for part in parts.get(at, ())]) for at, verdict in enumerate(verdicts)]


def _label(verdict: Verdict, parts: Sequence[Verdict]) -> Verdict:
    is_partial = verdict == UNSURE or (ENTAILMENT in parts and CONTRADICTION not in parts)
    word = SUPPORT if verdict == ENTAILMENT else PARTIAL if is_partial else NOT
    return Verdict(word, verdict.support, verdict.contradiction, counted=worth_of(word))


def worth_of(label: str) -> float:
    """The worth of a label, as in TREC: support 1, partial support a half, else 0."""
    return {SUPPORT: 1.0, PARTIAL: 0.5}.get(label, 0.0)
