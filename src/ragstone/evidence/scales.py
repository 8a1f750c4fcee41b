"""The scales that grades are given on."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.errors import UnknownNameError


@dataclass(frozen=True)
class Scale:
    """From which to which number, in the words of a prompt."""

    name: str
    lowest: int
    highest: int
    words: str
    lowest_words: str
    highest_words: str
    whole: bool

    def share(self, grade: float) -> float:
        """A grade as a share of the scale, from 0 to 1."""
        return (grade - self.lowest) / (self.highest - self.lowest)

    def grade(self, share: float) -> int:
        """The whole grade that is nearest to a share of the scale."""
        return round(self.lowest + share * (self.highest - self.lowest))

    def check(self, grade: float) -> str | None:
        """What is wrong with a grade, in words."""
        if not self.lowest <= grade <= self.highest:
            return f"the grade {grade:g} is not on the scale from {self.lowest} to {self.highest}"
        if self.whole and grade != int(grade):
            return f"the grade {grade:g} is not a whole number from {self.lowest} to {self.highest}"
        return None


SCALES = {
    scale.name: scale
    for scale in (
        Scale(
            "points",
            0,
            100,
            "on a continuous scale from 0 to 100",
            "a score of zero",
            "a score of one hundred",
            whole=False,
        ),
        Scale("stars", 1, 5, "with one to five stars", "one star", "five stars", whole=True),
        Scale("ten", 1, 10, "with a whole number from 1 to 10", "a score of 1", "a score of 10", whole=True),
    )
}


def find_scale(name: str) -> Scale:
    """The scale of that name."""
    if name not in SCALES:
        raise UnknownNameError("scale", name, SCALES, f"There are: {', '.join(SCALES)}.")
    return SCALES[name]
