"""Grades by a judge, as a share of the scale. Each aspect has one metric, and one that also shows the reference.

Direct assessment and stars after Wang et al. 2023 ("Is ChatGPT a Good NLG Evaluator?"), single grading after Zheng et
al. 2023. The functions differ only in the aspect, so they are made from the list of aspects.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from ragstone.data.types import Chunk, Grade
from ragstone.errors import Skip
from ragstone.metrics.checklists import register_checklists
from ragstone.registry import evidence, metric
from ragstone.storage.images import texts_with_images
from ragstone.tools.aspects import Aspect, packaged_aspects, read_aspects
from ragstone.tools.checklists import read_checklists
from ragstone.tools.protocols import Rater

Value = Literal["said", "expected"]
_FIELDS: dict[str, Any] = {"question": str, "contexts": list[Chunk], "references": list[str], "answer": str}
_MISLEADS = (
    "A judge may prefer long, confident or first-seen texts and its own style; `ragstone audit` measures this. Grades "
    "from different judges, scales or methods cannot be compared."
)


def register_aspects(path: str | Path) -> list[str]:
    """Register the aspects and checklists of a user's TOML file, and return the names of their metrics.

    They are called `grade.<aspect>` and `checklist.<name>`.
    """
    return _register(read_aspects(path).values()) + register_checklists(read_checklists(path).values())


def _register(aspects: Iterable[Aspect]) -> list[str]:
    names = []
    for aspect in aspects:
        for with_reference in (False, True):
            grade = _make_evidence(aspect, with_reference)
            asked = "pass_fail" if aspect.is_binary else "grade"
            evidence(prompts=(asked, "own_reference"), signature=_hash_of(aspect), images=True)(grade)
            names.append(f"grade.{aspect.name}" + ".with_reference" * with_reference)
            shown = "contexts" if "contexts" in aspect.shows else "question"
            metric(
                names[-1],
                family="grade",
                judges="answer",
                against="references" if with_reference else shown,
                source="points and stars (ChatGPT, Wang et al. 2023), single grading (MT-Bench, Zheng et al. 2023), G-Eval",
                misleads=_MISLEADS,
                # One model call per aspect and row: computed only if named.
                slow=True,
            )(_make_metric(aspect, grade.__name__, with_reference))
    return names


def _hash_of(aspect: Aspect) -> Callable[[], str]:
    return lambda: aspect.hash


def _make_evidence(aspect: Aspect, with_reference: bool) -> Callable[..., Any]:
    # The question is always needed: the judge may write a reference of its own from it.
    needs = ["question", *(["contexts"] if "contexts" in aspect.shows else []), "answer"]
    needs += ["references"] if with_reference else []

    async def grade(
        *, question: str, answer: str, rater: Rater, contexts: Sequence[Chunk] = (), references: Sequence[str] = ()
    ) -> Grade:
        if not answer.strip():
            raise Skip("the answer is empty")
        reference = references[0] if with_reference else None
        return await rater.grade(aspect, question, answer, texts_with_images(contexts), reference)

    grade.__name__ = grade.__qualname__ = f"{aspect.name}_grade" + "_with_reference" * with_reference
    grade.__doc__ = f"The judge's grade of the answer for {aspect.words}{_given(with_reference)}."
    grade.__annotations__ = {**{need: _FIELDS[need] for need in needs}, "rater": Rater, "return": Grade}
    parameters = [inspect.Parameter(need, inspect.Parameter.KEYWORD_ONLY) for need in (*needs, "rater")]
    grade.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return grade


def _make_metric(aspect: Aspect, need: str, with_reference: bool) -> Callable[..., float]:
    def score(value: Value = "said", **grades: Grade) -> float:
        return share_of(grades[need], value)

    score.__name__ = score.__qualname__ = f"{need}_share"
    score.__doc__ = (
        _pass_fail_words(aspect, with_reference)
        if aspect.is_binary
        else f"""The judge's grade for {aspect.words}{_given(with_reference)}: {aspect.instruction}.

    (grade − lowest) / (highest − lowest): 0 is "{aspect.opposite}", 1 is "perfect {aspect.words}". `value=expected` is
    the mean grade weighted by the judge's probabilities. Skipped if the answer is empty, or if `value=expected` and the
    server returns no probabilities.
    """
    )
    parameters = [
        inspect.Parameter(need, inspect.Parameter.KEYWORD_ONLY, annotation=Grade),
        inspect.Parameter("value", inspect.Parameter.KEYWORD_ONLY, default="said", annotation=Value),
    ]
    score.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    score.__annotations__ = {need: Grade, "value": Value, "return": float}
    return score


def _pass_fail_words(aspect: Aspect, with_reference: bool) -> str:
    return f"""Whether the answer passes the test of {aspect.words}{_given(with_reference)}: {aspect.instruction}.

    1 if the judge says pass, 0 if it says fail ({aspect.opposite}). `value=expected` is the probability of pass. Skipped if
    the answer is empty, or if `value=expected` and the server returns no probabilities.
    """


def _given(with_reference: bool) -> str:
    return ", given the first reference" if with_reference else ""


def share_of(grade: Grade, value: Any = "said") -> float:
    """A grade as a share of its scale."""
    number = grade.value if value == "said" else grade.expected
    if number is None:
        raise Skip("the judge's server returns no probabilities of other grades")
    return (number - grade.lowest) / (grade.highest - grade.lowest)


_register(packaged_aspects().values())
