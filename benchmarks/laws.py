"""Laws that a judge of claims obeys on any text, each as a function over sentences by domain.

`tests/tools/test_judge_laws.py` holds them on installed texts, `python -m benchmarks laws --texts FOLDER` on a folder.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragstone.llm.concurrency import gather_or_cancel
from ragstone.text.sentences import sentences
from ragstone.tools.local_judges import LocalChecker

Texts = Mapping[str, Sequence[str]]
SUPPORT, CONTRADICTION = "entailment", "contradiction"
# A sentence or a row of a table; questions state nothing.
_STATEMENT = re.compile(r"[\w\"'“‘(\[<$/-].{20,300}", re.DOTALL)
# Ways in which a text can contain a sentence.
FRAMES = (
    *("{}", "- {}", "* {}", "1. {}", "> {}", "**{}**", '"{}"', "“{}”", "  {}  \n", "Section 4: {}", "# Notes\n\n{}"),
    *("Guide > Use\n{}", "### Fees\n- {}\n", "_{}_", "• {}", "\t{}\r\n"),
)
# Ways to lay a text out; none changes what it says.
_LAYOUTS: tuple[Callable[[Sequence[str]], str], ...] = (
    lambda parts: "\n".join(f"- {part}" for part in parts),
    "\n\n".join,
    lambda parts: " ".join(f"**{part}**" for part in parts),
    lambda parts: "> " + "\n> ".join(parts),
    lambda parts: "\n".join(f"{number}. {part}" for number, part in enumerate(parts, start=1)),
    lambda parts: "# Notes\n\n" + "  ".join(parts),
    lambda parts: "Guide > Use > Notes\n" + " ".join(parts),
    lambda parts: " ".join(parts).replace(" ", "\n", 3).replace(" ", "   ", 2),
)
_HELPER = r"is|are|was|were|can|could|will|would|must|should|may|might|has been|have been"
_POSITIVE = re.compile(rf" (?P<verb>{_HELPER}) (?!not\b|n't|never\b|no\b|nothing\b|only\b)")
_NEGATIVE = re.compile(rf" (?P<verb>{_HELPER}) not ")
_UNCLEAR = re.compile(r"\b(?:if|that|which|who|when|not|no|never|only)\b", re.IGNORECASE)
_ORDER = re.compile(r"(?P<negation>Do not|Don't|Never) (?P<verb>\w)")
# Two names of which one does something to the other: a verb after the first, and no list between them.
_NAME = r"[A-Z]\w*[A-Za-z]\w*"
_ROLES = re.compile(
    rf"(?<=[a-z] )(?P<one>{_NAME})(?P<between> (?:is|was|are|has|had|can|will|may|must|does|[a-z]+(?:ed|s))"
    rf"(?: (?!and\b|or\b|with\b|between\b|as\b)[a-z]+){{1,6}} )(?P<two>{_NAME})(?! [A-Z])(?=[ .,])"
)


class Trial(NamedTuple):
    """One check of a law."""

    domain: str
    held: bool
    claim: str
    evidence: str
    verdicts: str


Law = Callable[[Texts, LocalChecker, int, int], Coroutine[Any, Any, list[Trial]]]


def statements_of(text: str) -> list[str]:
    """The sentences of a text that state something or tell what to do, each once."""
    found = (" ".join(text[start:end].split()) for start, end in sentences(text))
    return list(dict.fromkeys(one for one in found if is_statement(one)))


def is_statement(text: str) -> bool:
    """Whether it is a whole sentence or a row of a table, of at least five words."""
    whole = " | " in text or (text.endswith((".", "!")) and not text.endswith("..."))
    return whole and bool(_STATEMENT.fullmatch(text)) and len(text.split()) >= 5 and "?" not in text


def read_texts(folder: Path, most: int) -> dict[str, list[str]]:
    """At most so many sentences per domain: a text file, named after its domain, with one paragraph per line."""
    found = {}
    for path in sorted(folder.glob("*.txt")):
        every = statements_of(path.read_text(encoding="utf-8"))
        found[path.stem] = random.Random(0).sample(every, min(most, len(every)))
    return {domain: one for domain, one in found.items() if len(one) > 5}


async def contained(texts: Texts, checker: LocalChecker, count: int, seed: int = 1) -> list[Trial]:
    """A claim is supported by itself and by any text that contains it."""
    cases = []
    for domain, claim, rng in _picked(texts, count, seed):
        before, after = rng.sample(list(texts[domain]), 2)
        text = f"{before}\n{rng.choice(FRAMES).format(claim)}\n{after}"
        cases += [(domain, claim, claim), (domain, claim, text)]
    return await _judge(checker, cases, lambda verdict: verdict == SUPPORT)


async def unrelated(texts: Texts, checker: LocalChecker, count: int, seed: int = 2) -> list[Trial]:
    """Evidence of another domain never contradicts a claim."""
    cases = [
        (domain, claim, " ".join(rng.sample(list(texts[_other(texts, domain, rng)]), 3)))
        for domain, claim, rng in _picked(texts, count, seed)
    ]
    return await _judge(checker, cases, lambda verdict: verdict != CONTRADICTION)


async def unrelated_added(texts: Texts, checker: LocalChecker, count: int, seed: int = 3) -> list[Trial]:
    """An unrelated sentence in the evidence turns no support into contradiction; tried where there is support."""
    pairs = []
    for domain, claim, rng in _picked(texts, count, seed):
        parts = [claim, *rng.sample(list(texts[domain]), 2)]
        more = [*parts, rng.choice(texts[_other(texts, domain, rng)])]
        rng.shuffle(more)
        # Reworded, so that the rule of whole sentences does not decide.
        pairs.append((domain, _reworded(claim), " ".join(parts), " ".join(more)))
    trials = await _compare(checker, pairs, lambda _, more: more != CONTRADICTION)
    return [trial for trial in trials if trial.verdicts.startswith(SUPPORT)]


async def negated(texts: Texts, checker: LocalChecker, count: int, seed: int = 4) -> list[Trial]:
    """A claim and its negation are never both supported, by the claim itself or by a rewording."""
    pairs = []
    for domain, claim, rng in _picked(texts, count, seed, negation):
        pairs.append((domain, claim, negation(claim), rng.choice((claim, _reworded(claim)))))
    first = await _verdicts(checker, [(claim, evidence) for _, claim, _, evidence in pairs])
    second = await _verdicts(checker, [(denial, evidence) for _, _, denial, evidence in pairs])
    return [
        Trial(domain, (one, two) != (SUPPORT, SUPPORT), denial, evidence, f"{one}, {two}")
        for (domain, _, denial, evidence), one, two in zip(pairs, first, second, strict=True)
    ]


async def roles_swapped(texts: Texts, checker: LocalChecker, count: int, seed: int = 5) -> list[Trial]:
    """A claim with two names in each other's place is not supported, by the claim itself or by a rewording."""
    cases = [
        (domain, swapped(claim), rng.choice((claim, _reworded(claim))))
        for domain, claim, rng in _picked(texts, count, seed, swapped)
    ]
    return await _judge(checker, cases, lambda verdict: verdict != SUPPORT)


async def layout(texts: Texts, checker: LocalChecker, count: int, seed: int = 6) -> list[Trial]:
    """Marks, line breaks, lists and breadcrumbs in the evidence do not change the verdict."""
    pairs = []
    for domain, sentence, rng in _picked(texts, count, seed):
        parts = [*rng.sample(list(texts[domain]), 2), sentence]
        rng.shuffle(parts)
        claim = rng.choice([_reworded(sentence), negation(sentence) or _reworded(sentence)])
        pairs.append((domain, claim, " ".join(parts), rng.choice(_LAYOUTS)(parts)))
    return await _compare(checker, pairs, lambda plain, laid_out: plain == laid_out)


LAWS: dict[str, Law] = {
    "a text supports what it contains": contained,
    "unrelated evidence contradicts nothing": unrelated,
    "an unrelated sentence turns no support into contradiction": unrelated_added,
    "a claim and its negation are not both supported": negated,
    "swapped roles are not supported": roles_swapped,
    "layout changes no verdict": layout,
}


def negation(claim: str) -> str:
    """The claim with a "not" more or less; empty if there is no safe place for it."""
    if order := _ORDER.match(claim):
        return order["verb"].upper() + claim[order.end() :]
    if _NEGATIVE.search(claim):
        return _NEGATIVE.sub(r" \g<verb> ", claim, count=1)
    # Of several verbs it is not clear which one makes the statement.
    if len(re.findall(rf" (?:{_HELPER}) ", claim)) != 1 or _UNCLEAR.search(claim):
        return ""
    return _POSITIVE.sub(_deny, claim) if _POSITIVE.search(claim) else ""


def _deny(found: re.Match[str]) -> str:
    first, *rest = found["verb"].split()
    return f" {' '.join([first, 'not', *rest])} "


def swapped(claim: str) -> str:
    """The claim with two names in each other's place; empty if it has no two names with a verb between them."""
    found = _ROLES.search(claim)
    if not found or found["one"] == found["two"] or claim.count(found["one"]) + claim.count(found["two"]) != 2:
        return ""
    return f"{claim[: found.start()]}{found['two']}{found['between']}{found['one']}{claim[found.end() :]}"


def _reworded(claim: str) -> str:
    return f"It is described that {claim[:1].lower()}{claim[1:]}"


def _picked(
    texts: Texts, count: int, seed: int, fits: Callable[[str], str] = str
) -> Iterator[tuple[str, str, random.Random]]:
    """At most `count` fitting sentences per domain."""
    for domain, found in texts.items():
        rng = random.Random(f"{seed} {domain}")
        fitting = [one for one in found if fits(one)]
        for claim in rng.sample(fitting, min(count, len(fitting))):
            yield domain, claim, rng


def _other(texts: Texts, domain: str, rng: random.Random) -> str:
    return rng.choice([name for name in texts if name != domain])


async def _judge(
    checker: LocalChecker, cases: Sequence[tuple[str, str, str]], holds: Callable[[str], bool]
) -> list[Trial]:
    """Check (domain, claim, evidence)."""
    verdicts = await _verdicts(checker, [case[1:] for case in cases])
    return [Trial(case[0], holds(verdict), *case[1:], verdict) for case, verdict in zip(cases, verdicts, strict=True)]


async def _compare(
    checker: LocalChecker, pairs: Sequence[tuple[str, str, str, str]], holds: Callable[[str, str], bool]
) -> list[Trial]:
    """Check (domain, claim, evidence, the same evidence in another form)."""
    first = await _verdicts(checker, [(claim, evidence) for _, claim, evidence, _ in pairs])
    second = await _verdicts(checker, [(claim, other) for _, claim, _, other in pairs])
    return [
        Trial(domain, holds(one, two), claim, other, f"{one}, {two}")
        for (domain, claim, _, other), one, two in zip(pairs, first, second, strict=True)
    ]


async def _verdicts(checker: LocalChecker, pairs: Sequence[tuple[str, str]]) -> list[str]:
    weighed = await gather_or_cancel([checker.weigh([claim], [evidence]) for claim, evidence in pairs])
    return [verdict for [[verdict]] in weighed]
