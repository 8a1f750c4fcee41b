"""Grades that a judge gave, as shares of the scale: for each aspect one metric, and one more in sight of the reference.

Direct assessment and stars after Wang et al. 2023 ("Is ChatGPT a Good NLG Evaluator?"), single grading after Zheng et al. 2023.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from ragstone.data.types import Grade
from ragstone.errors import Skip
from ragstone.evidence.aspects import Aspect, packaged_aspects, read_aspects
from ragstone.evidence.grades import grade_name, register_grades
from ragstone.registry import metric

Value = Literal["said", "expected"]
_MISLEADS = (
    "A judge may prefer long, confident or first-seen texts and its own style: `ragstone audit` shows how far. Grades of two "
    "judges, scales or manners cannot be compared."
)


def register_aspects(path: str | Path) -> list[str]:
    """Make the aspects of a user's TOML file known as metrics `grade.<aspect>`, and name these."""
    aspects = read_aspects(path).values()
    register_grades(aspects)
    return list(_register(aspects))


def _register(aspects: Iterable[Aspect]) -> Iterable[str]:
    for aspect in aspects:
        for with_reference in (False, True):
            name = f"grade.{aspect.name}" + (".with_reference" if with_reference else "")
            against = "reference" if with_reference else "contexts" if "contexts" in aspect.shows else "question"
            metric(
                name,
                family="grade",
                judges="answer",
                against="references" if against == "reference" else against,
                source="direct assessment and stars (Wang et al. 2023), single grading (Zheng et al. 2023)",
                misleads=_MISLEADS,
                # One call of a model for each aspect and row: only who names it pays for it.
                slow=True,
            )(_make_function(aspect, with_reference))
            yield name


def _make_function(aspect: Aspect, with_reference: bool) -> Callable[..., float]:
    need = grade_name(aspect, with_reference)

    def score(value: Value = "said", **grades: Grade) -> float:
        return share_of(grades[need], value)

    score.__name__ = score.__qualname__ = f"{need}_share"
    held = ", held against the first reference" if with_reference else ""
    score.__doc__ = f"""How a judge grades the answer for {aspect.words}{held}: {aspect.instruction}.

    The grade as a share of its scale, 0 for "{aspect.opposite}" and 1 for "perfect {aspect.words}"; `value=expected` is the mean over
    the grades that the judge might have said, by their probabilities. Skipped for an empty answer, and for the expected value
    where the server does not tell them.
    """
    parameters = [
        inspect.Parameter(need, inspect.Parameter.KEYWORD_ONLY, annotation=Grade),
        inspect.Parameter("value", inspect.Parameter.KEYWORD_ONLY, default="said", annotation=Value),
    ]
    score.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    score.__annotations__ = {need: Grade, "value": Value, "return": float}
    return score


def share_of(grade: Grade, value: Any = "said") -> float:
    """A grade as a share of its scale."""
    number = grade.value if value == "said" else grade.expected
    if number is None:
        raise Skip("the judge's server does not tell how likely other grades were")
    return (number - grade.lowest) / (grade.highest - grade.lowest)


list(_register(packaged_aspects().values()))
