"""RGB's four abilities (Chen et al. 2024): noise robustness, negative rejection, information integration, counterfactual robustness.

`ragstone stress` builds the samples that these judge; on other samples they judge what they can. They are computed when
they are named: rates of a stress test mean little elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ragstone.errors import Skip
from ragstone.registry import metric
from ragstone.text.error_notices import RGB_WORDS

RGB = "RGB (Chen et al. 2024)"
_REFUSING = ("insufficient information", "信息不足")
_PLACE: dict[str, Any] = {"family": "rgb", "judges": "answer", "slow": True}
_LETTERS = "It looks for the letters of the answer: a denial that names it counts as right, another spelling as wrong."
# `rgb` takes RGB's own words and nothing else, `any` all that we know of.
Words = Literal["any", "rgb"]


@metric("rgb.accuracy", **_PLACE, against="references", source=f"accuracy, {RGB}", misleads=_LETTERS)
def accuracy(answer: str, needed_answers: Sequence[Sequence[str]]) -> float:
    """The answer contains every needed answer.

    1 if of each needed answer one spelling is a substring of the answer, whatever the case; else 0. References are
    spellings of one answer; `metadata.needed_answers` may list several, each a text or a list of spellings.
    """
    return float(_contains(answer, needed_answers))


@metric(
    "rgb.rejection_rate",
    **_PLACE,
    against="answerable",
    source=f"negative rejection, {RGB}",
    misleads="It knows refusals by their phrases; `rgb.rejection_rate.judged` asks a judge.",
)
def rejection_rate(answer: str, declining_words: Sequence[str], answerable: bool, by: Words = "any") -> float:
    """The answer declines where no passage holds the answer.

    1 if it says "insufficient information" or 信息不足 (`by=rgb`: only then), or is a refusal as `refusal` knows them; else 0.
    Skipped where the passages hold the answer, and when the answer is empty.
    """
    _check_unanswerable(answerable)
    folded = answer.casefold()
    return float(any(words in folded for words in _REFUSING) or (by == "any" and bool(declining_words)))


@metric(
    "rgb.rejection_rate.judged",
    **_PLACE,
    against="answerable",
    source=f"negative rejection by a judge, {RGB}",
    misleads="It is as good as the judge.",
)
def judged_rejection_rate(judged_refusal: bool, answerable: bool) -> float:
    """The answer declines where no passage holds the answer, by a judge.

    1 if it does, else 0. Skipped where the passages hold the answer.
    """
    _check_unanswerable(answerable)
    return float(judged_refusal)


@metric(
    "rgb.error_detection_rate",
    **_PLACE,
    against="metadata",
    source=f"counterfactual robustness, {RGB}",
    misleads="It knows by phrases, in English and Chinese, that an answer calls its sources wrong; `rgb.error_detection_rate.judged` asks a judge.",
)
def error_detection_rate(
    answer: str,
    error_notices: Sequence[str],
    planted_answer: str,  # noqa: ARG001  (rows without one are skipped)
    by: Words = "any",
) -> float:
    """The answer says that the passages are wrong, where an error was planted in them.

    1 if it speaks of factual errors or 事实性错误 (`by=rgb`: only then), or calls the documents wrong in other words; else 0.
    Skipped where no error was planted (`metadata.fake_answer`).
    """
    return float(_detects(answer, error_notices, by))


@metric(
    "rgb.error_detection_rate.judged",
    **_PLACE,
    against="metadata",
    source=f"counterfactual robustness by a judge, {RGB}",
    misleads="It is as good as the judge.",
)
def judged_error_detection_rate(judged_error_report: bool, planted_answer: str) -> float:  # noqa: ARG001
    """The answer says that the passages are wrong, where an error was planted in them, by a judge.

    1 if it does, else 0. Skipped where no error was planted.
    """
    return float(judged_error_report)


@metric(
    "rgb.error_correction_rate",
    **_PLACE,
    against="references",
    source=f"counterfactual robustness, {RGB}",
    misleads=f"{_LETTERS} It is over few rows where few errors are detected.",
)
def error_correction_rate(
    answer: str,
    error_notices: Sequence[str],
    planted_answer: str,  # noqa: ARG001  (rows without one are skipped)
    needed_answers: Sequence[Sequence[str]],
    by: Words = "any",
) -> float:
    """The answer gives the right answer, of those that detect the planted error.

    1 if it contains every needed answer, else 0; skipped where the error is not detected, so that the mean is the share
    of right ones among the detected.
    """
    if not _detects(answer, error_notices, by):
        raise Skip("the error was not detected")
    return float(_contains(answer, needed_answers))


@metric(
    "rgb.error_correction_rate.judged",
    **_PLACE,
    against="references",
    source=f"counterfactual robustness by a judge, {RGB}",
    misleads="It is as good as the judge, and over few rows where few errors are detected.",
)
def judged_error_correction_rate(
    judged_error_report: bool,
    planted_answer: str,  # noqa: ARG001  (rows without one are skipped)
    reference_matches: Sequence[float],
) -> float:
    """The answer says what a reference says, of those that detect the planted error, by a judge.

    As `answer_match`; skipped where the error is not detected.
    """
    if not judged_error_report:
        raise Skip("the error was not detected")
    return max(reference_matches)


def _contains(answer: str, needed: Sequence[Sequence[str]]) -> bool:
    folded = answer.casefold()
    return all(any(spelling.casefold() in folded for spelling in spellings) for spellings in needed)


def _detects(answer: str, error_notices: Sequence[str], by: Words) -> bool:
    folded = answer.casefold()
    return any(words in folded for words in RGB_WORDS) if by == "rgb" else bool(error_notices)


def _check_unanswerable(answerable: bool) -> None:
    if answerable:
        raise Skip("the passages hold the answer")
