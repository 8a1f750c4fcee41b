"""Makes docs/metrics.md: all metrics from their cards."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generator.marked_blocks import MADE

from ragstone.engine.catalogue import MetricCard, cards, set_names
from ragstone.tools.aspects import packaged_aspects

MISLEADS = "*Misleads:* "
# What is said once for all metrics with a model.
OF_ALL_JUDGES = (
    "It depends on the judge.",
    "It depends on the judge of claims and verdicts.",
    "The judge may be wrong.",
)
# At a set, a sentence has at most so many names, and saves at least so many words.
MOST_NAMES, SAVED = 5, 8
# The range and the source of an entry that states none, and a sentence that its "whether" says.
USUAL = ("0–1 ↑", "Ragstone", "1 if it does, else 0.")


def metrics_page() -> str:
    """All metrics: a table of what is judged against what, then one section per metric."""
    known = cards()
    graded = [card for card in known if card.family == "grade"]
    lines = [
        MADE,
        "# Metrics",
        "",
        "Write a metric as `name`, `name@k` or `name(param=value)`, and separate several with commas. A set is written like a metric (`-m lexical`): "
        f"{', '.join(f'`{name}`' for name in set_names())}, `all`, and `quick`. `quick` is the default: all fast metrics, plus "
        "those that need a model if you name one or the data contains its verdicts. *Slow* metrics are computed only by name "
        "or with `all`. `ragstone metrics NAME` prints one entry. [Names in papers and other tools](names.md) are understood too.",
        "",
        "A cell is *ok*, *skipped* or *failed*; the last two have a reason. Means are over ok cells. Verdicts of the local judge count [with their expected value](claims.md#how-unsure-verdicts-count). "
        "The last line of an entry gives parameters, range, needed fields + tools, source and other names; what metrics of a "
        "set share is said at the set. An entry without a range is from 0 to 1, higher is better; ↑ is higher, ↓ lower, no arrow "
        "neither. One without a source is our own. *Whether* is 1 for yes, 0 for no. A metric with a model among its tools depends on that model, which may be wrong. "
        '"Best over references" is the largest value over all references of a row.',
        "",
        "## What is judged against what",
        "",
        "The targets of [Auepora](systems/auepora.md), and some more.",
        "",
        "| judges | against | metrics |",
        "|---|---|---|",
    ]
    for judges, against in dict.fromkeys((card.judges, card.against) for card in known):
        names = [
            _link(card) for card in known if (card.judges, card.against) == (judges, against) and card not in graded
        ]
        if any((card.judges, card.against) == (judges, against) for card in graded):
            names.append("[`grade.*`](#grade)")
        lines.append(f"| {judges} | {against} | {', '.join(names)} |")
    for family in dict.fromkeys(card.family for card in known):
        members = [card for card in known if card.family == family]
        lines += _grades(members[0]) if family == "grade" else _family(family, members)
    return "\n".join(lines) + "\n"


def _link(card: MetricCard) -> str:
    return f"[`{card.name}`](#{card.name.replace('.', '')})"


def _family(family: str, members: list[MetricCard]) -> Iterator[str]:
    """A section: what several of its metrics share comes once, first."""
    shared = _shared(members)
    if len(members) > 1:
        yield from ("", f"## Set {family}", "", *([] if shared else [f"- `-m {family}` computes this set."]))
    common: dict[str, list[str]] = {}
    for part, sharing in shared.items():
        common.setdefault(_named(sharing, members), []).append(part)
    known = {fact for card in members for fact in _facts(card)}
    for names, parts in common.items():
        facts = "; ".join(part for part in parts if part in known)
        prose = _joined([part for part in parts if part not in known])
        yield f"- {names}: {' '.join(filter(None, (facts and f'{facts}.', prose)))}"
    for card in members:
        yield from ("", f"## {card.name}", "", *_entry(card, set(shared)))


def _named(sharing: list[MetricCard], members: list[MetricCard]) -> str:
    """The metrics that share a sentence, by the shorter list."""
    others = [card for card in members if card not in sharing]
    listed = ", ".join(f"`{card.name}`" for card in (others if len(others) < len(sharing) else sharing))
    if not others:
        return "All"
    return f"All but {listed}" if len(others) < len(sharing) else listed


def _shared(members: list[MetricCard]) -> dict[str, list[MetricCard]]:
    """The facts and sentences of a family that are shorter when they are said once, with their metrics."""
    sharing: dict[str, list[MetricCard]] = {}
    for card in members:
        for part in dict.fromkeys((*_facts(card), *_sentences(card.details), *_misleads(card))):
            sharing.setdefault(part, []).append(card)

    return {part: cards for part, cards in sharing.items() if _saves(part, len(cards), len(members))}


def _saves(part: str, sharing: int, members: int) -> bool:
    """Whether it is shorter to say something at the set: a few metrics keep their own sentence, and long lists of names are not read."""
    names = min(sharing, members - sharing)
    least = min(3, members)
    return (
        members > 1 and sharing >= least and names <= MOST_NAMES and len(part.split()) * (sharing - 1) >= names + SAVED
    )


def _sentences(text: str) -> list[str]:
    sentences = re.split(r"(?<=[.:]) (?=[A-Z`])", " ".join(text.split())) if text else []
    return [sentence for sentence in sentences if sentence not in USUAL]


def _misleads(card: MetricCard) -> list[str]:
    return [f"{MISLEADS}{sentence}" for sentence in _sentences(card.misleads) if sentence not in OF_ALL_JUDGES]


def _joined(sentences: list[str]) -> str:
    """Sentences on one line; the word before those that warn comes once."""
    plain = [one for one in sentences if not one.startswith(MISLEADS)]
    warnings = [one.removeprefix(MISLEADS) for one in sentences if one.startswith(MISLEADS)]
    return " ".join(plain + ([MISLEADS + " ".join(warnings)] if warnings else []))


def _entry(card: MetricCard, shared: set[str]) -> Iterator[str]:
    """The meaning and the formula, when the metric misleads, and the facts on one line; without what is shared."""
    yield " ".join([card.meaning, *(one for one in _sentences(card.details) if one not in shared)])
    if misleads := [one for one in _misleads(card) if one not in shared]:
        yield _joined(misleads)
    facts = [fact for fact in _facts(card) if fact not in shared]
    usage = [f"`{card.usage}`"] if card.usage != card.name else []
    aliases = [f"also {', '.join(names)}"] if (names := _aliases(card)) else []
    # A reader who lands here by search needs what is said above.
    common = {*_facts(card), *_sentences(card.details), *_misleads(card)} & shared
    more = [f"[more](#set-{card.family})"] if common else []
    yield from ("", "; ".join([*usage, *facts, *aliases, *more]))


def _facts(card: MetricCard) -> list[str]:
    """The range, the needs with the tools, whether it is slow, and the source, as far as they are not the usual ones."""
    arrow = {"higher is better": " ↑", "lower is better": " ↓"}.get(card.direction, "")
    tools = f" + {', '.join(card.tools)}" if card.tools else ""
    slow = ["*slow*"] if card.slow else []
    spread = card.range.replace(" to ", "–") if card.range[0] != "-" else card.range
    facts = (f"{spread}{arrow}", f"{', '.join(card.needs)}{tools}", *slow, card.source)
    return [fact for fact in facts if fact not in USUAL]


def _aliases(card: MetricCard) -> list[str]:
    """Other names, without mere spellings; names that differ only in a number as a range."""
    spelled = {_plain(card.name): ""} | {_plain(alias): alias for alias in card.aliases}
    series: dict[str, list[str]] = {}
    for alias in list(spelled.values())[1:]:
        series.setdefault(re.sub(r"[\d.]+", "#", alias), []).append(alias)
    return [names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}" for names in series.values()]


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def _grades(card: MetricCard) -> Iterator[str]:
    """The grades of all aspects in one section: they differ only in the aspect."""
    yield from ("", "## grade", "")
    yield "The judge's grade of the answer for one aspect. `grade.ASPECT.with_reference` also shows the judge the first reference."
    yield ""
    yield "; ".join((f"`{card.usage.replace(card.name, 'grade.ASPECT')}`", *_facts(card)[:-1]))
    yield ""
    yield re.sub(r': 0 is ".*?", 1 is ".*?"\. ', ". ", " ".join(card.details.split()))
    yield ""
    yield "| aspect | what is graded | also shown | 0 is |"
    yield "|---|---|---|---|"
    for aspect in packaged_aspects().values():
        yield f"| `{aspect.name}` | {aspect.instruction} | {', '.join(aspect.shows)} | {aspect.opposite} |"
    yield ""
    yield f"- *Misleads:* {card.misleads}"
    yield f"- *Source:* {card.source}."
