"""Questions, small documents and claims that need a step: sums, multiples, times, comparisons, bounds, and what the question says.

Label 0 supported, 1 not stated, 2 contradicted. A document is laid out as prose, bullets or a table; half of the rows have the question after
the document, as the product asks (`Question: …`).
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from made_tables import lay_out

Made = tuple[str, str, str, int]  # document, question, claim, label

_THINGS = (
    "adult ticket,child ticket,student ticket,senior ticket", "kayak,canoe,paddle board,rowing boat", "single room,double room,family room,dormitory bed",
    "shampoo set,hand cream,soap bar,bath salt", "oak board,pine board,birch panel,beech rod", "basic course,evening course,weekend course,summer course",
    "standard parcel,small parcel,bulky parcel,letter", "swim lesson,diving lesson,aqua class,lane hire", "filter,gasket,pump head,hose",
    "copy of a certificate,translation,legalisation,search of the archive", "portrait session,group photo,passport photo,family session",
    "garden plot,raised bed,greenhouse bench,tool shed", "blood test,hearing test,eye test,vaccination", "tea tasting,cellar tour,harvest walk,cheese plate",
)  # fmt: skip
_PLACES = (
    "the north hall",
    "the south hall",
    "the annexe",
    "the old mill",
    "the courtyard",
    "the upper floor",
    "the workshop",
)
_MONEY = ("{} €", "€{}", "£{}", "${}", "{} euros", "{} francs", "{} kroner")
_OPENINGS = (
    "",
    "",
    "Prices apply from March.\n",
    "# Prices\n\n",
    "Please pay at the desk.\n",
    "**Price list**\n\n",
    "All prices include tax.\n",
)
_CLOSINGS = ("", "", "\nCards are accepted.", "\n\nAsk at the desk for groups.", "\nThe list is renewed every year.")


def made_amounts(count: int, rng: Random) -> Iterator[Made]:
    """So many claims."""
    kinds = (_totals, _totals, _comparisons, _times, _bounds, _differences, _percents, _counts)
    for _ in range(count):
        yield rng.choice(kinds)(rng)


def _prices(rng: Random) -> tuple[str, dict[str, int], str]:
    names = rng.choice(_THINGS).split(",")
    rng.shuffle(names)
    values = dict(zip(names[: rng.randint(3, 4)], rng.sample(range(2, rng.choice([12, 30, 60])), 4), strict=False))
    money = rng.choice(_MONEY)
    form = rng.randrange(4)
    if form == 0:
        body = lay_out([["Item", "Price"], *([name, money.format(value)] for name, value in values.items())])
    elif form == 1:
        body = "\n".join(f"- {name.capitalize()}: {money.format(value)}" for name, value in values.items())
    elif form == 2:
        body = " ".join(
            rng.choice(["A {} costs {}.", "For a {} you pay {}.", "The price of a {} is {}."]).format(
                name, money.format(value)
            )
            for name, value in values.items()
        )
    else:
        parts = [f"{money.format(value)} for a {name}" for name, value in values.items()]
        body = f"We charge {', '.join(parts[:-1])} and {parts[-1]}."
    return rng.choice(_OPENINGS) + body + rng.choice(_CLOSINGS), values, money


def _wrong(value: int, rng: Random) -> int:
    others = [value + step for step in (-10, -5, -2, -1, 1, 2, 3, 4, 5, 10) if value + step > 0]
    return rng.choice(others)


def _plural(count: int, name: str) -> str:
    head, _, rest = name.partition(" of ")
    head = (
        head
        if count == 1
        else f"{head[:-1]}ies"
        if head[-1] == "y" and head[-2] not in "aeiou"
        else f"{head}es"
        if head[-1] in "sx"
        else f"{head}s"
    )
    return f"{('one', 'two', 'three', 'four', 'five', 'six')[count - 1] if count < 7 else count} {head}{' of ' + rest if rest else ''}"


def _totals(rng: Random) -> Made:
    document, values, money = _prices(rng)
    chosen = rng.sample(list(values), rng.randint(1, 2))
    counts = [rng.randint(1, 6) for _ in chosen]
    if len(chosen) == 1 and counts[0] == 1:
        counts = [3]
    total = sum(count * values[name] for count, name in zip(counts, chosen, strict=True))
    label = rng.choice([0, 0, 2])
    said = money.format(total if label == 0 else _wrong(total, rng))
    what = " and ".join(_plural(count, name) for count, name in zip(counts, chosen, strict=True))
    question = rng.choice(
        ["What do {} cost together?", "I need {}. How much is that?", "We want {}. What do we pay?", "How much for {}?"]
    ).format(what)
    if rng.random() < 0.35:  # the claim is only right together with the question
        claim = rng.choice(
            [
                "You pay {}.",
                "The total is {}.",
                "That comes to {}.",
                "Altogether it costs {}.",
                "This would be {} in total.",
            ]
        ).format(said)
    else:
        claim = rng.choice(
            ["{0} cost {1} together.", "You pay {1} for {0}.", "For {0} the total is {1}.", "{0} come to {1}."]
        ).format(what, said)
        question = question if rng.random() < 0.5 else ""
    return document, question, claim[0].upper() + claim[1:], label


def _comparisons(rng: Random) -> Made:
    document, values, _ = _prices(rng)
    first, second = rng.sample(list(values), 2)
    label = rng.choice([0, 2])
    if values[first] > values[second]:
        first, second = second, first
    low, high = (first, second) if label == 0 else (second, first)
    best = min(values, key=values.__getitem__) if rng.random() < 0.5 else max(values, key=values.__getitem__)
    if rng.random() < 0.4:
        word = "cheapest" if values[best] == min(values.values()) else "most expensive"
        other = best if label == 0 else rng.choice([name for name in values if name != best])
        claim = rng.choice(
            ["The {0} is the {1} option.", "The {1} of all is the {0}.", "Nothing is {2} than the {0}."]
        ).format(other, word, "cheaper" if word == "cheapest" else "dearer")
        return document, rng.choice(["", f"Which is the {word}?"]), claim, label
    claim = rng.choice(
        [
            "A {0} is cheaper than a {1}.",
            "A {1} costs more than a {0}.",
            "You pay less for a {0} than for a {1}.",
            "The {1} is the dearer one of {0} and {1}.",
        ]
    )
    return document, rng.choice(["", f"Should I take a {low} or a {high}?"]), claim.format(low, high), label


def _differences(rng: Random) -> Made:
    document, values, money = _prices(rng)
    low, high = sorted(rng.sample(list(values), 2), key=values.__getitem__)
    gap, label = values[high] - values[low], rng.choice([0, 0, 2])
    said = money.format(gap if label == 0 else _wrong(gap, rng))
    claim = rng.choice(
        [
            "A {1} costs {2} more than a {0}.",
            "A {0} is {2} cheaper than a {1}.",
            "The difference between a {0} and a {1} is {2}.",
            "You save {2} with a {0} in place of a {1}.",
        ]
    )
    return document, rng.choice(["", f"How much do I save with a {low}?"]), claim.format(low, high, said), label


def _clock(minutes: int, twelve: bool) -> str:
    hours, rest = divmod(minutes % 1440, 60)
    if not twelve:
        return f"{hours}:{rest:02d}"
    return f"{(hours - 1) % 12 + 1}{f':{rest:02d}' if rest else ''} {'am' if hours < 12 else 'pm'}"


def _times(rng: Random) -> Made:
    start, long, twelve = (
        rng.randint(14, 40) * 30,
        rng.choice([20, 30, 45, 60, 75, 90, 105, 120, 150, 180]),
        rng.random() < 0.4,
    )
    place, label = rng.choice(_PLACES), rng.choice([0, 0, 2])
    what = rng.choice(["tour", "class", "rehearsal", "session", "service", "exam", "meeting", "walk"])
    form = rng.choice(
        [
            "The {w} in {p} starts at {s} and takes {l} minutes.",
            "- {w}: {s}, {l} min, {p}",
            "{w} | start {s} | length {l} minutes | {p}",
            "Our {w} begins in {p} at {s}; allow {l} minutes for it.",
        ]
    )
    document = (
        rng.choice((*_OPENINGS[4:5], "", ""))
        + form.format(w=what, p=place, s=_clock(start, twelve), l=long)
        + rng.choice(_CLOSINGS[:3])
    )
    if rng.random() < 0.4:
        late = rng.choice([-25, -10, 5, 15, 40])
        come = _clock(start + late, twelve)
        claim = (
            "If you come at {} you miss the beginning."
            if late > 0
            else "If you come at {} you are in time for the beginning."
        )
        if label == 2:
            claim = (
                "If you come at {} you are in time for the beginning."
                if late > 0
                else "If you come at {} you miss the beginning."
            )
        return document, f"I can be there at {come}. Is that all right?", claim.format(come), label
    end = start + long + (0 if label == 0 else rng.choice([-60, -30, -15, 15, 30, 60]))
    claim = rng.choice(
        ["The {} ends at {}.", "The {} is over at {}.", "The {} finishes at {}.", "The {} lasts until {}."]
    )
    return document, rng.choice(["", f"When is the {what} over?"]), claim.format(what, _clock(end, twelve)), label


def _bounds(rng: Random) -> Made:
    most, least = rng.randint(8, 40), rng.randint(2, 6)
    place, group = rng.choice(_PLACES), rng.randint(2, 60)
    document = rng.choice(
        [
            "{p} takes groups of {a} to {b} people.",
            "Groups in {p}: at least {a}, at most {b} people.",
            "- {p}: minimum {a}, maximum {b} persons",
            "| Place | Least | Most |\n|---|---|---|\n| {p} | {a} people | {b} people |",
        ]
    ).format(p=place.capitalize(), a=least, b=most) + rng.choice(_CLOSINGS)
    fits, label = least <= group <= most, rng.choice([0, 2])
    yes = rng.choice(
        ["A group of {g} can use {p}.", "{p} is possible for {g} people.", "With {g} people you can book {p}."]
    )
    no = rng.choice(
        [
            "A group of {g} cannot use {p}.",
            "{p} is not possible for {g} people.",
            "With {g} people you cannot book {p}.",
        ]
    )
    claim = (yes if fits == (label == 0) else no).format(g=group, p=place)
    if rng.random() < 0.3:  # said in the question: not stated nor denied by the document, and yet known
        return (
            document,
            f"We are {group} people. Can we use {place}?",
            f"Your group has {group if label == 0 else _wrong(group, rng)} people.",
            label,
        )
    return (
        document,
        rng.choice(["", f"We are {group} people. Can we use {place}?"]),
        claim[0].upper() + claim[1:],
        label,
    )


def _percents(rng: Random) -> Made:
    document, values, money = _prices(rng)
    name, share = rng.choice(list(values)), rng.choice([10, 20, 25, 50])
    who = rng.choice(["members", "students", "seniors", "staff", "locals"])
    reduced = values[name] * (100 - share) / 100
    label = rng.choice([0, 0, 2])
    if label == 2:
        reduced = values[name] * share / 100 if rng.random() < 0.4 and share != 50 else reduced + rng.choice([-1, 1, 2])
    said = money.format(f"{reduced:.2f}".removesuffix(".00"))
    document += f"\n{who.capitalize()} get {share}% off."
    claim = rng.choice(
        ["{0} pay {1} for a {2}.", "For {0} a {2} costs {1}.", "With the discount for {0} a {2} is {1}."]
    ).format(who, said, name)
    return document, rng.choice(["", f"I belong to the {who}. What is a {name}?"]), claim[0].upper() + claim[1:], label


def _counts(rng: Random) -> Made:
    document, values, _ = _prices(rng)
    if rng.random() < 0.5:
        other = rng.choice(
            [name for line in _THINGS for name in line.split(",") if name not in document and name not in values]
        )
        claim = rng.choice(["A {} costs {}.", "You can also get a {} for {}.", "The price of a {} is {}."]).format(
            other, rng.randint(2, 60)
        )
        return document, rng.choice(["", f"What does a {other} cost?"]), claim, 1
    limit = rng.randint(min(values.values()), max(values.values()))
    number = sum(value < limit for value in values.values())
    label = rng.choice([0, 2])
    said = number if label == 0 else _wrong(number, rng) if number else 2
    claim = rng.choice(["{} of the prices are below {}.", "{} items cost less than {}."]).format(
        said if said else "None", limit
    )
    return document, "", claim, label


def as_evidence(document: str, question: str) -> str:
    """The text that the judge reads."""
    return f"{document.strip()}\n\nQuestion: {question}" if question else document.strip()


def adapter_row(made: Made) -> dict[str, Any]:
    """A row of adapter_rows.py."""
    document, question, claim, label = made
    return {
        "set": "train",
        "task": "support",
        "first": as_evidence(document, question),
        "second": claim,
        "label": label,
        "about": "amounts",
    }
