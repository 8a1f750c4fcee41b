"""Tables with invented cells, and short claims about the cells of a table: right ones, wrong ones, comparisons, amounts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

Grid = list[list[str]]

_NAMES = [
    "Alpha",
    "Basic",
    "Standard",
    "Plus",
    "Premium",
    "North",
    "South",
    "East",
    "West",
    "Morning",
    "Evening",
    "Weekday",
    "Weekend",
    "Adults",
    "Children",
    "Students",
    "Seniors",
    "Members",
    "Visitors",
    "Cedar",
    "Oak",
    "Maple",
    "Single",
    "Double",
    "Family",
    "Small",
    "Medium",
    "Large",
    "Pump",
    "Mixer",
    "Drill",
    "Ladder",
    "Saw",
    "Projector",
    "Speaker",
    "Canoe",
    "Kayak",
    "Tent",
    "Van",
    "Marquee",
    "Violin",
    "Cello",
    "Harp",
    "Latte",
    "Monday",
    "Tuesday",
    "Friday",
    "Saturday",
]
_HEADS = ("Item", "Name", "Type", "Option", "Tariff", "Product", "Room", "Group")
_FORMS = (
    "The {column} of {row} is {value}.",
    "{row} has a {column} of {value}.",
    "For {row}, the {column} is {value}.",
    "{column} for {row}: {value}.",
    "{row}: {value} ({column}).",
    "With {row} the {column} comes to {value}.",
)
_COLUMNS: dict[str, Callable[[Random], str]] = {
    "Price": lambda rng: rng.choice(["{} €", "£{}", "${}"]).format(rng.randint(2, 240)),
    "Deposit": lambda rng: f"£{rng.randint(1, 30) * 5}",
    "Capacity": lambda rng: f"{rng.randint(2, 300)} people",
    "Weight": lambda rng: f"{rng.randint(1, 90)} kg",
    "Duration": lambda rng: f"{rng.choice([15, 20, 30, 45, 60, 75, 90, 120])} minutes",
    "Opening time": lambda rng: f"{rng.randint(7, 11)}:{rng.choice(['00', '30'])}",
    "Closing time": lambda rng: f"{rng.randint(15, 22)}:{rng.choice(['00', '30'])}",
    "Notice": lambda rng: f"{rng.randint(1, 12)} weeks",
    "Delivery time": lambda rng: f"{rng.randint(1, 14)} working days",
    "Breakfast": lambda rng: rng.choice(["included", "not included"]),
    "Minimum age": lambda rng: str(rng.randint(3, 21)),
    "Daily rate": lambda rng: f"£{rng.randint(4, 95)}",
    "Weekend rate": lambda rng: f"£{rng.randint(10, 190)}",
    "Power": lambda rng: f"{rng.randint(2, 40) * 50} W",
    "Insurance": lambda rng: rng.choice(["yes", "no"]),
    "Late fee": lambda rng: f"€{rng.randint(1, 9)}.50",
    "Discount": lambda rng: f"{rng.choice([5, 10, 15, 20, 25])}%",
    "Contact": lambda rng: rng.choice(["front desk", "Ms Okafor", "Mr Lindt", "the warden", "the office"]),
}


def read_table(text: str) -> Grid | None:
    """The cells of a text's table; nothing if its rows differ."""
    lines = [line.strip() for line in text.split("\n") if line.strip().startswith("|")]
    grid = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if not re.fullmatch(r"[|\s:-]+", line)
    ]
    return grid if len(grid) >= 3 and len({len(row) for row in grid}) == 1 and len(grid[0]) >= 2 else None


def made_table(rng: Random) -> Grid:
    """A table of two to six rows."""
    columns = rng.sample(list(_COLUMNS), rng.randint(2, 4))
    names = rng.sample(_NAMES, rng.randint(2, 6))
    return [[rng.choice(_HEADS), *columns], *([name, *(_COLUMNS[one](rng) for one in columns)] for name in names)]


def lay_out(grid: Grid) -> str:
    """A table of Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in grid]
    return "\n".join([lines[0], "|" + "---|" * len(grid[0]), *lines[1:]])


def cells(grid: Grid, count: int, rng: Random, *, compare: bool = True) -> Iterator[tuple[str, int]]:
    """Claims with 0 (right) or 2 (wrong); of made tables also comparisons and multiples of amounts."""
    for _ in range(count):
        row, at, label = rng.choice(grid[1:]), rng.randrange(1, len(grid[0])), 0
        value, others = row[at], [one[at] for one in grid[1:] if one[at] != row[at]]
        if rng.random() < 0.5:
            if not others:
                continue
            value, label = rng.choice(others), 2
        column = grid[0][at].lower() if rng.random() < 0.7 else grid[0][at]
        name = row[0] if rng.random() < 0.6 else f"the {row[0].lower()}"
        claim = rng.choice(_FORMS).format(column=column, row=name, value=value)
        yield claim[0].upper() + claim[1:], label
    for at in range(1, len(grid[0]) if compare else 1):
        found = [re.search(r"\d+(?:\.\d+)?", row[at]) for row in grid[1:]]
        values = [float(one.group()) for one in found if one]
        if len(values) == len(found) and rng.random() < 0.6:
            yield from _compared(grid, at, values, rng)


def _compared(grid: Grid, at: int, values: list[float], rng: Random) -> Iterator[tuple[str, int]]:
    one, other = rng.sample(range(len(values)), 2)
    name, column = grid[one + 1][0], grid[0][at].lower()
    if values[one] != values[other]:
        more = rng.random() < 0.5
        right = (values[one] > values[other]) == more
        claim = f"{name} has a {'higher' if more else 'lower'} {column} than {grid[other + 1][0]}."
        yield claim, 0 if right else 2
    if values.count(max(values)) == 1:
        yield f"{name} has the highest {column}.", 0 if values[one] == max(values) else 2
    if currency := re.search("[£€$]", grid[one + 1][at]):
        times, wrong = rng.randint(2, 5), rng.random() < 0.5
        total = values[one] * times + (rng.choice([-5, -2, 1, 2, 4, 5, 10]) if wrong else 0)
        if total > 0:
            yield f"{times} times {name} comes to {currency.group()}{total:g} ({column}).", 2 if wrong else 0
