"""Grades of answers by a judge: for each aspect one kind of evidence, and one more in sight of the reference.

The functions are alike but for the aspect, so they are made here, one by one, from the list of aspects.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ragstone.data.types import Chunk, Grade
from ragstone.errors import Skip
from ragstone.evidence.aspects import Aspect, packaged_aspects
from ragstone.evidence.tools import Rater
from ragstone.registry import evidence

_FIELDS: dict[str, Any] = {"question": str, "contexts": list[Chunk], "references": list[str], "answer": str}


def grade_name(aspect: Aspect, with_reference: bool) -> str:
    """The name of an aspect's evidence."""
    return f"{aspect.name}_grade" + ("_with_reference" if with_reference else "")


def register_grades(aspects: Iterable[Aspect]) -> None:
    """Make an aspect's two kinds of evidence known."""
    for aspect in aspects:
        for with_reference in (False, True):
            function = _make_function(aspect, with_reference)
            evidence(prompts=("grade", "own_reference"), signature=_stamp(aspect))(function)


def _make_function(aspect: Aspect, with_reference: bool) -> Callable[..., Any]:
    # The question is needed for a reference of the judge's own, also where it is not shown.
    needs = ["question", *(["contexts"] if "contexts" in aspect.shows else []), "answer"]
    needs += ["references"] if with_reference else []

    async def grade(
        *,
        question: str,
        answer: str,
        rater: Rater,
        contexts: Sequence[Chunk] = (),
        references: Sequence[str] = (),
    ) -> Grade:
        if not answer.strip():
            raise Skip("the answer is empty")
        reference = references[0] if with_reference else None
        return await rater.grade(aspect, question, answer, [chunk.text for chunk in contexts], reference)

    name = grade_name(aspect, with_reference)
    grade.__name__ = grade.__qualname__ = name
    grade.__doc__ = (
        f"The judge's grade of the answer for {aspect.words}{', held against the first reference' * with_reference}."
    )
    grade.__annotations__ = {**{need: _FIELDS[need] for need in needs}, "rater": Rater, "return": Grade}
    parameters = [inspect.Parameter(need, inspect.Parameter.KEYWORD_ONLY) for need in (*needs, "rater")]
    grade.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return grade


def _stamp(aspect: Aspect) -> Callable[[], str]:
    return lambda: aspect.hash


register_grades(packaged_aspects().values())
